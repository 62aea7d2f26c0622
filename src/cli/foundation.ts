// What short-lived commands share: settings, database and keys. A server may run at the same time.
import { hostname, userInfo } from 'node:os';
import { databaseInUse, openFoundation, type Foundation } from '../app/composition/foundation.ts';
import type { Config } from '../app/config.ts';
import { livemodeOf } from '../livemode.ts';
import type { Party } from '../merchants/domain/party.ts';
import { partyFromRow, readParty, readShop } from '../merchants/store/parties.ts';
import type { SetUp } from '../not-set-up.ts';
import { errorCatalogue, type ErrorCode } from '../platform/http/errors/error-codes.ts';
import { openLog, type Logger } from '../platform/log.ts';
import { firstSignal } from './signals.ts';
import { settingsHere } from './settings.ts';

export function withFoundation<T>(
  work: (foundation: Foundation) => Promise<T>,
  setUp: SetUp = { mayCreate: false },
): Promise<T> {
  return withOpened((config, log) => openFoundation(config, log, setUp), work);
}

/** For commands that also work on a database of the other mode, or with another master key: to list and revoke keys. */
export function withDatabase<T>(work: (database: Foundation['database']) => Promise<T>): Promise<T> {
  return withOpened(databaseInUse, ({ database }) => work(database));
}

async function withOpened<O extends { close(): Promise<void> }, T>(
  open: (config: Config, log: Logger) => Promise<O>,
  work: (opened: O) => Promise<T>,
): Promise<T> {
  const interrupted = firstSignal().then((signal) => {
    throw new Error(`Stopped by ${signal}.`);
  });
  // Until something waits for it, a signal must not end the process with a stack trace.
  interrupted.catch(() => undefined);
  const config = settingsHere();
  const opened = await open(config, openLog({ level: 'error', human: true }));
  try {
    return await Promise.race([work(opened), interrupted]);
  } finally {
    await opened.close();
  }
}

/** As a node logs it, and on standard error, so that what collects the lines of nodes can collect this one. */
export function logInLiveMode({ mode }: Config, facts: Record<string, unknown>, what: string): void {
  if (!livemodeOf(mode)) return;
  const destination = { write: (line: string) => void process.stderr.write(line) };
  openLog({ level: 'info', human: false, destination }).info(facts, what);
}

/** Who runs the command, and where. */
export const userHere = () => `${userName()}@${hostname()}`;

/** A container may run as a user without a name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}

export async function requireParty(database: Foundation['database'], id: string): Promise<Party> {
  const [row] = await database.run(readParty, { party_id: id });
  if (!row) throw partyNotFound(id);
  return partyFromRow(row);
}

export async function requireShop(database: Foundation['database'], partyId: string, shopId: string) {
  const [row] = await database.run(readShop, { party_id: partyId, shop_id: shopId });
  if (row) return row;
  throw shopNotFound(partyId, shopId);
}

export function partyNotFound(id: string): Error {
  return new Error(`Party ${id} not found. List parties with "mandate party list".`);
}

export function shopNotFound(partyId: string, shopId: string): Error {
  return new Error(
    `Party ${partyId} has no shop ${shopId}. List its shops with "mandate shop list --party ${partyId}".`,
  );
}

export function requireReason(reason: string): void {
  if (reason.trim() === '')
    throw new Error('--reason is empty. Say how you know it: the reason is kept in the event log.');
}

export function requireName(name: string): void {
  if (name.trim() === '') throw new Error('--name is empty. Give a name.');
}

export function wholeNumber(option: string, text: string, min: number, max: number): number {
  const number = Number(text);
  if (text.trim() !== '' && Number.isInteger(number) && number >= min && number <= max) return number;
  throw new Error(`${option} is "${text}". Use a whole number from ${min} to ${max}.`);
}

/** With a full stop, whether the text has one or not. */
export function sentence(text: string): string {
  return text.replace(/\.?$/, '.');
}

/** What the API says of a refusal, and its hint. */
export function refusalText(refusal: {
  readonly code: ErrorCode;
  readonly message?: string;
  readonly hint?: string;
}): string {
  const { code, message = errorCatalogue[code].message, hint } = refusal;
  return [message, hint].flatMap((part) => (part === undefined ? [] : [sentence(part)])).join(' ');
}

export function printTable(headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  for (const row of [headings, ...rows]) {
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  }
}
