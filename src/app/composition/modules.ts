// The modules of the business, each opened once on the foundation. Requests and background work share them.
import type { Instant } from '../../clock.ts';
import { maskOf, paymentSystems } from '../../cards/domain/card.ts';
import { limitCards, unlimitedCards } from '../../cards/card-testing.ts';
import { followResets, limitAttempts } from '../../cards/payer-attempts.ts';
import { openConsoleSessions } from '../../console/sessions.ts';
import type { BindingRules } from '../../customers/domain/commands.ts';
import { loadInvoice } from '../../invoices/store/invoices.ts';
import { openTemplateTokens } from '../../invoices/template-tokens.ts';
import { defined } from '../../defined.ts';
import type { Database } from '../../platform/database/database.ts';
import { livemodeOf } from '../../livemode.ts';
import type { AcceptedNetworks } from '../../merchants/domain/accepted-networks.ts';
import { openMerchants } from '../../merchants/merchants.ts';
import { keptWish, wantedCharge } from '../../payments/domain/authentication/three-d-secure.ts';
import { openPayoutRules } from '../../payouts/payout-rules.ts';
import { idempotency } from '../../platform/http/idempotency.ts';
import { openMetrics } from '../../platform/http/metrics.ts';
import { openWaits, realPause } from '../../platform/jobs/waits.ts';
import { accessTokens } from '../../platform/keys/access-token.ts';
import { openLinkSecrets } from '../../platform/keys/link-secrets.ts';
import { openMailServer } from '../../platform/mail/mail-server.ts';
import { exportSources } from '../sources/export-sources.ts';
import { openExports } from '../../search/exports/port.ts';
import { findPeriodOf } from '../../subscriptions/store/subscriptions.ts';
import { payerLinkOf } from '../../subscriptions/payer-link.ts';
import { openPayerEmails } from '../../subscriptions/payer-emails.ts';
import { openReceipts } from '../../receipts/receipts.ts';
import { openCharging } from '../../recurring/charging.ts';
import { openConsentSeals } from '../../recurring/consent-seal.ts';
import { openConsents } from '../../recurring/consents.ts';
import { revokeUrlOf } from '../../recurring/domain/revoke-link.ts';
import { testCards } from '../../sandbox/bank/test-cards.ts';
import { timelineSources } from '../sources/timeline-sources.ts';
import type { Config } from '../config.ts';
import type { Banks } from '../../acquiring/banks.ts';
import type { Foundation } from './foundation.ts';
import { monotonicMs } from './rates.ts';
import { openServiceBanks } from './service-banks.ts';

export type Modules = ReturnType<typeof openModules>;

/** By what is kept of a number outside the vault. */
const testMasks: ReadonlySet<string> = new Set(testCards.map(({ number }) => maskOf(number)));

async function boughtWith(lookups: Pick<Database, 'run'>, invoiceId: string) {
  const { product, subscriptionId } = (await loadInvoice(lookups, invoiceId)) ?? {};
  const period =
    subscriptionId === undefined ? undefined : await findPeriodOf(lookups, subscriptionId, invoiceId);
  return defined({ product, period });
}

/** The links of emails. */
function payerPages(links: Parameters<typeof payerLinkOf>[0]) {
  return (subscriptionId: string, now: Instant) => payerLinkOf(links, subscriptionId, now).url;
}

export function openModules(foundation: Foundation, publicUrl: () => string) {
  const { config, ports, database, keyring, vault } = foundation;
  const { clock } = ports;
  const { lookups } = database;
  const { cards } = vault;
  const livemode = livemodeOf(config.mode);
  const metrics = openMetrics(ports);
  const merchants = openMerchants(lookups, clock, livemode);
  const banks = openServiceBanks(foundation, metrics, publicUrl);
  const { openMailServer: openMail = openMailServer } = ports.network ?? {};
  const mailServer = config.mailServer && openMail(config.mailServer);
  const sendsEmail = config.mode === 'sandbox' || mailServer !== undefined;
  const seals = openConsentSeals(keyring);
  const linkSecrets = openLinkSecrets(keyring);
  const receipts = openReceipts({
    merchants,
    boughtWith: (invoiceId) => boughtWith(lookups, invoiceId),
    revokeUrlOf: (seriesId) => revokeUrlOf(publicUrl(), seriesId, linkSecrets.secretOf('withdraw', seriesId)),
    sendsEmail,
  });
  const charging = openCharging({ cards, receipts });
  const consents = openConsents({ cards, seals, receipts });
  const tokens = accessTokens(keyring, clock);
  return {
    livemode,
    metrics,
    cards,
    tokens,
    linkSecrets,
    payerEmails: openPayerEmails({ consents, sendsEmail }),
    payerPageUrlOf: payerPages({ linkSecrets, publicUrl }),
    templateTokens: openTemplateTokens({ lookups, keyring }),
    merchants,
    answers: idempotency(database, keyring),
    banks,
    networksFor: acceptedNetworks(banks),
    mailServer,
    sendsEmail,
    receipts,
    charging,
    consents,
    exports: openExports(exportSources, { keys: keyring, clock, publicUrl }, foundation.log),
    timeline: timelineSources({ charging, consents, banks, merchants }),
    bindingRules: bindingRulesOf(config),
    payouts: openPayoutRules({ lookups, livemode, openingDepositMinor: BigInt(config.openingDepositMinor) }),
    consoleSessions: openConsoleSessions({ db: database, clock, livemode }),
    waits: openWaits({ pause: ports.pause ?? realPause, nowMs: monotonicMs }),
    ...openCardLimits(foundation),
  };
}

/** Against card testing. Each node counts for itself as well, and all follow the resets that a sandbox offers. */
function openCardLimits({ config, ports, database }: Foundation) {
  const hasSimulatedBank = config.mode === 'sandbox' && config.bankUrl === undefined;
  const payerAttempts = limitAttempts({
    lookups: database.lookups,
    clock: ports.clock,
    isOn: config.cardTestingLimits,
    isTestCard: (mask) => hasSimulatedBank && testMasks.has(mask),
  });
  const cardTesting = config.cardTestingLimits ? limitCards(monotonicMs) : unlimitedCards;
  const followReset = followResets(database.lookups, () => {
    cardTesting.reset();
    payerAttempts.forgetGuards();
  });
  return { payerAttempts, cardTesting, followReset };
}

/** For a payer whose card has been declined nowhere else. */
function acceptedNetworks(banks: Pick<Banks, 'networksFor'>): AcceptedNetworks {
  return (shop, use) => {
    const wish = keptWish({ request: undefined, shop: shop.threeDSecure, isChallenged: false });
    const wanted = wantedCharge({ ...use, ...wish, by: 'payer', currency: shop.currency });
    return banks.networksFor(shop, wanted, Object.keys(paymentSystems));
  };
}

function bindingRulesOf(config: Config): BindingRules {
  return {
    verificationChargeMinor: config.bindingVerificationCharges,
    ...(config.bindingsPerCustomer === 0 ? {} : { maxPerCustomer: config.bindingsPerCustomer }),
    ...(config.bindingsPerCard === 0 ? {} : { maxPerCard: config.bindingsPerCard }),
  };
}
