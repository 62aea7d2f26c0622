// Reads what a bank says about itself and about past operations. What a bank leaves out is as in version 1 of the protocol.
import { hash } from 'node:crypto';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { parseInstant } from '../../../clock.ts';
import { defined } from '../../../defined.ts';
import { isKnownCurrency } from '../../../money.ts';
import {
  abilitiesOfVersion1,
  initiationAbilities,
  operationKinds,
  type Abilities,
} from '../../domain/abilities.ts';
import { isNetwork } from '../../domain/network-names.ts';
import {
  updateKinds,
  type BankUpdate,
  type BankUpdates,
  type UnreadableUpdate,
} from '../../domain/bank-updates.ts';
import { AbilitiesAnswer, limits, Sequence, Update, updateDetails } from './capabilities.ts';
import { OperationId, withoutMisfits } from './fields.ts';

const abilitiesAnswer = Compile(AbilitiesAnswer);
const update = Compile(Update);
const sequences = Compile(Sequence);
const operationIds = Compile(OperationId);
const withoutMisfitDetails = withoutMisfits(compiled(updateDetails));
const withoutMisfitLimits = withoutMisfits(compiled(limits));
export const updatesOfPage = 100;

/** Undefined when the body does not match the protocol. */
export function abilitiesOf(said: unknown): Abilities | undefined {
  const body = isObject(said) ? withoutMisfitLimits(said) : said;
  if (!abilitiesAnswer.Check(body)) return undefined;
  const usual = abilitiesOfVersion1;
  const { currencies, capture, reverse, holdDays, perSecond, atOnce } = body;
  const networks = body.networks?.filter(isNetwork);
  return {
    kinds: known(operationKinds, body.kinds) ?? usual.kinds,
    capture: { ...usual.capture, ...capture },
    reverse: { ...usual.reverse, ...reverse },
    authentication: known(['hosted', 'given'] as const, body.authentication) ?? usual.authentication,
    initiations: known(initiationAbilities, body.initiations) ?? usual.initiations,
    foreignNetworkIds: body.foreignNetworkIds ?? usual.foreignNetworkIds,
    repeatableMs: repeatableMs(body.repeatable),
    refunds: body.refunds ?? usual.refunds,
    takesReturns: body.returns ?? usual.takesReturns,
    hasUpdates: body.updates ?? usual.hasUpdates,
    // A list without a known name would refuse every card.
    ...defined({
      currencies,
      networks: networks?.length ? networks : undefined,
      holdDays,
      perSecond,
      atOnce,
    }),
  };
}

export function unknownNetworksIn(said: unknown): string[] {
  const body = isObject(said) ? withoutMisfitLimits(said) : said;
  return abilitiesAnswer.Check(body) ? (body.networks ?? []).filter((name) => !isNetwork(name)) : [];
}

/** The names of the limits that no number of messages can be. */
export function misfitLimitsIn(said: unknown): string[] {
  if (!isObject(said)) return [];
  const fitting = withoutMisfitLimits(said);
  return Object.keys(said).filter((name) => !Object.hasOwn(fitting, name));
}

function compiled(schemas: Readonly<Record<string, TSchema>>) {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, Compile(schema)]));
}

function isObject(said: unknown): said is object {
  return typeof said === 'object' && said !== null;
}

function known<T extends string>(words: readonly T[], named?: readonly string[]): readonly T[] | undefined {
  return named && words.filter((word) => named.includes(word));
}

const duration = /^P(?:(\d{1,3})W)?(?:(\d{1,4})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,8})S)?)?$/;
const unitsMs = [7 * 24 * 3_600_000, 24 * 3_600_000, 3_600_000, 60_000, 1_000];

/** What cannot be read promises nothing: a repeat to a bank that has forgotten pays twice. */
function repeatableMs(text = 'always'): number | 'always' {
  if (text === 'always') return 'always';
  const [, ...counts] = duration.exec(text) ?? [];
  return counts.reduce((sum, count, index) => sum + Number(count ?? 0) * (unitsMs[index] ?? 0), 0);
}

/** Undefined when the body is no page of updates. One that cannot be read does not hide the others. */
export function updatesOf(body: unknown, after: number): BankUpdates | undefined {
  if (!isPage(body)) return undefined;
  const read = body.updates.map(updateOf);
  const last = Math.max(after, ...read.map(({ sequence }) => sequence ?? 0));
  return {
    updates: read.flatMap(({ update }) => update ?? []),
    unreadable: read.flatMap(({ unreadable }) => unreadable ?? []),
    last,
    hasMore: body.updates.length >= updatesOfPage && last > after,
  };
}

function isPage(body: unknown): body is { readonly updates: readonly unknown[] } {
  return typeof body === 'object' && body !== null && 'updates' in body && Array.isArray(body.updates);
}

type ReadUpdate = {
  readonly sequence?: number;
  readonly update?: BankUpdate;
  readonly unreadable?: UnreadableUpdate;
};

/** Neither of both if Mandate does not know what happened. */
function updateOf(told: unknown): ReadUpdate {
  const body = isObject(told) ? withoutMisfitDetails(told) : told;
  const sequence = memberOf(sequences, body, 'sequence');
  const operationId = memberOf(operationIds, body, 'operationId');
  const problem = problemOf(body);
  if (problem === undefined) return { ...defined({ sequence }), ...knownUpdate(body as Update) };
  const key = sequence?.toString() ?? hash('sha256', JSON.stringify(told)).slice(0, 16);
  return defined({ sequence, unreadable: { key, why: problem, ...defined({ operationId }) } });
}

/** Names the field, never its value. */
function problemOf(body: unknown): string | undefined {
  if (!update.Check(body)) {
    const [first] = update.Errors(body);
    return `${first?.instancePath.slice(1) || 'it'} does not match the protocol`;
  }
  // Without its currency, an amount could be taken for the whole.
  if (body.amount !== undefined && !isKnownCurrency(body.currency ?? '')) return 'its amount has no currency';
  return parseInstant(body.at) ? undefined : 'at is no time';
}

function knownUpdate(told: Update): Pick<ReadUpdate, 'update'> {
  const { sequence, operationId, code, networkIds, references, amount, currency = '' } = told;
  const what = updateKinds.find((one) => one === told.what);
  const at = parseInstant(told.at);
  if (!what || !at) return {};
  const money =
    amount === undefined || !isKnownCurrency(currency) ? undefined : { minor: BigInt(amount), currency };
  const details = defined({ amount: money, code, networkIds, references });
  return { update: { sequence, operationId, what, at, ...details } };
}

function memberOf<T>(
  check: { Check(value: unknown): value is T },
  body: unknown,
  name: string,
): T | undefined {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
  return check.Check(value) ? value : undefined;
}
