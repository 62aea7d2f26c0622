// How long a payment needs its card. Captures, reversals and refunds refer to the authorisation, so only a pending
// authorisation and a possible series need the card.
import type { Payment } from '../payment.ts';

export type CardNeed = 'no' | 'yes' | 'while its series is charged';

export function retentionNeed({ state, makeRecurrent }: Pick<Payment, 'state' | 'makeRecurrent'>): CardNeed {
  switch (state.name) {
    case 'authorising':
    case 'challenged':
      return 'yes';
    case 'held':
    case 'capturing':
      return makeRecurrent ? 'yes' : 'no';
    case 'captured':
    case 'refunding':
    case 'refunded':
      return makeRecurrent ? 'while its series is charged' : 'no';
    case 'reversing':
    case 'cancelling':
    case 'cancelled':
    case 'failed':
      return 'no';
  }
}
