// The part of the catalogue of refusals (error-codes.ts) that only the wallets' side uses.

import { withStatus } from './error-entry.ts';

export const payoutRefusals = {
  ...withStatus(422, {
    noSuchProvider: { message: 'No such provider', advice: '`GET /wallet/v0/providers` lists them.' },
    noSuchIdentityClass: {
      message: 'No such identity class',
      advice: 'The provider names its classes under identity-classes.',
    },
    partyInaccessible: {
      message: 'Party inaccessible',
      advice: 'The party is blocked or suspended. Ask the operator of the service.',
    },
    noSuchIdentity: { message: 'No such identity', advice: 'Use the id of one of your identities.' },
    identityInaccessible: {
      message: 'Identity inaccessible',
      advice: 'The identity is blocked. Ask the operator of the service.',
    },
    currencyNotSupported: { message: 'Currency not supported', advice: 'Send a currency of ISO 4217.' },
    unsupportedCard: { message: 'Unsupported card', advice: 'The number belongs to no network we know.' },
    invalidCardData: {
      message: 'Card data is invalid',
      advice: 'Check the number, the expiry and the security code.',
    },
    noSuchWallet: {
      message: 'No such wallet',
      advice: 'Use one of your wallets, or a grant that is good for this one.',
    },
    walletInaccessible: {
      message: 'Wallet inaccessible',
      advice:
        'Its identity is blocked, or whose wallet it is may not trade. Ask the operator of the service.',
    },
    noSuchDestination: {
      message: 'No such destination',
      advice: 'Use one of your destinations, or a grant that is good for this one.',
    },
    invalidCashAmount: {
      message: 'Invalid cash amount',
      advice: 'A payout has 100 minor units or more, and no amount has more than twelve digits.',
    },
    payoutLimitPerPayout: {
      message: 'Invalid cash amount',
      advice: 'More than one payout of this identity may have. Raise its level, or ask the operator.',
    },
    payoutLimitPerDay: {
      message: 'The limit of the day is reached',
      advice: 'Wait until `retryAfter`, raise the level of the identity, or ask the operator.',
    },
    payoutLimitPerMonth: {
      message: 'The limit of the month is reached',
      advice: 'Wait until `retryAfter`, raise the level of the identity, or ask the operator.',
    },
    payoutLimitNumberPerDay: {
      message: 'The number of payouts of the day is reached',
      advice:
        'Wait until `retryAfter`, raise the level of the identity, or ask the operator; without `retryAfter` waiting does not help.',
    },
    differentCurrencies: {
      message: 'Invalid currency',
      advice: 'Wallet, destination and body must have the same currency.',
    },
    destinationUnauthorized: {
      message: 'Destination unauthorized',
      advice: 'Wait until the destination is `Authorized`; its events tell when.',
    },
    differentProviders: {
      message: 'This wallet and destination cannot be used together',
      advice: 'The identities of both must have the same provider.',
    },
    expiredGrant: {
      message: 'Invalid expiration: already expired',
      advice: 'Send a `validUntil` that is still to come.',
    },
    noSuchSender: { message: 'No such wallet sender', advice: 'Use one of your wallets.' },
    noSuchReceiver: { message: 'No such wallet receiver', advice: 'Check the id of the wallet.' },
    inconsistentCurrency: {
      message: 'Inconsistent currency',
      advice: 'Both wallets and the body must have the same currency.',
    },
    badTransferAmount: { message: 'Bad transfer amount', advice: 'Send 1 minor unit or more.' },
    transferNotAllowed: {
      message: 'W2W transfer not allowed',
      advice: 'A wallet cannot be sent its own money.',
    },
    noSuchChallengeType: { message: 'No such challenge type', advice: 'Use `esia` or `in-person`.' },
    proofNotFound: { message: 'Proof not found', advice: 'A proof has a type we know and a token.' },
    insufficientProof: {
      message: 'Insufficient proof',
      advice: 'Send a proof of every type the identification asks for.',
    },
    illegalChallengeType: {
      message: 'Illegal identification type for current identity level',
      advice: 'The identity has that level already, or lacks the one before.',
    },
    tooManyWalletWebhooks: {
      message: 'Webhook limit exceeded',
      advice: 'There are at most 10 webhooks for each identity. Delete one first.',
    },
  }),
  ...withStatus(501, {
    quotesNotOffered: {
      message: 'Quotes are not offered: wallet, destination and payout have the same currency',
      advice: 'Create the withdrawal without a quote.',
    },
  }),
  ...withStatus(409, {
    challengeUnderWay: { message: 'An identification is under way', advice: 'Wait for its end.' },
  }),
};
