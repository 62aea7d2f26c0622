// The catalogue of refusals: every name by which the service says no, the status it has on the wire, the sentence the
// client gets when the place of refusal has none of its own, and what to do about it. Clients switch on the code;
// the sentences are for people. docs/guide/errors.md is printed from this page.

export const refusals = {
  invalidRequest: {
    status: 400,
    message: 'Invalid request',
    advice:
      'The request does not fit the schema; the message names the parameter. Correct it and send it again.',
  },
  invalidDeadline: {
    status: 400,
    message: 'Invalid data in X-Request-Deadline header',
    advice: 'Send a future RFC 3339 date-time, or a number with a unit: `500ms`, `30s`, `1m`.',
  },
  invalidPartyID: {
    status: 400,
    message: 'Party not found',
    advice: 'Leave partyID out, or send the id of the party the API key belongs to.',
  },
  invalidPartyStatus: {
    status: 400,
    message: 'Invalid party status',
    advice: 'The party is blocked or suspended. Ask the operator of the service.',
  },
  invalidShopID: {
    status: 400,
    message: 'Shop not found',
    advice: 'Use the id of one of your shops; `GET /v2/processing/shops` lists them.',
  },
  invalidShopStatus: {
    status: 400,
    message: 'Invalid shop status',
    advice: 'The shop is blocked or suspended. Ask the operator of the service.',
  },
  invalidInvoiceCost: {
    status: 400,
    message: 'Invalid invoice amount',
    advice: 'Send an amount, a cart, or both; with both, the sum of price × quantity must equal the amount.',
  },
  invalidInvoiceCart: {
    status: 400,
    message: 'Wrong size. Path to item: cart',
    advice: 'A cart has 1 to 100 lines. Leave it out when there is none.',
  },
  invalidInvoiceStatus: {
    status: 400,
    message: 'Invalid invoice status',
    advice:
      'Read the invoice: its status does not allow this. Only a paid invoice is fulfilled, only an unpaid one rescinded.',
  },
  allocationNotPermitted: {
    status: 400,
    message: 'Allocation not permitted',
    advice: 'Split payments are not offered. Leave allocation out.',
  },
  invoicePaymentPending: {
    status: 400,
    message: 'Invoice payment pending',
    advice: 'A payment of the invoice is in progress. Follow its events; when it has failed, try again.',
  },
  invalidPaymentToolToken: {
    status: 400,
    message: 'Specified payment tool token is invalid',
    advice:
      'Tokenize the card again: a token is good for an hour, for the party and the object it was made for.',
  },
  invalidPaymentSession: {
    status: 400,
    message: 'Specified payment session is invalid',
    advice: 'Send the session that came with the token, or none.',
  },
  invalidProcessingDeadline: {
    status: 400,
    message: 'Specified processing deadline is invalid',
    advice: 'Send a future RFC 3339 date-time, or a number with a unit: `30m`.',
  },
  invalidPaymentStatus: {
    status: 400,
    message: 'Invalid payment status',
    advice: 'Read the payment: only a held one (`processed`) is captured or cancelled.',
  },
  operationNotPermitted: {
    status: 400,
    message: 'Operation not permitted',
    advice: 'The shop or the payment does not allow it; the message says more.',
  },
  inconsistentCaptureCurrency: {
    status: 400,
    message: 'The currency differs from that of the payment',
    advice: 'Send the currency of the payment, or none.',
  },
  amountExceededCaptureBalance: {
    status: 400,
    message: 'More than is held',
    advice: 'Capture at most what is held; the message says how much that is.',
  },
  invalidTestClock: {
    status: 400,
    message: 'The test clock only moves forward, by ten years at most',
    advice: 'Send a later `now`; `GET /sandbox/clock` shows the present one.',
  },
  invalidResourceToken: {
    status: 400,
    errorType: 'InvalidResourceToken',
    message: 'Specified resource token is invalid',
    advice: 'Store the card again: its token is good for an hour, and for your party alone.',
  },
  invalidContinuationToken: {
    status: 400,
    errorType: 'InvalidToken',
    message: 'The continuation token is of another query',
    advice: 'Send it with exactly the parameters of the page it came with, or begin again without one.',
  },
  invalidSearchRange: {
    status: 400,
    errorType: 'NoMatch',
    message: 'createdAtFrom is later than createdAtTo',
    advice: 'Turn them round.',
  },
  invoiceNotFound: {
    status: 404,
    message: 'Invoice not found',
    advice: 'Check the id and whose token was sent.',
  },
  paymentNotFound: {
    status: 404,
    message: 'Payment not found',
    advice: 'Check the id; it counts the payments of its invoice.',
  },
  shopNotFound: {
    status: 404,
    message: 'Shop not found',
    advice: 'Check the id; `GET /v2/processing/shops` lists yours.',
  },
  categoryNotFound: {
    status: 404,
    message: 'Category not found',
    advice: 'Check the id; `GET /v2/processing/categories` lists them.',
  },
  identityNotFound: {
    status: 404,
    message: 'Identity not found',
    advice: 'Check the id; `GET /wallet/v0/identities` lists yours.',
  },
  challengeNotFound: {
    status: 404,
    message: 'Identification not found',
    advice: 'Check the id; the list of the identity shows them all.',
  },
  walletNotFound: {
    status: 404,
    message: 'Wallet not found',
    advice: 'Check the id; `GET /wallet/v0/wallets` lists yours.',
  },
  bankCardNotFound: {
    status: 404,
    message: 'Bank card not found',
    advice: 'The token is unknown or an hour old: store the card again.',
  },
  destinationNotFound: {
    status: 404,
    message: 'Destination not found',
    advice: 'Check the id; `GET /wallet/v0/destinations` lists yours.',
  },
  withdrawalNotFound: {
    status: 404,
    message: 'Withdrawal not found',
    advice: 'Check the id; `GET /wallet/v0/withdrawals` lists yours.',
  },
  transferNotFound: {
    status: 404,
    message: 'Transfer not found',
    advice: 'Check the id.',
  },
  providerNotFound: {
    status: 404,
    message: 'Provider not found',
    advice: '`GET /wallet/v0/providers` lists them.',
  },
  residenceNotFound: {
    status: 404,
    message: 'Residence not found',
    advice: 'Providers say where they serve.',
  },
  currencyNotFound: {
    status: 404,
    message: 'Currency not found',
    advice: 'Send a code of ISO 4217.',
  },
  externalIDConflict: {
    status: 409,
    message: "This 'externalID' has been used by another request",
    advice:
      'The id in the answer was made with this externalID and other fields. Use a new externalID for a new entity.',
  },
  challengeUnderWay: {
    status: 409,
    message: 'An identification is under way',
    advice: 'Wait for its end.',
  },
  requestTooLarge: {
    status: 413,
    message: 'The request body is larger than 256 KiB',
    advice: 'Send less; metadata, the largest free field, may have 4 KiB.',
  },
  idempotencyKeyReused: {
    status: 422,
    message: 'This Idempotency-Key has been used with another request',
    advice: 'Use a new key for every new request; repeat a key only with the very same request.',
  },
  noSuchProvider: {
    status: 422,
    message: 'No such provider',
    advice: '`GET /wallet/v0/providers` lists them.',
  },
  noSuchIdentityClass: {
    status: 422,
    message: 'No such identity class',
    advice: 'The provider names its classes under identity-classes.',
  },
  partyInaccessible: {
    status: 422,
    message: 'Party inaccessible',
    advice: 'The party is blocked or suspended. Ask the operator of the service.',
  },
  noSuchIdentity: {
    status: 422,
    message: 'No such identity',
    advice: 'Use the id of one of your identities.',
  },
  identityInaccessible: {
    status: 422,
    message: 'Identity inaccessible',
    advice: 'The identity is blocked. Ask the operator of the service.',
  },
  currencyNotSupported: {
    status: 422,
    message: 'Currency not supported',
    advice: 'Send a currency of ISO 4217.',
  },
  unsupportedCard: {
    status: 422,
    message: 'Unsupported card',
    advice: 'The number belongs to no network we know.',
  },
  invalidCardData: {
    status: 422,
    message: 'Card data is invalid',
    advice: 'Check the number, the expiry and the security code.',
  },
  noSuchWallet: {
    status: 422,
    message: 'No such wallet',
    advice: 'Use one of your wallets, or a grant that is good for this one.',
  },
  walletInaccessible: {
    status: 422,
    message: 'Wallet inaccessible',
    advice: 'Its identity is blocked. Ask the operator of the service.',
  },
  noSuchDestination: {
    status: 422,
    message: 'No such destination',
    advice: 'Use one of your destinations, or a grant that is good for this one.',
  },
  invalidCashAmount: {
    status: 422,
    message: 'Invalid cash amount',
    advice: 'A payout has 100 minor units or more.',
  },
  payoutLimitPerPayout: {
    status: 422,
    message: 'Invalid cash amount',
    advice: 'More than one payout of this identity may have. Raise its level, or ask the operator.',
  },
  payoutLimitPerDay: {
    status: 422,
    message: 'The limit of the day is reached',
    advice: 'Wait until `retryAfter`, raise the level of the identity, or ask the operator.',
  },
  payoutLimitPerMonth: {
    status: 422,
    message: 'The limit of the month is reached',
    advice: 'Wait until `retryAfter`, raise the level of the identity, or ask the operator.',
  },
  payoutLimitNumberPerDay: {
    status: 422,
    message: 'The number of payouts of the day is reached',
    advice: 'Wait until `retryAfter`, raise the level of the identity, or ask the operator.',
  },
  differentCurrencies: {
    status: 422,
    message: 'Invalid currency',
    advice: 'Wallet, destination and body must have the same currency.',
  },
  destinationUnauthorized: {
    status: 422,
    message: 'Destination unauthorized',
    advice: 'Wait until the destination is `Authorized`; its events tell when.',
  },
  differentProviders: {
    status: 422,
    message: 'This wallet and destination cannot be used together',
    advice: 'The identities of both must have the same provider.',
  },
  expiredGrant: {
    status: 422,
    message: 'Invalid expiration: already expired',
    advice: 'Send a `validUntil` that is still to come.',
  },
  noSuchSender: {
    status: 422,
    message: 'No such wallet sender',
    advice: 'Use one of your wallets.',
  },
  noSuchReceiver: {
    status: 422,
    message: 'No such wallet receiver',
    advice: 'Check the id of the wallet.',
  },
  inconsistentCurrency: {
    status: 422,
    message: 'Inconsistent currency',
    advice: 'Both wallets and the body must have the same currency.',
  },
  badTransferAmount: {
    status: 422,
    message: 'Bad transfer amount',
    advice: 'Send 1 minor unit or more.',
  },
  transferNotAllowed: {
    status: 422,
    message: 'W2W transfer not allowed',
    advice: 'A wallet cannot be sent its own money.',
  },
  noSuchChallengeType: {
    status: 422,
    message: 'No such challenge type',
    advice: 'Use `esia` or `in-person`.',
  },
  proofNotFound: {
    status: 422,
    message: 'Proof not found',
    advice: 'A proof has a type we know and a token.',
  },
  insufficientProof: {
    status: 422,
    message: 'Insufficient proof',
    advice: 'Send a proof of every type the identification asks for.',
  },
  illegalChallengeType: {
    status: 422,
    message: 'Illegal identification type for current identity level',
    advice: 'The identity has that level already, or lacks the one before.',
  },
  tooManyRequests: {
    status: 429,
    message: 'Too many requests',
    advice: 'Wait for the seconds in Retry-After.',
  },
  quotesNotOffered: {
    status: 501,
    message: 'Quotes are not offered: wallet, destination and payout have the same currency',
    advice: 'Create the withdrawal without a quote.',
  },
} as const satisfies Record<string, { status: number; message: string; advice: string; errorType?: string }>;

export type RefusalCode = keyof typeof refusals;

/** Those any operation can answer with; the others are named by the operations that use them. */
export const refusalsOfEveryOperation = [
  'invalidRequest',
  'invalidDeadline',
  'tooManyRequests',
] as const satisfies RefusalCode[];

/** Those of every operation that may come with a body, also where nobody asked for one. */
export const refusalsOfEveryBody = [
  'requestTooLarge',
  'idempotencyKeyReused',
] as const satisfies RefusalCode[];
