// The catalogue of errors: each code with its status, its default message, and what to do about it. Clients switch on the code; the
// messages are for people. docs/guide/errors.md is printed from this file and payout-error-codes.ts.
import { withStatus } from './error-entry.ts';
import { payoutErrorCodes } from './payout-error-codes.ts';

export const errorCatalogue = {
  ...withStatus(400, {
    invalidRequest: {
      message: 'Invalid request',
      advice:
        'The request does not fit the schema. The message names the parameter. Correct it and send it again.',
    },
    invalidDeadline: {
      message: 'Invalid data in X-Request-Deadline header',
      advice: 'Send a future RFC 3339 date-time, or a number with a unit: `500ms`, `30s`, `1m`.',
    },
    invalidPartyID: {
      message: 'Party not found',
      advice: 'Leave partyID out, or send the ID of the party the API key belongs to.',
    },
    invalidPartyStatus: {
      message: 'Invalid party status',
      advice: 'The party is blocked or suspended. Ask the operator of the service.',
    },
    invalidShopID: {
      message: 'Shop not found',
      advice: 'Use the ID of one of your shops; `GET /v2/processing/shops` lists them.',
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
      advice: 'Send a cart of 1 to 100 lines, or none.',
    },
    invalidInvoiceStatus: {
      message: 'Invalid invoice status',
      advice:
        'Read the invoice: its status does not allow this. Only a paid invoice can be fulfilled, only an unpaid one rescinded.',
    },
    allocationNotPermitted: {
      message: 'Allocation not permitted',
      advice: 'Split payments are not available. Leave allocation out.',
    },
    invoicePaymentPending: {
      message: 'Invoice payment pending',
      advice: 'A payment of the invoice is in progress. Follow its events, and try again if it fails.',
    },
    invalidPaymentToolToken: {
      message: 'Specified payment tool token is invalid',
      advice:
        'Tokenise the card again: a token is valid for an hour, for the party and the object it was created for.',
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
        'Read the payment: only a held one (`processed`) can be captured or cancelled, only a `captured` one refunded.',
    },
    operationNotPermitted: {
      message: 'Operation not permitted',
      advice: 'The shop or the payment does not allow it. The message says why.',
    },
    invalidBindingStatus: {
      message: 'Invalid binding status',
      advice: 'Read the binding: only one that has `succeeded` can be revoked.',
    },
    customerNotReady: {
      message: 'Specified customer is not ready',
      advice:
        'Save a card for the customer first. The customer is `ready`, and can be charged, once a binding has succeeded.',
    },
    invalidRecurrentParent: {
      message: 'Specified recurrent parent is invalid',
      advice:
        'Name a captured payment of the same shop that was created with `makeRecurrent: true`, preferably the latest of its chain.',
    },
    recurrentStopped: {
      message: 'Recurring charges of this card are stopped permanently. Ask the payer to pay again.',
      advice:
        'The issuer or the payer has ended it. Ask the payer to pay again themselves, with 3-D Secure and `makeRecurrent`.',
    },
    recurrentConsentRevoked: {
      message: 'The consent was revoked. Charge again only after the payer gives a new one.',
      advice: 'Stop charging. Only a new payment by the payer themselves gives a new consent.',
    },
    recurrentConsentExpired: {
      message: 'The consent has expired. Ask the payer for a new payment.',
      advice: 'The consent had an end date, which has passed. Ask the payer for a new payment.',
    },
    recurrentCardExpired: {
      message: 'The card has expired. Ask the payer to pay again with a new card.',
      advice: 'Ask the payer to pay again themselves with a new card.',
    },
    recurrentRetryWindowExpired: {
      message: 'The 31 days to retry this invoice have passed. Do not charge it again.',
      advice: 'Do not charge this invoice again. You may charge a later one.',
    },
    recurrentRetryTooEarly: {
      message: 'Too early to retry this charge. Wait until retryAfter.',
      advice: 'Wait until `retryAfter`. Without it, a charge is still pending: wait for its result.',
    },
    recurrentRetryLimitReached: {
      message: 'The card network forbids another attempt after so many declines. Wait until retryAfter.',
      advice: 'Wait until `retryAfter`, or ask the payer to pay themselves.',
    },
    recurrentParentStale: {
      message: 'The last charge was more than six months ago. Ask the payer for a new payment.',
      advice: 'The shop does not allow a charge after so long a gap. Ask the payer for a new payment.',
    },
    inconsistentCaptureCurrency: {
      message: 'The currency differs from that of the payment. Send the currency of the payment, or none.',
      advice: 'Send the currency of the payment, or none.',
    },
    amountExceededCaptureBalance: {
      message: 'The amount is larger than the hold. Capture at most what is held.',
      advice: 'Capture at most what is held. The message says how much that is.',
    },
    refundCartConflict: {
      message: 'Inconsistent Refund Cart',
      advice: 'Send a cart or an allocation, not both. Split payments are not available.',
    },
    inconsistentRefundCurrency: {
      message: 'Inconsistent refund currency',
      advice: 'Send the currency of the payment, or none.',
    },
    invoicePaymentAmountExceeded: {
      message: 'Payment amount exceeded',
      advice: 'Refund at most what is left of the payment: what was captured, less what was refunded.',
    },
    insufficentAccountBalance: {
      message: 'Insufficient account balance',
      advice:
        'The shop’s balance does not cover the refund and its fee. Take payments first, or ask the operator.',
    },
    webhookEventNotFound: {
      message: 'This webhook has no event with this eventID. Check the ID, or replay with `since`.',
      advice: 'Send the `eventID` of an event this webhook was sent, or `since`.',
    },
    webhookRotationInProgress: {
      message: 'The keys are already being rotated. Wait until a day after the next keys take over.',
      advice: 'Wait until a day after the next keys take over. `GET` the webhook to see when that is.',
    },
    invalidTestClock: {
      message: 'The test clock only moves forward, by at most ten years. Send a later time.',
      advice: 'Send a later `now`, before the year 9000. `GET /sandbox/clock` returns the current one.',
    },
    invalidResourceToken: {
      errorType: 'InvalidResourceToken',
      message: 'Specified resource token is invalid',
      advice: 'Store the card again: its token is valid for an hour, and only for your party.',
    },
    invalidContinuationToken: {
      errorType: 'InvalidToken',
      message: 'The continuation token belongs to another query. Repeat that query, or send no token.',
      advice: 'Send it with exactly the parameters of the page it came with, or start again without it.',
    },
    invalidSearchRange: {
      errorType: 'NoMatch',
      message: 'createdAtFrom is later than createdAtTo. Swap them.',
      advice: 'Send the earlier time as `createdAtFrom`.',
    },
  }),
  ...withStatus(404, {
    invoiceNotFound: { message: 'Invoice not found', advice: 'Check the ID, and which token you send.' },
    paymentNotFound: {
      message: 'Payment not found',
      advice: 'Check the ID: it is the number of the payment within its invoice.',
    },
    refundNotFound: {
      message: 'Refund not found',
      advice: 'Check the ID: it is the number of the refund within its payment, from 100.',
    },
    chargebackNotFound: {
      message: 'Invoice payment chargeback not found',
      advice: 'Check the ID. The list shows all chargebacks.',
    },
    customerNotFound: {
      message: 'Customer not found',
      advice: 'Check the ID, and which token you send. A deleted customer is not found either.',
    },
    bindingNotFound: {
      message: 'Customer binding not found',
      advice: 'Check the ID. The list of bindings shows what the customer has.',
    },
    recurringNotFound: {
      message: 'This payment or binding belongs to no series of recurring charges',
      advice:
        'Use a captured payment that was created with `makeRecurrent`, a recurring payment, or a binding that succeeded.',
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
      advice: 'Check the ID. The list of the identity shows all its identifications.',
    },
    walletNotFound: {
      message: 'Wallet not found',
      advice: 'Check the id; `GET /wallet/v0/wallets` lists yours.',
    },
    bankCardNotFound: {
      message: 'Bank card not found',
      advice: 'The token is unknown, or older than an hour. Store the card again.',
    },
    destinationNotFound: {
      message: 'Destination not found',
      advice: 'Check the id; `GET /wallet/v0/destinations` lists yours.',
    },
    withdrawalNotFound: {
      message: 'Withdrawal not found',
      advice: 'Check the id; `GET /wallet/v0/withdrawals` lists yours.',
    },
    transferNotFound: { message: 'Transfer not found', advice: 'Check the ID.' },
    providerNotFound: {
      message: 'Provider not found',
      advice: 'List the providers with `GET /wallet/v0/providers`.',
    },
    residenceNotFound: { message: 'Residence not found', advice: 'Use a residence that a provider lists.' },
    currencyNotFound: { message: 'Currency not found', advice: 'Send an ISO 4217 code.' },
  }),
  ...withStatus(409, {
    externalIDConflict: {
      message: "This 'externalID' has been used by another request",
      advice:
        'The `id` in the response was created with this externalID and other fields. Use a new externalID for a new object.',
    },
  }),
  ...withStatus(413, {
    requestTooLarge: {
      message: 'The request body is larger than 256 KiB. Send less.',
      advice: 'Send less. The largest free field, metadata, may have 4 KiB, or 16 KiB in the wallets API.',
    },
  }),
  ...withStatus(422, {
    idempotencyKeyReused: {
      message: 'This Idempotency-Key was used with another request. Use a new key.',
      advice: 'Use a new key for every new request. Repeat a key only with the same request.',
    },
  }),
  ...withStatus(429, {
    tooManyBindings: {
      message: 'Too many cards were tried. Wait for the seconds in Retry-After.',
      advice:
        'This may be card testing. Wait for the seconds in Retry-After. The message says whether the limit is that of the ' +
        'customer or of the card.',
    },
    webhookLimitExceeded: {
      message: 'Webhook limit exceeded',
      advice: 'A shop has at most 10 webhooks. Delete one first.',
    },
    tooManyRequests: {
      message: 'Too many requests. Wait for the seconds in Retry-After.',
      advice: 'Wait for the seconds in Retry-After.',
    },
  }),
  ...payoutErrorCodes,
};

export type ErrorCode = keyof typeof errorCatalogue;

/** Every operation can return these. Each operation declares its other codes. */
export const errorsOfEveryOperation = [
  'invalidRequest',
  'invalidDeadline',
  'tooManyRequests',
] as const satisfies ErrorCode[];

/** Every operation that can have a body can also return these, even if it needs no body. */
export const errorsOfEveryBody = ['requestTooLarge', 'idempotencyKeyReused'] as const satisfies ErrorCode[];
