// The composition root: settings and ports in, a service out. The only file that knows every module.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openBanks } from '../acquiring/banks.ts';
import { openHttpBank } from '../acquiring/adapters/http/http-bank.ts';
import type { OpenLink } from '../acquiring/adapters/http/link.ts';
import { limitCards, unlimitedCards } from '../cards/card-testing.ts';
import { openVault } from '../cards/vault.ts';
import { laterBy, systemClock, type Clock } from '../clock.ts';
import { localeOf } from '../checkout/domain/checkout-request.ts';
import { addCheckoutRoutes } from '../checkout/checkout-routes.ts';
import type { Config } from './config.ts';
import { connectDatabase, type DatabaseWish, type OpenedDatabase } from './connect-database.ts';
import { bindingInvariants } from '../customers/store/invariants.ts';
import { customers } from '../customers/port.ts';
import { watchVerificationRefunds } from '../customers/verification-refunds.ts';
import { loadCustomerOfPayer } from '../customers/store/customers.ts';
import { addBindingReturn } from '../customers/payer-return.ts';
import { isReadOnly, type DatabasePool } from '../platform/database/database.ts';
import { hasMigrations, isMigrated, migrate, refuseEarlierSchema } from '../platform/database/migrate.ts';
import { jobHandlers, jobOfOperation } from './job-handlers.ts';
import { openJobRunner } from '../platform/jobs/job-runner.ts';
import type { Topic } from '../platform/events/domain/topic.ts';
import { idempotency, idempotencyKeyLifetimeMs } from '../platform/http/idempotency.ts';
import { addGauges, monitorLedger } from './gauges.ts';
import { openMetrics } from '../platform/http/metrics.ts';
import { openApiDocument } from '../platform/http/openapi.ts';
import { addPages } from '../platform/http/pages/pages.ts';
import { rateLimit } from '../platform/http/request/rate-limit.ts';
import { buildServer } from '../platform/http/server.ts';
import { addSystemRoutes } from '../platform/http/system-routes.ts';
import { randomIds, type Ids } from '../ids.ts';
import { loadInvoice } from '../invoices/store/invoices.ts';
import { accessTokens } from '../platform/keys/access-token.ts';
import { openKeyring } from '../platform/keys/keyring.ts';
import { localMasterKey, sandboxMasterKey } from '../platform/keys/master-key.ts';
import type { Logger } from '../platform/log.ts';
import { openApiKeys } from '../merchants/api-keys.ts';
import { openMerchants } from '../merchants/merchants.ts';
import { livemodeOf } from '../livemode.ts';
import { requireSameMode } from '../merchants/livemode.ts';
import { ledgerInvariants, type Invariant } from '../platform/ledger/store/invariants.ts';
import { paymentInvariants } from '../payments/store/invariants.ts';
import { addBankCallbackRoutes, callbackUrlOf } from '../acquiring/callbacks.ts';
import { addPaymentReturn } from '../payments/payer-return.ts';
import { openMailServer, type OpenMailServer } from '../platform/mail/mail-server.ts';
import { assetPath } from '../asset-paths.ts';
import { customersTopic } from '../customers/webhook-events.ts';
import { openRecurring } from '../recurring/recurring.ts';
import { recurringTopic } from '../recurring/webhook-events.ts';
import { addWithdrawPage } from '../recurring/revoke-page.ts';
import { invoicesTopic } from '../payments/webhook-events.ts';
import { routes, sandboxRoutes } from './routes.ts';
import type { AppContext } from './app-context.ts';
import { purgeWebhooks } from '../webhooks/inspection/inspection.store.ts';
import { destinationsTopic, withdrawalsTopic } from '../payouts/webhook-events.ts';
import { usualDelaysSeconds } from '../webhooks/domain/queue-rules.ts';
import type { OpenSender } from '../webhooks/delivery/http-sender.ts';
import { feedState } from '../webhooks/feed/feed.store.ts';
import { makeKeyPairs, type KeyPairs } from '../webhooks/registration/key-pair-pool.ts';
import { openWebhooks } from '../webhooks/webhooks.ts';
import { payoutInvariants } from '../payouts/store/invariants.ts';
import { openPayoutRules } from '../payouts/payout-rules.ts';
import { missingScope } from '../wallets/webhook-scope.ts';

/** What comes from outside the program and is replaced in tests and simulations. */
export type Ports = {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly network?: Network;
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

const version = (JSON.parse(readFileSync(assetPath('../package.json'), 'utf8')) as { version: string })
  .version;

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
  withdrawalsTopic,
  destinationsTopic,
];

/** How long attempts and bodies of webhook deliveries are kept. */
const deliveriesKeptMs = 30 * 24 * 3_600_000;

/** How long requests in progress may take when the service stops. */
const drainMs = 10_000;

export async function openFoundation(config: Config, log: Logger, wish: DatabaseWish): Promise<Foundation> {
  return foundationOn(await connectDatabase(config, log, wish), config, log, realPorts);
}

/** The database alone, in any mode and with any master key. Nothing is migrated. */
export async function databaseInUse(config: Config, log: Logger): Promise<OpenedDatabase> {
  const opened = await connectDatabase(config, log, { mayCreate: false });
  try {
    await refuseEarlierSchema(opened.database);
    if (await hasMigrations(opened.database)) return opened;
    throw new Error('The database has no Mandate tables. Start the service, or run "mandate migrate".');
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
) {
  try {
    const livemode = livemodeOf(config.mode);
    await refuseEarlierSchema(database);
    // Before the migrations: a command in the wrong mode must not migrate.
    await requireSameMode(database, livemode, ports.clock);
    for (const name of await migrate(database)) log.info({ name }, 'migration applied');
    const masterKey = localMasterKey(
      config.masterKey ?? sandboxMasterKey(join(config.dataFolder, 'master.key')),
    );
    const keyring = await openKeyring(database.lookups, masterKey, ports.clock);
    let closed: Promise<void> | undefined;
    const { clock } = ports;
    const { lookups } = database;
    const apiKeys = openApiKeys({ db: database, lookups, keyring, clock, livemode });
    const vault = openVault({ db: database, keyring, masterKey, ...ports });
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

export function buildService(
  foundation: Foundation,
  /** With a free port it is known only once the service listens. */
  publicUrl: () => string = () => foundation.config.publicUrl,
) {
  const { config, ports, log, database, keyring, apiKeys, vault } = foundation;
  const { clock } = ports;
  const metrics = openMetrics();
  const tokens = accessTokens(keyring, clock);
  const merchants = openMerchants(database.lookups, clock, livemodeOf(config.mode));
  const answers = idempotency(database, keyring);

  const banks = openBanks({
    db: database,
    lookups: database.lookups,
    clock,
    keyring,
    adapterFor: ({ id, url, secret }) =>
      openHttpBank({
        url,
        secret,
        clock,
        log,
        detokeniseCard: (card) => vault.detokenise(card),
        callbackUrl: callbackUrlOf(publicUrl(), id),
        ...(ports.network ? { openLink: ports.network.openLink } : {}),
        ...(config.mode === 'sandbox' ? { allowPlainHttp: true } : {}),
      }),
    observe: (bankId, operation, { outcome }, seconds) =>
      metrics.observeBank(bankId, operation, outcome, seconds),
  });
  const { openMailServer: openMail = openMailServer } = ports.network ?? {};
  const mailServer = config.mailServer && openMail(config.mailServer);
  const sendsEmail = config.mode === 'sandbox' || mailServer !== undefined;
  const recurring = openRecurring({ cards: vault.cards, merchants, keyring, publicUrl, sendsEmail });
  const payouts = openPayoutRules({
    lookups: database.lookups,
    livemode: livemodeOf(config.mode),
    openingDepositMinor: config.openingDepositMinor,
  });

  const ledger = monitorLedger(database, log, everyInvariant);
  const jobs = openJobRunner({
    db: database,
    clock,
    log,
    handlers: jobHandlers({
      database,
      clock,
      banks,
      recurring,
      mailServer,
      payouts,
      log,
      publicUrl,
      run: (...work) => jobs.run(...work),
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
      { name: 'check ledger', everyMs: 60_000, run: () => ledger.check() },
    ],
    countJobRun: metrics.countJobRun,
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

  const monotonicMs = () => performance.now();
  const context: AppContext = {
    db: database,
    clock,
    ids: ports.ids,
    tokens,
    merchants,
    cards: vault.cards,
    cardTesting: config.cardTestingLimits ? limitCards(monotonicMs) : unlimitedCards,
    banks,
    customers,
    bindingRules: {
      verificationChargeMinor: config.bindingVerificationCharges,
      ...(config.bindingsPerCustomer === 0 ? {} : { maxPerCustomer: config.bindingsPerCustomer }),
      ...(config.bindingsPerCard === 0 ? {} : { maxPerCard: config.bindingsPerCard }),
    },
    recurring,
    payouts,
    jobs,
    webhooks,
  };
  const endpoints = config.mode === 'sandbox' ? [...routes, ...sandboxRoutes] : routes;
  const app = buildServer({
    endpoints,
    log,
    metrics,
    trustedProxies: config.trustedProxies,
    pipeline: {
      endpointDeps: context,
      prepareDeps: webhooks,
      timeOf: async (partyId) => {
        const party = await merchants.party(partyId);
        return party && merchants.timeOf(party);
      },
      clock,
      apiKeys,
      tokens,
      idempotency: answers,
      publicUrl,
      keyRate: rateLimit(config.requestsPerSecond, config.requestsPerSecond * 2, monotonicMs),
      failedAuthenticationRate: rateLimit(
        config.failedAuthenticationsPerMinute / 60,
        config.failedAuthenticationsPerMinute,
        monotonicMs,
      ),
    },
  });
  addSystemRoutes(app, {
    openApi: () => openApiDocument(endpoints, version, config.port === 0 ? '/' : config.publicUrl),
    metrics,
    metricsAccess: config.metricsToken
      ? { token: config.metricsToken }
      : config.mode === 'sandbox'
        ? 'open'
        : 'closed',
    notReady: () => whatIsNotReady(database),
  });
  addBankCallbackRoutes(app, { banks, jobs, jobOfOperation });
  addPaymentReturn(app, { db: database, jobs });
  addBindingReturn(app, { db: database, jobs });
  addWithdrawPage(app, {
    db: database,
    recurring,
    customers,
    merchants,
    browserLanguage: (acceptLanguage) => localeOf(undefined, acceptLanguage),
  });
  addCheckoutRoutes(app, {
    mode: config.mode,
    sendsEmail,
    log,
    tokens,
    merchants,
    invoiceOf: (id) => loadInvoice(database.lookups, id),
    customerOf: (id) => loadCustomerOfPayer(database.lookups, id),
    termsOf: async (shop) => (await recurring.settings(database.lookups, shop)).terms,
  });
  addPages(app, config.mode);
  addGauges(metrics, { database, jobs, clock, ledger });

  return {
    app,
    jobs,
    banks,
    webhooks,
    payouts,
    recurring,
    /** Stops accepting requests, lets running work finish, and leaves the foundation to its owner. */
    async stop() {
      // A client that sends its request byte by byte is waited for no longer than this.
      const drainTimer = setTimeout(() => app.server.closeAllConnections(), drainMs);
      await app.close();
      clearTimeout(drainTimer);
      await jobs.stop();
      await webhooks.stop();
      await banks.stop();
    },
  };
}

async function whatIsNotReady(database: DatabasePool): Promise<string[]> {
  try {
    if (await isReadOnly(database)) return ['database: read-only, like a standby'];
    if (!(await isMigrated(database))) return ['migrations'];
    return (await feedState(database)).isMismatch
      ? ['webhooks: the event log comes from another PostgreSQL']
      : [];
  } catch {
    return ['database'];
  }
}
