// Every operation of the API.
import { cancelConsentLink } from '../consent-links/api/cancel-consent-link.ts';
import { createConsentLink } from '../consent-links/api/create-consent-link.ts';
import { getConsentLink } from '../consent-links/api/get-consent-link.ts';
import { getBankCard, storeBankCard } from '../cards/api/bank-cards.ts';
import { resetLimits } from '../cards/api/reset-limits.ts';
import { orderFault } from '../sandbox/api/order-fault.ts';
import { createPaymentResource } from '../cards/api/create-payment-resource.ts';
import { createBinding } from '../customers/api/create-binding.ts';
import { createCustomer } from '../customers/api/create-customer.ts';
import { deleteCustomer } from '../customers/api/delete-customer.ts';
import { issueCustomerToken } from '../customers/api/issue-customer-token.ts';
import { listCustomerEvents } from '../customers/api/list-customer-events.ts';
import { getBinding, listBindings } from '../customers/api/read-bindings.ts';
import {
  findCustomerByExternalId,
  getCustomer,
  listCustomerPaymentMethods,
} from '../customers/api/read-customers.ts';
import { getBindingConsent, getCustomerRecurring } from '../customers/api/recurring-of-customer.ts';
import { withdrawBinding } from '../customers/api/revoke-binding.ts';
import type { AppContext, PrepareContext } from './app-context.ts';
import type { AnyEndpoint } from '../platform/http/endpoint.ts';
import { createInvoice } from '../invoices/api/create-invoice.ts';
import { fulfillInvoice, rescindInvoice } from '../invoices/api/end-invoice.ts';
import { issueInvoiceToken } from '../invoices/api/issue-invoice-token.ts';
import { findInvoiceByExternalId, getInvoice } from '../invoices/api/read-invoices.ts';
import { createInvoiceFromTemplate } from '../invoices/api/create-invoice-from-template.ts';
import { createInvoiceTemplate } from '../invoices/api/create-template.ts';
import {
  deleteInvoiceTemplate,
  getInvoiceTemplate,
  listTemplatePaymentMethods,
  updateInvoiceTemplate,
} from '../invoices/api/manage-templates.ts';
import { createCharge } from '../payments/api/create-charge.ts';
import { createPayment } from '../payments/api/create-payment.ts';
import { createRefund } from '../payments/api/create-refund.ts';
import { cancelPayment, capturePayment } from '../payments/api/capture-and-cancel.ts';
import { listInvoiceEvents } from '../payments/api/list-invoice-events.ts';
import { listInvoicePaymentMethods } from '../payments/api/list-payment-methods.ts';
import { findPaymentByExternalId, getPayment, listPayments } from '../payments/api/read-payments.ts';
import {
  findRefundByExternalId,
  getChargeback,
  getRefund,
  listChargebacks,
  listRefunds,
} from '../payments/api/read-refunds.ts';
import { cancelExport } from '../search/api/exports/cancel-export.ts';
import { createExport } from '../search/api/exports/create-export.ts';
import { getExport } from '../search/api/exports/get-export.ts';
import { searchBindings } from '../search/api/lists/search-bindings.ts';
import { searchCustomers } from '../search/api/lists/search-customers.ts';
import { searchSeries } from '../search/api/lists/search-series.ts';
import { searchInvoices, searchInvoicesOfShops } from '../search/api/search-invoices.ts';
import { searchPayments, searchPaymentsOfShops } from '../search/api/search-payments.ts';
import { searchRefunds, searchRefundsOfShops } from '../search/api/search-refunds.ts';
import { getCurrentBalances, getCurrentShopBalances } from '../search/api/sums/balances.ts';
import {
  getPaymentsAttempts,
  getPaymentsDeclines,
  getPaymentsErrorDistribution,
  getPaymentsSubErrorDistribution,
} from '../search/api/sums/payment-outcomes.ts';
import { getPaymentsSplitAmount, getPaymentsSplitCount } from '../search/api/sums/payment-splits.ts';
import {
  getAveragePayment,
  getPaymentsAmount,
  getPaymentsCount,
  getPaymentsToolDistribution,
} from '../search/api/sums/payment-sums.ts';
import { getRecoveries } from '../search/api/sums/recoveries.ts';
import { getPayoutSums } from '../search/api/sums/payout-sums.ts';
import { getRefundsAmount } from '../search/api/sums/refund-sums.ts';
import { getBindingTimeline } from '../timeline/api/get-binding-timeline.ts';
import { getCustomerRecurringTimeline, getRecurringTimeline } from '../timeline/api/get-series-timelines.ts';
import { getWithdrawalTimeline } from '../timeline/api/get-withdrawal-timeline.ts';
import { getPaymentTimeline } from '../timeline/api/get-payment-timeline.ts';
import { getReceipt } from '../payments/api/get-receipt.ts';
import {
  getConsentBundle,
  getConsentSheet,
  getRecurring,
  listRecurringEvents,
  withdrawConsent,
} from '../payments/api/recurring-of-payment.ts';
import {
  cancelSubscription,
  pauseSubscription,
  resumeSubscription,
  uncancelSubscription,
} from '../subscriptions/api/change-subscription.ts';
import { chargeSubscriptionPeriod, closeSubscriptionPeriod } from '../subscriptions/api/change-period.ts';
import {
  changeSubscription,
  previewSubscriptionChange,
  takeBackSubscriptionChange,
} from '../subscriptions/api/change-items.ts';
import { createSubscriptionLink } from '../subscriptions/api/create-subscription-link.ts';
import { createSubscription } from '../subscriptions/api/create-subscription.ts';
import { changeSubscriptionDetails } from '../subscriptions/api/change-details.ts';
import { listOutbox } from '../subscriptions/api/list-outbox.ts';
import { listSubscriptionEvents } from '../subscriptions/api/list-subscription-events.ts';
import {
  getDunningPolicy,
  listDunningPolicies,
  moveToDunningPolicy,
  putDunningPolicy,
} from '../subscriptions/api/dunning-policies.ts';
import {
  findSubscriptionByExternalID,
  getSubscription,
  listCustomerSubscriptions,
  listSubscriptionPeriods,
  listSubscriptions,
  listUpcomingPeriods,
} from '../subscriptions/api/read-subscriptions.ts';
import { getCategory, getMe, getShop, listCategories, listShops } from '../merchants/api/read-merchants.ts';
import { advanceTestClock, getTestClock } from '../merchants/api/test-clock.ts';
import {
  listWebhookAttempts,
  listWebhookQueues,
  replayWebhook,
  resumeWebhook,
  rotateWebhookKeys,
  testWebhook,
} from '../webhooks/inspection/inspect-webhook.ts';
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
} from '../webhooks/registration/manage-webhooks.ts';
import {
  createWalletWebhook,
  deleteWalletWebhook,
  getWalletWebhook,
  listWalletWebhooks,
} from '../webhooks/registration/wallet-webhooks.ts';

import { getChallenge, listChallenges, startChallenge } from '../identities/api/identifications.ts';
import { createDestination } from '../payouts/api/create-destination.ts';
import { createIdentity } from '../identities/api/create-identity.ts';
import { createWallet } from '../wallets/api/create-wallet.ts';
import { createWithdrawal } from '../payouts/api/create-withdrawal.ts';
import { listDeposits, makeTestDeposit } from '../wallets/api/deposits.ts';
import { grantDestination, grantWallet } from '../payouts/api/grants.ts';
import {
  getWithdrawalEvent,
  listDestinationEvents,
  listWithdrawalEvents,
} from '../payouts/api/list-events.ts';
import { findDestination, getDestination, listDestinations } from '../payouts/api/read-destinations.ts';
import { getIdentity, listIdentities } from '../identities/api/read-identities.ts';
import { findWallet, getWallet, getWalletAccount, listWallets } from '../wallets/api/read-wallets.ts';
import {
  createQuote,
  findWithdrawal,
  getWithdrawal,
  listWithdrawals,
} from '../payouts/api/read-withdrawals.ts';
import {
  getCurrency,
  getIdentityClass,
  getProvider,
  getResidence,
  listIdentityClasses,
  listProviders,
} from '../identities/api/references.ts';
import { createTransfer, getTransfer } from '../wallets/api/transfers.ts';

export const routes: readonly AnyEndpoint<AppContext, PrepareContext>[] = [
  createInvoice, //           POST /v2/processing/invoices
  findInvoiceByExternalId, // GET  /v2/processing/invoices?externalID=
  getInvoice, //              GET  /v2/processing/invoices/{invoiceID}
  fulfillInvoice, //          POST /v2/processing/invoices/{invoiceID}/fulfill
  rescindInvoice, //          POST /v2/processing/invoices/{invoiceID}/rescind
  issueInvoiceToken, //       POST /v2/processing/invoices/{invoiceID}/access-tokens
  listInvoiceEvents, //       GET  /v2/processing/invoices/{invoiceID}/events
  listInvoicePaymentMethods, // GET /v2/processing/invoices/{invoiceID}/payment-methods

  createInvoiceTemplate, //   POST /v2/processing/invoice-templates
  getInvoiceTemplate, //      GET  /v2/processing/invoice-templates/{invoiceTemplateID}
  updateInvoiceTemplate, //   PUT  /v2/processing/invoice-templates/{invoiceTemplateID}
  deleteInvoiceTemplate, //   DELETE /v2/processing/invoice-templates/{invoiceTemplateID}
  createInvoiceFromTemplate, // POST …/invoice-templates/{invoiceTemplateID}/invoices
  listTemplatePaymentMethods, // GET …/invoice-templates/{invoiceTemplateID}/payment-methods

  searchInvoices, //          GET  /v2/analytics/shops/{shopID}/invoices
  searchPayments, //          GET  /v2/analytics/shops/{shopID}/payments
  searchRefunds, //           GET  /v2/analytics/shops/{shopID}/refunds
  searchCustomers, //         GET  /v2/analytics/customers
  searchBindings, //          GET  /v2/analytics/bindings
  searchSeries, //            GET  /v2/analytics/series
  searchInvoicesOfShops, //   GET  /v2/analytics/invoices
  searchPaymentsOfShops, //   GET  /v2/analytics/payments
  searchRefundsOfShops, //    GET  /v2/analytics/refunds

  getPaymentsAmount, //       GET  /v2/analytics/payments/amount
  getAveragePayment, //       GET  /v2/analytics/payments/average
  getPaymentsCount, //        GET  /v2/analytics/payments/count
  getPaymentsErrorDistribution, // GET  /v2/analytics/payments/errors
  getPaymentsSubErrorDistribution, // GET  /v2/analytics/payments/sub-errors
  getPaymentsDeclines, //     GET  /v2/analytics/payments/declines
  getRecoveries, //           GET  /v2/analytics/payments/recoveries
  getPaymentsAttempts, //     GET  /v2/analytics/payments/attempts
  getPaymentsSplitAmount, //  GET  /v2/analytics/payments/split-amount
  getPaymentsSplitCount, //   GET  /v2/analytics/payments/split-count
  getPaymentsToolDistribution, // GET  /v2/analytics/payments-tool
  getRefundsAmount, //        GET  /v2/analytics/refunds/amount
  createExport, //            POST /v2/analytics/exports
  getExport, //               GET  /v2/analytics/exports/{exportID}
  cancelExport, //            POST /v2/analytics/exports/{exportID}/cancel
  getPayoutSums, //           GET  /v2/analytics/payouts
  getCurrentBalances, //      GET  /v2/analytics/balances/current
  getCurrentShopBalances, //  GET  /v2/analytics/balances/current-shop-balances

  createPaymentResource, //   POST /v2/processing/payment-resources

  createCharge, //            POST /v2/processing/charges
  createPayment, //           POST /v2/processing/invoices/{invoiceID}/payments
  listPayments, //            GET  /v2/processing/invoices/{invoiceID}/payments
  getPayment, //              GET  /v2/processing/invoices/{invoiceID}/payments/{paymentID}
  findPaymentByExternalId, // GET  /v2/processing/payments?externalID=
  getPaymentTimeline, //      GET  /v2/processing/invoices/{invoiceID}/payments/{paymentID}/timeline
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
  getBindingTimeline, //      GET  …/customers/{customerID}/bindings/{customerBindingID}/timeline
  withdrawBinding, //         DELETE …/customers/{customerID}/bindings/{customerBindingID}
  listCustomerEvents, //      GET  /v2/processing/customers/{customerID}/events
  listCustomerPaymentMethods, // GET …/customers/{customerID}/payment-methods

  getRecurring, //            GET  /v2/processing/invoices/{invoiceID}/payments/{paymentID}/recurring
  listRecurringEvents, //     GET  /v2/processing/invoices/{invoiceID}/payments/{paymentID}/recurring/events
  getRecurringTimeline, //    GET  /v2/processing/invoices/{invoiceID}/payments/{paymentID}/recurring/timeline
  getConsentBundle, //        GET  /v2/processing/invoices/{invoiceID}/payments/{paymentID}/recurring/consent
  getCustomerRecurring, //    GET  /v2/processing/customers/{customerID}/recurring
  getCustomerRecurringTimeline, // GET /v2/processing/customers/{customerID}/recurring/timeline
  getBindingConsent, //       GET  …/customers/{customerID}/bindings/{customerBindingID}/consent
  getConsentSheet, //         GET  /v2/processing/invoices/{invoiceID}/payments/{paymentID}/recurring/consent/sheet
  withdrawConsent, //         POST /v2/processing/invoices/{invoiceID}/payments/{paymentID}/recurring/withdraw
  createConsentLink, //       POST /v2/processing/consent-links
  getConsentLink, //          GET  /v2/processing/consent-links/{consentLinkID}
  cancelConsentLink, //       POST /v2/processing/consent-links/{consentLinkID}/cancel
  createSubscription, //      POST /v2/processing/subscriptions
  findSubscriptionByExternalID, // GET /v2/processing/subscriptions?externalID=
  getSubscription, //         GET  /v2/processing/subscriptions/{subscriptionID}
  listSubscriptions, //       GET  /v2/processing/shops/{shopID}/subscriptions
  listCustomerSubscriptions, // GET /v2/processing/customers/{customerID}/subscriptions
  listSubscriptionPeriods, // GET  /v2/processing/subscriptions/{subscriptionID}/periods
  listUpcomingPeriods, //     GET  /v2/processing/subscriptions/{subscriptionID}/upcoming
  listSubscriptionEvents, //  GET  /v2/processing/subscriptions/{subscriptionID}/events
  cancelSubscription, //      POST /v2/processing/subscriptions/{subscriptionID}/cancel
  uncancelSubscription, //    POST /v2/processing/subscriptions/{subscriptionID}/uncancel
  pauseSubscription, //       POST /v2/processing/subscriptions/{subscriptionID}/pause
  resumeSubscription, //      POST /v2/processing/subscriptions/{subscriptionID}/resume
  changeSubscriptionDetails, // PATCH /v2/processing/subscriptions/{subscriptionID}
  previewSubscriptionChange, // POST /v2/processing/subscriptions/{subscriptionID}/preview
  changeSubscription, //      POST /v2/processing/subscriptions/{subscriptionID}/change
  takeBackSubscriptionChange, // POST /v2/processing/subscriptions/{subscriptionID}/unchange
  chargeSubscriptionPeriod, // POST /v2/processing/subscriptions/{subscriptionID}/periods/{periodNumber}/charge
  createSubscriptionLink, //  POST /v2/processing/subscriptions/{subscriptionID}/links
  closeSubscriptionPeriod, // POST /v2/processing/subscriptions/{subscriptionID}/periods/{periodNumber}/close
  moveToDunningPolicy, //     PUT  /v2/processing/subscriptions/{subscriptionID}/dunning-policy
  listDunningPolicies, //     GET  /v2/processing/shops/{shopID}/dunning-policies
  getDunningPolicy, //        GET  /v2/processing/shops/{shopID}/dunning-policies/{policyName}
  putDunningPolicy, //        PUT  /v2/processing/shops/{shopID}/dunning-policies/{policyName}
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
  getWithdrawalTimeline, //   GET  /wallet/v0/withdrawals/{withdrawalID}/timeline
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

/** Operations that only a sandbox has. */
export const sandboxRoutes: readonly AnyEndpoint<AppContext, PrepareContext>[] = [
  getTestClock, //            GET  /sandbox/clock
  advanceTestClock, //        POST /sandbox/clock
  listOutbox, //              GET  /sandbox/outbox
  resetLimits, //             POST /sandbox/limits/reset
  orderFault, //              POST /sandbox/faults
  makeTestDeposit, //         POST /wallet/v0/test/deposits
];
