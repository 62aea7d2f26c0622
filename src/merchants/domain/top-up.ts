// A top-up: money that a merchant has paid into a bank account of the operator, so that a shop can pay its refunds.
import type { Instant } from '../../clock.ts';
import type { Currency, Money } from '../../money.ts';

export type TopUp = {
  /** Follows from the shop and the reference, so that a repeat is the same top-up. */
  readonly id: string;
  readonly partyId: string;
  readonly shopId: string;
  /** The bank's name for the payment that came in. */
  readonly reference: string;
  /** The operator's bank account that it came in on. */
  readonly bankAccountId: string;
  readonly amount: Money;
  readonly createdAt: Instant;
  readonly reversedAt?: Instant;
};

export type TopUpFact =
  | {
      readonly type: 'shop_topped_up';
      readonly shopId: string;
      readonly amountMinor: bigint;
      readonly currency: Currency;
    }
  /** By an operator. */
  | { readonly type: 'top_up_reversed'; readonly reason: string };
