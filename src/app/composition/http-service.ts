// The service over HTTP: what endpoints depend on, the request pipeline, the routes, and what load balancers and banks call.
import { addBankCallbackRoutes, callbackLimit } from '../../acquiring/callbacks.ts';
import { takeCallback } from '../../acquiring/exchange-log/take-callback.ts';
import { holdsCardNumber } from '../../cards/domain/written-numbers.ts';
import { sendNotFoundPage } from '../../checkout/not-found-page.ts';
import { openConsentLinks } from '../../consent-links/consent-links.ts';
import { customers } from '../../customers/port.ts';
import { defined } from '../../defined.ts';
import { templateLimits } from '../../invoices/template-limits.ts';
import { withdrawalOfOperation } from '../../payouts/domain/withdrawal.ts';
import { lookForReturn } from '../../payouts/store/withdrawals.ts';
import { version } from '../../platform/database/connections/program-name.ts';
import { openApiDocument } from '../../platform/http/openapi.ts';
import { unimplementedOperations } from '../../platform/http/paths/published-operations.ts';
import { watchForwarding } from '../../platform/http/proxies/forwarding.ts';
import { callerLimits, requestsPerSecondOfToken } from '../../platform/http/request/caller-limits.ts';
import { rateLimit } from '../../platform/http/request/rate-limit.ts';
import type { PipelineDeps } from '../../platform/http/request-pipeline.ts';
import { buildServer } from '../../platform/http/server.ts';
import { addSystemRoutes } from '../../platform/http/system-routes.ts';
import { openOutcomeWaits } from '../../platform/http/waiting/outcome-waits.ts';
import { handOnFaults } from '../../sandbox/fault-orders.ts';
import { openPayerPages } from '../../subscriptions/payer-page.ts';
import { openPageTokens } from '../../search/page-tokens.ts';
import type { AppContext, PrepareContext } from '../app-context.ts';
import { jobOfOperation } from '../job-handlers.ts';
import { whatIsNotReady } from '../readiness.ts';
import { routes, sandboxRoutes } from '../routes.ts';
import { webhookBodies } from '../webhook-bodies.ts';
import type { Opened } from './opened.ts';
import { failuresPerMinute, monotonicMs, searchTurnsOf } from './rates.ts';
import { addPagesOfService } from './pages.ts';
import { topics } from './topics.ts';

type App = ReturnType<typeof buildServer>;
type Pipeline = PipelineDeps<AppContext, PrepareContext>;

export function buildHttpService(opened: Opened): App {
  const { config, ports, log } = opened.foundation;
  const pipeline = pipelineOf(opened);
  const endpoints = config.mode === 'sandbox' ? [...routes, ...sandboxRoutes] : routes;
  const app = buildServer({
    endpoints,
    unimplemented: unimplementedOperations,
    log,
    metrics: opened.modules.metrics,
    trustedProxies: config.trustedProxies,
    maxConnections: config.maxConnections,
    newRequestId: config.strictRequestId ? undefined : () => ports.ids.next(),
    sendNotFoundPage,
    pipeline,
  });
  addOperatorRoutes(app, opened, pipeline, endpoints);
  addBankRoutes(app, opened);
  addPagesOfService(app, opened, pipeline);
  return app;
}

function endpointDepsOf({ foundation, modules, work, publicUrl }: Opened): AppContext {
  const { config, ports, database: db, keyring } = foundation;
  const { clock, ids } = ports;
  const { jobs, webhooks } = work;
  const hourly = (most: number) => rateLimit({ calls: most, everyMs: 3_600_000 }, most, monotonicMs);
  return {
    ...modules,
    db,
    clock,
    ids,
    templateLimits: templateLimits({
      ofEach: hourly(config.templateInvoicesPerHour),
      ofAll: hourly(config.templateInvoicesPerHourInAll),
    }),
    pageTokens: openPageTokens(keyring, clock),
    searchTurns: searchTurnsOf(config, 3),
    language: 'en',
    handOnFault: handOnFaults(modules.banks.settingsOf, ports.network?.openLink),
    customers,
    consentLinks: openConsentLinks({ ...modules, db, ids, jobs, publicUrl }),
    payerPages: openPayerPages({ ...modules, db, ids, jobs, customers, publicUrl }),
    jobs,
    webhooks,
    publicUrl,
  };
}

function pipelineOf(opened: Opened): Pipeline {
  const { foundation, modules, work, publicUrl } = opened;
  const { config, ports, log, apiKeys } = foundation;
  const { merchants, tokens, templateTokens, livemode } = modules;
  return {
    endpointDeps: endpointDepsOf(opened),
    prepareDeps: work.webhooks,
    timeOf: async (partyId) => {
      const party = await merchants.party(partyId);
      return party && merchants.timeOf(party);
    },
    clock: ports.clock,
    apiKeys,
    templateTokens,
    tokens,
    idempotency: modules.answers,
    outcomeWaits: openOutcomeWaits(modules.waits, log),
    publicUrl,
    livemode,
    log,
    holdsCardNumber,
    isStrictAboutIds: ({ partyId }, input) => merchants.refusesNumberedIds(partyId, shopNamedBy(input)),
    forwarding: watchForwarding({
      trustedProxies: config.trustedProxies,
      livemode,
      log,
      nowMs: monotonicMs,
    }),
    callerLimits: callerLimits(
      {
        perSecond: config.requestsPerSecond,
        perSecondOfToken: Math.min(config.requestsPerSecond, requestsPerSecondOfToken),
      },
      monotonicMs,
    ),
    failedAuthenticationRate: failuresPerMinute(config),
  };
}

/** What tells the shop of a request. */
function shopNamedBy({ params, body }: { params: unknown; body: unknown }) {
  const { invoiceID, customerID } = (params ?? {}) as Record<string, string | undefined>;
  const { shopID, invoice } = (body ?? {}) as { shopID?: string; invoice?: { shopID?: string } };
  return defined({ shopId: shopID ?? invoice?.shopID, invoiceId: invoiceID, customerId: customerID });
}

function addOperatorRoutes(
  app: App,
  { foundation: { config, database, ports }, modules: { metrics }, work: { awayReport } }: Opened,
  { forwarding }: Pipeline,
  endpoints: typeof routes,
): void {
  addSystemRoutes(app, {
    openApi: () =>
      openApiDocument(endpoints, webhookBodies(topics), version, config.port === 0 ? '/' : config.publicUrl),
    metrics,
    metricsAccess: config.metricsToken
      ? { token: config.metricsToken }
      : config.mode === 'sandbox'
        ? 'open'
        : 'closed',
    notReady: () => whatIsNotReady(database, ports.workers),
    warnings: () => [...forwarding.warnings(), ...awayReport.warnings()],
  });
}

function addBankRoutes(
  app: App,
  { foundation: { ports, database, log }, modules: { banks }, work: { jobs, bankWatch } }: Opened,
): void {
  const { clock } = ports;
  addBankCallbackRoutes(app, {
    banks,
    jobs,
    limit: callbackLimit(monotonicMs),
    jobOfOperation,
    take: (called) => takeCallback({ db: database, clock }, called),
    async onEnded(operationId, bankId) {
      const [id] = withdrawalOfOperation(operationId) ?? [];
      if (id !== undefined && (await lookForReturn(database, id, clock.now()))) return jobs.wake();
      const hurry = bankWatch
        .hurry(bankId, operationId)
        .catch((err: unknown) => log.warn({ err, bank: bankId }, 'bank not watched'));
      jobs.attend(hurry);
    },
  });
}
