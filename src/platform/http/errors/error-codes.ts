// All error codes: status, default message and advice. Clients switch on the code; `npm run docs` generates
// docs/guide/errors.md from this file.
import { withStatus } from './error-entry.ts';
import { payoutErrorCodes } from './payout-error-codes.ts';

export const errorCatalogue = {
  ...withStatus(400, {
    invalidRequest: {
      message: 'Invalid request',
      advice:
        'The request does not match the schema, or one of its values is wrong. Correct what the message names and send it again.',
      messages: {
        'Invalid currency':
          'A shop has one currency. Send that one, or the ID of a shop with the other currency. `GET /v2/processing/shops` returns the `currency` of each shop, and `mandate shop list --party <id>` prints it.',
        'Unrecognized bank card issuer':
          'The first digits of the number belong to no card network that Mandate knows. Check them, or use a card of another network. `GET /v2/processing/invoices/{invoiceID}/payment-methods` lists the networks. Payouts return `unsupportedCard` instead.',
        'Invalid cardNumber checksum': 'A digit is wrong, or two are swapped. Enter the number again.',
        'Invalid cardNumber length':
          'Cards of this network have more or fewer digits. Enter the number again.',
        'Invalid cvv length': 'Send three digits. American Express has four as well.',
        'Invalid expiration date':
          'Send the `MM/YY` or `MM/YYYY` on the card. A card is valid until the end of that month in UTC. Use another card if it has passed.',
        'Customer not found':
          'Check `customerID`. It has to be a customer of your party that is not deleted.',
        'Invalid customer':
          'The customer belongs to another shop than the invoice. Charge them with an invoice of their own shop: `GET /v2/processing/customers/{customerID}` returns its `shopID`.',
        "Malformed 'x-forwarded-for' header":
          'An entry is not an IP address. Correct the proxy that sends the header.',
      },
    },
    invalidDeadline: {
      message: 'Invalid data in X-Request-Deadline header',
      advice:
        'Send a future RFC 3339 date-time, or a number with a unit: `500ms`, `30s`, `1m`. More than a minute counts as one.',
    },
    invalidPartyID: {
      message: 'Party not found',
      advice: 'Omit partyID, or send the ID of the party of your API key.',
    },
    invalidPartyStatus: {
      message: 'Invalid party status',
      advice: 'The party is blocked or suspended. Ask the operator of the service.',
    },
    invalidShopID: {
      message: 'Shop not found',
      advice: 'Use the ID of one of your shops. `GET /v2/processing/shops` lists them.',
    },
    invalidShopStatus: {
      message: 'Invalid shop status',
      advice: 'The shop is blocked or suspended. Ask the operator of the service.',
    },
    invalidInvoiceCost: {
      message: 'Invalid invoice amount',
      advice:
        'Send an amount, a cart, or both. With both, the sum of price × quantity must equal the amount.',
    },
    invalidInvoiceCart: {
      message: 'Wrong size. Path to item: cart',
      advice: 'A cart has 1 to 100 lines. Without lines, omit the cart.',
    },
    invalidInvoiceStatus: {
      message: 'Invalid invoice status',
      advice:
        'Read the status of the invoice. Only a paid invoice can be fulfilled, only an unpaid one paid or rescinded.',
    },
    allocationNotPermitted: {
      message: 'Allocation not permitted',
      advice: 'Split payments are not supported. Omit allocation.',
    },
    invoiceAttemptsExceeded: {
      message: 'This invoice has been tried too often',
      advice: 'An invoice takes 10 attempts of payers who enter a card. Create a new invoice.',
    },
    invoicePaymentPending: {
      message: 'Invoice payment pending',
      advice: 'Another payment of the invoice is in progress. Follow its events. Try again if it fails.',
    },
    invalidPaymentToolToken: {
      message: 'Specified payment tool token is invalid',
      advice:
        'Store the card again and send the new token. It is valid for one hour, for one party, and for the invoice or customer it was created for.',
    },
    invalidPaymentSession: {
      message: 'Specified payment session is invalid',
      advice: 'Send the session returned with the token, or none.',
    },
    invalidProcessingDeadline: {
      message: 'Specified processing deadline is invalid',
      advice: 'Send a future RFC 3339 date-time, or a number with a unit: `30m`.',
    },
    invalidPaymentStatus: {
      message: 'Invalid payment status',
      advice:
        'Read the status of the payment. Only a held one (`processed`) can be captured or cancelled, only a `captured` one refunded.',
    },
    operationNotPermitted: {
      message: 'Operation not permitted',
      advice:
        'The settings of the shop, or the kind of token or payment, do not allow this. The message has details.',
    },
    invalidBindingStatus: {
      message: 'Only a binding that has succeeded can be revoked',
      advice: 'Read the status of the binding. Revoke it once it has `succeeded`.',
    },
    invalidConsentLinkStatus: {
      message: 'The payer is confirming the new terms, or has confirmed them. The link cannot be cancelled.',
      advice:
        'Read the status of the consent link. If the payer does not finish within 30 minutes it is `open` again.',
    },
    invalidSubscriptionStatus: {
      message: 'The status of the subscription does not allow this',
      advice:
        'Read its `status`. Only a running subscription is paused, only a paused one resumed, and an ended one stays as it is.',
    },
    subscriptionChargePending: {
      message: 'A charge or a payment of the subscription is at the bank. Wait for its outcome.',
      advice:
        'Read the subscription until no open period and no `pendingChange` is `isCharging`. `keepTrying` waits for no open period.',
    },
    subscriptionKeyTaken: {
      message: 'A subscription with this `uniqueKey` has not ended',
      advice: 'The response has its `id`. Cancel it first, or send another key.',
    },
    subscriptionPastDue: {
      message: 'A period of the subscription is not paid',
      advice: 'Change it once the period is paid or closed, or from the next period.',
    },
    subscriptionChangePending: {
      message: 'Another change of the subscription waits for its payment',
      advice: 'Wait until it is paid or dropped, or take it back.',
    },
    subscriptionChangedToday: {
      message: 'The subscription was changed today',
      advice: 'Change it tomorrow in its time zone, or from the next period.',
    },
    invalidPeriodStatus: {
      message: 'The period cannot be charged or closed',
      advice: 'List the periods. The oldest `open` one is charged, and a `missed` one once none is open.',
    },
    invalidDunningPolicy: {
      message: 'The dunning policy is not allowed',
      advice: 'The hint names the rule.',
    },
    customerNotReady: {
      message: 'Specified customer is not ready',
      advice: 'Save a card for the customer first. A customer is `ready` once a binding has succeeded.',
    },
    invalidRecurrentParent: {
      message: 'Specified recurrent parent is invalid',
      advice:
        'Name a captured payment of the same shop created with `makeRecurrent: true`, preferably the latest of the series.',
    },
    recurrentStopped: {
      message:
        'Charges of this card are stopped permanently by the issuer, the card network or the payer. Ask the payer to pay again.',
      advice:
        'Do not retry. Ask the payer for a new payment with `makeRecurrent`, authenticated with 3-D Secure.',
    },
    recurrentConsentRevoked: {
      message: 'The payer or merchant has revoked the consent. Ask the payer for a new payment.',
      advice: 'Do not retry. Only a new payment by the payer gives a new consent.',
    },
    recurrentConsentExpired: {
      message: 'The consent of the payer has expired. Ask the payer for a new payment.',
      advice:
        'Do not retry. The last day of the consent has passed; only a new payment by the payer gives a new consent.',
    },
    recurrentCardExpired: {
      message: 'The card has expired. Ask the payer to pay with a new card.',
      advice: 'Do not retry. Ask the payer for a new payment with another card.',
    },
    recurrentRetryWindowExpired: {
      message: 'The 31 days for retries of this invoice have passed. Create a new invoice.',
      advice: 'Do not retry this invoice. You can charge a new invoice.',
    },
    recurrentRetryTooEarly: {
      message:
        'Too early to retry this charge. Wait until retryAfter, or until the pending charge has ended.',
      advice:
        'Retry at `retryAfter`. Without `retryAfter`, a charge is pending, or the card or the consent ends before.',
    },
    recurrentRetryLimitReached: {
      message: 'The card was declined too often. Wait until retryAfter, or ask the payer to pay.',
      advice:
        'Retry at `retryAfter`. Without it, ask the payer for a new payment. Card networks limit the declines of one card.',
    },
    recurrentTerminalPaused: {
      message:
        'Charges are paused: the bank says that the terminal is set up wrongly. Wait until retryAfter, and ask the operator.',
      advice:
        'Retry at `retryAfter`. Payers who are present can pay meanwhile. The operator is alerted: the set-up of your shop or its terminal is wrong.',
    },
    recurrentParentStale: {
      message: 'The last charge was more than six months ago. Ask the payer for a new payment.',
      advice: 'Do not retry. The shop is set to refuse a charge after so long a gap.',
    },
    recurrentAmountAboveConsent: {
      message:
        'The amount is above what the payer agreed to. Charge less, or ask the payer for a new consent.',
      advice:
        'Charge at most the agreed amount, in its currency. For more, send the payer a [consent link](consent/new-terms.md) with new terms. With ' +
        '`retryAfter`, the amount is allowed once the trial has ended.',
    },
    recurrentPeriodAlreadyCharged: {
      message:
        'This period of the schedule is charged already. Wait until retryAfter, or for the pending charge.',
      advice:
        'Charge at `retryAfter`, when the next period starts. Without it, a charge is pending, or held and not captured. The shop is set to refuse a second charge in one ' +
        'period.',
    },
    threeDSecureNotOffered: {
      message:
        'No bank of the shop authenticates payers as requested. Ask the operator, or send another threeDSecure.',
      advice:
        'Send another `threeDSecure` or none. The operator sees with `mandate bank check` what a bank declares, and sets the wish of a shop with ' +
        '`mandate shop three-d-secure`.',
    },
    notOfferedByBank: {
      message: 'No bank of the shop does that. Ask the operator, or send a request without it.',
      advice:
        'The hint names what is missing in the words of the bank protocol, such as `kind capture` for a hold. The operator sees with `mandate bank check` ' +
        'what a bank declares, and adds a terminal at another bank.',
    },
    authenticationMismatch: {
      message: 'The authentication is not of this payment',
      advice:
        'The hint names what differs: amount, currency, card or ECI. Authenticate the payer for the amount of the invoice, with this card.',
    },
    authenticationNotCurrent: {
      message: 'The authentication is not of the last day',
      advice: 'Authenticate the payer again, and check the clock of your server. The hint has the time here.',
    },
    authenticationUsed: {
      message: 'The authentication was used before',
      advice:
        'Authenticate the payer again. A payment uses its `authenticated` up, also if it fails. A refused request does not.',
    },
    inconsistentCaptureCurrency: {
      message: 'The currency differs from the currency of the payment',
      advice: 'Send the currency of the payment, or none.',
    },
    amountExceededCaptureBalance: {
      message: 'The amount is larger than the held amount',
      advice: 'Capture at most the held amount. The message has it.',
    },
    refundCartConflict: {
      message: 'Inconsistent Refund Cart',
      advice: 'Send a cart without allocation. Split payments are not supported.',
    },
    inconsistentRefundCurrency: {
      message: 'Inconsistent refund currency',
      advice: 'Send the currency of the payment, or none.',
    },
    invoicePaymentAmountExceeded: {
      message: 'Payment amount exceeded',
      advice:
        'Refund at most the captured amount minus earlier refunds. List the refunds of the payment to see them.',
    },
    insufficentAccountBalance: {
      message: 'Insufficient account balance',
      advice:
        'The balance of the shop does not cover the refund and its fee: fees were taken from what the payment brought. Pay money ' +
        'in, which the operator books with `mandate shop top-up`; or have the shop set to wait or to an overdraft with ' +
        '`mandate shop refunds`.',
    },
    webhookEventNotFound: {
      message: 'This webhook has no event with this eventID. Check the ID, or replay with since.',
      advice: 'Send the `eventID` of an event this webhook received, or replay with `since`.',
    },
    webhookRotationInProgress: {
      message: 'The keys are already being rotated. Wait until a day after the next keys take over.',
      advice: 'A rotation ends one day after the new keys take over. `GET` the webhook shows that time.',
    },
    invalidTestClock: {
      message: 'The test clock only moves forward, by at most ten years. Send a later time.',
      advice: 'Send a later `now`, before the year 9000. `GET /sandbox/clock` returns the current one.',
    },
    faultNotOrdered: {
      message: 'No bank took the fault. Check the terminal, and that the simulated bank of the shop runs.',
      advice:
        'Send a `terminal` of your shops, or none. Only the simulated bank takes faults, and never at a terminal that another party uses too.',
    },
    searchTooWide: {
      message: 'The search has too much to look through. Search a shorter range of time, or by an exact key.',
      advice:
        'Send `fromTime` and `toTime` at most 366 days apart, or one of `invoiceID`, `externalID`, `rrn`, `customerID` and `payerEmail`. ' +
        'A search that takes more than two seconds is refused, too: the `hint` says which it was.',
    },
    exportIsOver: {
      message: 'The export is ready or has failed. Only one that is pending or running can be cancelled.',
      advice:
        'Read the export. A file that is ready needs no cancellation: it is deleted seven days after it is made.',
    },
    tooManyExports: {
      message: 'Three exports are being made, or a hundred are kept. Wait until one is ready or has expired.',
      advice:
        'A party has three exports made at a time, and a hundred files. Read the exports you have ordered; each file is deleted after seven days.',
    },
    invalidResourceToken: {
      errorType: 'InvalidResourceToken',
      message: 'Specified resource token is invalid',
      advice:
        'Store the card again and send the new token. It is valid for one hour and only for your party.',
    },
    invalidContinuationToken: {
      errorType: 'InvalidToken',
      message: 'The continuation token belongs to another query. Send it with the same parameters.',
      advice: 'Send the token with the parameters of the page it came with, or start again without a token.',
    },
    invalidSearchRange: {
      errorType: 'NoMatch',
      message: 'createdAtFrom is later than createdAtTo. Swap them.',
      advice: 'Send a `createdAtFrom` that is not later than `createdAtTo`.',
    },
  }),
  ...withStatus(404, {
    partyNotFound: {
      message: 'Party not found',
      advice:
        'The path names another party than the one of your token. `GET /v2/processing/me` returns its ID.',
    },
    invoiceNotFound: {
      message: 'Invoice not found',
      advice: 'Check the ID, and that the token belongs to the same party or invoice.',
    },
    invoiceTemplateNotFound: {
      message: 'Invoice template not found',
      advice: 'Check the ID, and that the template has not been deleted.',
    },
    paymentNotFound: {
      message: 'Payment not found',
      advice: 'Check the ID. Payments are numbered within their invoice, from 1.',
    },
    refundNotFound: {
      message: 'Refund not found',
      advice: 'Check the ID. Refunds are numbered within their payment, from 100.',
    },
    chargebackNotFound: {
      message: 'Invoice payment chargeback not found',
      advice: 'No payment has a chargeback today, as no bank can report one. Read disputes at your bank.',
    },
    customerNotFound: {
      message: 'Customer not found',
      advice:
        'Check the ID, and that the token belongs to the same party or customer. A deleted customer is not found.',
    },
    bindingNotFound: {
      message: 'Customer binding not found',
      advice: 'Check the ID. List the bindings of the customer.',
    },
    recurringNotFound: {
      message: 'This payment or binding belongs to no series of recurring charges',
      advice:
        'Name a captured payment created with `makeRecurrent`, a recurring payment, or a binding that has succeeded.',
    },
    seriesNotFound: {
      message: 'Series of recurring charges not found',
      advice: 'Send the `seriesID` of a `…/recurring` response, or the `series.id` of a webhook event.',
    },
    consentLinkNotFound: {
      message: 'Consent link not found',
      advice: 'Check the ID. The creation of the link returned it.',
    },
    exportNotFound: {
      message: 'Export not found',
      advice: 'Check the ID. An export is deleted seven days after it is made; order it again then.',
    },
    subscriptionNotFound: {
      message: 'Subscription not found',
      advice: 'Check the ID. `GET …/customers/{customerID}/subscriptions` lists those of a customer.',
    },
    dunningPolicyNotFound: {
      message: 'Dunning policy not found',
      advice: 'Check the name. `GET /v2/processing/shops/{shopID}/dunning-policies` lists those of a shop.',
    },
    webhookNotFound: {
      message: 'Webhook not found',
      advice: 'Check the ID. `GET /v2/processing/webhooks` lists your webhooks.',
    },
    shopNotFound: {
      message: 'Shop not found',
      advice: 'Check the ID. `GET /v2/processing/shops` lists your shops.',
    },
    categoryNotFound: {
      message: 'Category not found',
      advice: 'Check the ID. `GET /v2/processing/categories` lists the categories.',
    },
    identityNotFound: {
      message: 'Identity not found',
      advice: 'Check the ID. `GET /wallet/v0/identities` lists your identities.',
    },
    challengeNotFound: {
      message: 'Identification not found',
      advice: 'Check the ID. List the identifications of the identity.',
    },
    walletNotFound: {
      message: 'Wallet not found',
      advice: 'Check the ID. `GET /wallet/v0/wallets` lists your wallets.',
    },
    bankCardNotFound: {
      message: 'Bank card not found',
      advice: 'The token is unknown or older than one hour. Store the card again.',
    },
    destinationNotFound: {
      message: 'Destination not found',
      advice: 'Check the ID. `GET /wallet/v0/destinations` lists your destinations.',
    },
    withdrawalNotFound: {
      message: 'Withdrawal not found',
      advice: 'Check the ID. `GET /wallet/v0/withdrawals` lists your withdrawals.',
    },
    transferNotFound: { message: 'Transfer not found', advice: 'Send the `id` that the creation returned.' },
    providerNotFound: {
      message: 'Provider not found',
      advice: 'Check the ID. `GET /wallet/v0/providers` lists the providers.',
    },
    residenceNotFound: {
      message: 'Residence not found',
      advice: 'Use one of the `residences` of a provider.',
    },
    currencyNotFound: {
      message: 'Currency not found',
      advice: 'Send an ISO 4217 code in capitals, such as `RUB`.',
    },
  }),
  ...withStatus(409, {
    subscriptionDetailsChanged: {
      message: 'Another request has changed the subscription',
      advice: 'Read it again, and send its `detailsVersion` with what shall apply now.',
    },
    externalIDConflict: {
      message: "This 'externalID' has been used by another request",
      advice:
        'The `id` in the response was created with this externalID and other fields. Use a new externalID for a new object.',
    },
  }),
  ...withStatus(413, {
    requestTooLarge: {
      message: 'The request body is larger than 256 KiB. Send less.',
      advice: '`metadata`, the largest free field, may have 4 KiB, and 16 KiB in wallet requests.',
    },
  }),
  ...withStatus(422, {
    idempotencyKeyReused: {
      message: 'This Idempotency-Key was used with another request. Use a new key.',
      advice: 'Use a new key for each new request. Repeat a key only with the identical request.',
    },
  }),
  ...withStatus(429, {
    tooManyBindings: {
      message: 'Too many cards were tried. Wait for the seconds in Retry-After.',
      advice:
        'This may be card testing. The message says whether the limit of the customer or of the card is reached.',
    },
    tooManyAttempts: {
      message: 'Too many attempts to pay. Wait for the seconds in Retry-After.',
      advice:
        'The card or the payer has been declined too often, or several attempts with the card are in progress. Wait for the seconds in ' +
        'Retry-After, or let the payer use another card. Charges without the payer are not limited by this.',
    },
    shopRefusesCards: {
      message: 'The shop takes no new cards at the moment. Wait for the seconds in Retry-After.',
      advice:
        'So many cards like this one, or cards of any kind, are declined in this shop that it looks like card testing. Ask the operator of the ' +
        'service. Another card may work. Charges without the payer continue.',
    },
    webhookLimitExceeded: {
      message: 'Webhook limit exceeded',
      advice: 'A shop can have at most 10 webhooks. Delete one first.',
    },
    tooManyRequests: {
      message: 'Too many requests. Wait for the seconds in Retry-After.',
      advice: 'Wait for the seconds in Retry-After.',
    },
  }),
  ...withStatus(501, {
    notImplemented: {
      message: 'The operation is not available here',
      advice:
        'The message says what there is instead. [Operations](requests/operations.md) lists every published operation, and which of them this service has.',
    },
  }),
  ...payoutErrorCodes,
};

export type ErrorCode = keyof typeof errorCatalogue;

/** Errors of every operation. The others are listed by the operations that return them. */
export const errorsOfEveryOperation = [
  'invalidRequest',
  'invalidDeadline',
  'tooManyRequests',
] as const satisfies ErrorCode[];

/** Errors of every operation other than GET, because any such request can have a body. */
export const errorsOfEveryBody = ['requestTooLarge', 'idempotencyKeyReused'] as const satisfies ErrorCode[];

/** Errors of paths that no operation has, or that name a party in front of one. */
export const errorsOutsideOperations = ['notImplemented', 'partyNotFound'] as const satisfies ErrorCode[];
