// What every node does at intervals, besides jobs: purges, watches and checks.
import { watchEveryMs } from '../../acquiring/exchange-log/witness.ts';
import { countExchanges } from '../../acquiring/exchange-log/store/exchange-sums.ts';
import { guardShops, purgeAttempts } from '../../cards/payer-attempts.ts';
import { laterBy } from '../../clock.ts';
import { watchVerificationRefunds } from '../../customers/verification-refunds.ts';
import { idempotencyKeyLifetimeMs } from '../../platform/http/idempotency.ts';
import type { PeriodicTask } from '../../platform/jobs/job-runner.ts';
import { purgeWebhooks } from '../../webhooks/inspection/inspection.store.ts';
import type { Foundation } from './foundation.ts';
import type { Modules } from './modules.ts';

/** How long attempts and bodies of webhook deliveries are kept. */
const deliveriesKeptMs = 30 * 24 * 3_600_000;

type Watches = {
  readonly awayReport: { write(): Promise<void> };
  readonly bankWatch: { watch(): Promise<void> };
  readonly ledger: { check(): Promise<void> };
  readonly learn: () => Promise<void>;
};

export function periodicTasks(
  { config, ports, log, database, vault }: Foundation,
  { answers, banks, consoleSessions, followReset }: Modules,
  { awayReport, bankWatch, ledger, learn }: Watches,
): readonly PeriodicTask[] {
  const { clock } = ports;
  return [
    {
      name: 'purge idempotency keys',
      everyMs: 60_000,
      run: () => answers.purgeExpired(laterBy(clock.now(), -idempotencyKeyLifetimeMs)),
    },
    {
      name: 'purge webhook deliveries',
      everyMs: 60_000,
      run: () => purgeWebhooks(database, laterBy(clock.now(), -deliveriesKeptMs)),
    },
    { name: 'purge vault', everyMs: 60_000, run: () => vault.purge() },
    {
      name: 'watch verification refunds',
      everyMs: 60_000,
      run: () => watchVerificationRefunds(database, clock.now(), log),
    },
    { name: 'purge console sessions', everyMs: 60_000, run: () => consoleSessions.purge() },
    { name: 'purge payer attempts', everyMs: 60_000, run: () => purgeAttempts(database, clock.now()) },
    {
      name: 'guard shops',
      everyMs: 10_000,
      run: () => (config.cardTestingLimits ? guardShops(database, clock.now(), log) : Promise.resolve()),
    },
    { name: 'report away banks', everyMs: 10_000, run: () => awayReport.write() },
    ...(config.mode === 'sandbox' ? [{ name: 'follow resets', everyMs: 1_000, run: followReset }] : []),
    { name: 'probe silent banks', everyMs: 10_000, run: () => banks.probe() },
    { name: 'learn abilities of banks', everyMs: 10_000, run: learn },
    { name: 'watch banks', everyMs: watchEveryMs, run: () => bankWatch.watch() },
    { name: 'count exchanges', everyMs: 60_000, run: () => countExchanges(database, clock.now()) },
    { name: 'check ledger', everyMs: 60_000, run: () => ledger.check() },
  ];
}
