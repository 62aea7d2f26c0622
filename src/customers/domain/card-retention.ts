// For how long a binding needs its card. Pure. The bank gives a test charge back by the id of the charge, without the card; but
// a card that will be bound when its charge is back begins a series of charges, and is needed for that.
import type { Binding } from './binding.ts';
import type { Customer } from './customer.ts';

/** `while it is charged`: no new charge comes, and one that is under way is finished. */
export type CardNeed = 'no' | 'yes' | 'while its series is charged' | 'while it is charged';

export function retentionNeed(
  { state }: Pick<Binding, 'state'>,
  customer: Pick<Customer, 'state'>,
): CardNeed {
  switch (state.name) {
    case 'authorising':
    case 'challenged':
    case 'returning':
    case 'refunding':
      return 'yes';
    case 'succeeded':
      return customer.state.name === 'deleted' ? 'while it is charged' : 'while its series is charged';
    case 'withdrawn':
      return 'while it is charged';
    case 'reversing':
    case 'failed':
      return 'no';
  }
}
