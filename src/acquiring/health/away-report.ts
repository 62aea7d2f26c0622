// Tells operators which banks get nothing new from this node: in its readiness, and in the database for commands.
import { instantAt, type Clock } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { AwayBank } from './bank-health.ts';
import { reportAway, reportBack } from '../store/away-banks.ts';

export function openAwayReport(options: {
  readonly db: Pick<Database, 'run'>;
  readonly clock: Clock;
  readonly away: () => readonly AwayBank[];
}) {
  const { db, clock, away } = options;
  let reported: readonly string[] = [];
  return {
    /** Nothing is written while every bank answers. */
    async write(): Promise<void> {
      const found = away();
      const back = reported.filter((id) => found.every(({ bankId }) => bankId !== id));
      for (const bank_id of back) await db.run(reportBack, { bank_id });
      for (const { bankId, sinceMs, because } of found)
        await db.run(reportAway, {
          bank_id: bankId,
          since: instantAt(sinceMs),
          because,
          now: clock.now(),
        });
      reported = found.map(({ bankId }) => bankId);
    },
    warnings: (): string[] => away().map((bank) => `bank ${bank.bankId} is ${awayText(bank)}`),
  };
}

function awayText({ sinceMs, because }: Pick<AwayBank, 'sinceMs' | 'because'>): string {
  return `away since ${instantAt(sinceMs).slice(0, 19)}Z (${because})`;
}
