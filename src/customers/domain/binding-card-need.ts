// How long a binding needs its card. A refund needs only the ID of the charge, but a card that is about to be bound is needed
// for later charges.
import type { Binding } from './binding.ts';
import type { Customer } from './customer.ts';

/** `while it is charged`: there are no new charges, and one in progress is finished. */
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
