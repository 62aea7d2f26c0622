// The published API contract quotes these messages. Merchants compare with them, so they never change.
import { expect, test } from 'vitest';
import { errorCatalogue, type ErrorCode } from './error-codes.ts';

const publishedMessages: Partial<Record<ErrorCode, string>> = {
  invalidDeadline: 'Invalid data in X-Request-Deadline header',
  invalidPartyID: 'Party not found',
  invalidPartyStatus: 'Invalid party status',
  invalidShopID: 'Shop not found',
  invalidShopStatus: 'Invalid shop status',
  invalidInvoiceCost: 'Invalid invoice amount',
  invalidInvoiceCart: 'Wrong size. Path to item: cart',
  invalidInvoiceStatus: 'Invalid invoice status',
  invoicePaymentPending: 'Invoice payment pending',
  invalidPaymentToolToken: 'Specified payment tool token is invalid',
  invalidPaymentSession: 'Specified payment session is invalid',
  invalidProcessingDeadline: 'Specified processing deadline is invalid',
  invalidPaymentStatus: 'Invalid payment status',
  operationNotPermitted: 'Operation not permitted',
  customerNotReady: 'Specified customer is not ready',
  invalidRecurrentParent: 'Specified recurrent parent is invalid',
  refundCartConflict: 'Inconsistent Refund Cart',
  inconsistentRefundCurrency: 'Inconsistent refund currency',
  invoicePaymentAmountExceeded: 'Payment amount exceeded',
  invalidResourceToken: 'Specified resource token is invalid',
  invoiceNotFound: 'Invoice not found',
  paymentNotFound: 'Payment not found',
  refundNotFound: 'Refund not found',
  chargebackNotFound: 'Invoice payment chargeback not found',
  customerNotFound: 'Customer not found',
  bindingNotFound: 'Customer binding not found',
  webhookNotFound: 'Webhook not found',
  shopNotFound: 'Shop not found',
  categoryNotFound: 'Category not found',
  walletNotFound: 'Wallet not found',
  destinationNotFound: 'Destination not found',
  providerNotFound: 'Provider not found',
  externalIDConflict: "This 'externalID' has been used by another request",
  webhookLimitExceeded: 'Webhook limit exceeded',
  noSuchProvider: 'No such provider',
  noSuchIdentityClass: 'No such identity class',
  partyInaccessible: 'Party inaccessible',
  noSuchIdentity: 'No such identity',
  identityInaccessible: 'Identity inaccessible',
  currencyNotSupported: 'Currency not supported',
  unsupportedCard: 'Unsupported card',
  invalidCardData: 'Card data is invalid',
  noSuchWallet: 'No such wallet',
  walletInaccessible: 'Wallet inaccessible',
  noSuchDestination: 'No such destination',
  invalidCashAmount: 'Invalid cash amount',
  payoutLimitPerPayout: 'Invalid cash amount',
  differentCurrencies: 'Invalid currency',
  destinationUnauthorized: 'Destination unauthorized',
  differentProviders: 'This wallet and destination cannot be used together',
  expiredGrant: 'Invalid expiration: already expired',
  noSuchSender: 'No such wallet sender',
  noSuchReceiver: 'No such wallet receiver',
  inconsistentCurrency: 'Inconsistent currency',
  badTransferAmount: 'Bad transfer amount',
  transferNotAllowed: 'W2W transfer not allowed',
  noSuchChallengeType: 'No such challenge type',
  proofNotFound: 'Proof not found',
  insufficientProof: 'Insufficient proof',
  illegalChallengeType: 'Illegal identification type for current identity level',
  tooManyWalletWebhooks: 'Webhook limit exceeded',
};

test('messages quoted by the published contract stay as they are', () => {
  const messages = Object.keys(publishedMessages).map((code) => [
    code,
    errorCatalogue[code as ErrorCode].message,
  ]);
  expect(Object.fromEntries(messages)).toEqual(publishedMessages);
});

test('a message ends with a full stop only if it has two sentences', () => {
  for (const [code, { message, advice }] of Object.entries(errorCatalogue)) {
    if (code in publishedMessages) continue;
    expect(message.endsWith('.'), code).toBe(message.includes('. '));
    expect(advice.endsWith('.'), code).toBe(true);
  }
});
