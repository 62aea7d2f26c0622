// The part of the catalogue of refusals (error-codes.ts) that only the wallets' side uses.

export const payoutRefusals = {
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
    advice: 'Its identity is blocked, or whose wallet it is may not trade. Ask the operator of the service.',
  },
  noSuchDestination: {
    status: 422,
    message: 'No such destination',
    advice: 'Use one of your destinations, or a grant that is good for this one.',
  },
  invalidCashAmount: {
    status: 422,
    message: 'Invalid cash amount',
    advice: 'A payout has 100 minor units or more, and no amount has more than twelve digits.',
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
    advice:
      'Wait until `retryAfter`, raise the level of the identity, or ask the operator; without `retryAfter` waiting does not help.',
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
  quotesNotOffered: {
    status: 501,
    message: 'Quotes are not offered: wallet, destination and payout have the same currency',
    advice: 'Create the withdrawal without a quote.',
  },
  challengeUnderWay: {
    status: 409,
    message: 'An identification is under way',
    advice: 'Wait for its end.',
  },
  tooManyWalletWebhooks: {
    status: 422,
    message: 'Webhook limit exceeded',
    advice: 'There are at most 10 webhooks for each identity. Delete one first.',
  },
} as const satisfies Record<string, { status: number; message: string; advice: string; errorType?: string }>;
