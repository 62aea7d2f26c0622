// Who may call what: every operation with every kind of token, for an entity of its own, for another's and for one that
// does not exist. The table below is written from the contract and knows nothing of the table the service uses.
import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { epochMsOf, laterBy } from '../../src/clock.ts';
import { routes, sandboxRoutes } from '../../src/routes.ts';
import { accessTokens, type TokenKind, type TokenSubject } from '../../src/keys/access-token.ts';
import { cardBody, paymentResourcesUrl } from '../support/cards.ts';
import { customersUrl } from '../support/customer-world.ts';
import { forgedTokens } from '../support/forged-tokens.ts';
import { invoicesUrl, makeInvoice, makeInvoiceThatIs, order } from '../support/invoices.ts';
import { card, startPayoutWorld, type PayoutWorld } from '../support/payout-world.ts';
import { copyWebhook, makeWebhook, nowhere, webhooksUrl } from '../support/webhooks.ts';
import type { Answer, Merchant, TestService } from '../support/test-service.ts';

const threeDaysMs = 3 * 24 * 3_600_000;
const scopes = [
  'customers:read',
  'customers:write',
  'invoices:read',
  'invoices:write',
  'payment-resources:write',
  'payments:read',
  'payments:write',
  'identities:write',
  'payouts:read',
  'payouts:write',
  'wallets:write',
  'shops:read',
  'webhooks:read',
  'webhooks:write',
  'sandbox',
] as const;
const entities = ['own', 'foreign', 'unknown'] as const;
type Entity = (typeof entities)[number];
type Request = { method: 'GET' | 'POST' | 'DELETE'; url: string; body?: unknown };
/** `status` alone, or with the whole body, or with none. */
type Expected = { readonly status: number; readonly body?: unknown; readonly isEmpty?: true };

/** What an operation asks for under each name, the scope of a key it needs, and its answers. */
type Row = {
  readonly scope: (typeof scopes)[number];
  readonly request: (names: Names[Entity]) => Request;
  /** With a key that may call it. */
  readonly toKey: Record<Entity, Expected>;
  /** With the token of the very invoice in the path; absent where an invoice token may not call it (2.2). */
  readonly toItsToken?: { readonly own: Expected; readonly foreign: Expected };
  /** Of whom that token is; an invoice's where nothing is said. */
  readonly itsTokenIsOf?: 'customer';
  /** With any token of that kind, where the request names no entity to compare with the token's own. */
  readonly toTokensOf?: Partial<Record<TokenKind, Expected>>;
  /** To any other access token (2.3). */
  readonly toOtherTokens: Expected;
};
type Names = Record<
  Entity,
  {
    invoiceId: string;
    customerId: string;
    bindingId: string;
    externalId: string;
    shopId: string;
    categoryId: string;
    webhookId: string;
    /** A card the merchant of the walk tokenized; the same for every entity. */
    cardToken: string;
    identityId: string;
    challengeId: string;
    walletId: string;
    /** Of a card stored to be paid out to. */
    bankCard: string;
    destinationId: string;
    withdrawalId: string;
    transferId: string;
    provider: string;
    currency: string;
    cardSession: string;
  }
>;

const unauthorized: Expected = { status: 401 };
const done: Expected = { status: 200 };
const noInvoice: Expected = { status: 404, body: { message: 'Invoice not found' } };
const noSeries: Expected = { status: 404, body: { message: 'It belongs to no series of recurring charges' } };
const noRefund: Expected = { status: 404, body: { message: 'Refund not found' } };
const noPayment: Expected = { status: 404, body: { message: 'Payment not found' } };
const noCustomer: Expected = { status: 404, body: { message: 'Customer not found' } };
const noShop: Expected = { status: 404, body: { message: 'Shop not found' } };
const noWebhook: Expected = { status: 404, body: { message: 'Webhook not found' } };
const noCategory: Expected = { status: 404, body: { message: 'Category not found' } };
const refusal = (code: string, message: string): Expected => ({ status: 400, body: { code, message } });
// The invoices of the walk are rescinded and their payments cancelled: that is answered to who may call, and changes
// nothing however often.
const wrongStatus = refusal('invalidInvoiceStatus', 'Invalid invoice status');
const wrongPaymentStatus = refusal('invalidPaymentStatus', 'Invalid payment status');
const noCard = refusal('invalidPaymentToolToken', 'Specified payment tool token is invalid');

const byWebhook = (own: Expected) => ({ own, foreign: noWebhook, unknown: noWebhook });
/** The wallets' side has no body for what is not there. */
const gone: Expected = { status: 404, isEmpty: true };
const unacceptable = (code: string, message: string): Expected => ({ status: 422, body: { code, message } });
const noIdentity = unacceptable('noSuchIdentity', 'No such identity');
const noWallet = unacceptable('noSuchWallet', 'No such wallet');
const invalidToken: Expected = { status: 400 };

const ownAlone = (own: Expected, toOthers: Expected = gone) => ({
  own,
  foreign: toOthers,
  unknown: toOthers,
});
const byInvoice = (own: Expected) => ({ own, foreign: noInvoice, unknown: noInvoice });
const byCustomer = (own: Expected) => ({ own, foreign: noCustomer, unknown: noCustomer });
const always = (answer: Expected) => ({ own: answer, foreign: answer, unknown: answer });
const post = (url: string, body?: unknown): Request => ({ method: 'POST', url, body });
const remove = (url: string): Request => ({ method: 'DELETE', url });
const get = (url: string): Request => ({ method: 'GET', url });

const asset = { amount: 1_000, currency: 'RUB' };
const validUntil = '2030-01-01T00:00:00Z';

const expectations: Record<string, Row> = {
  createWebhook: {
    scope: 'webhooks:write',
    request: ({ shopId }) => post(webhooksUrl, webhook(shopId)),
    toKey: {
      // There are ten of them already.
      own: { status: 429, body: { message: 'Webhook limit exceeded' } },
      foreign: refusal('invalidShopID', 'Shop not found'),
      unknown: refusal('invalidShopID', 'Shop not found'),
    },
    toOtherTokens: unauthorized,
  },
  listWebhooks: {
    scope: 'webhooks:read',
    request: () => get(webhooksUrl),
    toKey: always(done),
    toOtherTokens: unauthorized,
  },
  getWebhook: {
    scope: 'webhooks:read',
    request: ({ webhookId }) => get(`${webhooksUrl}/${webhookId}`),
    toKey: byWebhook(done),
    toOtherTokens: unauthorized,
  },
  listWebhookQueues: {
    scope: 'webhooks:read',
    request: ({ webhookId }) => get(`${webhooksUrl}/${webhookId}/queues?limit=5`),
    toKey: byWebhook(done),
    toOtherTokens: unauthorized,
  },
  listWebhookAttempts: {
    scope: 'webhooks:read',
    request: ({ webhookId }) => get(`${webhooksUrl}/${webhookId}/attempts?limit=5`),
    toKey: byWebhook(done),
    toOtherTokens: unauthorized,
  },
  testWebhook: {
    scope: 'webhooks:write',
    request: ({ webhookId }) => post(`${webhooksUrl}/${webhookId}/test`),
    toKey: byWebhook(done),
    toOtherTokens: unauthorized,
  },
  resumeWebhook: {
    scope: 'webhooks:write',
    request: ({ webhookId }) => post(`${webhooksUrl}/${webhookId}/resume`, {}),
    toKey: byWebhook(done),
    toOtherTokens: unauthorized,
  },
  replayWebhook: {
    scope: 'webhooks:write',
    request: ({ webhookId }) => post(`${webhooksUrl}/${webhookId}/replay`, { since: '2026-01-19T10:00:00Z' }),
    toKey: byWebhook(done),
    toOtherTokens: unauthorized,
  },
  rotateWebhookKeys: {
    scope: 'webhooks:write',
    request: ({ webhookId }) => post(`${webhooksUrl}/${webhookId}/rotate-keys`, {}),
    // They were changed a moment before the walk.
    toKey: byWebhook(refusal('webhookRotationInProgress', 'The keys are being changed already')),
    toOtherTokens: unauthorized,
  },
  createWalletWebhook: {
    scope: 'webhooks:write',
    request: ({ identityId: identityID }) =>
      post('/wallet/v0/webhooks', { ...walletWebhook, identityID, url: 'ftp://nowhere' }),
    toKey: ownAlone({ status: 400 }, noIdentity),
    toOtherTokens: unauthorized,
  },
  listWalletWebhooks: {
    scope: 'webhooks:read',
    request: ({ identityId }) => get(`/wallet/v0/webhooks?identityID=${identityId}`),
    toKey: ownAlone(done, noIdentity),
    toOtherTokens: unauthorized,
  },
  getWalletWebhook: {
    scope: 'webhooks:read',
    // A webhook of a shop is none of an identity.
    request: ({ webhookId, identityId }) => get(`/wallet/v0/webhooks/${webhookId}?identityID=${identityId}`),
    toKey: ownAlone(gone, noIdentity),
    toOtherTokens: unauthorized,
  },
  deleteWalletWebhook: {
    scope: 'webhooks:write',
    request: ({ webhookId, identityId }) => ({
      method: 'DELETE',
      url: `/wallet/v0/webhooks/${webhookId}?identityID=${identityId}`,
    }),
    toKey: ownAlone(gone, noIdentity),
    toOtherTokens: unauthorized,
  },
  // Whom it lets in takes the webhook away: walked by itself below.
  deleteWebhook: {
    scope: 'webhooks:write',
    request: ({ webhookId }) => ({ method: 'DELETE', url: `${webhooksUrl}/${webhookId}x` }),
    toKey: always(noWebhook),
    toOtherTokens: unauthorized,
  },
  createInvoice: {
    scope: 'invoices:write',
    request: ({ shopId }) => post(invoicesUrl, { ...order, shopID: shopId }),
    toKey: {
      own: { status: 201 },
      foreign: refusal('invalidShopID', 'Shop not found'),
      unknown: refusal('invalidShopID', 'Shop not found'),
    },
    toOtherTokens: unauthorized,
  },
  findInvoice: {
    scope: 'invoices:read',
    request: ({ externalId }) => get(`${invoicesUrl}?externalID=${externalId}`),
    toKey: byInvoice(done),
    toOtherTokens: noInvoice,
  },
  getInvoice: {
    scope: 'invoices:read',
    request: ({ invoiceId }) => get(`${invoicesUrl}/${invoiceId}`),
    toKey: byInvoice(done),
    toItsToken: always(done),
    toOtherTokens: noInvoice,
  },
  listInvoiceEvents: {
    scope: 'invoices:read',
    request: ({ invoiceId }) => get(`${invoicesUrl}/${invoiceId}/events?limit=5`),
    toKey: byInvoice(done),
    toItsToken: always(done),
    toOtherTokens: noInvoice,
  },
  issueInvoiceToken: {
    scope: 'invoices:write',
    request: ({ invoiceId }) => post(`${invoicesUrl}/${invoiceId}/access-tokens`),
    toKey: byInvoice({ status: 201 }),
    toOtherTokens: unauthorized,
  },
  fulfillInvoice: {
    scope: 'invoices:write',
    request: ({ invoiceId }) => post(`${invoicesUrl}/${invoiceId}/fulfill`, { reason: 'x' }),
    toKey: byInvoice(wrongStatus),
    toOtherTokens: unauthorized,
  },
  rescindInvoice: {
    scope: 'invoices:write',
    request: ({ invoiceId }) => post(`${invoicesUrl}/${invoiceId}/rescind`, { reason: 'x' }),
    toKey: byInvoice(wrongStatus),
    toOtherTokens: unauthorized,
  },
  createPaymentResource: {
    scope: 'payment-resources:write',
    request: () => post(paymentResourcesUrl, cardBody()),
    toKey: always({ status: 201 }),
    toTokensOf: { invoice: { status: 201 }, customer: { status: 201 } },
    toOtherTokens: unauthorized,
  },
  createPayment: {
    scope: 'payments:write',
    request: ({ invoiceId, cardToken }) => post(`${invoicesUrl}/${invoiceId}/payments`, payment(cardToken)),
    toKey: byInvoice(wrongStatus),
    // The other party may pay its own invoice, but not with the card of this one.
    toItsToken: { own: wrongStatus, foreign: noCard },
    toOtherTokens: unauthorized,
  },
  listPayments: {
    scope: 'payments:read',
    request: ({ invoiceId }) => get(`${invoicesUrl}/${invoiceId}/payments`),
    toKey: byInvoice(done),
    toItsToken: always(done),
    toOtherTokens: noInvoice,
  },
  getPayment: {
    scope: 'payments:read',
    request: ({ invoiceId }) => get(`${invoicesUrl}/${invoiceId}/payments/1`),
    toKey: byInvoice(done),
    toItsToken: always(done),
    toOtherTokens: noInvoice,
  },
  findPayment: {
    scope: 'payments:read',
    request: ({ externalId }) => get(`/v2/processing/payments?externalID=${externalId}`),
    toKey: { own: done, foreign: noPayment, unknown: noPayment },
    toOtherTokens: noPayment,
  },
  capturePayment: {
    scope: 'payments:write',
    request: ({ invoiceId }) => post(`${invoicesUrl}/${invoiceId}/payments/1/capture`, { reason: 'x' }),
    toKey: byInvoice(wrongPaymentStatus),
    toOtherTokens: unauthorized,
  },
  cancelPayment: {
    scope: 'payments:write',
    request: ({ invoiceId }) => post(`${invoicesUrl}/${invoiceId}/payments/1/cancel`, { reason: 'x' }),
    toKey: byInvoice(wrongPaymentStatus),
    toOtherTokens: unauthorized,
  },
  listInvoicePaymentMethods: {
    scope: 'invoices:read',
    request: ({ invoiceId }) => get(`${invoicesUrl}/${invoiceId}/payment-methods`),
    toKey: byInvoice(done),
    toItsToken: always(done),
    toOtherTokens: noInvoice,
  },
  createRefund: {
    scope: 'payments:write',
    request: ({ invoiceId }) => post(`${invoicesUrl}/${invoiceId}/payments/1/refunds`, {}),
    toKey: byInvoice(refusal('invalidPaymentStatus', 'Invalid invoice payment status')),
    toOtherTokens: unauthorized,
  },
  listRefunds: {
    scope: 'payments:read',
    request: ({ invoiceId }) => get(`${invoicesUrl}/${invoiceId}/payments/1/refunds`),
    toKey: byInvoice(done),
    toOtherTokens: noInvoice,
  },
  getRefund: {
    scope: 'payments:read',
    request: ({ invoiceId }) => get(`${invoicesUrl}/${invoiceId}/payments/1/refunds/100`),
    toKey: byInvoice({ status: 404, body: { message: 'Invoice payment refund not found' } }),
    toOtherTokens: noInvoice,
  },
  findRefund: {
    scope: 'payments:read',
    request: ({ externalId }) => get(`/v2/processing/refunds?externalID=${externalId}`),
    toKey: always(noRefund),
    toOtherTokens: noRefund,
  },
  listChargebacks: {
    scope: 'payments:read',
    request: ({ invoiceId }) => get(`${invoicesUrl}/${invoiceId}/payments/1/chargebacks`),
    toKey: byInvoice(done),
    toOtherTokens: noInvoice,
  },
  getChargeback: {
    scope: 'payments:read',
    request: ({ invoiceId }) => get(`${invoicesUrl}/${invoiceId}/payments/1/chargebacks/1`),
    toKey: byInvoice({ status: 404, body: { message: 'Invoice payment chargeback not found' } }),
    toOtherTokens: noInvoice,
  },
  createCustomer: {
    scope: 'customers:write',
    request: ({ shopId }) => post(customersUrl, { shopID: shopId, contactInfo: {} }),
    toKey: {
      own: { status: 201 },
      foreign: refusal('invalidShopID', 'Shop not found'),
      unknown: refusal('invalidShopID', 'Shop not found'),
    },
    toOtherTokens: unauthorized,
  },
  findCustomer: {
    scope: 'customers:read',
    request: ({ externalId }) => get(`${customersUrl}?externalID=${externalId}`),
    toKey: byCustomer(done),
    toOtherTokens: noCustomer,
  },
  getCustomer: {
    scope: 'customers:read',
    request: ({ customerId }) => get(`${customersUrl}/${customerId}`),
    toKey: byCustomer(done),
    itsTokenIsOf: 'customer',
    toItsToken: always(done),
    toOtherTokens: noCustomer,
  },
  deleteCustomer: {
    scope: 'customers:write',
    // The customers of the walk are of a shop that was suspended since: nobody is deleted.
    request: ({ customerId }) => remove(`${customersUrl}/${customerId}`),
    toKey: byCustomer(refusal('invalidShopStatus', 'Invalid shop status')),
    toOtherTokens: unauthorized,
  },
  issueCustomerToken: {
    scope: 'customers:write',
    request: ({ customerId }) => post(`${customersUrl}/${customerId}/access-tokens`),
    toKey: byCustomer({ status: 201 }),
    toOtherTokens: unauthorized,
  },
  createBinding: {
    scope: 'customers:write',
    request: ({ customerId, cardToken, cardSession }) =>
      post(`${customersUrl}/${customerId}/bindings`, {
        paymentResource: { paymentToolToken: cardToken, paymentSession: cardSession },
      }),
    toKey: byCustomer(refusal('invalidShopStatus', 'Invalid shop status')),
    itsTokenIsOf: 'customer',
    // The other party may bind a card to its own customer, but not the card of this one.
    toItsToken: { own: refusal('invalidShopStatus', 'Invalid shop status'), foreign: noCard },
    toOtherTokens: unauthorized,
  },
  listBindings: {
    scope: 'customers:read',
    request: ({ customerId }) => get(`${customersUrl}/${customerId}/bindings`),
    toKey: byCustomer(done),
    itsTokenIsOf: 'customer',
    toItsToken: always(done),
    toOtherTokens: noCustomer,
  },
  getBinding: {
    scope: 'customers:read',
    request: ({ customerId, bindingId }) => get(`${customersUrl}/${customerId}/bindings/${bindingId}`),
    toKey: byCustomer(done),
    itsTokenIsOf: 'customer',
    toItsToken: always(done),
    toOtherTokens: noCustomer,
  },
  withdrawBinding: {
    scope: 'customers:write',
    // The bindings of the walk are withdrawn: once more changes nothing.
    request: ({ customerId, bindingId }) => remove(`${customersUrl}/${customerId}/bindings/${bindingId}`),
    toKey: byCustomer({ status: 204 }),
    itsTokenIsOf: 'customer',
    toItsToken: always({ status: 204 }),
    toOtherTokens: unauthorized,
  },
  listCustomerEvents: {
    scope: 'customers:read',
    request: ({ customerId }) => get(`${customersUrl}/${customerId}/events?limit=5`),
    toKey: byCustomer(done),
    itsTokenIsOf: 'customer',
    toItsToken: always(done),
    toOtherTokens: noCustomer,
  },
  listCustomerPaymentMethods: {
    scope: 'customers:read',
    request: ({ customerId }) => get(`${customersUrl}/${customerId}/payment-methods`),
    toKey: byCustomer(done),
    itsTokenIsOf: 'customer',
    toItsToken: always(done),
    toOtherTokens: noCustomer,
  },
  getRecurring: {
    scope: 'payments:read',
    request: ({ invoiceId }) => get(`${invoicesUrl}/${invoiceId}/payments/1/recurring`),
    toKey: byInvoice(noSeries),
    toOtherTokens: noInvoice,
  },
  listRecurringEvents: {
    scope: 'payments:read',
    request: ({ invoiceId }) => get(`${invoicesUrl}/${invoiceId}/payments/1/recurring/events?limit=10`),
    toKey: byInvoice(noSeries),
    toOtherTokens: noInvoice,
  },
  getConsentBundle: {
    scope: 'payments:read',
    request: ({ invoiceId }) => get(`${invoicesUrl}/${invoiceId}/payments/1/recurring/consent`),
    toKey: byInvoice(noSeries),
    toOtherTokens: noInvoice,
  },
  getCustomerRecurring: {
    scope: 'customers:read',
    request: ({ customerId }) => get(`${customersUrl}/${customerId}/recurring`),
    // The card of the walk is withdrawn.
    toKey: byCustomer(refusal('customerNotReady', 'Specified customer is not ready')),
    toOtherTokens: noCustomer,
  },
  getBindingConsent: {
    scope: 'customers:read',
    request: ({ customerId, bindingId }) =>
      get(`${customersUrl}/${customerId}/bindings/${bindingId}/consent`),
    toKey: byCustomer(done),
    toOtherTokens: noCustomer,
  },
  getConsentSheet: {
    scope: 'payments:read',
    request: ({ invoiceId }) => get(`${invoicesUrl}/${invoiceId}/payments/1/recurring/consent/sheet`),
    toKey: byInvoice(noSeries),
    toOtherTokens: noInvoice,
  },
  getReceipt: {
    scope: 'payments:read',
    request: ({ invoiceId }) => get(`${invoicesUrl}/${invoiceId}/payments/1/receipt`),
    toKey: byInvoice(noSeries),
    toOtherTokens: noInvoice,
  },
  withdrawConsent: {
    scope: 'payments:write',
    request: ({ invoiceId }) =>
      post(`${invoicesUrl}/${invoiceId}/payments/1/recurring/withdraw`, { reason: 'x' }),
    toKey: byInvoice(noSeries),
    toOtherTokens: unauthorized,
  },
  createIdentity: {
    scope: 'identities:write',
    request: () => post('/wallet/v0/identities', { name: 'A', provider: 'test', class: 'person' }),
    toKey: always({ status: 201 }),
    toOtherTokens: unauthorized,
  },
  listIdentities: {
    scope: 'payouts:read',
    request: () => get('/wallet/v0/identities'),
    toKey: always(done),
    toOtherTokens: unauthorized,
  },
  getIdentity: {
    scope: 'payouts:read',
    request: ({ identityId }) => get(`/wallet/v0/identities/${identityId}`),
    toKey: ownAlone(done),
    toOtherTokens: unauthorized,
  },
  startChallenge: {
    scope: 'identities:write',
    request: ({ identityId }) =>
      post(`/wallet/v0/identities/${identityId}/challenges`, { type: 'no-such', proofs: [] }),
    toKey: ownAlone(unacceptable('noSuchChallengeType', 'No such challenge type')),
    toOtherTokens: unauthorized,
  },
  listChallenges: {
    scope: 'payouts:read',
    request: ({ identityId }) => get(`/wallet/v0/identities/${identityId}/challenges`),
    toKey: ownAlone(done),
    toOtherTokens: unauthorized,
  },
  getChallenge: {
    scope: 'payouts:read',
    request: ({ identityId, challengeId }) =>
      get(`/wallet/v0/identities/${identityId}/challenges/${challengeId}`),
    toKey: ownAlone(done),
    toOtherTokens: unauthorized,
  },
  createWallet: {
    scope: 'wallets:write',
    request: ({ identityId: identity }) =>
      post('/wallet/v0/wallets', { name: 'W', identity, currency: 'RUB' }),
    toKey: ownAlone({ status: 201 }, noIdentity),
    toOtherTokens: unauthorized,
  },
  listWallets: {
    scope: 'payouts:read',
    request: () => get('/wallet/v0/wallets?limit=1'),
    toKey: always(done),
    toOtherTokens: unauthorized,
  },
  getWallet: {
    scope: 'payouts:read',
    request: ({ walletId }) => get(`/wallet/v0/wallets/${walletId}`),
    toKey: ownAlone(done),
    toOtherTokens: unauthorized,
  },
  getWalletAccount: {
    scope: 'payouts:read',
    request: ({ walletId }) => get(`/wallet/v0/wallets/${walletId}/account`),
    toKey: ownAlone(done),
    toOtherTokens: unauthorized,
  },
  findWallet: {
    scope: 'payouts:read',
    request: ({ externalId }) => get(`/wallet/v0/external/wallets?externalID=${externalId}`),
    toKey: ownAlone(done),
    toOtherTokens: unauthorized,
  },
  grantWallet: {
    scope: 'payouts:write',
    request: ({ walletId }) => post(`/wallet/v0/wallets/${walletId}/grants`, { asset, validUntil }),
    toKey: ownAlone({ status: 201 }),
    toOtherTokens: unauthorized,
  },
  listDeposits: {
    scope: 'payouts:read',
    request: () => get('/wallet/v0/deposits?limit=1'),
    toKey: always(done),
    toOtherTokens: unauthorized,
  },
  makeTestDeposit: {
    scope: 'sandbox',
    request: ({ walletId: wallet }) => post('/wallet/v0/test/deposits', { wallet, body: asset }),
    toKey: ownAlone({ status: 202 }, noWallet),
    toOtherTokens: unauthorized,
  },
  storeBankCard: {
    scope: 'payouts:write',
    request: () => post('/payres/v0/bank-cards', card('4242424242424242')),
    toKey: always({ status: 201 }),
    toOtherTokens: unauthorized,
  },
  getBankCard: {
    scope: 'payouts:read',
    request: ({ bankCard }) => get(`/payres/v0/bank-cards/${bankCard}`),
    toKey: ownAlone(done),
    toOtherTokens: unauthorized,
  },
  createDestination: {
    scope: 'payouts:write',
    request: ({ identityId: identity, bankCard: token }) =>
      post('/wallet/v0/destinations', {
        name: 'D',
        identity,
        currency: 'RUB',
        resource: { type: 'BankCardDestinationResource', token },
      }),
    toKey: ownAlone({ status: 201 }, invalidToken),
    toOtherTokens: unauthorized,
  },
  listDestinations: {
    scope: 'payouts:read',
    request: () => get('/wallet/v0/destinations?limit=1'),
    toKey: always(done),
    toOtherTokens: unauthorized,
  },
  getDestination: {
    scope: 'payouts:read',
    request: ({ destinationId }) => get(`/wallet/v0/destinations/${destinationId}`),
    toKey: ownAlone(done),
    toOtherTokens: unauthorized,
  },
  findDestination: {
    scope: 'payouts:read',
    request: ({ externalId }) => get(`/wallet/v0/external-ids/destinations/${externalId}`),
    toKey: ownAlone(done),
    toOtherTokens: unauthorized,
  },
  listDestinationEvents: {
    scope: 'payouts:read',
    request: ({ destinationId }) => get(`/wallet/v0/destinations/${destinationId}/events?limit=5`),
    toKey: ownAlone(done),
    toOtherTokens: unauthorized,
  },
  grantDestination: {
    scope: 'payouts:write',
    request: ({ destinationId }) => post(`/wallet/v0/destinations/${destinationId}/grants`, { validUntil }),
    toKey: ownAlone({ status: 201 }),
    toOtherTokens: unauthorized,
  },
  createWithdrawal: {
    scope: 'payouts:write',
    request: ({ walletId: wallet, destinationId: destination }) =>
      post('/wallet/v0/withdrawals', { wallet, destination, body: asset }),
    toKey: ownAlone({ status: 202 }, noWallet),
    toOtherTokens: unauthorized,
  },
  listWithdrawals: {
    scope: 'payouts:read',
    request: () => get('/wallet/v0/withdrawals?limit=1'),
    toKey: always(done),
    toOtherTokens: unauthorized,
  },
  getWithdrawal: {
    scope: 'payouts:read',
    request: ({ withdrawalId }) => get(`/wallet/v0/withdrawals/${withdrawalId}`),
    toKey: ownAlone(done),
    toOtherTokens: unauthorized,
  },
  findWithdrawal: {
    scope: 'payouts:read',
    request: ({ externalId }) => get(`/wallet/v0/external-ids/withdrawals/${externalId}`),
    toKey: ownAlone(done),
    toOtherTokens: unauthorized,
  },
  listWithdrawalEvents: {
    scope: 'payouts:read',
    request: ({ withdrawalId }) => get(`/wallet/v0/withdrawals/${withdrawalId}/events?limit=5`),
    toKey: ownAlone(done),
    toOtherTokens: unauthorized,
  },
  getWithdrawalEvent: {
    scope: 'payouts:read',
    request: ({ withdrawalId }) => get(`/wallet/v0/withdrawals/${withdrawalId}/events/1`),
    toKey: ownAlone(done),
    toOtherTokens: unauthorized,
  },
  createQuote: {
    scope: 'payouts:read',
    request: ({ walletId: walletID }) =>
      post('/wallet/v0/withdrawal-quotes', { walletID, currencyFrom: 'RUB', currencyTo: 'USD', cash: asset }),
    toKey: always({ status: 501 }),
    toOtherTokens: unauthorized,
  },
  createTransfer: {
    scope: 'payouts:write',
    request: ({ walletId: sender }) =>
      post('/wallet/v0/w2w/transfers', { sender, receiver: names.foreign.walletId, body: asset }),
    toKey: ownAlone({ status: 202 }, unacceptable('noSuchSender', 'No such wallet sender')),
    toOtherTokens: unauthorized,
  },
  getTransfer: {
    scope: 'payouts:read',
    request: ({ transferId }) => get(`/wallet/v0/w2w/transfers/${transferId}`),
    toKey: ownAlone(done),
    toOtherTokens: unauthorized,
  },
  listProviders: {
    scope: 'payouts:read',
    request: () => get('/wallet/v0/providers'),
    toKey: always(done),
    toOtherTokens: unauthorized,
  },
  // What follows is everybody's: there is none of another party.
  getProvider: {
    scope: 'payouts:read',
    request: ({ provider }) => get(`/wallet/v0/providers/${provider}`),
    toKey: ownAlone(done),
    toOtherTokens: unauthorized,
  },
  listIdentityClasses: {
    scope: 'payouts:read',
    request: ({ provider }) => get(`/wallet/v0/providers/${provider}/identity-classes`),
    toKey: ownAlone(done),
    toOtherTokens: unauthorized,
  },
  getIdentityClass: {
    scope: 'payouts:read',
    request: ({ provider }) => get(`/wallet/v0/providers/${provider}/identity-classes/person`),
    toKey: ownAlone(done),
    toOtherTokens: unauthorized,
  },
  getResidence: {
    scope: 'payouts:read',
    request: () => get('/wallet/v0/residences/RUS'),
    toKey: always(done),
    toOtherTokens: unauthorized,
  },
  getCurrency: {
    scope: 'payouts:read',
    request: ({ currency }) => get(`/wallet/v0/currencies/${currency}`),
    toKey: ownAlone(done),
    toOtherTokens: unauthorized,
  },
  getMe: {
    scope: 'shops:read',
    request: () => get('/v2/processing/me'),
    toKey: always(done),
    toOtherTokens: unauthorized,
  },
  listShops: {
    scope: 'shops:read',
    request: () => get('/v2/processing/shops'),
    toKey: always(done),
    toOtherTokens: unauthorized,
  },
  getShop: {
    scope: 'shops:read',
    request: ({ shopId }) => get(`/v2/processing/shops/${shopId}`),
    toKey: { own: done, foreign: noShop, unknown: noShop },
    toOtherTokens: unauthorized,
  },
  listCategories: {
    scope: 'shops:read',
    request: () => get('/v2/processing/categories'),
    toKey: always(done),
    toOtherTokens: unauthorized,
  },
  getCategory: {
    scope: 'shops:read',
    request: ({ categoryId }) => get(`/v2/processing/categories/${categoryId}`),
    // Categories are everybody's: there are none of another party.
    toKey: { own: done, foreign: noCategory, unknown: noCategory },
    toOtherTokens: unauthorized,
  },
  getTestClock: {
    scope: 'sandbox',
    request: () => get('/sandbox/clock'),
    toKey: always(done),
    toOtherTokens: unauthorized,
  },
  advanceTestClock: {
    scope: 'sandbox',
    request: () => post('/sandbox/clock', { now: '2026-01-19T10:00:00.123Z' }),
    toKey: always(done),
    toOtherTokens: unauthorized,
  },
  listOutbox: {
    scope: 'sandbox',
    request: ({ invoiceId }) => get(`/sandbox/outbox?invoiceID=${invoiceId}`),
    toKey: always({ status: 200, body: [] }),
    toOtherTokens: unauthorized,
  },
};

/** A caller: what he sends, and who he then is. */
type CallerKind =
  | { readonly kind: 'nobody' }
  | { readonly kind: 'key'; readonly scopes: readonly string[] }
  | { readonly kind: 'token'; readonly of: TokenKind; readonly entity?: 'own' | 'foreign' };
type Caller = CallerKind & { readonly name: string; readonly authorization: string | undefined };

let world: PayoutWorld;
let service: TestService;
let merchant: Merchant;
let names: Names;
let callers: Caller[];

beforeAll(async () => {
  world = await startPayoutWorld();
  ({ service, merchant } = world);
  const other = await world.createMerchant();
  const ownWebhookId = await webhookOf(merchant, undefined);
  const own = { ...(await ended(merchant, 'own')), webhookId: ownWebhookId };
  const foreign = { ...(await ended(other, 'foreign')), webhookId: await webhookOf(other, ownWebhookId) };

  const { token: cardToken, session: cardSession } = await world.tokenize('4242424242424242');
  const [ownCustomer, foreignCustomer] = [
    await withdrawn(merchant, 'own'),
    await withdrawn(other, 'foreign'),
  ];
  await service.database.withClient((client) =>
    client.query(`update shop set shop_id = 'ONLY_OTHERS' where party_id = $1 and shop_id = 'TEST'`, [
      other.partyId,
    ]),
  );
  const [payingOut, othersPayingOut] = [await paidOut(merchant, 'own'), await paidOut(other, 'foreign')];
  names = {
    own: {
      ...payingOut,
      invoiceId: own.id,
      customerId: ownCustomer.id,
      bindingId: ownCustomer.bindingId,
      webhookId: own.webhookId,
      externalId: 'own',
      shopId: 'TEST',
      categoryId: '1',
      cardToken,
      cardSession,
    },
    foreign: {
      invoiceId: foreign.id,
      customerId: foreignCustomer.id,
      bindingId: foreignCustomer.bindingId,
      webhookId: foreign.webhookId,
      externalId: 'foreign',
      shopId: 'ONLY_OTHERS',
      categoryId: '998',
      cardToken,
      ...othersPayingOut,
      provider: 'none',
      currency: 'XXQ',
      cardSession,
    },
    unknown: {
      invoiceId: '1Cg2mCUVy4m',
      customerId: '1DEpdIW9Y9o',
      bindingId: '1DEpdIW9Y9p',
      webhookId: '107498',
      externalId: 'unknown',
      shopId: 'NOWHERE',
      categoryId: '999',
      cardToken,
      identityId: 'nobody',
      challengeId: 'none',
      walletId: 'nothing',
      bankCard: `r1.${'x'.repeat(23)}`,
      destinationId: 'nowhere',
      withdrawalId: 'none',
      transferId: 'none',
      provider: 'none',
      currency: 'XXQ',
      cardSession,
    },
  };
  callers = await allCallers({ own, foreign, ownCustomer, foreignCustomer });
});
afterAll(() => world.close());

/** As many webhooks as there may be; this one is changing its keys. */
async function webhookOf(by: Merchant, first: string | undefined): Promise<string> {
  const { partyId, apiKey: token } = by;
  const owner = { partyId, shopId: 'TEST' };
  const id = first ?? (await makeWebhook(service, by));
  const ids = await copyWebhook(service, id, owner, first ? 10 : 9);
  const changing = ids[0]!;
  const rotated = await service.call('POST', `${webhooksUrl}/${changing}/rotate-keys`, { token, body: {} });
  expect(rotated.status).toBe(200);
  return changing;
}

const walletWebhook = {
  scope: { topic: 'DestinationsTopic', eventTypes: ['DestinationAuthorized'] },
  url: nowhere,
};

function webhook(shopID: string) {
  return { scope: { topic: 'InvoicesTopic', shopID, eventTypes: ['InvoicePaid'] }, url: nowhere };
}

/** An invoice that is rescinded, with one payment, that was held and cancelled; both have that name. */
async function ended(by: Merchant, externalID: string): Promise<{ id: string; token: string }> {
  const made = await makeInvoice(service, by, { externalID });
  const { token: cardToken } = await world.tokenize('4242424242424242', by.apiKey);
  const hold = { ...payment(cardToken), flow: { type: 'PaymentFlowHold' }, externalID };
  const body = { reason: 'for the walk' };
  for (const [path, status, sent] of [
    ['payments', 201, hold],
    ['payments/1/cancel', 202, body],
    ['rescind', 204, body],
  ] as const) {
    const url = `${invoicesUrl}/${made.id}/${path}`;
    const answer = await service.call('POST', url, { token: by.apiKey, body: sent });
    expect({ path, status: answer.status, text: answer.text }).toMatchObject({ path, status });
    await service.engine.settled();
  }
  return made;
}

/** A wallet from which something was paid out and transferred; all bear that name. */
async function paidOut(by: Merchant, externalID: string) {
  const make = async (path: string, body: object): Promise<any> => {
    const answer = await world.post(path, body, by.apiKey);
    expect({ path, status: answer.status < 300, text: answer.text }).toMatchObject({ path, status: true });
    await service.engine.settled();
    return answer.body;
  };
  const { identity, wallet } = await world.openWallet(by, { externalID });
  const proofs = [{ type: 'RUSDomesticPassport', token: 'any' }];
  const challenge = await make(`/wallet/v0/identities/${identity}/challenges`, { type: 'esia', proofs });
  const named = await make('/wallet/v0/wallets', { name: 'W', identity, currency: 'RUB', externalID });
  const bankCard = await world.storeCard('4242424242424242', by);
  const destination = await make('/wallet/v0/destinations', {
    name: 'D',
    identity,
    currency: 'RUB',
    resource: { type: 'BankCardDestinationResource', token: bankCard },
    externalID,
  });
  const body = asset;
  const withdrawal = await make('/wallet/v0/withdrawals', {
    wallet,
    destination: destination.id,
    body,
    externalID,
  });
  const transfer = await make('/wallet/v0/w2w/transfers', { sender: wallet, receiver: named.id, body });
  return {
    identityId: identity,
    challengeId: challenge.id as string,
    walletId: wallet,
    bankCard,
    destinationId: destination.id as string,
    withdrawalId: withdrawal.id as string,
    transferId: transfer.id as string,
    provider: 'test',
    currency: 'RUB',
  };
}

/** A customer with one card, that was withdrawn, of a shop that trades no more since. */
async function withdrawn(by: Merchant, externalID: string) {
  const token = by.apiKey;
  const person = { shopID: 'TEST_EUR', contactInfo: {}, externalID };
  const made = await service.call('POST', customersUrl, { token, body: person });
  const { customer, customerAccessToken } = made.body;
  const card = await world.tokenize('4242424242424242', token);
  const url = `${customersUrl}/${customer.id}/bindings`;
  const body = { paymentResource: { paymentToolToken: card.token, paymentSession: card.session } };
  const bound = await service.call('POST', url, { token, body });
  await service.engine.settled();
  expect((await service.call('DELETE', `${url}/${bound.body.id}`, { token })).status).toBe(204);
  await service.database.withClient((client) =>
    client.query(`update shop set is_suspended = true where party_id = $1 and shop_id = 'TEST_EUR'`, [
      by.partyId,
    ]),
  );
  const suspended = () => service.call('GET', '/v2/processing/shops/TEST_EUR', { token });
  await vi.waitUntil(async () => (await suspended()).body.isSuspended, { interval: 50, timeout: 30_000 });
  return {
    id: customer.id as string,
    bindingId: bound.body.id as string,
    token: customerAccessToken.payload,
  };
}

function payment(paymentToolToken: string) {
  return { payer: { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} } };
}

async function allCallers({
  own,
  foreign,
  ownCustomer,
  foreignCustomer,
}: {
  own: { id: string; token: string };
  foreign: { token: string };
  ownCustomer: { token: string };
  foreignCustomer: { token: string };
}): Promise<Caller[]> {
  const { partyId } = merchant;
  const keyWith = (given: readonly string[]) =>
    service.apiKeys.create({ partyId, name: 'walk', scopes: given });
  const tokenOf = (subject: Omit<TokenSubject, 'partyId'>) =>
    accessTokens(service.keyring, service.clock).issue({ ...subject, partyId });
  const bearer = (name: string, token: string, who: CallerKind): Caller => ({
    name,
    authorization: `Bearer ${token}`,
    ...who,
  });
  const nobody = { kind: 'nobody' } as const;
  const sibling = await makeInvoiceThatIs('cancelled', service, merchant);
  const key = merchant.apiKey;
  const revoked = await keyWith(scopes);
  await service.apiKeys.revoke(keyIdOf(revoked));
  const expired = await keyWith(scopes);
  await service.apiKeys.rotate(keyIdOf(expired), 0);
  const threeDaysAgo = { now: () => laterBy(service.clock.now(), -threeDaysMs) };
  const invoice = { kind: 'invoice', entityId: own.id, partyId } as const;
  const forged = await forgedTokens(service, { invoiceId: own.id, partyId });

  return [
    bearer('a key with every scope', key, { kind: 'key', scopes }),
    ...(await Promise.all(
      scopes.map(async (scope) =>
        bearer(`a key with ${scope} alone`, await keyWith([scope]), { kind: 'key', scopes: [scope] }),
      ),
    )),
    bearer('a key with a scope nobody knows', await keyWith(['everything']), { kind: 'key', scopes: [] }),
    bearer('a key with every scope there will be', await keyWith(['*']), { kind: 'key', scopes }),
    bearer('the token of the own invoice', own.token, { kind: 'token', of: 'invoice', entity: 'own' }),
    bearer("the token of another's invoice", foreign.token, {
      kind: 'token',
      of: 'invoice',
      entity: 'foreign',
    }),
    bearer('the token of another invoice of the same party', sibling.token, { kind: 'token', of: 'invoice' }),
    bearer('the token of the own customer', ownCustomer.token, {
      kind: 'token',
      of: 'customer',
      entity: 'own',
    }),
    bearer("the token of another's customer", foreignCustomer.token, {
      kind: 'token',
      of: 'customer',
      entity: 'foreign',
    }),
    bearer('a customer token', tokenOf({ kind: 'customer', entityId: 'someone' }), {
      kind: 'token',
      of: 'customer',
    }),
    bearer('a customer token with the id of the invoice', tokenOf({ kind: 'customer', entityId: own.id }), {
      kind: 'token',
      of: 'customer',
    }),
    bearer('a template token', tokenOf({ kind: 'invoice-template', entityId: 'some' }), {
      kind: 'token',
      of: 'invoice-template',
    }),
    bearer(
      'a template token with the id of the invoice',
      tokenOf({ kind: 'invoice-template', entityId: own.id }),
      { kind: 'token', of: 'invoice-template' },
    ),
    bearer('an expired token', accessTokens(service.keyring, threeDaysAgo).issue(invoice), nobody),
    ...Object.entries(forged).map(([name, token]) => bearer(`a token ${name}`, token, nobody)),
    bearer('a revoked key', revoked, nobody),
    bearer('an expired key', expired, nobody),
    bearer('a key that says it is of live mode', checksummed(key.replace('_test_', '_live_')), nobody),
    bearer('a key of no mode', checksummed(key.replace('_test_', '_none_')), nobody),
    bearer('a key with another secret', checksummed(changed(key, -10)), nobody),
    bearer('a key of nobody', checksummed(changed(key, 15)), nobody),
    bearer('a mistyped key', changed(key, -10), nobody),
    bearer('a key cut short', key.slice(0, -1), nobody),
    bearer('a key with something behind it', `${key}0`, nobody),
    bearer('garbage', 'garbage', nobody),
    bearer('two tokens', `${key} ${key}`, nobody),
    { name: 'an empty token', authorization: 'Bearer ', ...nobody },
    { name: 'an empty header', authorization: '', ...nobody },
    { name: 'the key without a scheme', authorization: key, ...nobody },
    { name: 'the key as a Basic password', authorization: `Basic ${btoa(`${key}:`)}`, ...nobody },
    { name: 'the key under another scheme', authorization: `Token ${key}`, ...nobody },
    { name: 'no header', authorization: undefined, ...nobody },
  ];
}

const keyIdOf = (key: string) => key.split('_')[2] ?? '';

/** As somebody would make it who knows how keys are written. */
function checksummed(key: string): string {
  const text = key.slice(0, -6);
  return text + crc32(text).toString(16).padStart(8, '0').slice(2);
}

/** Another character at that place, by which the checksum does not fit either. */
function changed(key: string, place: number): string {
  const at = place < 0 ? key.length + place : place;
  return key.slice(0, at) + (key[at] === '0' ? '1' : '0') + key.slice(at + 1);
}

function expectedOf(row: Row, caller: Caller, entity: Entity): Expected {
  if (caller.kind === 'nobody') return unauthorized;
  if (caller.kind === 'key') return caller.scopes.includes(row.scope) ? row.toKey[entity] : unauthorized;
  const toKind = row.toTokensOf?.[caller.of];
  if (toKind) return toKind;
  const isIts = caller.of === (row.itsTokenIsOf ?? 'invoice') && caller.entity === entity;
  return isIts && caller.entity && row.toItsToken ? row.toItsToken[caller.entity] : row.toOtherTokens;
}

function call({ method, url, body }: Request, authorization: string | undefined): Promise<Answer> {
  return service.call(method, url, { headers: { authorization }, ...(body === undefined ? {} : { body }) });
}

const operations = [...routes, ...sandboxRoutes];

test('every operation has its expectation, and none is left from before', () => {
  expect(operations.map(({ operation }) => operation).sort()).toEqual(Object.keys(expectations).sort());
});

describe.each(operations.map(({ operation }) => operation))('%s', (operation) => {
  const row = expectations[operation];
  if (!row) return test('has an expectation', () => expect.unreachable('write one from the contract'));

  test('lets in whom it may and nobody else', async () => {
    for (const caller of callers) {
      for (const entity of entities) {
        const expected = expectedOf(row, caller, entity);
        const answer = await call(row.request(names[entity]), caller.authorization);
        const at = { caller: caller.name, entity };
        const { status } = answer;
        expect({ ...at, status, body: answer.body }).toEqual({
          ...at,
          status: expected.status,
          body:
            [401, 204].includes(expected.status) || expected.isEmpty
              ? undefined
              : (expected.body ?? expect.anything()),
        });
        if (status === 401)
          expect(answer).toMatchObject({ text: '', headers: { 'www-authenticate': 'Bearer' } });
      }
    }
  });

  test("answers the same for another party's entity as for one that does not exist", async () => {
    // The owner of the foreign entity is no stranger to it.
    for (const caller of callers.filter(({ name }) => !name.startsWith("the token of another's"))) {
      const [foreign, unknown] = await Promise.all([
        call(row.request(names.foreign), caller.authorization),
        call(row.request(names.unknown), caller.authorization),
      ]);
      const seen = ({ status, text, headers: { date: _, ...headers } }: Answer) => ({
        status,
        text,
        headers,
      });
      if (foreign.status < 400) continue; // an operation that names no entity
      expect({ caller: caller.name, ...seen(foreign) }).toEqual({ caller: caller.name, ...seen(unknown) });
    }
  });
});

test('a webhook is deleted by a key of its own party with the scope for it, and by nobody else', async () => {
  const { own, foreign } = names;
  const remove = (webhookId: string, authorization: string | undefined) =>
    call({ method: 'DELETE', url: `${webhooksUrl}/${webhookId}` }, authorization);
  for (const { name, authorization, ...caller } of callers) {
    const mayCall = caller.kind === 'key' && caller.scopes.includes('webhooks:write');
    if (mayCall) continue;
    expect({ name, status: (await remove(own.webhookId, authorization)).status }).toEqual({
      name,
      status: 401,
    });
  }
  const key = `Bearer ${merchant.apiKey}`;
  expect(await remove(foreign.webhookId, key)).toMatchObject({
    status: 404,
    body: { message: 'Webhook not found' },
  });
  expect((await remove(own.webhookId, key)).status).toBe(204);
  expect((await remove(own.webhookId, key)).status).toBe(404);
  expect((await call(get(`${webhooksUrl}/${own.webhookId}`), key)).status).toBe(404);
});

test('the scheme may be written in any case', async () => {
  for (const scheme of ['bearer', 'BEARER', 'bEaReR']) {
    expect((await call(get('/v2/processing/me'), `${scheme} ${merchant.apiKey}`)).status).toBe(200);
  }
});

test('an invoice token works for three days to the second', async () => {
  const { id } = await makeInvoice(service, merchant);
  // Tokens know whole seconds.
  service.clock.set(Math.ceil(epochMsOf(service.clock.now()) / 1000) * 1000);
  const issued = await service.call('POST', `${invoicesUrl}/${id}/access-tokens`, { token: merchant.apiKey });
  const token: string = issued.body.payload;
  const status = async () => (await service.call('GET', `${invoicesUrl}/${id}`, { token })).status;
  service.clock.advance(threeDaysMs - 1);
  expect(await status()).toBe(200);
  service.clock.advance(1);
  expect(await status()).toBe(401);
});

test('a token made before the key for tokens was rotated goes on working', async () => {
  const { id, token } = await makeInvoice(service, merchant);
  await service.keyring.rotate('access_token');
  const fresh = await makeInvoice(service, merchant);
  expect((await service.call('GET', `${invoicesUrl}/${id}`, { token })).status).toBe(200);
  expect((await service.call('GET', `${invoicesUrl}/${fresh.id}`, { token: fresh.token })).status).toBe(200);
});

test('a key that is replaced works until the overlap ends, a revoked one not a moment longer', async () => {
  const { partyId } = merchant;
  const key = await service.apiKeys.create({ partyId, name: 'replaced', scopes: ['shops:read'] });
  const status = async (token: string) => (await service.call('GET', '/v2/processing/me', { token })).status;
  const next = await service.apiKeys.rotate(keyIdOf(key), 60_000);
  if (!next) throw new Error('the key was not replaced');
  service.clock.advance(59_999);
  expect(await status(key)).toBe(200);
  service.clock.advance(1);
  expect(await status(key)).toBe(401);
  expect(await status(next)).toBe(200);
  await service.apiKeys.revoke(keyIdOf(next));
  expect(await status(next)).toBe(401);
});
