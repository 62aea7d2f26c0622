// Withdrawals and destinations as JSON: their facts in the log, and the terms and results in their rows.
import { returnCodes } from '../../acquiring/domain/bank-port.ts';
import { bankWords, payoutRecipient, payoutSender, terminal } from '../../acquiring/store/codec.ts';
import { sender } from '../../identities/store/codec.ts';
import type { FrozenSender } from '../domain/payout-sender.ts';
import { cardDetails } from '../../cards/store/codec.ts';
import type { Currency } from '../../money.ts';
import {
  anything,
  currency,
  flag,
  instant,
  list,
  mapped,
  minorUnits,
  money,
  notEmpty,
  object,
  oneOf,
  optional,
  text,
  variants,
  type Codec,
} from '../../platform/database/codec.ts';
import type { PayoutFailure } from '../../wallets/domain/failure-path.ts';
import type { DestinationFact, DestinationTerms } from '../domain/destination.ts';
import type {
  Returned,
  Route,
  WithdrawalEnd,
  WithdrawalReturned,
  WithdrawalState,
  WithdrawalTerms,
} from '../domain/withdrawal.ts';

export const failure: Codec<PayoutFailure> = notEmpty(list(text));

const frozenSender: Codec<FrozenSender> = object({
  given: sender,
  sent: payoutSender,
  purpose: text,
  recipient: optional(payoutRecipient),
});

/** The terms of a withdrawal that have no column of their own. */
export type RowTerms = Pick<
  WithdrawalTerms,
  | 'walletPartyId'
  | 'destinationIdentityId'
  | 'cardToken'
  | 'isCounted'
  | 'countedFor'
  | 'sender'
  | 'route'
  | 'movedFrom'
  | 'metadata'
>;
export const rowTerms: Codec<RowTerms> = object({
  walletPartyId: text,
  destinationIdentityId: optional(text),
  cardToken: text,
  isCounted: flag,
  countedFor: optional(list(text)),
  sender: optional(frozenSender),
  route: optional(object<Route>({ bankId: text, terminal })),
  movedFrom: optional(list(text)),
  metadata: optional(anything),
});

const returned: Codec<Returned> = object({
  at: instant,
  code: oneOf(...returnCodes),
  amount: money,
});

type EndState = Exclude<WithdrawalState, { status: 'sending' }>;
export const endState: Codec<EndState> = variants<EndState, 'status'>('status', {
  succeeded: { reference: text, availableBy: optional(instant), returned: optional(returned) },
  failed: { failure, bank: optional(bankWords) },
});

/** The terms in the log, without the card token, the route, the counters and the sender. */
type LoggedWithdrawal = Omit<
  WithdrawalTerms,
  'cardToken' | 'route' | 'movedFrom' | 'isCounted' | 'countedFor' | 'sender'
>;
export type WithdrawalLogFact =
  | WithdrawalEnd
  | WithdrawalReturned
  | { readonly type: 'withdrawal_started'; readonly terms: LoggedWithdrawal };

type StoredWithdrawal = Omit<LoggedWithdrawal, 'amount'> & {
  readonly amountMinor: bigint;
  readonly currency: Currency;
};
const loggedWithdrawal: Codec<LoggedWithdrawal> = mapped(
  object<StoredWithdrawal>({
    id: text,
    partyId: text,
    walletId: text,
    walletPartyId: text,
    identityId: text,
    destinationId: text,
    destinationIdentityId: optional(text),
    createdAt: instant,
    amountMinor: minorUnits,
    currency,
    feeMinor: minorUnits,
    metadata: optional(anything),
    externalId: optional(text),
  }),
  {
    read: ({ amountMinor, currency: of, ...rest }) => ({
      ...rest,
      amount: { minor: amountMinor, currency: of },
    }),
    write: ({ amount, feeMinor, ...rest }) => ({
      ...rest,
      amountMinor: amount.minor,
      currency: amount.currency,
      feeMinor,
    }),
  },
);

export const withdrawalFact = variants<WithdrawalLogFact, 'type'>('type', {
  withdrawal_started: { terms: loggedWithdrawal },
  withdrawal_succeeded: { reference: text, availableBy: optional(instant), reason: optional(text) },
  withdrawal_failed: { failure, bank: optional(bankWords), reason: optional(text) },
  withdrawal_returned: { returned, reason: optional(text) },
});

/** The terms of a destination in the log, without the card token and the card's hash. */
type LoggedDestination = Omit<DestinationTerms, 'cardToken' | 'cardHash'>;
export type DestinationLogFact =
  | Exclude<DestinationFact, { type: 'destination_created' }>
  | { readonly type: 'destination_created'; readonly terms: LoggedDestination };

const loggedDestination: Codec<LoggedDestination> = object({
  id: text,
  partyId: text,
  identityId: text,
  name: text,
  currency,
  createdAt: instant,
  card: cardDetails,
  metadata: optional(anything),
  externalId: optional(text),
});

export const destinationFact = variants<DestinationLogFact, 'type'>('type', {
  destination_created: { terms: loggedDestination },
  destination_authorized: {},
  destination_refused: { failure },
  destination_check_failed: { code: text },
});
