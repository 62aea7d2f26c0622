// What the payer agrees to when a card is stored, in the words of card networks.
import type { StoredFor } from '../../acquiring/domain/initiation.ts';
import type { Instant } from '../../clock.ts';
import { defined } from '../../defined.ts';
import { agreedAmountOf, type MandateTerms } from '../../receipts/domain/terms.ts';

/** Terms that were not stated may come from the shop, so what they say is not sent. The shop states no reason. */
export function storedFor(terms: MandateTerms = {}): StoredFor {
  const { chargeReason = 'recurring', validUntil } = terms;
  return {
    for: chargeReason,
    ...defined({
      amount: agreedAmountOf(terms),
      everyDays: daysIn(terms.schedule),
      until: validUntil === undefined ? undefined : (`${validUntil}T23:59:59.000000Z` as Instant),
    }),
  };
}

const daysOf: Readonly<Record<string, number>> = { D: 1, W: 7, M: 30, Y: 365 };

/** The least number of days between charges, as 3-D Secure counts them. Undefined for words. */
function daysIn(schedule = ''): number | undefined {
  const [, count = '', unit = ''] = /^P(\d{1,3})([DWMY])$/.exec(schedule) ?? [];
  const days = Number(count) * (daysOf[unit] ?? 0);
  return days >= 1 && days <= 9_999 ? days : undefined;
}
