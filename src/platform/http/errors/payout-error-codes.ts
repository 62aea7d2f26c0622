// The error codes that only the wallet API uses.

import { withStatus } from './error-entry.ts';

export const payoutErrorCodes = {
  ...withStatus(422, {
    noSuchProvider: {
      message: 'No such provider',
      advice: '`GET /wallet/v0/providers` lists the providers.',
    },
    noSuchIdentityClass: {
      message: 'No such identity class',
      advice: 'List the classes of the provider under `identity-classes`.',
    },
    partyInaccessible: {
      message: 'Party inaccessible',
      advice: 'The party is blocked or suspended. Ask the operator of the service.',
    },
    noSuchIdentity: {
      message: 'No such identity',
      advice: 'Check the ID. `GET /wallet/v0/identities` lists your identities.',
    },
    identityInaccessible: {
      message: 'Identity inaccessible',
      advice: 'The identity is blocked. Ask the operator of the service.',
    },
    currencyNotSupported: {
      message: 'Currency not supported',
      advice: 'Send an ISO 4217 code in capitals, such as `RUB`.',
    },
    unsupportedCard: {
      message: 'Unsupported card',
      advice:
        'The first digits of the number belong to no card network that Mandate knows. Check them, or use a card of another network. Payments return `invalidRequest` with the message `Unrecognized bank card issuer` instead.',
    },
    invalidCardData: {
      message: 'Card data is invalid',
      advice:
        'The number has a wrong digit or length, the expiry does not exist, or the security code has a wrong length. Enter the card again. With the message `Card is expired.` use another card.',
    },
    noSuchWallet: {
      message: 'No such wallet',
      advice:
        'Check the ID. `GET /wallet/v0/wallets` lists your wallets. The wallet of another party needs a valid grant.',
    },
    walletInaccessible: {
      message: 'Wallet inaccessible',
      advice:
        'The identity of the wallet is blocked, or its party is blocked or suspended. Ask the operator of the service.',
    },
    noSuchDestination: {
      message: 'No such destination',
      advice:
        'Check the ID. `GET /wallet/v0/destinations` lists your destinations. The destination of another party needs a valid grant.',
    },
    invalidCashAmount: {
      message: 'Invalid cash amount',
      advice: 'Send at least the smallest payout of the currency, and at most twelve digits.',
    },
    payoutLimitPerPayout: {
      message: 'Invalid cash amount',
      advice:
        'The amount exceeds the limit for one payout of this identity. Raise its level, or ask the operator.',
    },
    payoutLimitPerDay: {
      message:
        'The daily payout limit is reached. Wait until retryAfter, or raise the level of the identity.',
      advice: 'Wait until `retryAfter`, raise the level of the identity, or ask the operator.',
    },
    payoutLimitPerMonth: {
      message:
        'The monthly payout limit is reached. Wait until retryAfter, or raise the level of the identity.',
      advice: 'Wait until `retryAfter`, raise the level of the identity, or ask the operator.',
    },
    payoutLimitNumberPerDay: {
      message:
        'The daily number of payouts is reached. Wait until retryAfter, if there is one, or raise the level of the identity.',
      advice:
        'Wait until `retryAfter`, raise the level of the identity, or ask the operator. Without `retryAfter`, waiting does not help.',
    },
    payoutCurrencyNotSet: {
      message: 'Forbidden currency',
      advice:
        'No limits are set for payouts in this currency, so there is none, and no transfer to another identity. Ask the operator to set them with `mandate payout limits set`.',
    },
    noPayoutTerminal: {
      message: 'Forbidden currency',
      advice:
        'No payout terminal of the owner of the wallet serves this currency. Ask the operator of the service.',
    },
    payoutTerminalLimit: {
      message: 'Invalid cash amount',
      advice:
        'The amount is more than any payout terminal of the owner of the wallet takes. Pay out less at once.',
    },
    payoutSenderIncomplete: {
      message: 'The bank needs more about the sender of this payout',
      advice:
        'Send the fields that `fields` names as `sender`, in the withdrawal or when you create the identity.',
    },
    payoutPurposeNotAllowed: {
      message: 'This payout cannot have that purpose',
      advice: 'Use one of the purposes that the message names, or send none.',
    },
    differentCurrencies: {
      message: 'Invalid currency',
      advice:
        'Wallet, destination and body must have the same currency. Read the wallet and the destination: each has its `currency`.',
    },
    destinationUnauthorized: {
      message: 'Destination unauthorized',
      advice: 'Wait until the destination is `Authorized`. Its events show the change.',
    },
    differentProviders: {
      message: 'This wallet and destination cannot be used together',
      advice: 'The identities of wallet and destination must have the same provider.',
    },
    expiredGrant: {
      message: 'Invalid expiration: already expired',
      advice: 'Send a `validUntil` in the future.',
    },
    noSuchSender: {
      message: 'No such wallet sender',
      advice: 'Check the ID. `GET /wallet/v0/wallets` lists your wallets.',
    },
    noSuchReceiver: { message: 'No such wallet receiver', advice: 'Check the ID of the wallet.' },
    inconsistentCurrency: {
      message: 'Inconsistent currency',
      advice:
        'Both wallets and the body must have the same currency. Read your wallets: each has its `currency`.',
    },
    badTransferAmount: { message: 'Bad transfer amount', advice: 'Send 1 minor unit or more.' },
    transferNotAllowed: { message: 'W2W transfer not allowed', advice: 'Use two different wallets.' },
    noSuchChallengeType: { message: 'No such challenge type', advice: 'Use `esia` or `in-person`.' },
    proofNotFound: { message: 'Proof not found', advice: 'Send proofs with a supported type and a token.' },
    insufficientProof: {
      message: 'Insufficient proof',
      advice: 'Send a proof of every type the identification requires.',
    },
    illegalChallengeType: {
      message: 'Illegal identification type for current identity level',
      advice: 'The identity already has the level of this identification, or lacks the level before it.',
    },
    tooManyWalletWebhooks: {
      message: 'Webhook limit exceeded',
      advice: 'An identity can have at most 10 webhooks. Delete one first.',
    },
  }),
  ...withStatus(501, {
    quotesNotOffered: {
      message: 'Quotes are not available. Create the withdrawal without one.',
      advice: 'Create the withdrawal without a quote: wallet, destination and payout have the same currency.',
    },
  }),
  ...withStatus(409, {
    challengeUnderWay: {
      message: 'An identification of this identity is in progress. Wait until it ends.',
      advice: 'Follow the identification until it has ended.',
    },
  }),
};
