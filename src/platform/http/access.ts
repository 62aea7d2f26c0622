// Who may call what: one row for each operation. An operation without a row does not compile, and a test walks every
// operation with every kind of token, for an entity of its own and for another's.
import type { TokenKind } from '../../caller.ts';
import type { RefusalCode } from './errors/error-codes.ts';

/** The scope of a key that was made without a list: whatever there is, now and later. */
export const everyScope = '*';

/** What an API key may be narrowed to. */
export const scopes = [
  'customers:read',
  'customers:write',
  'identities:write',
  'invoices:read',
  'invoices:write',
  'payment-resources:write',
  'payments:read',
  'payments:write',
  'payouts:read',
  'payouts:write',
  'shops:read',
  'webhooks:read',
  'webhooks:write',
  'sandbox',
  'wallets:write',
] as const;
export type Scope = (typeof scopes)[number];

export type AccessRow = {
  /** The scope an API key needs. */
  readonly apiKey: Scope;
  /** The access tokens that may call it, each for the one entity it was issued for. */
  readonly tokens: readonly TokenKind[];
  /** The path parameter that names that entity. */
  readonly entity?: string;
  /** The token need only be of the party: the request names no entity to compare with its own. */
  readonly anyEntity?: true;
  /** Reads hide a refusal behind this answer, so that nobody learns what exists; the others answer 401. */
  readonly hiddenBehind?: RefusalCode;
};

export const access = {
  createInvoice: { apiKey: 'invoices:write', tokens: [] },
  findInvoice: { apiKey: 'invoices:read', tokens: [], hiddenBehind: 'invoiceNotFound' },
  getInvoice: {
    apiKey: 'invoices:read',
    tokens: ['invoice'],
    entity: 'invoiceID',
    hiddenBehind: 'invoiceNotFound',
  },
  listInvoiceEvents: {
    apiKey: 'invoices:read',
    tokens: ['invoice'],
    entity: 'invoiceID',
    hiddenBehind: 'invoiceNotFound',
  },
  issueInvoiceToken: { apiKey: 'invoices:write', tokens: [] },
  fulfillInvoice: { apiKey: 'invoices:write', tokens: [] },
  rescindInvoice: { apiKey: 'invoices:write', tokens: [] },
  createPayment: { apiKey: 'payments:write', tokens: ['invoice'], entity: 'invoiceID' },
  listPayments: {
    apiKey: 'payments:read',
    tokens: ['invoice'],
    entity: 'invoiceID',
    hiddenBehind: 'invoiceNotFound',
  },
  getPayment: {
    apiKey: 'payments:read',
    tokens: ['invoice'],
    entity: 'invoiceID',
    hiddenBehind: 'invoiceNotFound',
  },
  findPayment: { apiKey: 'payments:read', tokens: [], hiddenBehind: 'paymentNotFound' },
  capturePayment: { apiKey: 'payments:write', tokens: [] },
  cancelPayment: { apiKey: 'payments:write', tokens: [] },
  listInvoicePaymentMethods: {
    apiKey: 'invoices:read',
    tokens: ['invoice'],
    entity: 'invoiceID',
    hiddenBehind: 'invoiceNotFound',
  },
  createRefund: { apiKey: 'payments:write', tokens: [] },
  listRefunds: { apiKey: 'payments:read', tokens: [], hiddenBehind: 'invoiceNotFound' },
  getRefund: { apiKey: 'payments:read', tokens: [], hiddenBehind: 'invoiceNotFound' },
  findRefund: { apiKey: 'payments:read', tokens: [], hiddenBehind: 'refundNotFound' },
  listChargebacks: { apiKey: 'payments:read', tokens: [] },
  getChargeback: { apiKey: 'payments:read', tokens: [] },
  getRecurring: { apiKey: 'payments:read', tokens: [], hiddenBehind: 'invoiceNotFound' },
  listRecurringEvents: { apiKey: 'payments:read', tokens: [], hiddenBehind: 'invoiceNotFound' },
  getConsentBundle: { apiKey: 'payments:read', tokens: [], hiddenBehind: 'invoiceNotFound' },
  getCustomerRecurring: { apiKey: 'customers:read', tokens: [], hiddenBehind: 'customerNotFound' },
  getBindingConsent: { apiKey: 'customers:read', tokens: [], hiddenBehind: 'customerNotFound' },
  getConsentSheet: { apiKey: 'payments:read', tokens: [], hiddenBehind: 'invoiceNotFound' },
  // The link in it ends the consent: whoever may read it may as well call the operation below.
  getReceipt: { apiKey: 'payments:write', tokens: [], hiddenBehind: 'invoiceNotFound' },
  withdrawConsent: { apiKey: 'payments:write', tokens: [] },
  createPaymentResource: {
    apiKey: 'payment-resources:write',
    tokens: ['invoice', 'customer'],
    anyEntity: true,
  },
  createCustomer: { apiKey: 'customers:write', tokens: [] },
  findCustomer: { apiKey: 'customers:read', tokens: [], hiddenBehind: 'customerNotFound' },
  getCustomer: {
    apiKey: 'customers:read',
    tokens: ['customer'],
    entity: 'customerID',
    hiddenBehind: 'customerNotFound',
  },
  deleteCustomer: { apiKey: 'customers:write', tokens: [] },
  issueCustomerToken: { apiKey: 'customers:write', tokens: [] },
  createBinding: { apiKey: 'customers:write', tokens: ['customer'], entity: 'customerID' },
  listBindings: {
    apiKey: 'customers:read',
    tokens: ['customer'],
    entity: 'customerID',
    hiddenBehind: 'customerNotFound',
  },
  getBinding: {
    apiKey: 'customers:read',
    tokens: ['customer'],
    entity: 'customerID',
    hiddenBehind: 'customerNotFound',
  },
  withdrawBinding: { apiKey: 'customers:write', tokens: ['customer'], entity: 'customerID' },
  listCustomerEvents: {
    apiKey: 'customers:read',
    tokens: ['customer'],
    entity: 'customerID',
    hiddenBehind: 'customerNotFound',
  },
  listCustomerPaymentMethods: {
    apiKey: 'customers:read',
    tokens: ['customer'],
    entity: 'customerID',
    hiddenBehind: 'customerNotFound',
  },
  createWebhook: { apiKey: 'webhooks:write', tokens: [] },
  listWebhooks: { apiKey: 'webhooks:read', tokens: [] },
  getWebhook: { apiKey: 'webhooks:read', tokens: [] },
  listWebhookQueues: { apiKey: 'webhooks:read', tokens: [] },
  listWebhookAttempts: { apiKey: 'webhooks:read', tokens: [] },
  testWebhook: { apiKey: 'webhooks:write', tokens: [] },
  resumeWebhook: { apiKey: 'webhooks:write', tokens: [] },
  replayWebhook: { apiKey: 'webhooks:write', tokens: [] },
  rotateWebhookKeys: { apiKey: 'webhooks:write', tokens: [] },
  createWalletWebhook: { apiKey: 'webhooks:write', tokens: [] },
  listWalletWebhooks: { apiKey: 'webhooks:read', tokens: [] },
  getWalletWebhook: { apiKey: 'webhooks:read', tokens: [] },
  deleteWalletWebhook: { apiKey: 'webhooks:write', tokens: [] },
  deleteWebhook: { apiKey: 'webhooks:write', tokens: [] },
  createIdentity: { apiKey: 'identities:write', tokens: [] },
  listIdentities: { apiKey: 'payouts:read', tokens: [] },
  getIdentity: { apiKey: 'payouts:read', tokens: [] },
  startChallenge: { apiKey: 'identities:write', tokens: [] },
  listChallenges: { apiKey: 'payouts:read', tokens: [] },
  getChallenge: { apiKey: 'payouts:read', tokens: [] },
  createWallet: { apiKey: 'wallets:write', tokens: [] },
  listWallets: { apiKey: 'payouts:read', tokens: [] },
  getWallet: { apiKey: 'payouts:read', tokens: [] },
  getWalletAccount: { apiKey: 'payouts:read', tokens: [] },
  findWallet: { apiKey: 'payouts:read', tokens: [] },
  grantWallet: { apiKey: 'payouts:write', tokens: [] },
  listDeposits: { apiKey: 'payouts:read', tokens: [] },
  makeTestDeposit: { apiKey: 'sandbox', tokens: [] },
  storeBankCard: { apiKey: 'payouts:write', tokens: [] },
  getBankCard: { apiKey: 'payouts:read', tokens: [] },
  createDestination: { apiKey: 'payouts:write', tokens: [] },
  listDestinations: { apiKey: 'payouts:read', tokens: [] },
  getDestination: { apiKey: 'payouts:read', tokens: [] },
  findDestination: { apiKey: 'payouts:read', tokens: [] },
  listDestinationEvents: { apiKey: 'payouts:read', tokens: [] },
  grantDestination: { apiKey: 'payouts:write', tokens: [] },
  createWithdrawal: { apiKey: 'payouts:write', tokens: [] },
  listWithdrawals: { apiKey: 'payouts:read', tokens: [] },
  getWithdrawal: { apiKey: 'payouts:read', tokens: [] },
  findWithdrawal: { apiKey: 'payouts:read', tokens: [] },
  listWithdrawalEvents: { apiKey: 'payouts:read', tokens: [] },
  getWithdrawalEvent: { apiKey: 'payouts:read', tokens: [] },
  createQuote: { apiKey: 'payouts:read', tokens: [] },
  createTransfer: { apiKey: 'payouts:write', tokens: [] },
  getTransfer: { apiKey: 'payouts:read', tokens: [] },
  listProviders: { apiKey: 'payouts:read', tokens: [] },
  getProvider: { apiKey: 'payouts:read', tokens: [] },
  listIdentityClasses: { apiKey: 'payouts:read', tokens: [] },
  getIdentityClass: { apiKey: 'payouts:read', tokens: [] },
  getResidence: { apiKey: 'payouts:read', tokens: [] },
  getCurrency: { apiKey: 'payouts:read', tokens: [] },
  getMe: { apiKey: 'shops:read', tokens: [] },
  listShops: { apiKey: 'shops:read', tokens: [] },
  getShop: { apiKey: 'shops:read', tokens: [] },
  listCategories: { apiKey: 'shops:read', tokens: [] },
  getCategory: { apiKey: 'shops:read', tokens: [] },
  getTestClock: { apiKey: 'sandbox', tokens: [] },
  advanceTestClock: { apiKey: 'sandbox', tokens: [] },
  listOutbox: { apiKey: 'sandbox', tokens: [] },
} as const satisfies Record<string, AccessRow>;

export type Operation = keyof typeof access;
