// The error codes that only the wallets API uses, a part of the catalogue in error-codes.ts.
import { withStatus } from './error-entry.ts';

export const payoutErrorCodes = {
  ...withStatus(422, {
    noSuchProvider: {
      message: 'No such provider',
      advice: 'List the providers with `GET /wallet/v0/providers`.',
    },
    noSuchIdentityClass: {
      message: 'No such identity class',
      advice: 'List the provider’s classes under `identity-classes`.',
    },
    partyInaccessible: {
      message: 'Party inaccessible',
      advice: 'The party is blocked or suspended. Ask the operator of the service.',
    },
    noSuchIdentity: { message: 'No such identity', advice: 'Use the ID of one of your identities.' },
    identityInaccessible: {
      message: 'Identity inaccessible',
      advice: 'The identity is blocked. Ask the operator of the service.',
    },
    currencyNotSupported: { message: 'Currency not supported', advice: 'Send an ISO 4217 currency code.' },
    unsupportedCard: {
      message: 'Unsupported card',
      advice: 'The network of this card is not supported. Use another card.',
    },
    invalidCardData: {
      message: 'Card data is invalid',
      advice: 'Check the number, the expiry and the security code.',
    },
    noSuchWallet: {
      message: 'No such wallet',
      advice: 'Use one of your wallets, or a grant that is valid for this one.',
    },
    walletInaccessible: {
      message: 'Wallet inaccessible',
      advice:
        'Its identity is blocked, or the party that owns it may not trade. Ask the operator of the service.',
    },
    noSuchDestination: {
      message: 'No such destination',
      advice: 'Use one of your destinations, or a grant that is valid for this one.',
    },
    invalidCashAmount: {
      message: 'Invalid cash amount',
      advice: 'Send at least 100 minor units for a payout, and at most twelve digits for any amount.',
    },
    payoutLimitPerPayout: {
      message: 'Invalid cash amount',
      advice:
        'The amount is above this identity’s limit for one payout. Raise its level, or ask the operator.',
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
        'The daily number of payouts is reached. Wait until retryAfter, or raise the level of the identity.',
      advice:
        'Wait until `retryAfter`, raise the level of the identity, or ask the operator. Without `retryAfter`, waiting does not help.',
    },
    differentCurrencies: {
      message: 'Invalid currency',
      advice: 'Wallet, destination and body must have the same currency.',
    },
    destinationUnauthorized: {
      message: 'Destination unauthorized',
      advice: 'Wait until the destination is `Authorized`; its events say when.',
    },
    differentProviders: {
      message: 'This wallet and destination cannot be used together',
      advice: 'The identities of both must have the same provider.',
    },
    expiredGrant: {
      message: 'Invalid expiration: already expired',
      advice: 'Send a `validUntil` in the future.',
    },
    noSuchSender: { message: 'No such wallet sender', advice: 'Use one of your wallets.' },
    noSuchReceiver: { message: 'No such wallet receiver', advice: 'Check the ID of the wallet.' },
    inconsistentCurrency: {
      message: 'Inconsistent currency',
      advice: 'Both wallets and the body must have the same currency.',
    },
    badTransferAmount: { message: 'Bad transfer amount', advice: 'Send 1 minor unit or more.' },
    transferNotAllowed: {
      message: 'W2W transfer not allowed',
      advice: 'Use different wallets as sender and receiver.',
    },
    noSuchChallengeType: { message: 'No such challenge type', advice: 'Use `esia` or `in-person`.' },
    proofNotFound: { message: 'Proof not found', advice: 'Send a proof with a supported type and a token.' },
    insufficientProof: {
      message: 'Insufficient proof',
      advice: 'Send a proof of every type the identification asks for.',
    },
    illegalChallengeType: {
      message: 'Illegal identification type for current identity level',
      advice: 'The identity already has this level, or lacks the level before it.',
    },
    tooManyWalletWebhooks: {
      message: 'Webhook limit exceeded',
      advice: 'An identity has at most 10 webhooks. Delete one first.',
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
      advice: 'Wait until it has ended.',
    },
  }),
};
