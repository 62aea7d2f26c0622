// Every operation of the API, on one page. Who may call which is in http/access.ts.
import { getBankCard, storeBankCard } from './cards/bank-cards.ts';
import { createPaymentResource } from './cards/create-payment-resource.ts';
import { createBinding } from './customers/create-binding.ts';
import { createCustomer } from './customers/create-customer.ts';
import { deleteCustomer } from './customers/delete-customer.ts';
import { issueCustomerToken } from './customers/issue-customer-token.ts';
import { listCustomerEvents } from './customers/list-customer-events.ts';
import { getBinding, listBindings } from './customers/read-bindings.ts';
import {
  findCustomerByExternalId,
  getCustomer,
  listCustomerPaymentMethods,
} from './customers/read-customers.ts';
import { getBindingConsent, getCustomerRecurring } from './customers/recurring-of-customer.ts';
import { withdrawBinding } from './customers/withdraw-binding.ts';
import type { AnyEndpoint } from './http/endpoint.ts';
import { createInvoice } from './invoices/create-invoice.ts';
import { fulfillInvoice, rescindInvoice } from './invoices/end-invoice.ts';
import { issueInvoiceToken } from './invoices/issue-invoice-token.ts';
import { findInvoiceByExternalId, getInvoice } from './invoices/read-invoices.ts';
import { createPayment } from './payments/create-payment.ts';
import { createRefund } from './payments/create-refund.ts';
import { cancelPayment, capturePayment } from './payments/end-hold.ts';
import { listInvoiceEvents } from './payments/list-invoice-events.ts';
import { listInvoicePaymentMethods } from './payments/list-payment-methods.ts';
import { findPaymentByExternalId, getPayment, listPayments } from './payments/read-payments.ts';
import {
  findRefundByExternalId,
  getChargeback,
  getRefund,
  listChargebacks,
  listRefunds,
} from './payments/read-refunds.ts';
import { getReceipt } from './payments/get-receipt.ts';
import {
  getConsentBundle,
  getConsentSheet,
  getRecurring,
  listRecurringEvents,
  withdrawConsent,
} from './payments/recurring-of-payment.ts';
import { listOutbox } from './recurring/list-outbox.ts';
import { getCategory, getMe, getShop, listCategories, listShops } from './merchants/read-merchants.ts';
import { advanceTestClock, getTestClock } from './merchants/test-clock.ts';
import {
  listWebhookAttempts,
  listWebhookQueues,
  replayWebhook,
  resumeWebhook,
  rotateWebhookKeys,
  testWebhook,
} from './webhooks/inspect-webhook.ts';
import { createWebhook, deleteWebhook, getWebhook, listWebhooks } from './webhooks/manage-webhooks.ts';
import {
  createWalletWebhook,
  deleteWalletWebhook,
  getWalletWebhook,
  listWalletWebhooks,
} from './webhooks/wallet-webhooks.ts';

import { getChallenge, listChallenges, startChallenge } from './wallets/challenges.ts';
import { createDestination } from './wallets/create-destination.ts';
import { createIdentity } from './wallets/create-identity.ts';
import { createWallet } from './wallets/create-wallet.ts';
import { createWithdrawal } from './wallets/create-withdrawal.ts';
import { listDeposits, makeTestDeposit } from './wallets/deposits.ts';
import { grantDestination, grantWallet } from './wallets/grants.ts';
import { getWithdrawalEvent, listDestinationEvents, listWithdrawalEvents } from './wallets/list-events.ts';
import { findDestination, getDestination, listDestinations } from './wallets/read-destinations.ts';
import { getIdentity, listIdentities } from './wallets/read-identities.ts';
import { findWallet, getWallet, getWalletAccount, listWallets } from './wallets/read-wallets.ts';
import { createQuote, findWithdrawal, getWithdrawal, listWithdrawals } from './wallets/read-withdrawals.ts';
import {
  getCurrency,
  getIdentityClass,
  getProvider,
  getResidence,
  listIdentityClasses,
  listProviders,
} from './wallets/references.ts';
import { createTransfer, getTransfer } from './wallets/transfers.ts';

export const routes: readonly AnyEndpoint[] = [
  createInvoice, //           POST /v2/processing/invoices
  findInvoiceByExternalId, // GET  /v2/processing/invoices?externalID=
  getInvoice, //              GET  /v2/processing/invoices/{invoiceID}
  fulfillInvoice, //          POST /v2/processing/invoices/{invoiceID}/fulfill
  rescindInvoice, //          POST /v2/processing/invoices/{invoiceID}/rescind
  issueInvoiceToken, //       POST /v2/processing/invoices/{invoiceID}/access-tokens
  listInvoiceEvents, //       GET  /v2/processing/invoices/{invoiceID}/events
  listInvoicePaymentMethods, // GET /v2/processing/invoices/{invoiceID}/payment-methods

  createPaymentResource, //   POST /v2/processing/payment-resources

  createPayment, //           POST /v2/processing/invoices/{invoiceID}/payments
  listPayments, //            GET  /v2/processing/invoices/{invoiceID}/payments
  getPayment, //              GET  /v2/processing/invoices/{invoiceID}/payments/{paymentID}
  findPaymentByExternalId, // GET  /v2/processing/payments?externalID=
  capturePayment, //          POST /v2/processing/invoices/{invoiceID}/payments/{paymentID}/capture
  cancelPayment, //           POST /v2/processing/invoices/{invoiceID}/payments/{paymentID}/cancel

  createRefund, //            POST /v2/processing/invoices/{invoiceID}/payments/{paymentID}/refunds
  listRefunds, //             GET  /v2/processing/invoices/{invoiceID}/payments/{paymentID}/refunds
  getRefund, //               GET  /v2/processing/invoices/{invoiceID}/payments/{paymentID}/refunds/{refundID}
  findRefundByExternalId, //  GET  /v2/processing/refunds?externalID=
  listChargebacks, //         GET  /v2/processing/invoices/{invoiceID}/payments/{paymentID}/chargebacks
  getChargeback, //           GET  …/payments/{paymentID}/chargebacks/{chargebackID}

  createCustomer, //          POST /v2/processing/customers
  findCustomerByExternalId, // GET /v2/processing/customers?externalID=
  getCustomer, //             GET  /v2/processing/customers/{customerID}
  deleteCustomer, //          DELETE /v2/processing/customers/{customerID}
  issueCustomerToken, //      POST /v2/processing/customers/{customerID}/access-tokens
  createBinding, //           POST /v2/processing/customers/{customerID}/bindings
  listBindings, //            GET  /v2/processing/customers/{customerID}/bindings
  getBinding, //              GET  /v2/processing/customers/{customerID}/bindings/{customerBindingID}
  withdrawBinding, //         DELETE …/customers/{customerID}/bindings/{customerBindingID}
  listCustomerEvents, //      GET  /v2/processing/customers/{customerID}/events
  listCustomerPaymentMethods, // GET …/customers/{customerID}/payment-methods

  getRecurring, //            GET  /v2/processing/invoices/{invoiceID}/payments/{paymentID}/recurring
  listRecurringEvents, //     GET  /v2/processing/invoices/{invoiceID}/payments/{paymentID}/recurring/events
  getConsentBundle, //        GET  /v2/processing/invoices/{invoiceID}/payments/{paymentID}/recurring/consent
  getCustomerRecurring, //    GET  /v2/processing/customers/{customerID}/recurring
  getBindingConsent, //       GET  …/customers/{customerID}/bindings/{customerBindingID}/consent
  getConsentSheet, //         GET  /v2/processing/invoices/{invoiceID}/payments/{paymentID}/recurring/consent/sheet
  withdrawConsent, //         POST /v2/processing/invoices/{invoiceID}/payments/{paymentID}/recurring/withdraw
  getReceipt, //              GET  /v2/processing/invoices/{invoiceID}/payments/{paymentID}/receipt

  createWebhook, //           POST /v2/processing/webhooks
  listWebhooks, //            GET  /v2/processing/webhooks
  getWebhook, //              GET  /v2/processing/webhooks/{webhookID}
  deleteWebhook, //           DELETE /v2/processing/webhooks/{webhookID}
  listWebhookQueues, //       GET  /v2/processing/webhooks/{webhookID}/queues
  listWebhookAttempts, //     GET  /v2/processing/webhooks/{webhookID}/attempts
  testWebhook, //             POST /v2/processing/webhooks/{webhookID}/test
  resumeWebhook, //           POST /v2/processing/webhooks/{webhookID}/resume
  replayWebhook, //           POST /v2/processing/webhooks/{webhookID}/replay
  rotateWebhookKeys, //       POST /v2/processing/webhooks/{webhookID}/rotate-keys
  createWalletWebhook, //     POST /wallet/v0/webhooks
  listWalletWebhooks, //      GET  /wallet/v0/webhooks?identityID=
  getWalletWebhook, //        GET  /wallet/v0/webhooks/{webhookID}?identityID=
  deleteWalletWebhook, //     DELETE /wallet/v0/webhooks/{webhookID}?identityID=

  createIdentity, //          POST /wallet/v0/identities
  listIdentities, //          GET  /wallet/v0/identities
  getIdentity, //             GET  /wallet/v0/identities/{identityID}
  startChallenge, //          POST /wallet/v0/identities/{identityID}/challenges
  listChallenges, //          GET  /wallet/v0/identities/{identityID}/challenges
  getChallenge, //            GET  /wallet/v0/identities/{identityID}/challenges/{challengeID}

  createWallet, //            POST /wallet/v0/wallets
  listWallets, //             GET  /wallet/v0/wallets
  getWallet, //               GET  /wallet/v0/wallets/{walletID}
  getWalletAccount, //        GET  /wallet/v0/wallets/{walletID}/account
  findWallet, //              GET  /wallet/v0/external/wallets?externalID=
  grantWallet, //             POST /wallet/v0/wallets/{walletID}/grants
  listDeposits, //            GET  /wallet/v0/deposits
  createTransfer, //          POST /wallet/v0/w2w/transfers
  getTransfer, //             GET  /wallet/v0/w2w/transfers/{w2wTransferID}

  storeBankCard, //           POST /payres/v0/bank-cards
  getBankCard, //             GET  /payres/v0/bank-cards/{token}
  createDestination, //       POST /wallet/v0/destinations
  listDestinations, //        GET  /wallet/v0/destinations
  getDestination, //          GET  /wallet/v0/destinations/{destinationID}
  findDestination, //         GET  /wallet/v0/external-ids/destinations/{externalID}
  listDestinationEvents, //   GET  /wallet/v0/destinations/{destinationID}/events
  grantDestination, //        POST /wallet/v0/destinations/{destinationID}/grants

  createWithdrawal, //        POST /wallet/v0/withdrawals
  listWithdrawals, //         GET  /wallet/v0/withdrawals
  getWithdrawal, //           GET  /wallet/v0/withdrawals/{withdrawalID}
  findWithdrawal, //          GET  /wallet/v0/external-ids/withdrawals/{externalID}
  listWithdrawalEvents, //    GET  /wallet/v0/withdrawals/{withdrawalID}/events
  getWithdrawalEvent, //      GET  /wallet/v0/withdrawals/{withdrawalID}/events/{eventID}
  createQuote, //             POST /wallet/v0/withdrawal-quotes

  listProviders, //           GET  /wallet/v0/providers
  getProvider, //             GET  /wallet/v0/providers/{providerID}
  listIdentityClasses, //     GET  /wallet/v0/providers/{providerID}/identity-classes
  getIdentityClass, //        GET  /wallet/v0/providers/{providerID}/identity-classes/{identityClassID}
  getResidence, //            GET  /wallet/v0/residences/{residence}
  getCurrency, //             GET  /wallet/v0/currencies/{currencyID}

  getMe, //                   GET  /v2/processing/me
  listShops, //               GET  /v2/processing/shops
  getShop, //                 GET  /v2/processing/shops/{shopID}
  listCategories, //          GET  /v2/processing/categories
  getCategory, //             GET  /v2/processing/categories/{categoryID}
];

/** What only a sandbox answers. */
export const sandboxRoutes: readonly AnyEndpoint[] = [
  getTestClock, //            GET  /sandbox/clock
  advanceTestClock, //        POST /sandbox/clock
  listOutbox, //              GET  /sandbox/outbox
  makeTestDeposit, //         POST /wallet/v0/test/deposits
];
