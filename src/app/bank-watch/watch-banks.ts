// Watches each bank: whether its report shows operations that are lost here, and what it says about operations after their response.
import { openBookReader, type ReportReader } from '../../acquiring/adapters/http/read-report.ts';
import type { OpenLink } from '../../acquiring/adapters/http/link.ts';
import type { Banks, BankSettings } from '../../acquiring/banks.ts';
import type { OperationUpdate, UpdateOutcome } from '../../acquiring/domain/bank-updates.ts';
import { askLate } from '../../acquiring/exchange-log/hear-late-answer.ts';
import { readUpdates, type UpdatesDeps } from '../../acquiring/exchange-log/read-updates.ts';
import {
  claimBanksToWatch,
  findWatchedBank,
  storeProblem,
  type WatchedBank,
} from '../../acquiring/exchange-log/store/watched-banks.ts';
import { lastWatchedBefore, witness } from '../../acquiring/exchange-log/witness.ts';
import { type Clock, dayMs, laterBy } from '../../clock.ts';
import { isKnownLate } from '../../payments/updates/apply-update.ts';
import type { Database, DatabasePool } from '../../platform/database/database.ts';
import type { Logger } from '../../platform/log.ts';
import { reconciliationSources } from '../sources/reconciliation-sources.ts';

const { certaintyOf } = reconciliationSources;
/** More than the clocks of nodes differ. */

type Options = Reading & {
  readonly database: DatabasePool;
  readonly log: Pick<Logger, 'error' | 'warn'>;
  readonly banks: Banks;
  readonly apply: (tx: Database, update: OperationUpdate) => Promise<UpdateOutcome>;
  readonly expedite: UpdatesDeps['expedite'];
};

export function watchBanks(options: Options) {
  const { database: db, clock, log, banks } = options;
  const readUpdatesOf = inTurns((id) => readUpdatesFrom(options, id));

  async function watchOne(watched: WatchedBank, id = watched.bank_id): Promise<void> {
    const settings = await banks.settingsOf(id);
    if (!settings) return;
    const report = openReport(settings, options);
    try {
      const isApprovedLate = (operationId: string) =>
        isUndoneOrAsked(options, id, operationId, () => readUpdatesOf(id));
      const unchecked = await witness({ db, clock, log, certaintyOf, isApprovedLate }, watched, report);
      await banks.forget(id);
      const unread = await readUpdatesOf(id).then(
        () => null,
        (error: unknown) => {
          log.warn({ err: error, bank: id }, 'bank updates cannot be read');
          return String(error);
        },
      );
      await storeProblem(db, id, unchecked ?? unread);
    } finally {
      await report.stop();
    }
  }

  const watchSafely = (watched: WatchedBank) =>
    watchOne(watched).catch((error: unknown) =>
      log.warn({ err: error, bank: watched.bank_id }, 'bank not watched'),
    );

  return {
    /** For a node that starts: until a bank's report is read, or cannot be, it sends the bank nothing. Does not wait for the reports. */
    async begin(): Promise<void> {
      const now = clock.now();
      for (const watched of await claimBanksToWatch(db, now, laterBy(now, dayMs)))
        void banks.sendAfter(watched.bank_id, watchSafely(watched));
    },
    /** All that no node has watched within the last half minute. */
    async watch(): Promise<void> {
      const before = lastWatchedBefore({ clock });
      for (const watched of await claimBanksToWatch(db, clock.now(), before)) await watchSafely(watched);
    },
    /** A callback may be about something that only the updates say, or that contradicts what is proved. */
    async hurry(id: string, operationId: string): Promise<void> {
      await readUpdatesOf(id);
      await askAbout(options, id, operationId);
    },
  };
}

async function readUpdatesFrom({ database: db, banks, ...deps }: Options, id: string): Promise<void> {
  const bank = await banks.bankNamed(id);
  if (!bank || !(await bank.abilities()).hasUpdates) return;
  const watched = await findWatchedBank(db, id);
  if (watched) await readUpdates({ ...deps, db, certaintyOf }, id, bank, Number(watched.updates_cursor));
}

/** One call at a time for each bank, and one more for all that came meanwhile. */
function inTurns(work: (id: string) => Promise<void>): (id: string) => Promise<void> {
  const running = new Map<string, Promise<unknown>>();
  const next = new Map<string, Promise<void>>();
  return (id) => {
    const shared = next.get(id);
    if (shared) return shared;
    const turn = (running.get(id) ?? Promise.resolve()).then(() => {
      next.delete(id);
      return work(id);
    });
    next.set(id, turn);
    const settled = turn.catch(() => undefined);
    running.set(id, settled);
    return turn;
  };
}

/** The bank may say it in its updates alone, after the line of its report, and still be asked in vain. */
async function isUndoneOrAsked(
  options: Options,
  bankId: string,
  operationId: string,
  readUpdatesOfBank: () => Promise<void>,
): Promise<boolean> {
  await readUpdatesOfBank().catch(() => undefined);
  const isKnown = await isKnownLate(options.database, operationId, options.clock.now());
  return isKnown || askAbout(options, bankId, operationId);
}

/** True if the bank approves a charge that it had declined. */
async function askAbout(options: Options, bankId: string, operationId: string): Promise<boolean> {
  const { database: db, clock, log, banks, apply, expedite } = options;
  const bank = await banks.bankNamed(bankId);
  const applyLate = async (update: OperationUpdate) => {
    const outcome = await db.transaction((tx) => apply(tx, update));
    await expedite(operationId);
    return outcome;
  };
  return bank !== undefined && askLate({ db, clock, log, applyLate }, bank, { operationId, bankId });
}

type Reading = {
  readonly clock: Clock;
  readonly openLink?: OpenLink | undefined;
  readonly allowPlainHttp: boolean;
};

function openReport(
  { url, secret }: BankSettings,
  { clock, openLink, allowPlainHttp }: Reading,
): ReportReader {
  return openBookReader({
    url,
    secret,
    clock,
    pausesMs: [],
    ...(openLink ? { openLink } : {}),
    ...(allowPlainHttp ? { allowPlainHttp } : {}),
  });
}
