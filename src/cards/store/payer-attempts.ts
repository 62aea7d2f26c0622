// Counted attempts of payers who are present, in SQL: what a limit says when it refuses, and what finds shops under attack. The counting
// is part of the statements of payments and bindings (src/cards/store/attempt-counting.ts).
import {
  anyObject,
  instant,
  list,
  mapped,
  object,
  oneOf,
  type Codec,
} from '../../platform/database/codec.ts';
import { columnList, statement, stored, type Values } from '../../platform/database/statement.ts';
import type { AttemptTimes } from '../domain/attempt-limits.ts';

const attemptTimes: Codec<AttemptTimes> = object({
  open: list(instant),
  declined: list(instant),
  mismatched: list(instant),
  paid: list(instant),
});

export const readAttempts = statement({
  name: 'read_payer_attempts',
  parameters: { card: 'bytea', address: 'bytea?' },
  row: {
    subject: 'bytea',
    times: stored('json', attemptTimes),
  },
  text: `select subject, json_build_object(
           'open', array(select instant_text(at) from unnest(open) as at order by at desc),
           'declined', array(select instant_text(at) from unnest(declined) as at order by at desc),
           'mismatched', array(select instant_text(at) from unnest(mismatched) as at order by at desc),
           'paid', array(select instant_text(at) from unnest(paid) as at order by at desc)) as times
         from payer_attempt where subject in (:card, :address)`,
});

export const closeAttempt = statement({
  name: 'close_payer_attempt',
  parameters: { card: 'bytea?', address: 'bytea?', at: 'timestamptz' },
  row: {},
  text: `update payer_attempt set open = times_without(open, :at) where subject in (
      select subject from payer_attempt where subject in (:card, :address) order by subject for update
    )`,
});

const guardColumns = {
  party_id: 'text',
  shop_id: 'text',
  bin: 'text',
  mode: stored('text', oneOf('challenge', 'refuse')),
  since: 'timestamptz',
  until: 'timestamptz',
  approved: 'int8',
  declined: 'int8',
} as const;
export type GuardRow = Values<typeof guardColumns>;

export const readGuards = statement({
  name: 'read_shop_guards',
  parameters: { now: 'timestamptz' },
  row: guardColumns,
  text: `select ${columnList(guardColumns)} from shop_guard where until > :now order by party_id, shop_id, bin`,
});

/**
 * BINs in shops, and shops as a whole, of which more was declined than `min_declines` since the window or their guard began. A BIN adds
 * at most `max_of_bin` declines to its shop.
 */
export const readDeclinedShops = statement({
  name: 'read_declined_shops',
  parameters: { window_start: 'timestamptz', now: 'timestamptz', min_declines: 'int4', max_of_bin: 'int4' },
  row: {
    party_id: 'text',
    shop_id: 'text',
    bin: 'text',
    approved: 'int8',
    declined: 'int8',
    usual_approved: 'int8',
    usual_declined: 'int8',
  },
  text: `
    with guarded as (
      select party_id, shop_id, bin, date_trunc('minute', since) + interval '1 minute' as since from shop_guard where until > :now
    ), outcome as (
      select outcome.party_id, outcome.shop_id, outcome.bin, approved, declined, minute < :window_start as is_usual,
        minute >= greatest(date_trunc('minute', :window_start), of_shop.since, of_bin.since) as is_recent
      from shop_outcome as outcome
        left join guarded as of_shop on of_shop.party_id = outcome.party_id and of_shop.shop_id = outcome.shop_id and of_shop.bin = ''
        left join guarded as of_bin
          on of_bin.party_id = outcome.party_id and of_bin.shop_id = outcome.shop_id and of_bin.bin = outcome.bin
      where (outcome.party_id, outcome.shop_id) in (
        select party_id, shop_id from shop_outcome where minute >= date_trunc('minute', :window_start)
        group by party_id, shop_id having sum(declined) > :min_declines
      )
    ), of_bin as (
      select party_id, shop_id, bin,
        coalesce(sum(outcome.approved) filter (where is_recent), 0)::int8 as approved,
        coalesce(sum(outcome.declined) filter (where is_recent), 0)::int8 as declined,
        coalesce(sum(outcome.approved) filter (where is_usual), 0)::int8 as usual_approved,
        coalesce(sum(outcome.declined) filter (where is_usual), 0)::int8 as usual_declined
      from outcome group by party_id, shop_id, bin
    )
    select party_id, shop_id, bin, approved, declined, usual_approved, usual_declined from of_bin where declined > :min_declines
    union all
    select party_id, shop_id, '', sum(approved)::int8, sum(least(declined, :max_of_bin))::int8, sum(usual_approved)::int8,
      sum(usual_declined)::int8
    from of_bin group by party_id, shop_id having sum(least(declined, :max_of_bin)) > :min_declines`,
});

const guardsAsJson: Codec<readonly GuardRow[]> = list(
  mapped(anyObject, {
    read: (guard) => guard as GuardRow,
    write: ({ approved, declined, ...guard }) => ({
      ...guard,
      approved: Number(approved),
      declined: Number(declined),
    }),
  }),
);

/** Without those of which another node was first. */
export const putGuards = statement({
  name: 'put_shop_guards',
  parameters: { guards: stored('json', guardsAsJson) },
  row: { party_id: 'text', shop_id: 'text', bin: 'text' },
  text: `insert into shop_guard as earlier (${columnList(guardColumns)})
         select party_id, shop_id, bin, mode, since, until, approved, declined
         from json_to_recordset(:guards) as new (party_id text, shop_id text, bin text, mode text, since timestamptz,
           until timestamptz, approved int8, declined int8)
         order by party_id, shop_id, bin
         on conflict (party_id, shop_id, bin) do update
         set mode = excluded.mode, since = excluded.since, until = excluded.until, approved = excluded.approved,
             declined = excluded.declined
         where earlier.until <= excluded.since or earlier.mode < excluded.mode
         returning party_id, shop_id, bin`,
});

/** Of one shop, or of all. */
export const deleteGuard = statement({
  name: 'delete_shop_guard',
  parameters: { party_id: 'text?', shop_id: 'text?' },
  row: { bin: 'text' },
  text: `with forgotten as (
      delete from shop_outcome where :shop_id is null or party_id = :party_id and shop_id = :shop_id
    )
    delete from shop_guard where :shop_id is null or party_id = :party_id and shop_id = :shop_id returning bin`,
});

export const deleteOldAttempts = statement({
  name: 'delete_old_payer_attempts',
  parameters: { now: 'timestamptz', limit: 'int4' },
  row: { kept_until: 'timestamptz' },
  text: `delete from payer_attempt where subject in (
      select subject from payer_attempt where kept_until < :now order by kept_until limit :limit for update skip locked
    ) and kept_until < :now returning kept_until`,
});

export const deleteOldOutcomes = statement({
  name: 'delete_old_shop_outcomes',
  parameters: { before: 'timestamptz', limit: 'int4' },
  row: { minute: 'timestamptz' },
  text: `delete from shop_outcome where (party_id, shop_id, bin, minute, shard) in (
      select party_id, shop_id, bin, minute, shard from shop_outcome where minute < :before order by minute limit :limit
      for update skip locked
    ) returning minute`,
});

export const deleteOldGuards = statement({
  name: 'delete_old_shop_guards',
  parameters: { before: 'timestamptz' },
  row: {},
  text: 'delete from shop_guard where until < :before',
});

export const deleteAllAttempts = statement({
  name: 'delete_all_payer_attempts',
  parameters: { party_id: 'text' },
  row: {},
  text: `with restarted as (
      update invoice set payer_attempts = 0 where payer_attempts > 0 and status = 'unpaid' and party_id = :party_id
    ) delete from payer_attempt`,
});

export const countReset = statement({
  name: 'count_limits_reset',
  parameters: {},
  row: {},
  text: 'update limits_reset set resets = resets + 1',
});

export const readResets = statement({
  name: 'read_limits_resets',
  parameters: {},
  row: { resets: 'int8' },
  text: 'select resets from limits_reset',
});
