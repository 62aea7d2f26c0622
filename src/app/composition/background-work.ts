// What a node does without a request: jobs, periodic tasks, deliveries of webhooks, the watch on banks, and the copies for searches.
import { openAwayReport } from '../../acquiring/health/away-report.ts';
import { learnAbilities } from '../../acquiring/learn-abilities.ts';
import { customers } from '../../customers/port.ts';
import type { Database } from '../../platform/database/database.ts';
import { openJobRunner, type JobRunner } from '../../platform/jobs/job-runner.ts';
import { openSearchReader } from '../../search/reader.ts';
import { missingScope } from '../../wallets/webhook-scope.ts';
import { usualDelaysSeconds } from '../../webhooks/domain/queue-rules.ts';
import { makeKeyPairs } from '../../webhooks/registration/key-pair-pool.ts';
import { openWebhooks } from '../../webhooks/webhooks.ts';
import { applyUpdate } from '../bank-watch/bank-updates.ts';
import { watchBanks } from '../bank-watch/watch-banks.ts';
import { monitorLedger } from '../gauges.ts';
import { jobHandlers, jobOfOperation, type JobRows } from '../job-handlers.ts';
import type { Foundation } from './foundation.ts';
import { everyInvariant } from './invariants.ts';
import type { Modules } from './modules.ts';
import type { Announcement } from '../../subscriptions/domain/duties/terms.ts';
import type { Subscription } from '../../subscriptions/domain/subscription.ts';
import { findAnnouncement } from '../../subscriptions/store/subscription-log.ts';
import { announcementTypes } from '../../subscriptions/webhook-events.ts';
import { hasAccepted } from '../../webhooks/inspection/deliveries.store.ts';
import { periodicTasks } from './periodic-tasks.ts';
import { topics } from './topics.ts';

export type BackgroundWork = ReturnType<typeof openBackgroundWork>;

export function openBackgroundWork(foundation: Foundation, modules: Modules, publicUrl: () => string) {
  const { config, ports, log, database, keyring } = foundation;
  const { clock } = ports;
  const { banks, charging, livemode, merchants, payerEmails } = modules;
  const ledger = monitorLedger(database, log, everyInvariant);
  const awayReport = openAwayReport({ db: database, clock, away: banks.away });
  const bankWatch = watchBanks({
    database,
    clock,
    log,
    banks,
    apply: (tx, update) =>
      applyUpdate({ clock, livemode, log, merchants, charging, payerEmails }, tx, update),
    async expedite(operationId) {
      const job = jobOfOperation(operationId);
      if (job) await jobs.expedite(...job);
      jobs.wake();
    },
    openLink: ports.network?.openLink,
    allowPlainHttp: config.mode === 'sandbox',
  });
  const learn = () => learnAbilities(database, banks);
  const jobs: JobRunner<JobRows> = openJobRunner({
    db: database,
    clock,
    log,
    handlers: jobHandlers({
      ...modules,
      database,
      clock,
      log,
      publicUrl,
      run: (table, key, now, row) => jobs.run(table, key, now, row),
      runToEnd: (...started) => jobs.runToEnd(...started),
      wake: () => jobs.wake(),
      exports: { keys: keyring, sources: modules.exports.sources, isStopping: () => jobs.isStopping() },
      subscriptions: subscriptionParts(ports, modules),
    }),
    periodicTasks: periodicTasks(foundation, modules, { awayReport, bankWatch, ledger, learn }),
    countJobRun: modules.metrics.countJobRun,
    onRun: modules.waits.wake,
  });
  const webhooks = openDeliveries(foundation, modules);
  const search = openSearchReader({ db: database, log });
  return { jobs, webhooks, search, bankWatch, ledger, awayReport, learnAbilities: learn };
}

function subscriptionParts(
  { ids }: Pick<Foundation['ports'], 'ids'>,
  { merchants, metrics, payerAttempts, payerEmails, tokens }: Modules,
) {
  const { countCharge } = metrics;
  return { ids, merchants, customers, payerAttempts, payerEmails, tokens, isAcknowledged, countCharge };
}

/** This announcement, and no other, by a receiver of the merchant. */
async function isAcknowledged(
  db: Database,
  { terms }: Subscription,
  announcement: Announcement,
): Promise<boolean> {
  const sequence = await findAnnouncement(db, terms, announcement);
  if (sequence === undefined) return false;
  return hasAccepted(db, { aggregateId: terms.id, eventTypes: announcementTypes, sequence });
}

function openDeliveries({ config, ports, log, database, keyring }: Foundation, { metrics }: Modules) {
  return openWebhooks({
    db: database,
    clock: ports.clock,
    ids: ports.ids,
    log,
    keyring,
    topics,
    rule: config.webhookAddresses,
    delaysSeconds: config.webhookDelaysSeconds ?? usualDelaysSeconds,
    timeoutMs: config.webhookTimeoutMs,
    ...(ports.network ? { openSender: ports.network.openSender } : {}),
    makeKeyPairs: ports.makeKeyPairs ?? makeKeyPairs,
    missingScope,
    countDelivery: metrics.countDelivery,
  });
}
