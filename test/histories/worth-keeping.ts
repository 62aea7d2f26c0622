// Selects a few histories that together show every feature of all of them.
// Features are the forms of facts and columns, and which facts follow one another or come together.
import { isDeepStrictEqual } from 'node:util';
import { scanText, type Finding } from '../support/checks/pan-scanner.ts';
import type { Recorded, RecordedFact, RecordedRow } from './recorded.ts';
import { replay } from './replay.ts';

export async function worthKeeping(all: readonly Recorded[]): Promise<Recorded[]> {
  const sound: Recorded[] = [];
  for (const one of all) if (await isSound(one)) sound.push(one);
  return chooseFew(sound);
}

/** Transaction IDs of the simulated bank are as long as card numbers. */
const ofNetwork = /"\w*networkTransactionId":"3\d{14}"/gi;

export function cardNumbersIn(one: Recorded): Finding[] {
  return scanText('a recorded line', JSON.stringify(one).replaceAll(ofNetwork, ''));
}

/** A longer history is not worth its size. */
const longest = 64_000;

/** Excludes data that a test has corrupted, and anything that looks like a card number. */
async function isSound(one: Recorded): Promise<boolean> {
  const text = JSON.stringify(one);
  if (text.length > longest || cardNumbersIn(one).length > 0) return false;
  if ('table' in one) return true;
  const comparisons = await replay(one).catch(() => undefined);
  return comparisons?.every(({ recorded, replayed }) => isDeepStrictEqual(recorded, replayed)) ?? false;
}

/** Repeatedly takes the history with the most new features for its length. */
function chooseFew(all: readonly Recorded[]): Recorded[] {
  const parts = all.map((one) => ({ one, length: JSON.stringify(one).length, ...shownBy(one) }));
  const everyMember = membersIn(parts.flatMap(({ objects }) => objects));
  let left = parts.map(({ objects, shows, ...candidate }) => {
    const lacks = objects.flatMap(({ path, members }) =>
      [...(everyMember.get(path) ?? [])]
        .filter((member) => !members.includes(member))
        .map((member) => `${path} without ${member}`),
    );
    return { ...candidate, shows: [...new Set([...shows, ...lacks])] };
  });
  const shown = new Set<string>();
  const chosen: Recorded[] = [];
  for (;;) {
    left = left
      .map((candidate) => ({ ...candidate, shows: candidate.shows.filter((feature) => !shown.has(feature)) }))
      .filter(({ shows }) => shows.length > 0);
    const [first, ...others] = left;
    if (!first) return chosen;
    const worth = ({ shows, length }: typeof first) => shows.length / length;
    const best = others.reduce((a, b) => (worth(b) > worth(a) ? b : a), first);
    for (const feature of best.shows) shown.add(feature);
    chosen.push(best.one);
  }
}

type ShownObject = { readonly path: string; readonly members: readonly string[] };
type Shown = { readonly shows: Set<string>; readonly objects: ShownObject[] };

function membersIn(objects: readonly ShownObject[]): ReadonlyMap<string, ReadonlySet<string>> {
  const every = new Map<string, Set<string>>();
  for (const { path, members } of objects) {
    const known = every.get(path) ?? new Set();
    for (const member of members) known.add(member);
    every.set(path, known);
  }
  return every;
}

function shownBy(one: Recorded): Shown {
  const shown: Shown = { shows: new Set(), objects: [] };
  if ('table' in one) {
    showRow(shown, one.table, one.row);
    return shown;
  }
  const before = new Map<string, string>();
  for (const { facts } of one.events) {
    shown.shows.add(`${one.aggregate}: ${facts.map(({ type }) => type).join(' with ')}`);
    for (const fact of facts) {
      const about = objectOf(fact);
      shown.shows.add(`${one.aggregate}: ${before.get(about) ?? 'nothing'}, then ${fact.type}`);
      before.set(about, fact.type);
      showValue(shown, fact.type, fact);
    }
  }
  for (const [table, rows] of Object.entries(one.rows)) for (const row of rows) showRow(shown, table, row);
  return shown;
}

/** The object within the aggregate that a fact is about. */
function objectOf(fact: RecordedFact): string {
  const part = fact['paymentId'] ?? (fact.type.startsWith('binding_') ? fact['bindingId'] : undefined);
  return typeof part === 'string' ? part : '';
}

function showRow(shown: Shown, table: string, row: RecordedRow): void {
  const status = row['status'] ?? row['outcome'] ?? row['level'] ?? row['state'];
  const kind = typeof status === 'string' ? `${table} ${status}` : table;
  shown.shows.add(kind);
  for (const [column, value] of Object.entries(row)) {
    if (ofWork.test(column)) continue;
    if (typeof value === 'object' && value !== null)
      showValue(shown, `${ofState.test(column) ? kind : table} ${column}`, value);
    else shown.shows.add(`${table} ${column}${value === null ? ' null' : ''}`);
  }
}

/** Job columns say nothing about the object. */
const ofWork = /^(wake_at|attempts|stuck_at|stuck_reason)$/;
const ofState = /^(state|result|failure)$/;
/** Members with values from a fixed list. */
const wordy = /^(type|kind|status|by|scope|outcome|evidence|rule|onExpiration|realm|level|method)$/;
/** Members whose values mean the same in every place. */
const wordyAnywhere = /^(paymentSystem|network)$/;
/** Members with arbitrary content from merchants. */
const free = /(metadata|bank_?account|contact_?info|invoice\S*[ .](terms\.)?client_?info)$/i;

function showValue(shown: Shown, path: string, value: unknown): void {
  const { shows, objects } = shown;
  if (Array.isArray(value)) {
    shows.add(`${path}: list of ${Math.min(value.length, path.endsWith('failure') ? 4 : 2)}`);
    for (const member of value) showValue(shown, `${path}[]`, member);
    return;
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.keys(value);
    if (free.test(path)) return void shows.add(`${path}: ${members.length === 0 ? 'empty' : 'filled'}`);
    const within = `${path}${variantOf(path, value as RecordedRow)}`;
    objects.push({ path: within, members });
    for (const [member, of] of Object.entries(value)) showValue(shown, `${within}.${member}`, of);
    return;
  }
  const last = path.split('.').at(-1) ?? '';
  if (typeof value === 'number') shows.add(`${path}: ${sizeOf(value)}`);
  else if (wordyAnywhere.test(last)) shows.add(`${last}: ${String(value)}`);
  else if (typeof value === 'string' && !wordy.test(last)) shows.add(`${path}: text`);
  else shows.add(`${path}: ${String(value)}`);
}

function sizeOf(value: number): string {
  if (value === 0) return 'zero';
  return value < 2 ** 31 ? 'number' : 'large number';
}

/** The variant of a union. */
function variantOf(path: string, { type, kind, name }: RecordedRow): string {
  const variant = path.endsWith('state.state') ? name : (type ?? kind);
  return typeof variant === 'string' && /^[a-zA-Z]+$/.test(variant) ? `(${variant})` : '';
}
