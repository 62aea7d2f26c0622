// What the short-lived subcommands share: settings, database and keys, for the time of one piece of work, beside a running
// server or without one.
import { layFoundation, type Allowed, type Foundation } from '../compose.ts';
import { readConfig } from '../config.ts';
import { openLog } from '../log.ts';
import { firstSignal } from './signals.ts';

export async function withFoundation<T>(
  work: (foundation: Foundation) => Promise<T>,
  allowed: Allowed = {},
): Promise<T> {
  const interrupted = firstSignal().then((signal) => {
    throw new Error(`stopped by ${signal}`);
  });
  const config = readConfig(process.env, process.cwd());
  const foundation = await layFoundation(config, openLog({ level: 'error', human: true }), allowed);
  try {
    return await Promise.race([work(foundation), interrupted]);
  } finally {
    await foundation.close();
  }
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
