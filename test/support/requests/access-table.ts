// The scope that every operation needs, and its response to each kind of token for its own, a foreign and an unknown entity.
// Written from the contract, independent of the service's own table.
import { expect } from 'vitest';
import type { TokenKind } from '../../../src/caller.ts';
import { cardBody, paymentResourcesUrl } from '../worlds/cards.ts';
import { consentLinksUrl, dearer } from '../worlds/consent-links.ts';
import { customersUrl } from '../worlds/customer-world.ts';
import { invoicesUrl, order, template, templatesUrl } from '../worlds/invoices.ts';
import { subscriptionsUrl } from '../subscriptions/subscription-world.ts';
import { card } from '../worlds/payout-world.ts';
import { nowhere, webhooksUrl } from '../receivers/webhooks.ts';

export const scopes = [
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
  'subscriptions:read',
  'subscriptions:write',
  'sandbox',
] as const;
export const entities = ['own', 'foreign', 'unknown'] as const;
export type Entity = (typeof entities)[number];
export type Request = { method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'; url: string; body?: unknown };
/** `status` alone, or with the whole body, or with none. */
export type Expected = { readonly status: number; readonly body?: unknown; readonly isEmpty?: true };

/** The request of an operation for each entity, the scope it needs of a key, and its responses. */
export type Row = {
  readonly scope: (typeof scopes)[number];
  /** A second one that the key needs too. */
  readonly alsoScope?: (typeof scopes)[number];
  readonly request: (names: Names[Entity]) => Request;
  /** With a key that may call it. */
  readonly toKey: Record<Entity, Expected>;
  /** With the token of the invoice in the path; absent if an invoice token may not call it (2.2). */
  readonly toItsToken?: { readonly own: Expected; readonly foreign: Expected };
  /** The kind of that token; an invoice's by default. */
  readonly itsTokenIsOf?: 'customer' | 'invoice-template';
  /** With any token of that kind, if the request names no entity to compare with the token's own. */
  readonly toTokensOf?: Partial<Record<TokenKind, Expected>>;
  /** To any other access token (2.3). */
  readonly toOtherTokens: Expected;
};
export type Names = Record<
  Entity,
  {
    invoiceId: string;
    templateId: string;
    customerId: string;
    bindingId: string;
    externalId: string;
    shopId: string;
    categoryId: string;
    webhookId: string;
    /** A card that the tested merchant tokenised; the same for every entity. */
    cardToken: string;
    /** A wallet of the other party; the same for every entity. */
    receiverId: string;
    identityId: string;
    challengeId: string;
    walletId: string;
    /** A card stored for payouts. */
    bankCard: string;
    destinationId: string;
    withdrawalId: string;
    transferId: string;
    provider: string;
    currency: string;
    cardSession: string;
  }
>;

export const unauthorized: Expected = { status: 401 };
const done: Expected = { status: 200 };
const noInvoice: Expected = { status: 404, body: { message: 'Invoice not found', hint: expect.any(String) } };
const noTemplate: Expected = {
  status: 404,
  body: { message: 'Invoice template not found', hint: expect.any(String) },
};
const noSeries: Expected = {
  status: 404,
  body: {
    message: 'This payment or binding belongs to no series of recurring charges',
    hint: expect.any(String),
  },
};
const noRefund: Expected = { status: 404, body: { message: 'Refund not found', hint: expect.any(String) } };
const noPayment: Expected = { status: 404, body: { message: 'Payment not found', hint: expect.any(String) } };
const noCustomer: Expected = {
  status: 404,
  body: { message: 'Customer not found', hint: expect.any(String) },
};
const sumTimes = 'fromTime=2026-01-01T00:00:00Z&toTime=2026-02-01T00:00:00Z';
const noShop: Expected = { status: 404, body: { message: 'Shop not found', hint: expect.any(String) } };
const noConsentLink: Expected = {
  status: 404,
  body: { message: 'Consent link not found', hint: expect.any(String) },
};
const noSubscription: Expected = {
  status: 404,
  body: { message: 'Subscription not found', hint: expect.any(String) },
};
const noDunningPolicy: Expected = {
  status: 404,
  body: { message: 'Dunning policy not found', hint: expect.any(String) },
};
const noWebhook: Expected = { status: 404, body: { message: 'Webhook not found', hint: expect.any(String) } };
const noFault: Expected = {
  status: 400,
  body: {
    code: 'faultNotOrdered',
    message: 'No bank took the fault. Check the terminal, and that the simulated bank of the shop runs.',
  },
};
const noCategory: Expected = {
  status: 404,
  body: { message: 'Category not found', hint: expect.any(String) },
};
const refusal = (code: string, message: string, hint?: RegExp): Expected => ({
  status: 400,
  body: { code, message, ...(hint ? { hint: expect.stringMatching(hint) } : {}) },
});
// The invoices of the test are rescinded and their payments cancelled: callers with access get that error, and nothing ever changes.
const wrongStatus = refusal('invalidInvoiceStatus', 'Invalid invoice status', /^The invoice is cancelled\. /);
const wrongPaymentStatus = refusal(
  'invalidPaymentStatus',
  'Invalid payment status',
  /^The payment is cancelled\. /,
);
const noCard = refusal('invalidPaymentToolToken', 'Specified payment tool token is invalid');

const byWebhook = (own: Expected) => ({ own, foreign: noWebhook, unknown: noWebhook });
/** The wallets API has no body in a 404. */
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
const byTemplate = (own: Expected) => ({ own, foreign: noTemplate, unknown: noTemplate });
/** The shop of the templates was suspended after they were made. */
const suspendedShop = refusal('invalidShopStatus', 'Invalid shop status');
const always = (answer: Expected) => ({ own: answer, foreign: answer, unknown: answer });
const post = (url: string, body?: unknown): Request => ({ method: 'POST', url, body });
const put = (url: string, body?: unknown): Request => ({ method: 'PUT', url, body });
const patch = (url: string, body?: unknown): Request => ({ method: 'PATCH', url, body });
const remove = (url: string): Request => ({ method: 'DELETE', url });
export const get = (url: string): Request => ({ method: 'GET', url });

export const asset = { amount: 1_000, currency: 'RUB' };
const validUntil = '2030-01-01T00:00:00Z';

export const expectations: Record<string, Row> = {
  createWebhook: {
    scope: 'webhooks:write',
    request: ({ shopId }) => post(webhooksUrl, webhook(shopId)),
    toKey: {
      // The limit of ten is reached.
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
    // They were rotated just before the test.
    toKey: byWebhook(
      refusal(
        'webhookRotationInProgress',
        'The keys are already being rotated. Wait until a day after the next keys take over.',
      ),
    ),
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
    // A webhook of a shop is not one of an identity.
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
  // A successful call deletes the webhook, so it has a test of its own.
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
  createCharge: {
    scope: 'payments:write',
    alsoScope: 'invoices:write',
    request: ({ invoiceId, shopId }) =>
      post('/v2/processing/charges', {
        invoice: { ...order, shopID: shopId, externalID: 'charged' },
        payment: {
          payer: {
            payerType: 'RecurrentPayer',
            recurrentParentPayment: { invoiceID: invoiceId, paymentID: '1' },
            contactInfo: {},
          },
        },
      }),
    // The payment of the first is no parent, and the other shop is not of this party.
    toKey: always({ status: 400 }),
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
    toKey: byInvoice(
      refusal('invalidPaymentStatus', 'Invalid invoice payment status', /^The payment is cancelled\. /),
    ),
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
    toKey: byInvoice({
      status: 404,
      body: { message: 'Invoice payment refund not found', hint: expect.any(String) },
    }),
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
    toOtherTokens: unauthorized,
  },
  getChargeback: {
    scope: 'payments:read',
    request: ({ invoiceId }) => get(`${invoicesUrl}/${invoiceId}/payments/1/chargebacks/1`),
    toKey: byInvoice({
      status: 404,
      body: { message: 'Invoice payment chargeback not found', hint: expect.any(String) },
    }),
    toOtherTokens: unauthorized,
  },
  createInvoiceTemplate: {
    scope: 'invoices:write',
    request: ({ shopId }) => post(templatesUrl, { ...template, shopID: shopId }),
    toKey: {
      own: { status: 201 },
      foreign: refusal('invalidShopID', 'Shop not found'),
      unknown: refusal('invalidShopID', 'Shop not found'),
    },
    toOtherTokens: unauthorized,
  },
  getInvoiceTemplate: {
    scope: 'invoices:read',
    request: ({ templateId }) => get(`${templatesUrl}/${templateId}`),
    toKey: byTemplate(done),
    itsTokenIsOf: 'invoice-template',
    toItsToken: always(done),
    toOtherTokens: noTemplate,
  },
  updateInvoiceTemplate: {
    scope: 'invoices:write',
    request: ({ templateId }) => ({
      method: 'PUT',
      url: `${templatesUrl}/${templateId}`,
      body: { name: 'A' },
    }),
    toKey: byTemplate(suspendedShop),
    toOtherTokens: unauthorized,
  },
  // Like a webhook.
  deleteInvoiceTemplate: {
    scope: 'invoices:write',
    request: ({ templateId }) => remove(`${templatesUrl}/${templateId}x`),
    toKey: always(noTemplate),
    toOtherTokens: unauthorized,
  },
  createInvoiceWithTemplate: {
    scope: 'invoices:write',
    request: ({ templateId }) => post(`${templatesUrl}/${templateId}/invoices`, {}),
    toKey: byTemplate(suspendedShop),
    itsTokenIsOf: 'invoice-template',
    toItsToken: always(suspendedShop),
    toOtherTokens: unauthorized,
  },
  listTemplatePaymentMethods: {
    scope: 'invoices:read',
    request: ({ templateId }) => get(`${templatesUrl}/${templateId}/payment-methods`),
    toKey: byTemplate(done),
    itsTokenIsOf: 'invoice-template',
    toItsToken: always(done),
    toOtherTokens: noTemplate,
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
    // The customers of the test belong to a shop that was suspended since, so none is deleted.
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
  getBindingTimeline: {
    scope: 'customers:read',
    request: ({ customerId, bindingId }) =>
      get(`${customersUrl}/${customerId}/bindings/${bindingId}/timeline`),
    toKey: byCustomer(done),
    toOtherTokens: noCustomer,
  },
  withdrawBinding: {
    scope: 'customers:write',
    // The bindings of the test are revoked, so another call changes nothing.
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
    // The card of the test is revoked.
    toKey: byCustomer(
      refusal('customerNotReady', 'Specified customer is not ready', /^The customer has no saved card\./),
    ),
    toOtherTokens: noCustomer,
  },
  getRecurringTimeline: {
    scope: 'payments:read',
    request: ({ invoiceId }) => get(`${invoicesUrl}/${invoiceId}/payments/1/recurring/timeline`),
    toKey: byInvoice(noSeries),
    toOtherTokens: noInvoice,
  },
  getCustomerRecurringTimeline: {
    scope: 'customers:read',
    alsoScope: 'payments:read',
    request: ({ customerId }) => get(`${customersUrl}/${customerId}/recurring/timeline`),
    toKey: byCustomer(done),
    toOtherTokens: noCustomer,
  },
  getBindingConsent: {
    scope: 'customers:read',
    request: ({ customerId, bindingId }) =>
      get(`${customersUrl}/${customerId}/bindings/${bindingId}/consent`),
    toKey: byCustomer(done),
    toOtherTokens: noCustomer,
  },
  getPaymentTimeline: {
    scope: 'payments:read',
    request: ({ invoiceId }) => get(`${invoicesUrl}/${invoiceId}/payments/1/timeline`),
    toKey: byInvoice(done),
    toOtherTokens: noInvoice,
  },
  getConsentSheet: {
    scope: 'payments:read',
    request: ({ invoiceId }) => get(`${invoicesUrl}/${invoiceId}/payments/1/recurring/consent/sheet`),
    toKey: byInvoice(noSeries),
    toOtherTokens: noInvoice,
  },
  getReceipt: {
    scope: 'payments:write',
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
  createConsentLink: {
    scope: 'payments:write',
    request: ({ invoiceId }) =>
      post(consentLinksUrl, { seriesID: `${invoiceId.slice(0, 30)}.1`, terms: dearer }),
    toKey: always({
      status: 404,
      body: { message: 'Series of recurring charges not found', hint: expect.any(String) },
    }),
    toOtherTokens: unauthorized,
  },
  getConsentLink: {
    scope: 'payments:read',
    request: ({ invoiceId }) => get(`${consentLinksUrl}/${invoiceId}`),
    toKey: always(noConsentLink),
    toOtherTokens: noConsentLink,
  },
  cancelConsentLink: {
    scope: 'payments:write',
    request: ({ invoiceId }) => post(`${consentLinksUrl}/${invoiceId}/cancel`),
    toKey: always(noConsentLink),
    toOtherTokens: unauthorized,
  },
  createSubscription: {
    scope: 'subscriptions:write',
    request: ({ customerId }) =>
      post(subscriptionsUrl, {
        customerID: customerId,
        items: [{ product: 'Tea', price: 100 }],
        every: 'P1M',
        timeZone: 'UTC',
      }),
    toKey: { own: { status: 400 }, foreign: noCustomer, unknown: noCustomer },
    toOtherTokens: unauthorized,
  },
  findSubscription: {
    scope: 'subscriptions:read',
    request: ({ externalId }) => get(`${subscriptionsUrl}?externalID=${externalId}`),
    toKey: always(noSubscription),
    toOtherTokens: noSubscription,
  },
  getSubscription: {
    scope: 'subscriptions:read',
    request: ({ invoiceId }) => get(`${subscriptionsUrl}/${invoiceId}`),
    toKey: always(noSubscription),
    toOtherTokens: noSubscription,
  },
  listSubscriptions: {
    scope: 'subscriptions:read',
    request: () => get('/v2/processing/shops/TEST/subscriptions?limit=10'),
    toKey: always({ status: 200, body: { result: [] } }),
    toOtherTokens: unauthorized,
  },
  listCustomerSubscriptions: {
    scope: 'subscriptions:read',
    request: ({ customerId }) => get(`${customersUrl}/${customerId}/subscriptions`),
    toKey: always({ status: 200, body: [] }),
    toOtherTokens: unauthorized,
  },
  listSubscriptionPeriods: {
    scope: 'subscriptions:read',
    request: ({ invoiceId }) => get(`${subscriptionsUrl}/${invoiceId}/periods`),
    toKey: always(noSubscription),
    toOtherTokens: noSubscription,
  },
  listUpcomingPeriods: {
    scope: 'subscriptions:read',
    request: ({ invoiceId }) => get(`${subscriptionsUrl}/${invoiceId}/upcoming`),
    toKey: always(noSubscription),
    toOtherTokens: noSubscription,
  },
  listSubscriptionEvents: {
    scope: 'subscriptions:read',
    request: ({ invoiceId }) => get(`${subscriptionsUrl}/${invoiceId}/events?limit=10`),
    toKey: always(noSubscription),
    toOtherTokens: noSubscription,
  },
  cancelSubscription: {
    scope: 'subscriptions:write',
    request: ({ invoiceId }) => post(`${subscriptionsUrl}/${invoiceId}/cancel`, { when: 'now' }),
    toKey: always(noSubscription),
    toOtherTokens: unauthorized,
  },
  pauseSubscription: {
    scope: 'subscriptions:write',
    request: ({ invoiceId }) => post(`${subscriptionsUrl}/${invoiceId}/pause`, {}),
    toKey: always(noSubscription),
    toOtherTokens: unauthorized,
  },
  resumeSubscription: {
    scope: 'subscriptions:write',
    request: ({ invoiceId }) => post(`${subscriptionsUrl}/${invoiceId}/resume`),
    toKey: always(noSubscription),
    toOtherTokens: unauthorized,
  },
  uncancelSubscription: {
    scope: 'subscriptions:write',
    request: ({ invoiceId }) => post(`${subscriptionsUrl}/${invoiceId}/uncancel`),
    toKey: always(noSubscription),
    toOtherTokens: unauthorized,
  },
  changeSubscriptionDetails: {
    scope: 'subscriptions:write',
    request: ({ invoiceId }) => patch(`${subscriptionsUrl}/${invoiceId}`, { detailsVersion: 1 }),
    toKey: always(noSubscription),
    toOtherTokens: unauthorized,
  },
  createSubscriptionLink: {
    scope: 'subscriptions:write',
    request: ({ invoiceId }) => post(`${subscriptionsUrl}/${invoiceId}/links`),
    toKey: always(noSubscription),
    toOtherTokens: unauthorized,
  },
  previewSubscriptionChange: {
    scope: 'subscriptions:read',
    request: ({ invoiceId }) => post(`${subscriptionsUrl}/${invoiceId}/preview`, { timeZone: 'UTC' }),
    toKey: always(noSubscription),
    toOtherTokens: noSubscription,
  },
  changeSubscription: {
    scope: 'subscriptions:write',
    request: ({ invoiceId }) => post(`${subscriptionsUrl}/${invoiceId}/change`, { timeZone: 'UTC' }),
    toKey: always(noSubscription),
    toOtherTokens: unauthorized,
  },
  takeBackSubscriptionChange: {
    scope: 'subscriptions:write',
    request: ({ invoiceId }) => post(`${subscriptionsUrl}/${invoiceId}/unchange`),
    toKey: always(noSubscription),
    toOtherTokens: unauthorized,
  },
  chargeSubscriptionPeriod: {
    scope: 'subscriptions:write',
    request: ({ invoiceId }) => post(`${subscriptionsUrl}/${invoiceId}/periods/1/charge`, {}),
    toKey: always(noSubscription),
    toOtherTokens: unauthorized,
  },
  closeSubscriptionPeriod: {
    scope: 'subscriptions:write',
    request: ({ invoiceId }) => post(`${subscriptionsUrl}/${invoiceId}/periods/1/close`, { as: 'forgiven' }),
    toKey: always(noSubscription),
    toOtherTokens: unauthorized,
  },
  listDunningPolicies: {
    scope: 'subscriptions:read',
    request: () => get('/v2/processing/shops/TEST/dunning-policies'),
    toKey: always({ status: 200, body: [] }),
    toOtherTokens: unauthorized,
  },
  getDunningPolicy: {
    scope: 'subscriptions:read',
    request: () => get('/v2/processing/shops/TEST/dunning-policies/gentle'),
    toKey: always(noDunningPolicy),
    toOtherTokens: unauthorized,
  },
  putDunningPolicy: {
    scope: 'subscriptions:write',
    request: () => put('/v2/processing/shops/TEST/dunning-policies/gentle', { tries: [1, 1], windowDays: 9 }),
    toKey: always({
      status: 400,
      body: {
        code: 'invalidDunningPolicy',
        message: 'The dunning policy is not allowed',
        hint: expect.any(String),
      },
    }),
    toOtherTokens: unauthorized,
  },
  moveToDunningPolicy: {
    scope: 'subscriptions:write',
    request: ({ invoiceId }) => put(`${subscriptionsUrl}/${invoiceId}/dunning-policy`, { policy: 'gentle' }),
    toKey: always(noSubscription),
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
  getWithdrawalTimeline: {
    scope: 'payouts:read',
    request: ({ withdrawalId }) => get(`/wallet/v0/withdrawals/${withdrawalId}/timeline`),
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
    request: ({ walletId: sender, receiverId: receiver }) =>
      post('/wallet/v0/w2w/transfers', { sender, receiver, body: asset }),
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
  // These belong to every party, so none is foreign.
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
  searchInvoices: {
    scope: 'invoices:read',
    request: ({ shopId, invoiceId }) =>
      get(`/v2/analytics/shops/${shopId}/invoices?limit=9&invoiceID=${invoiceId}`),
    toKey: { own: done, foreign: noShop, unknown: noShop },
    toOtherTokens: unauthorized,
  },
  searchPayments: {
    scope: 'payments:read',
    request: ({ shopId, invoiceId }) =>
      get(`/v2/analytics/shops/${shopId}/payments?limit=9&invoiceID=${invoiceId}`),
    toKey: { own: done, foreign: noShop, unknown: noShop },
    toOtherTokens: unauthorized,
  },
  searchRefunds: {
    scope: 'payments:read',
    request: ({ shopId, invoiceId }) =>
      get(`/v2/analytics/shops/${shopId}/refunds?limit=9&invoiceID=${invoiceId}`),
    toKey: { own: done, foreign: noShop, unknown: noShop },
    toOtherTokens: unauthorized,
  },
  searchCustomers: {
    scope: 'customers:read',
    request: ({ shopId }) => get(`/v2/analytics/customers?limit=9&shopID=${shopId}&${sumTimes}`),
    toKey: { own: done, foreign: noShop, unknown: noShop },
    toOtherTokens: unauthorized,
  },
  searchBindings: {
    scope: 'customers:read',
    request: ({ shopId }) => get(`/v2/analytics/bindings?limit=9&shopID=${shopId}&${sumTimes}`),
    toKey: { own: done, foreign: noShop, unknown: noShop },
    toOtherTokens: unauthorized,
  },
  searchSeries: {
    scope: 'payments:read',
    alsoScope: 'customers:read',
    request: ({ shopId }) => get(`/v2/analytics/series?limit=9&shopID=${shopId}&${sumTimes}`),
    toKey: { own: done, foreign: noShop, unknown: noShop },
    toOtherTokens: unauthorized,
  },
  searchInvoicesOfShops: {
    scope: 'invoices:read',
    request: ({ shopId, invoiceId }) =>
      get(`/v2/analytics/invoices?limit=9&invoiceID=${invoiceId}&shopIDs=${shopId}`),
    toKey: { own: done, foreign: noShop, unknown: noShop },
    toOtherTokens: unauthorized,
  },
  searchPaymentsOfShops: {
    scope: 'payments:read',
    request: ({ shopId, invoiceId }) =>
      get(`/v2/analytics/payments?limit=9&invoiceID=${invoiceId}&shopIDs=${shopId}`),
    toKey: { own: done, foreign: noShop, unknown: noShop },
    toOtherTokens: unauthorized,
  },
  searchRefundsOfShops: {
    scope: 'payments:read',
    request: ({ shopId, invoiceId }) =>
      get(`/v2/analytics/refunds?limit=9&invoiceID=${invoiceId}&shopIDs=${shopId}`),
    toKey: { own: done, foreign: noShop, unknown: noShop },
    toOtherTokens: unauthorized,
  },
  getPaymentsAmount: {
    scope: 'payments:read',
    request: ({ shopId }) => get(`/v2/analytics/payments/amount?shopID=${shopId}&${sumTimes}`),
    toKey: { own: done, foreign: noShop, unknown: noShop },
    toOtherTokens: unauthorized,
  },
  getAveragePayment: {
    scope: 'payments:read',
    request: ({ shopId }) => get(`/v2/analytics/payments/average?shopID=${shopId}&${sumTimes}`),
    toKey: { own: done, foreign: noShop, unknown: noShop },
    toOtherTokens: unauthorized,
  },
  getPaymentsCount: {
    scope: 'payments:read',
    request: ({ shopId }) => get(`/v2/analytics/payments/count?shopID=${shopId}&${sumTimes}`),
    toKey: { own: done, foreign: noShop, unknown: noShop },
    toOtherTokens: unauthorized,
  },
  getPaymentsErrorDistribution: {
    scope: 'payments:read',
    request: ({ shopId }) => get(`/v2/analytics/payments/errors?shopID=${shopId}&${sumTimes}`),
    toKey: { own: done, foreign: noShop, unknown: noShop },
    toOtherTokens: unauthorized,
  },
  getPaymentsSubErrorDistribution: {
    scope: 'payments:read',
    request: ({ shopId }) => get(`/v2/analytics/payments/sub-errors?shopID=${shopId}&${sumTimes}`),
    toKey: { own: done, foreign: noShop, unknown: noShop },
    toOtherTokens: unauthorized,
  },
  getPaymentsDeclines: {
    scope: 'payments:read',
    request: ({ shopId }) => get(`/v2/analytics/payments/declines?shopID=${shopId}&${sumTimes}`),
    toKey: { own: done, foreign: noShop, unknown: noShop },
    toOtherTokens: unauthorized,
  },
  getRecoveries: {
    scope: 'payments:read',
    request: ({ shopId }) => get(`/v2/analytics/payments/recoveries?shopID=${shopId}&${sumTimes}&by=policy`),
    toKey: { own: done, foreign: noShop, unknown: noShop },
    toOtherTokens: unauthorized,
  },
  getPaymentsAttempts: {
    scope: 'payments:read',
    request: ({ shopId }) => get(`/v2/analytics/payments/attempts?shopID=${shopId}&${sumTimes}`),
    toKey: { own: done, foreign: noShop, unknown: noShop },
    toOtherTokens: unauthorized,
  },
  getPaymentsSplitAmount: {
    scope: 'payments:read',
    request: ({ shopId }) =>
      get(`/v2/analytics/payments/split-amount?shopID=${shopId}&${sumTimes}&splitUnit=day`),
    toKey: { own: done, foreign: noShop, unknown: noShop },
    toOtherTokens: unauthorized,
  },
  getPaymentsSplitCount: {
    scope: 'payments:read',
    request: ({ shopId }) =>
      get(`/v2/analytics/payments/split-count?shopID=${shopId}&${sumTimes}&splitUnit=day`),
    toKey: { own: done, foreign: noShop, unknown: noShop },
    toOtherTokens: unauthorized,
  },
  getPaymentsToolDistribution: {
    scope: 'payments:read',
    request: ({ shopId }) => get(`/v2/analytics/payments-tool?shopID=${shopId}&${sumTimes}`),
    toKey: { own: done, foreign: noShop, unknown: noShop },
    toOtherTokens: unauthorized,
  },
  getRefundsAmount: {
    scope: 'payments:read',
    request: ({ shopId }) => get(`/v2/analytics/refunds/amount?shopID=${shopId}&${sumTimes}`),
    toKey: { own: done, foreign: noShop, unknown: noShop },
    toOtherTokens: unauthorized,
  },
  createExport: {
    scope: 'payments:read',
    request: ({ shopId }) =>
      post('/v2/analytics/exports', {
        of: 'refunds',
        shopID: shopId,
        fromTime: '2026-01-01T00:00:00Z',
        toTime: '2026-12-31T00:00:00Z',
      }),
    toKey: { own: { status: 202 }, foreign: noShop, unknown: noShop },
    toOtherTokens: unauthorized,
  },
  getExport: {
    scope: 'payments:read',
    request: ({ invoiceId }) => get(`/v2/analytics/exports/${invoiceId}`),
    toKey: always({ status: 404, body: { message: 'Export not found', hint: expect.any(String) } }),
    toOtherTokens: unauthorized,
  },
  cancelExport: {
    scope: 'payments:read',
    request: ({ invoiceId }) => post(`/v2/analytics/exports/${invoiceId}/cancel`),
    toKey: always({ status: 404, body: { message: 'Export not found', hint: expect.any(String) } }),
    toOtherTokens: unauthorized,
  },
  getPayoutSums: {
    scope: 'payouts:read',
    request: () => get(`/v2/analytics/payouts?${sumTimes}`),
    toKey: always(done),
    toOtherTokens: unauthorized,
  },
  getCurrentBalances: {
    scope: 'payments:read',
    request: ({ shopId }) => get(`/v2/analytics/balances/current?shopID=${shopId}`),
    toKey: { own: done, foreign: noShop, unknown: noShop },
    toOtherTokens: unauthorized,
  },
  getCurrentShopBalances: {
    scope: 'payments:read',
    request: ({ shopId }) => get(`/v2/analytics/balances/current-shop-balances?shopID=${shopId}`),
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
    // Categories belong to every party, so none is foreign.
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
  resetLimits: {
    scope: 'sandbox',
    request: () => post('/sandbox/limits/reset'),
    toKey: always({ status: 204, body: undefined }),
    toOtherTokens: unauthorized,
  },
  orderFault: {
    scope: 'sandbox',
    request: () => post('/sandbox/faults', { kind: 'decline', code: '51' }),
    toKey: always(noFault),
    toOtherTokens: unauthorized,
  },
  listOutbox: {
    scope: 'sandbox',
    request: ({ invoiceId }) => get(`/sandbox/outbox?invoiceID=${invoiceId}`),
    toKey: always({ status: 200, body: [] }),
    toOtherTokens: unauthorized,
  },
};

const walletWebhook = {
  scope: { topic: 'DestinationsTopic', eventTypes: ['DestinationAuthorized'] },
  url: nowhere,
};

function webhook(shopID: string) {
  return { scope: { topic: 'InvoicesTopic', shopID, eventTypes: ['InvoicePaid'] }, url: nowhere };
}

export function payment(paymentToolToken: string) {
  return { payer: { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} } };
}
