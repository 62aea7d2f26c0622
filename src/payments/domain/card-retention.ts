// For how long a payment needs the card it was made with. Pure. Captures, reversals and refunds name the authorisation, and the bank
// has the card; only what is still to be authorised needs it, and what may begin a series of charges.
import type { Payment } from './payment.ts';

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
