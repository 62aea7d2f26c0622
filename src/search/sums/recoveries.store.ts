// Counts retries of subscriptions, and how many of them were approved, by one of the things that they differ in.
import type { Instant } from '../../clock.ts';
import { list, text } from '../../platform/database/codec.ts';
import type { Database } from '../../platform/database/database.ts';
import { statement, stored } from '../../platform/database/statement.ts';
import { withinTime } from '../searches.store.ts';

export const recoveryKeys = {
  network: 'payment_system',
  declineClass: 'decline_class',
  code: 'bank_code',
  retry: 'number::text',
  days: 'days::text',
  localHour: 'local_hour::text',
  policy: 'policy',
} as const;
export type RecoveryKey = keyof typeof recoveryKeys;

const countRetries = statement({
  name: 'count_retries',
  parameters: {
    party_id: 'text',
    shop_ids: stored('json', list(text)),
    from: 'timestamptz',
    to: 'timestamptz',
    by: 'text',
  },
  row: { value: 'text', n: 'int8', recovered: 'int8' },
  text: `
    select value, count(*) as n, count(*) filter (where outcome = 'approved') as recovered
    from search_retry cross join lateral (
      select case :by ${Object.entries(recoveryKeys)
        .map(([key, column]) => `when '${key}' then ${column}`)
        .join(' ')} end as value
    ) as keyed
    where party_id = :party_id and shop_id = any(array(select json_array_elements_text(:shop_ids)))
      and created_at >= :from and created_at < :to and outcome in ('approved', 'declined', 'lost')
    group by value order by length(value), value limit 1000`,
});

/** Undefined if it takes too long. */
export function readRecoveries(
  db: Database,
  {
    partyId,
    shopIds,
    range,
    by,
  }: {
    readonly partyId: string;
    readonly shopIds: readonly string[];
    readonly range: { readonly from: Instant; readonly to: Instant };
    readonly by: RecoveryKey;
  },
) {
  return withinTime(db, 1, (tx) =>
    tx.run(countRetries, { party_id: partyId, shop_ids: shopIds, ...range, by }),
  );
}
