// What the short-lived subcommands share: settings, database and keys, for the time of one piece of work, beside a running
// server or without one.
import { databaseInUse, openFoundation, type Foundation } from '../app/compose.ts';
import { readConfig, type Config } from '../app/config.ts';
import { readParty, readShop } from '../merchants/store/parties.ts';
import { openLog, type Logger } from '../platform/log.ts';
import { firstSignal } from './signals.ts';

export function withFoundation<T>(work: (foundation: Foundation) => Promise<T>): Promise<T> {
  return withOpened((config, log) => openFoundation(config, log, { mayCreate: false }), work);
}

/** For what works on a database of the other mode too, and with another master key: to show its keys, and end them. */
export function withDatabase<T>(work: (database: Foundation['database']) => Promise<T>): Promise<T> {
  return withOpened(databaseInUse, ({ database }) => work(database));
}

async function withOpened<O extends { close(): Promise<void> }, T>(
  open: (config: Config, log: Logger) => Promise<O>,
  work: (opened: O) => Promise<T>,
): Promise<T> {
  const interrupted = firstSignal().then((signal) => {
    throw new Error(`stopped by ${signal}`);
  });
  const config = readConfig(process.env, process.cwd());
  const opened = await open(config, openLog({ level: 'error', human: true }));
  try {
    return await Promise.race([work(opened), interrupted]);
  } finally {
    await opened.close();
  }
}

export async function requireParty(database: Foundation['database'], id: string): Promise<void> {
  const [party] = await database.run(readParty, { party_id: id });
  if (!party) throw new Error(`there is no party ${id}; mandate party list shows all`);
}

export async function requireShop(database: Foundation['database'], partyId: string, shopId: string) {
  const [row] = await database.run(readShop, { party_id: partyId, shop_id: shopId });
  if (row) return row;
  throw new Error(`party ${partyId} has no shop ${shopId}; mandate shop list --party ${partyId} shows all`);
}

export function requireReason(reason: string): void {
  if (reason.trim() === '')
    throw new Error('say why: it is kept in the log, and read by whoever looks later');
}

/** Rows under their headings, for people. */
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
