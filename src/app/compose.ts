// The composition root: settings and ports in, a service out. The only file that knows every module.
import { join } from 'node:path';
import { watchSilentKinds } from '../acquiring/health/silent-kinds.ts';
import { openAwayReport } from '../acquiring/health/away-report.ts';
import { openBanks, type Banks } from '../acquiring/banks.ts';
import { watchEveryMs } from '../acquiring/exchange-log/witness.ts';
import { learnAbilities } from '../acquiring/learn-abilities.ts';
import type { BankResponse } from '../acquiring/domain/bank-port.ts';
import { timelineSources } from './sources/timeline-sources.ts';
import { declineClassOf } from '../retry-rules/domain/rule-packs.ts';
import { openHttpBank } from '../acquiring/adapters/http/http-bank.ts';
import type { OpenLink } from '../acquiring/adapters/http/link.ts';
import { limitCards, unlimitedCards } from '../cards/card-testing.ts';
import { followResets, guardShops, limitAttempts, purgeAttempts } from '../cards/payer-attempts.ts';
import { maskOf, paymentSystems } from '../cards/domain/card.ts';
import { holdsCardNumber } from '../cards/domain/written-numbers.ts';
import { defined } from '../defined.ts';
import type { MadeFor } from '../cards/domain/payment-resource.ts';
import { openVault, type VaultOptions } from '../cards/vault.ts';
import { handOnFaults } from '../sandbox/fault-orders.ts';
import { isTestCard, standInNumber, testCards } from '../sandbox/bank/test-cards.ts';
import { instantAt, laterBy, systemClock, type Clock, type Instant } from '../clock.ts';
import { sendNotFoundPage } from '../checkout/not-found-page.ts';
import { addCheckoutRoutes } from '../checkout/checkout-routes.ts';
import { payersOnward } from '../checkout/payer-onward.ts';
import { addConsentLinkRoutes } from '../checkout/consent-link-routes.ts';
import { addConsoleRoutes } from '../console/console-routes.ts';
import { openConsoleSessions } from '../console/sessions.ts';
import { consoleEndpoints, operatorViews } from './console-views.ts';
import type { Config } from './config.ts';
import type { Database } from '../platform/database/database.ts';
import { version } from '../platform/database/connections/program-name.ts';
import { connectDatabase, type OpenedDatabase } from './connect-database.ts';
import { bindingInvariants } from '../customers/store/invariants.ts';
import { openConsentLinks } from '../consent-links/consent-links.ts';
import { customers } from '../customers/port.ts';
import { watchVerificationRefunds } from '../customers/verification-refunds.ts';
import { loadCustomerOfPayer } from '../customers/store/customers.ts';
import { addBindingReturn } from '../customers/binding-return-page.ts';
import {
  migrate,
  refuseEarlierSchema,
  requireMigrations,
  requireTables,
} from '../platform/database/migrate.ts';
import { jobHandlers, jobOfOperation, type JobRows } from './job-handlers.ts';
import { openJobRunner, type JobRunner } from '../platform/jobs/job-runner.ts';
import { openWaits, realPause, type Pause } from '../platform/jobs/waits.ts';
import type { Topic } from '../platform/events/domain/topic.ts';
import { idempotency, idempotencyKeyLifetimeMs } from '../platform/http/idempotency.ts';
import { whatIsNotReady } from './readiness.ts';
import { applyUpdate } from './bank-watch/bank-updates.ts';
import { watchBanks } from './bank-watch/watch-banks.ts';
import { addGauges, monitorLedger } from './gauges.ts';
import { openMetrics } from '../platform/http/metrics.ts';
import { openApiDocument } from '../platform/http/openapi.ts';
import { addPages } from '../platform/http/pages/pages.ts';
import { callerLimits, requestsPerSecondOfToken } from '../platform/http/request/caller-limits.ts';
import { watchForwarding } from '../platform/http/proxies/forwarding.ts';
import { rateLimit } from '../platform/http/request/rate-limit.ts';
import { openOutcomeWaits } from '../platform/http/waiting/outcome-waits.ts';
import type { PipelineDeps } from '../platform/http/request-pipeline.ts';
import { buildServer } from '../platform/http/server.ts';
import { addSystemRoutes } from '../platform/http/system-routes.ts';
import { randomIds, type Ids } from '../ids.ts';
import { loadInvoice } from '../invoices/store/invoices.ts';
import { loadTemplate } from '../invoices/store/templates.ts';
import { templateLimits } from '../invoices/template-limits.ts';
import { openTemplateTokens } from '../invoices/template-tokens.ts';
import { accessTokens } from '../platform/keys/access-token.ts';
import { openKeyring } from '../platform/keys/keyring.ts';
import { localMasterKey, sandboxMasterKey } from '../platform/keys/master-key.ts';
import type { Logger } from '../platform/log.ts';
import type { SetUp } from '../not-set-up.ts';
import { openApiKeys } from '../merchants/api-keys.ts';
import type { AcceptedNetworks } from '../merchants/domain/accepted-networks.ts';
import { openMerchants } from '../merchants/merchants.ts';
import { livemodeOf } from '../livemode.ts';
import { requireSameMode } from '../merchants/livemode.ts';
import { ledgerInvariants, type Invariant } from '../platform/ledger/store/invariants.ts';
import { keptWish, wantedCharge } from '../payments/domain/authentication/three-d-secure.ts';
import { paymentInvariants } from '../payments/store/invariants.ts';
import { takeCallback } from '../acquiring/exchange-log/take-callback.ts';
import { addBankCallbackRoutes, callbackLimit, callbackUrlOf } from '../acquiring/callbacks.ts';
import { addPaymentReturn } from '../payments/payment-return-page.ts';
import { openMailServer, type OpenMailServer } from '../platform/mail/mail-server.ts';
import { customersTopic } from '../customers/webhook-events.ts';
import { openReceipts } from '../receipts/receipts.ts';
import { openConsentSeals } from '../recurring/consent-seal.ts';
import { openCharging } from '../recurring/charging.ts';
import { openConsents } from '../recurring/consents.ts';
import { recurringTopic } from '../recurring/webhook-events.ts';
import { brandIn } from '../checkout/brand.ts';
import { findBranding } from '../merchants/store/branding.ts';
import { addRevocationRoutes } from '../checkout/revocation-routes.ts';
import { subscriptionsTopic } from '../subscriptions/webhook-events.ts';
import { invoicesTopic } from '../payments/webhook-events.ts';
import { routes, sandboxRoutes } from './routes.ts';
import { unimplementedOperations } from '../platform/http/paths/published-operations.ts';
import { webhookBodies } from './webhook-bodies.ts';
import type { AppContext, PrepareContext } from './app-context.ts';
import { purgeWebhooks } from '../webhooks/inspection/inspection.store.ts';
import { withdrawalOfOperation } from '../payouts/domain/withdrawal.ts';
import { lookForReturn } from '../payouts/store/withdrawals.ts';
import { destinationsTopic, withdrawalsTopic } from '../payouts/webhook-events.ts';
import { usualDelaysSeconds } from '../webhooks/domain/queue-rules.ts';
import type { OpenSender } from '../webhooks/delivery/http-sender.ts';
import { makeKeyPairs, type KeyPairs } from '../webhooks/registration/key-pair-pool.ts';
import { openWebhooks } from '../webhooks/webhooks.ts';
import { openPageTokens } from '../search/page-tokens.ts';
import { openSearchReader } from '../search/reader.ts';
import { openTurns } from '../search/turns.ts';
import { payoutInvariants } from '../payouts/store/invariants.ts';
import { openPayoutRules } from '../payouts/payout-rules.ts';
import { missingScope } from '../wallets/webhook-scope.ts';

/** What comes from outside the program and is replaced in tests and simulations. */
export type Ports = {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly network?: Network;
  /** Between two looks at what another job decides. */
  readonly pause?: Pause;
  /** For webhooks. */
  readonly makeKeyPairs?: () => Promise<KeyPairs>;
};
/** How messages leave the service: to banks, to merchants, and as emails to payers. */
export type Network = {
  readonly openLink: OpenLink;
  readonly openSender: OpenSender;
  readonly openMailServer?: OpenMailServer;
};
const realPorts: Ports = { clock: systemClock, ids: randomIds };

/** What every subcommand needs: the migrated database and the keys. */
export type Foundation = Awaited<ReturnType<typeof foundationOn>>;

export type RunningService = ReturnType<typeof buildService>;

/** The bank declines because of the merchant's set-up or the message, not because of the card. */
function isMisconfigured(
  answer: BankResponse,
  now: Instant,
): answer is BankResponse & { outcome: 'declined' } {
  return answer.outcome === 'declined' && declineClassOf(answer, now) === 'configuration';
}

/** What must be true of the ledger, and between it and the modules that post to it. */
export const everyInvariant: readonly Invariant[] = [
  ...ledgerInvariants,
  ...paymentInvariants,
  ...bindingInvariants,
  ...payoutInvariants,
];
/** What merchants get webhook events about: each module defines this for its own aggregates. */
export const topics: readonly Topic[] = [
  invoicesTopic,
  customersTopic,
  recurringTopic,
  subscriptionsTopic,
  withdrawalsTopic,
  destinationsTopic,
];

/** How long attempts and bodies of webhook deliveries are kept. */
const deliveriesKeptMs = 30 * 24 * 3_600_000;

/** How long requests in progress may take when the service stops. */
const drainMs = 10_000;

/** By what is kept of a number outside the vault. */
const testMasks: ReadonlySet<string> = new Set(testCards.map(({ number }) => maskOf(number)));

/** What tells the shop of a request. */
function shopNamedBy({ params, body }: { params: unknown; body: unknown }) {
  const { invoiceID, customerID } = (params ?? {}) as Record<string, string | undefined>;
  const { shopID, invoice } = (body ?? {}) as { shopID?: string; invoice?: { shopID?: string } };
  return defined({ shopId: shopID ?? invoice?.shopID, invoiceId: invoiceID, customerId: customerID });
}

export async function openFoundation(config: Config, log: Logger, setUp: SetUp): Promise<Foundation> {
  return foundationOn(await connectDatabase(config, log, setUp), config, log, realPorts, setUp);
}

/** The database alone, in any mode and with any master key. Nothing is migrated. */
export async function databaseInUse(config: Config, log: Logger): Promise<OpenedDatabase> {
  const opened = await connectDatabase(config, log, { mayCreate: false });
  try {
    await refuseEarlierSchema(opened.database);
    await requireTables(opened.database);
    return opened;
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** The foundation on an open database. It closes the database in the end, also when it fails itself. */
export async function foundationOn(
  { database, close }: OpenedDatabase,
  config: Config,
  log: Logger,
  ports: Ports,
  setUp: SetUp = { mayCreate: true },
) {
  try {
    const livemode = livemodeOf(config.mode);
    await refuseEarlierSchema(database);
    // Before the migrations: a command in the wrong mode must not migrate.
    await requireSameMode(database, livemode, ports.clock);
    if (setUp.mayCreate) for (const name of await migrate(database)) log.info({ name }, 'migration applied');
    else await requireMigrations(database);
    const masterKey = localMasterKey(
      config.masterKey ?? sandboxMasterKey(join(config.dataFolder, 'master.key'), setUp),
    );
    const keyring = await openKeyring(database.lookups, masterKey, ports.clock, setUp);
    let closed: Promise<void> | undefined;
    const { clock } = ports;
    const { lookups } = database;
    const apiKeys = openApiKeys({ db: database, lookups, keyring, clock, livemode });
    const vault = openVault({
      db: database,
      keyring,
      masterKey,
      ...ports,
      hasEnded,
      ...cardNumbersOf(config),
    });
    return {
      config,
      ports,
      log,
      database,
      keyring,
      apiKeys,
      vault,
      close: () => {
        keyring.stop();
        return (closed ??= close());
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A sandbox keeps no number of a real card: the simulated bank answers the stand-in as any number outside its table. */
function cardNumbersOf({ mode, bankUrl, realCards }: Config): Pick<VaultOptions, 'standIn' | 'takes'> {
  if (mode === 'live') return {};
  if (bankUrl !== undefined) return realCards ? {} : { takes: isTestCard };
  return { standIn: (number) => (isTestCard(number) ? undefined : standInNumber) };
}

/** The token of an object that has ended is still in browsers. An invoice has ended once it takes no more payments. */
async function hasEnded(db: Pick<Database, 'run'>, { kind, id }: MadeFor): Promise<boolean> {
  if (kind === 'customer') return (await loadCustomerOfPayer(db, id))?.customer.state.name === 'deleted';
  const status = (await loadInvoice(db, id))?.status;
  return status !== undefined && status !== 'unpaid';
}

/** For a payer whose card has been declined nowhere else. */
function acceptedNetworks(banks: Pick<Banks, 'networksFor'>): AcceptedNetworks {
  return (shop, use) => {
    const wish = keptWish({ request: undefined, shop: shop.threeDSecure, isChallenged: false });
    const wanted = wantedCharge({ ...use, ...wish, by: 'payer', currency: shop.currency });
    return banks.networksFor(shop, wanted, Object.keys(paymentSystems));
  };
}

export function buildService(
  foundation: Foundation,
  /** With a free port it is known only once the service listens. */
  publicUrl: () => string = () => foundation.config.publicUrl,
) {
  const { config, ports, log, database, keyring, apiKeys, vault } = foundation;
  const { clock } = ports;
  const metrics = openMetrics();
  const tokens = accessTokens(keyring, clock);
  const templateTokens = openTemplateTokens({ lookups: database.lookups, keyring });
  const merchants = openMerchants(database.lookups, clock, livemodeOf(config.mode));
  const answers = idempotency(database, keyring);

  const hearKind = watchSilentKinds(log);
  const banks = openBanks({
    db: database,
    lookups: database.lookups,
    clock,
    keyring,
    adapterFor: ({ id, url, secret, abilities }, onSaid) =>
      openHttpBank({
        url,
        secret,
        lastSaid: abilities,
        onSaid,
        clock,
        log,
        detokeniseCard: (card) => vault.detokenise(card),
        callbackUrl: callbackUrlOf(publicUrl(), id),
        ...(ports.network ? { openLink: ports.network.openLink } : {}),
        ...(config.mode === 'sandbox' ? { allowPlainHttp: true } : {}),
      }),
    observe: (bankId, operation, answer, seconds) => {
      metrics.observeBank(bankId, operation, answer.outcome, seconds);
      hearKind(bankId, operation, answer);
      if (operation === 'authorise' && isMisconfigured(answer, clock.now())) {
        metrics.countMisconfigured(bankId);
        log.warn({ bank: bankId, network: answer.network, code: answer.code }, 'configuration decline');
      }
    },
    onHealth: ({ bankId, sinceMs, because }, is) =>
      log.warn(
        { bank: bankId, since: instantAt(sinceMs), because },
        is === 'away' ? 'bank away' : 'bank back',
      ),
    onPaused: ({ id, bankId }, { operationId, network, code }, until) =>
      log.error(
        { terminal: id, bank: bankId, operation: operationId, network, code, until },
        'terminal paused',
      ),
  });
  const { openMailServer: openMail = openMailServer } = ports.network ?? {};
  const mailServer = config.mailServer && openMail(config.mailServer);
  const sendsEmail = config.mode === 'sandbox' || mailServer !== undefined;
  const seals = openConsentSeals(keyring, publicUrl);
  const receipts = openReceipts({
    merchants,
    productOf: async (invoiceId) => (await loadInvoice(database.lookups, invoiceId))?.product,
    revokeUrlOf: seals.revokeUrlOf,
    sendsEmail,
  });
  const charging = openCharging({ cards: vault.cards, receipts });
  const consents = openConsents({ cards: vault.cards, seals, receipts });
  const payouts = openPayoutRules({
    lookups: database.lookups,
    livemode: livemodeOf(config.mode),
    openingDepositMinor: BigInt(config.openingDepositMinor),
  });

  const hasSimulatedBank = config.mode === 'sandbox' && config.bankUrl === undefined;
  const payerAttempts = limitAttempts({
    lookups: database.lookups,
    clock,
    isOn: config.cardTestingLimits,
    isTestCard: (mask) => hasSimulatedBank && testMasks.has(mask),
  });

  const awayReport = openAwayReport({ db: database, clock, away: banks.away });
  const monotonicMs = () => performance.now();
  const cardTesting = config.cardTestingLimits ? limitCards(monotonicMs) : unlimitedCards;
  const followReset = followResets(database.lookups, () => {
    cardTesting.reset();
    payerAttempts.forgetGuards();
  });

  const ledger = monitorLedger(database, log, everyInvariant);
  const bankWatch = watchBanks({
    database,
    clock,
    log,
    banks,
    apply: (tx, update) => applyUpdate({ clock, livemode: livemodeOf(config.mode), log }, tx, update),
    async expedite(operationId) {
      const job = jobOfOperation(operationId);
      if (job) await jobs.expedite(...job);
      jobs.wake();
    },
    openLink: ports.network?.openLink,
    allowPlainHttp: config.mode === 'sandbox',
  });
  const learn = () => learnAbilities(database, banks);
  const consoleSessions = openConsoleSessions({ db: database, clock, livemode: livemodeOf(config.mode) });
  const waits = openWaits({ pause: ports.pause ?? realPause, nowMs: monotonicMs });
  const jobs: JobRunner<JobRows> = openJobRunner({
    db: database,
    clock,
    log,
    handlers: jobHandlers({
      database,
      clock,
      cards: vault.cards,
      banks,
      charging,
      consents,
      receipts,
      mailServer,
      payouts,
      log,
      publicUrl,
      run: (table, key, now, row) => jobs.run(table, key, now, row),
      wake: () => jobs.wake(),
      subscriptions: { ids: ports.ids, merchants, customers, payerAttempts, tokens },
    }),
    periodicTasks: [
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
      { name: 'check ledger', everyMs: 60_000, run: () => ledger.check() },
    ],
    countJobRun: metrics.countJobRun,
    onRun: waits.wake,
  });

  const webhooks = openWebhooks({
    db: database,
    clock,
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

  const search = openSearchReader({ db: database, log });

  const bindingRules = {
    verificationChargeMinor: config.bindingVerificationCharges,
    ...(config.bindingsPerCustomer === 0 ? {} : { maxPerCustomer: config.bindingsPerCustomer }),
    ...(config.bindingsPerCard === 0 ? {} : { maxPerCard: config.bindingsPerCard }),
  };
  const { cards } = vault;
  const { ids } = ports;
  const confirming = { db: database, ids, merchants, cards, banks, jobs, bindingRules, payerAttempts };
  const hourly = (most: number) => rateLimit(most / 3_600, most, monotonicMs);
  const { failedAuthenticationsPerMinute: maxFailures } = config;
  const failuresPerMinute = () => rateLimit(maxFailures / 60, maxFailures, monotonicMs);
  const consentLinks = openConsentLinks({ ...confirming, consents, publicUrl });
  const networksFor = acceptedNetworks(banks);
  const turnsOf = (part: number) => openTurns(Math.max(1, Math.floor(config.databaseConnections / part)));
  const context: AppContext = {
    db: database,
    clock,
    ids,
    tokens,
    templateTokens,
    templateLimits: templateLimits({
      ofEach: hourly(config.templateInvoicesPerHour),
      ofAll: hourly(config.templateInvoicesPerHourInAll),
    }),
    pageTokens: openPageTokens(keyring, clock),
    searchTurns: turnsOf(3),
    merchants,
    cards,
    cardTesting,
    payerAttempts,
    banks,
    networksFor,
    handOnFault: handOnFaults(banks.settingsOf, ports.network?.openLink),
    customers,
    bindingRules,
    charging,
    consents,
    receipts,
    consentLinks,
    payouts,
    timeline: timelineSources({ charging, consents, banks, merchants }),
    jobs,
    webhooks,
    publicUrl,
  };
  const endpoints = config.mode === 'sandbox' ? [...routes, ...sandboxRoutes] : routes;
  const forwarding = watchForwarding({
    trustedProxies: config.trustedProxies,
    livemode: livemodeOf(config.mode),
    log,
    nowMs: monotonicMs,
  });
  const pipeline: PipelineDeps<AppContext, PrepareContext> = {
    endpointDeps: context,
    prepareDeps: webhooks,
    timeOf: async (partyId) => {
      const party = await merchants.party(partyId);
      return party && merchants.timeOf(party);
    },
    clock,
    apiKeys,
    templateTokens,
    tokens,
    idempotency: answers,
    outcomeWaits: openOutcomeWaits(waits, log),
    publicUrl,
    livemode: livemodeOf(config.mode),
    log,
    holdsCardNumber,
    isStrictAboutIds: ({ partyId }, input) => merchants.refusesNumberedIds(partyId, shopNamedBy(input)),
    forwarding,
    callerLimits: callerLimits(
      {
        perSecond: config.requestsPerSecond,
        perSecondOfToken: Math.min(config.requestsPerSecond, requestsPerSecondOfToken),
      },
      monotonicMs,
    ),
    failedAuthenticationRate: failuresPerMinute(),
  };
  const app = buildServer({
    endpoints,
    unimplemented: unimplementedOperations,
    log,
    metrics,
    trustedProxies: config.trustedProxies,
    maxConnections: config.maxConnections,
    newRequestId: config.strictRequestId ? undefined : () => ports.ids.next(),
    sendNotFoundPage,
    pipeline,
  });
  addSystemRoutes(app, {
    openApi: () =>
      openApiDocument(endpoints, webhookBodies(topics), version, config.port === 0 ? '/' : config.publicUrl),
    metrics,
    metricsAccess: config.metricsToken
      ? { token: config.metricsToken }
      : config.mode === 'sandbox'
        ? 'open'
        : 'closed',
    notReady: () => whatIsNotReady(database),
    warnings: () => [...forwarding.warnings(), ...awayReport.warnings()],
  });
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
  const sendOn = payersOnward({ mode: config.mode, merchants, publicUrl });
  const returns = { db: database, clock, jobs, banks, waits, sendOn };
  addPaymentReturn(app, returns);
  addBindingReturn(app, returns);
  const invoiceOf = (id: string) => loadInvoice(database.lookups, id);
  const brandOf = async (shop: { readonly partyId: string; readonly shopId: string }) =>
    brandIn(
      await findBranding(database.lookups, shop),
      (await consents.settings(database.lookups, shop)).contact,
    );
  addRevocationRoutes(app, { db: database, log, consents, customers, merchants, brandOf, invoiceOf });
  addCheckoutRoutes(app, {
    mode: config.mode,
    publicUrl,
    verificationChargeMinor: config.bindingVerificationCharges,
    log,
    tokens,
    merchants,
    networksFor,
    brandOf,
    invoiceOf,
    templateOf: (id) => loadTemplate(database.lookups, id),
    customerOf: (id) => loadCustomerOfPayer(database.lookups, id),
    termsOf: async (shop) => (await consents.settings(database.lookups, shop)).terms,
    sendsEmail,
  });
  addConsentLinkRoutes(app, {
    mode: config.mode,
    verificationChargeMinor: config.bindingVerificationCharges,
    log,
    clock,
    merchants,
    brandOf,
    consentLinks,
    sendsEmail,
  });
  addConsoleRoutes(app, {
    sessions: consoleSessions,
    // People who look wait for each other, and not for the searches of the merchant's server.
    pipeline: { ...pipeline, endpointDeps: { ...context, searchTurns: turnsOf(10) } },
    endpoints: consoleEndpoints,
    operatorViews: operatorViews({ database, clock, jobs }),
    merchants,
    isOfMode: async (partyId, ids) => {
      const { shopID, invoiceID } = ids as Record<string, string | undefined>;
      const shopId = shopID ?? (invoiceID === undefined ? undefined : (await invoiceOf(invoiceID))?.shopId);
      const shop = (await merchants.shops(partyId)).find(({ id }) => id === shopId);
      return shop === undefined || shop.livemode === livemodeOf(config.mode);
    },
    requests: rateLimit(config.requestsPerSecond, config.requestsPerSecond * 2, monotonicMs),
    failures: failuresPerMinute(),
  });
  addPages(app, config.mode);
  addGauges(metrics, { database, jobs, clock, ledger, banks });

  return {
    app,
    jobs,
    banks,
    bankWatch,
    learnAbilities: learn,
    webhooks,
    search,
    merchants,
    payouts,
    charging,
    timeline: context.timeline,
    consoleSessions,
    consents,
    receipts,
    cards: vault.cards,
    purgeAttempts: () => purgeAttempts(database, clock.now()),
    guardShops: () => guardShops(database, clock.now(), log),
    forgetGuards: () => payerAttempts.forgetGuards(),
    followResets: followReset,
    purgeVault: () => vault.purge(),
    /** Stops accepting requests, lets running work finish, and leaves the foundation to its owner. */
    async stop() {
      waits.stop();
      // Before what would wait for them: requests and jobs.
      banks.stopWaiting();
      // A client that sends its request byte by byte is waited for no longer than this.
      const drainTimer = setTimeout(() => app.server.closeAllConnections(), drainMs);
      await app.close();
      clearTimeout(drainTimer);
      await jobs.stop();
      await webhooks.stop();
      await search.stop();
      await banks.stop();
    },
  };
}
