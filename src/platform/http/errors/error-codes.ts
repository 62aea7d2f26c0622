// The catalogue of refusals: every name by which the service says no, the status it has on the wire, the sentence the
// client gets when the place of refusal has none of its own, and what to do about it. Clients switch on the code;
// the sentences are for people. docs/guide/errors.md is printed from this page and its second half.
import { withStatus } from './error-entry.ts';
import { payoutRefusals } from './payout-error-codes.ts';

export const errorCatalogue = {
  ...withStatus(400, {
    invalidRequest: {
      message: 'Invalid request',
      advice:
        'The request does not fit the schema; the message names the parameter. Correct it and send it again.',
    },
    invalidDeadline: {
      message: 'Invalid data in X-Request-Deadline header',
      advice: 'Send a future RFC 3339 date-time, or a number with a unit: `500ms`, `30s`, `1m`.',
    },
    invalidPartyID: {
      message: 'Party not found',
      advice: 'Leave partyID out, or send the id of the party the API key belongs to.',
    },
    invalidPartyStatus: {
      message: 'Invalid party status',
      advice: 'The party is blocked or suspended. Ask the operator of the service.',
    },
    invalidShopID: {
      message: 'Shop not found',
      advice: 'Use the id of one of your shops; `GET /v2/processing/shops` lists them.',
    },
    invalidShopStatus: {
      message: 'Invalid shop status',
      advice: 'The shop is blocked or suspended. Ask the operator of the service.',
    },
    invalidInvoiceCost: {
      message: 'Invalid invoice amount',
      advice:
        'Send an amount, a cart, or both; with both, the sum of price × quantity must equal the amount.',
    },
    invalidInvoiceCart: {
      message: 'Wrong size. Path to item: cart',
      advice: 'A cart has 1 to 100 lines. Leave it out when there is none.',
    },
    invalidInvoiceStatus: {
      message: 'Invalid invoice status',
      advice:
        'Read the invoice: its status does not allow this. Only a paid invoice is fulfilled, only an unpaid one rescinded.',
    },
    allocationNotPermitted: {
      message: 'Allocation not permitted',
      advice: 'Split payments are not offered. Leave allocation out.',
    },
    invoicePaymentPending: {
      message: 'Invoice payment pending',
      advice: 'A payment of the invoice is in progress. Follow its events; when it has failed, try again.',
    },
    invalidPaymentToolToken: {
      message: 'Specified payment tool token is invalid',
      advice:
        'Tokenize the card again: a token is good for an hour, for the party and the object it was made for.',
    },
    invalidPaymentSession: {
      message: 'Specified payment session is invalid',
      advice: 'Send the session that came with the token, or none.',
    },
    invalidProcessingDeadline: {
      message: 'Specified processing deadline is invalid',
      advice: 'Send a future RFC 3339 date-time, or a number with a unit: `30m`.',
    },
    invalidPaymentStatus: {
      message: 'Invalid payment status',
      advice:
        'Read the payment: only a held one (`processed`) is captured or cancelled, only a `captured` one refunded.',
    },
    operationNotPermitted: {
      message: 'Operation not permitted',
      advice: 'The shop or the payment does not allow it; the message says more.',
    },
    invalidBindingStatus: {
      message: 'Invalid binding status',
      advice: 'Read the binding: only one that has `succeeded` is withdrawn.',
    },
    customerNotReady: {
      message: 'Specified customer is not ready',
      advice:
        'Bind a card to the customer first; he is `ready` when one has succeeded and none is charged before.',
    },
    invalidRecurrentParent: {
      message: 'Specified recurrent parent is invalid',
      advice:
        'Name a captured payment of the same shop that was made with `makeRecurrent: true`; best the latest of its chain.',
    },
    recurrentStopped: {
      message: 'Recurring charges of this card have been stopped for good',
      advice:
        'The issuer or the payer has ended it. Ask the payer to pay again himself, with 3-D Secure and `makeRecurrent`.',
    },
    recurrentConsentRevoked: {
      message: 'The payer or the merchant has withdrawn the consent',
      advice: 'Charge no more. Only a new payment by the payer himself gives a new consent.',
    },
    recurrentConsentExpired: {
      message: 'The consent of the payer has ended',
      advice: 'It was given until a day that is over. Ask the payer for a new payment.',
    },
    recurrentCardExpired: {
      message: 'The card has expired',
      advice: 'Ask the payer to pay again himself with his new card.',
    },
    recurrentRetryWindowExpired: {
      message: 'The 31 days in which this invoice could be tried again are over',
      advice: 'It is not charged any more. A later invoice may be.',
    },
    recurrentRetryTooEarly: {
      message: 'After a failure recurring charges are tried once a day, or later where the issuer says so',
      advice: 'Wait until `retryAfter`; without one a charge is still pending: follow that.',
    },
    recurrentRetryLimitReached: {
      message: 'The card has been declined so often that the card network forbids another attempt for now',
      advice: 'Wait until `retryAfter`, or ask the payer to pay himself.',
    },
    recurrentParentStale: {
      message: 'The last charge was more than six months ago',
      advice: 'The shop does not charge after so long a gap. Ask the payer for a new payment.',
    },
    inconsistentCaptureCurrency: {
      message: 'The currency differs from that of the payment',
      advice: 'Send the currency of the payment, or none.',
    },
    amountExceededCaptureBalance: {
      message: 'More than is held',
      advice: 'Capture at most what is held; the message says how much that is.',
    },
    refundCartConflict: {
      message: 'Inconsistent Refund Cart',
      advice: 'Send a cart or an allocation, not both; split payments are not offered.',
    },
    inconsistentRefundCurrency: {
      message: 'Inconsistent refund currency',
      advice: 'Send the currency of the payment, or none.',
    },
    invoicePaymentAmountExceeded: {
      message: 'Payment amount exceeded',
      advice: 'Refund at most what is left of the payment: what was captured, less what has been given back.',
    },
    insufficentAccountBalance: {
      message: 'Insufficient account balance',
      advice:
        'The shop’s balance cannot bear the refund and its fee. Take payments first, or ask the operator.',
    },
    webhookEventNotFound: {
      message: 'No notice has this eventID',
      advice: 'Send the `eventID` of a notice you were sent, or `since`.',
    },
    webhookRotationInProgress: {
      message: 'The keys are being changed already',
      advice: 'Wait until a day after the next keys have taken over: `GET` the webhook shows when that is.',
    },
    invalidTestClock: {
      message: 'The test clock only moves forward, by ten years at most',
      advice: 'Send a later `now`, before the year 9000; `GET /sandbox/clock` shows the present one.',
    },
    invalidResourceToken: {
      errorType: 'InvalidResourceToken',
      message: 'Specified resource token is invalid',
      advice: 'Store the card again: its token is good for an hour, and for your party alone.',
    },
    invalidContinuationToken: {
      errorType: 'InvalidToken',
      message: 'The continuation token is of another query',
      advice: 'Send it with exactly the parameters of the page it came with, or begin again without one.',
    },
    invalidSearchRange: {
      errorType: 'NoMatch',
      message: 'createdAtFrom is later than createdAtTo',
      advice: 'Turn them round.',
    },
  }),
  ...withStatus(404, {
    invoiceNotFound: { message: 'Invoice not found', advice: 'Check the id and whose token was sent.' },
    paymentNotFound: {
      message: 'Payment not found',
      advice: 'Check the id; it counts the payments of its invoice.',
    },
    refundNotFound: {
      message: 'Refund not found',
      advice: 'Check the id; it counts the refunds of its payment, from 100.',
    },
    chargebackNotFound: {
      message: 'Invoice payment chargeback not found',
      advice: 'Check the id; the list shows what there is.',
    },
    customerNotFound: {
      message: 'Customer not found',
      advice: 'Check the id and whose token was sent; a deleted customer is not found either.',
    },
    bindingNotFound: {
      message: 'Customer binding not found',
      advice: 'Check the id; the list of bindings shows what the customer has.',
    },
    recurringNotFound: {
      message: 'It belongs to no series of recurring charges',
      advice:
        'Name a captured payment that was made with `makeRecurrent`, a recurring payment, or a binding that succeeded.',
    },
    webhookNotFound: {
      message: 'Webhook not found',
      advice: 'Check the id; `GET /v2/processing/webhooks` lists yours.',
    },
    shopNotFound: {
      message: 'Shop not found',
      advice: 'Check the id; `GET /v2/processing/shops` lists yours.',
    },
    categoryNotFound: {
      message: 'Category not found',
      advice: 'Check the id; `GET /v2/processing/categories` lists them.',
    },
    identityNotFound: {
      message: 'Identity not found',
      advice: 'Check the id; `GET /wallet/v0/identities` lists yours.',
    },
    challengeNotFound: {
      message: 'Identification not found',
      advice: 'Check the id; the list of the identity shows them all.',
    },
    walletNotFound: {
      message: 'Wallet not found',
      advice: 'Check the id; `GET /wallet/v0/wallets` lists yours.',
    },
    bankCardNotFound: {
      message: 'Bank card not found',
      advice: 'The token is unknown or an hour old: store the card again.',
    },
    destinationNotFound: {
      message: 'Destination not found',
      advice: 'Check the id; `GET /wallet/v0/destinations` lists yours.',
    },
    withdrawalNotFound: {
      message: 'Withdrawal not found',
      advice: 'Check the id; `GET /wallet/v0/withdrawals` lists yours.',
    },
    transferNotFound: { message: 'Transfer not found', advice: 'Check the id.' },
    providerNotFound: { message: 'Provider not found', advice: '`GET /wallet/v0/providers` lists them.' },
    residenceNotFound: { message: 'Residence not found', advice: 'Providers say where they serve.' },
    currencyNotFound: { message: 'Currency not found', advice: 'Send a code of ISO 4217.' },
  }),
  ...withStatus(409, {
    externalIDConflict: {
      message: "This 'externalID' has been used by another request",
      advice:
        'The id in the answer was made with this externalID and other fields. Use a new externalID for a new entity.',
    },
  }),
  ...withStatus(413, {
    requestTooLarge: {
      message: 'The request body is larger than 256 KiB',
      advice: "Send less; metadata, the largest free field, may have 4 KiB, and 16 KiB on the wallets' side.",
    },
  }),
  ...withStatus(422, {
    idempotencyKeyReused: {
      message: 'This Idempotency-Key has been used with another request',
      advice: 'Use a new key for every new request; repeat a key only with the very same request.',
    },
  }),
  ...withStatus(429, {
    tooManyBindings: {
      message: 'Too many cards were tried',
      advice:
        'Somebody may be trying out cards. Wait for the seconds in Retry-After; the message says whether it is the ' +
        'customer or the card.',
    },
    webhookLimitExceeded: {
      message: 'Webhook limit exceeded',
      advice: 'There are at most 10 webhooks for each shop. Delete one first.',
    },
    tooManyRequests: { message: 'Too many requests', advice: 'Wait for the seconds in Retry-After.' },
  }),
  ...payoutRefusals,
};

export type ErrorCode = keyof typeof errorCatalogue;

/** Those any operation can answer with; the others are named by the operations that use them. */
export const refusalsOfEveryOperation = [
  'invalidRequest',
  'invalidDeadline',
  'tooManyRequests',
] as const satisfies ErrorCode[];

/** Those of every operation that may come with a body, also where nobody asked for one. */
export const refusalsOfEveryBody = ['requestTooLarge', 'idempotencyKeyReused'] as const satisfies ErrorCode[];
