-- advance_ledger_watermark
with passed as (
select reached_at as since, $1::timestamptz as until from ledger_watermark for update
), moved as (
update ledger_watermark set reached_at = greatest(reached_at, until) from passed
)
insert into ledger_checkpoint as sums
select account_id, shard, sum(debits_posted), sum(credits_posted), sum(debits_pending), sum(credits_pending)
from (
select debit_account as account_id, debit_shard as shard, posted_minor as debits_posted, 0 as credits_posted,
pending_minor as debits_pending, 0 as credits_pending
from ledger_transfer, passed where created_at >= since and created_at < until
union all
select credit_account, credit_shard, 0, posted_minor, 0, pending_minor
from ledger_transfer, passed where created_at >= since and created_at < until
) as leg
group by account_id, shard order by account_id, shard
on conflict (account_id, shard) do update set
debits_posted = sums.debits_posted + excluded.debits_posted,
credits_posted = sums.credits_posted + excluded.credits_posted,
debits_pending = sums.debits_pending + excluded.debits_pending,
credits_pending = sums.credits_pending + excluded.credits_pending;

-- approve_charge
select asker, is_posted from approve_charges($1::json);

-- await_end_of_charge
update series set awaited_by = array_append(array_remove(awaited_by, $1::text), $1::text)
where series_id = $2::text
and exists (select from series_attempt where series_id = $2::text and outcome = 'pending')
returning series_id;

-- await_search_list_position
select seen, rebuild_after, rebuilt, pg_snapshot_xmax(seen::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot())
or exists (select from webhook_feed where mismatch_since is not null) as is_mismatch
from search_list_position where set_config('enable_seqscan', 'off', true) = 'off' for update;

-- await_search_position
select seen, rebuild_after, resum_from, rebuilt, pg_snapshot_xmax(seen::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot())
or exists (select from webhook_feed where mismatch_since is not null) as is_mismatch
from search_position where set_config('enable_seqscan', 'off', true) = 'off' for update;

-- begin_exchange_sums
update exchange_sum_position set counted_until = null, counted_at = null;

-- begin_export_run
update export set run = run + 1, row_count = 0, byte_count = 0, wake_at = $1::timestamptz
where party_id = $2::text and export_id = $3::text and run = $4::int4 and expires_at is null returning run;

-- begin_search_list_rebuild
update search_list_position set rebuild_after = '', rebuilt = 0,
seen = pg_current_snapshot()::text;

-- begin_search_rebuild
update search_position set rebuild_after = '', resum_from = null, rebuilt = 0,
seen = case
when pg_snapshot_xmax(seen::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot())
or exists (select from webhook_feed where mismatch_since is not null)
then pg_current_snapshot()::text else seen end;

-- cancel_consent_link
update consent_link set cancelled_at = $1::timestamptz where consent_link_id = $2::text;

-- cancel_export
update export set failure = 'cancelled', expires_at = $1::timestamptz, row_count = 0, byte_count = 0,
wake_at = $1::timestamptz, attempts = 0, stuck_at = null, stuck_reason = null
where party_id = $2::text and export_id = $3::text and expires_at is null
returning party_id, export_id, terms, made_by, created_at, run, row_count, byte_count, as_of, sha256, md5, failure, expires_at;

-- change_binding
with changed as (
update customer
set version = version + 1, changed_at = greatest(customer.changed_at, $1::timestamptz), status = $2::text, active_binding_id = $3::text
where customer_id = $4::text and version = $5::int4
returning customer_id, party_id, version, changed_at
), moved as (
update binding
set version = changed.version, status = $6::text, state = $7::json, refund_due_at = $8::timestamptz, wake_at = $9::timestamptz,
attempts = $10::int4, stuck_at = null, stuck_reason = null,
bound_at_version = case when $6::text = 'succeeded' then changed.version end, attempted_card = case when not $11::bool then attempted_card end, attempted_address = case when not $11::bool then attempted_address end, attempted_bin = case when not $11::bool then attempted_bin end, attempted_at = case when not $11::bool then attempted_at end
from changed where binding.customer_id = $4::text and binding_id = $12::text
returning binding.customer_id
), begun as (
select binding.party_id as attempted_party, binding.shop_id as attempted_shop, attempted_card, attempted_address, attempted_bin, attempted_at from binding
where $13::text is not null and customer_id = $4::text and binding_id = $12::text
), attempt as (
select begun.* from begun, moved
), decided as (
insert into payer_attempt as earlier (subject, declined, mismatched, paid, kept_until)
select subject, case when $13::text in ('declined', 'mismatched') then array[$14::timestamptz] else '{}' end,
case when $13::text = 'mismatched' then array[$14::timestamptz] else '{}' end,
case when $13::text = 'approved' and attempted_address is not null and coalesce((
select cardinality(times_since(paid, $14::timestamptz - interval '1 hour')) from payer_attempt where subject = attempted_card), 0) = 0 then array[$14::timestamptz] else '{}' end, date_trunc('hour', $14::timestamptz) + interval '25 hours'
from attempt, unnest(array[attempted_card, attempted_address]) as subject
where subject is not null
order by subject
on conflict (subject) do update
set open = times_without(earlier.open, (select attempted_at from attempt)),
declined = excluded.declined || times_since(earlier.declined, $14::timestamptz - interval '1 day'),
mismatched = excluded.mismatched || times_since(earlier.mismatched, $14::timestamptz - interval '1 day'),
paid = excluded.paid || times_since(earlier.paid, $14::timestamptz - interval '1 hour'),
kept_until = excluded.kept_until
), rated as (
insert into shop_outcome as earlier (party_id, shop_id, bin, minute, shard, approved, declined)
select attempted_party, attempted_shop, attempted_bin, date_trunc('minute', $14::timestamptz), (hashtext($4::text) & 2147483647) % 8,
case when $13::text in ('declined', 'mismatched') then 0 else 1 end, case when $13::text in ('declined', 'mismatched') then 1 else 0 end
from attempt where attempted_bin is not null and ($13::text in ('declined', 'mismatched') or $13::text = 'approved')
on conflict (party_id, shop_id, bin, minute, shard) do update
set approved = earlier.approved + excluded.approved, declined = earlier.declined + excluded.declined
), logged as (
insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
select customer_id, version, 'customer', party_id, changed_at, $15::json from changed
), exchanged as (
insert into exchange (aggregate_id, operation, bank_id, terminal_id, kind, amount_minor, currency, digest, card_token, wire_keys, not_after, begun_at, state, answer, far_reference, heard_at)
select one.* from changed, json_to_recordset($16::json) as one (aggregate_id text, operation text, bank_id text, terminal_id text, kind text, amount_minor bigint, currency text, digest bytea, card_token text, wire_keys json, not_after timestamptz, begun_at timestamptz, state text, answer json, far_reference text, heard_at timestamptz)
on conflict (aggregate_id, operation) do update
set bank_id = excluded.bank_id, terminal_id = excluded.terminal_id, digest = excluded.digest, wire_keys = excluded.wire_keys, not_after = excluded.not_after, state = excluded.state, answer = excluded.answer, far_reference = excluded.far_reference, heard_at = excluded.heard_at
where exchange.state not in ('approved', 'declined', 'takenBack', 'settled')
)
select version, record_journal(changed.customer_id, $17::text, changed.changed_at, $18::json) as journal from changed;

-- change_destination
with changed as (
update destination set version = version + 1, changed_at = greatest(changed_at, $1::timestamptz), status = $2::text,
failure = $3::json,
-- After an inconclusive check the job runner decides when the next is due.
wake_at = case when $2::text = 'checking' then wake_at end,
attempts = case when $2::text = 'checking' then attempts else 0 end,
stuck_at = null, stuck_reason = null
where destination_id = $4::text and version = $5::int4
returning destination_id, party_id, version, changed_at
)
select append_event('destination', destination_id, version, party_id, changed_at, $6::json) as version from changed;

-- change_exchange_note
update exchange_note set meaning = $1::text, heard = $2::json
where bank_id = $3::text and note_key = $4::text and meaning = 'waits';

-- change_identity
with changed as (
update identity set version = version + 1, changed_at = greatest(changed_at, $1::timestamptz), level = $2::text,
is_blocked = $3::bool, effective_challenge = $4::text
where identity_id = $5::text and version = $6::int4
returning identity_id, party_id, version, changed_at
)
select append_event('identity', identity_id, version, party_id, changed_at, $7::json) as version from changed;

-- change_invoice
with changed as (
update invoice
set version = version + 1, changed_at = greatest(changed_at, $1::timestamptz), status = $2::text, reason = $3::text,
wake_at = $4::timestamptz, attempts = 0, stuck_at = null, stuck_reason = null
where invoice_id = $5::text and version = $6::int4
returning invoice_id, party_id, version, changed_at
)
select append_event('invoice', invoice_id, version, party_id, changed_at, $7::json) as version from changed;

-- change_overdraft
update ledger_account set overdraft_minor = $1::int8
where account_id = $2::text and $1::int8 + (
select sum(credits_posted - debits_posted - debits_pending) from ledger_balance
where ledger_balance.account_id = $2::text) >= 0
returning account_id;

-- change_payment
with moved as (
update payment
set version = payment.version + 1, status = $1::text, captured_minor = $2::int8, refunded_minor = $3::int8,
state = $4::json, wake_at = $5::timestamptz, attempts = $6::int4, stuck_at = null, stuck_reason = null, attempted_card = case when not $7::bool then attempted_card end, attempted_address = case when not $7::bool then attempted_address end, attempted_bin = case when not $7::bool then attempted_bin end, attempted_at = case when not $7::bool then attempted_at end
where payment.invoice_id = $8::text and payment.payment_id = $9::text and payment.version = $10::int4
returning payment.invoice_id
), changed as (
update invoice
set version = invoice.version + json_array_length($11::json), changed_at = greatest(invoice.changed_at, $12::timestamptz),
status = case when $13::bool then 'paid' else status end,
payment_in_progress = $14::bool,
wake_at = case when $14::bool or $13::bool or status <> 'unpaid' then null else due_date end
from moved where invoice.invoice_id = moved.invoice_id
returning invoice.invoice_id, party_id, invoice.version, invoice.changed_at
), logged as (
insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
select invoice_id, version - json_array_length($11::json) + entry.ordinal::int, 'invoice', party_id,
changed_at, entry.facts
from changed, json_array_elements($11::json) with ordinality as entry (facts, ordinal)
), exchanged as (
insert into exchange (aggregate_id, operation, bank_id, terminal_id, kind, amount_minor, currency, digest, card_token, wire_keys, not_after, begun_at, state, answer, far_reference, heard_at)
select one.* from changed, json_to_recordset($15::json) as one (aggregate_id text, operation text, bank_id text, terminal_id text, kind text, amount_minor bigint, currency text, digest bytea, card_token text, wire_keys json, not_after timestamptz, begun_at timestamptz, state text, answer json, far_reference text, heard_at timestamptz)
on conflict (aggregate_id, operation) do update
set bank_id = excluded.bank_id, terminal_id = excluded.terminal_id, digest = excluded.digest, wire_keys = excluded.wire_keys, not_after = excluded.not_after, state = excluded.state, answer = excluded.answer, far_reference = excluded.far_reference, heard_at = excluded.heard_at
where exchange.state not in ('approved', 'declined', 'takenBack', 'settled')
), begun as (
select payment.party_id as attempted_party, payment.shop_id as attempted_shop, attempted_card, attempted_address, attempted_bin, attempted_at from payment
where $16::text is not null and invoice_id = $8::text and payment_id = $9::text
), attempt as (
select begun.* from begun, moved
), decided as (
insert into payer_attempt as earlier (subject, declined, mismatched, paid, kept_until)
select subject, case when $16::text in ('declined', 'mismatched') then array[$17::timestamptz] else '{}' end,
case when $16::text = 'mismatched' then array[$17::timestamptz] else '{}' end,
case when $16::text = 'approved' and attempted_address is not null and coalesce((
select cardinality(times_since(paid, $17::timestamptz - interval '1 hour')) from payer_attempt where subject = attempted_card), 0) = 0 then array[$17::timestamptz] else '{}' end, date_trunc('hour', $17::timestamptz) + interval '25 hours'
from attempt, unnest(array[attempted_card, attempted_address]) as subject
where subject is not null
order by subject
on conflict (subject) do update
set open = times_without(earlier.open, (select attempted_at from attempt)),
declined = excluded.declined || times_since(earlier.declined, $17::timestamptz - interval '1 day'),
mismatched = excluded.mismatched || times_since(earlier.mismatched, $17::timestamptz - interval '1 day'),
paid = excluded.paid || times_since(earlier.paid, $17::timestamptz - interval '1 hour'),
kept_until = excluded.kept_until
), rated as (
insert into shop_outcome as earlier (party_id, shop_id, bin, minute, shard, approved, declined)
select attempted_party, attempted_shop, attempted_bin, date_trunc('minute', $17::timestamptz), (hashtext($8::text) & 2147483647) % 8,
case when $16::text in ('declined', 'mismatched') then 0 else 1 end, case when $16::text in ('declined', 'mismatched') then 1 else 0 end
from attempt where attempted_bin is not null and ($16::text in ('declined', 'mismatched') or $16::text = 'approved')
on conflict (party_id, shop_id, bin, minute, shard) do update
set approved = earlier.approved + excluded.approved, declined = earlier.declined + excluded.declined
)
select version, record_journal(changed.invoice_id, $18::text, changed.changed_at, $19::json) as journal from changed;

-- change_series
with changed as (
update series
set version = version + 1, status = $1::text, chain = $2::text, state = $3::json,
terms = $4::json, changed_at = $5::timestamptz, wake_at = $6::timestamptz,
attempts = 0, stuck_at = null, stuck_reason = null
where series_id = $7::text and version = $8::int4
returning series_id, party_id, version, changed_at
)
select append_event('series', series_id, version, party_id, changed_at, $9::json) as version from changed;

-- change_subscription
select asker, version from change_subscriptions($1::json);

-- claim_banks_to_watch
update bank set checked_at = $1::timestamptz
where checked_at is null or checked_at < $2::timestamptz
returning bank_id, updates_cursor, report_cursor, is_shared, stopped_at;

-- claim_callback
insert into exchange_note (bank_id, note_key, operation_id, what, heard, meaning, noted_at)
values ($1::text, $2::text, $3::text, 'callback', '{}', 'nothing', $4::timestamptz)
on conflict (bank_id, note_key) do update set noted_at = excluded.noted_at
where exchange_note.noted_at <= $5::timestamptz returning note_key;

-- claim_due_binding
with due as (
select customer_id, binding_id, party_id, wake_at as due_at, coalesce(terms -> 'terminal' ->> 'bankId', '') as slot_group from binding
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce(terms -> 'terminal' ->> 'bankId', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 32 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update binding as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.customer_id = clocked.customer_id and claimed.binding_id = clocked.binding_id
returning json_build_array(clocked.customer_id, clocked.binding_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_binding_1
with due as (
select customer_id, binding_id, party_id, wake_at as due_at, coalesce(terms -> 'terminal' ->> 'bankId', '') as slot_group from binding
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce(terms -> 'terminal' ->> 'bankId', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 1 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update binding as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.customer_id = clocked.customer_id and claimed.binding_id = clocked.binding_id
returning json_build_array(clocked.customer_id, clocked.binding_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_binding_2
with due as (
select customer_id, binding_id, party_id, wake_at as due_at, coalesce(terms -> 'terminal' ->> 'bankId', '') as slot_group from binding
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce(terms -> 'terminal' ->> 'bankId', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 2 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update binding as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.customer_id = clocked.customer_id and claimed.binding_id = clocked.binding_id
returning json_build_array(clocked.customer_id, clocked.binding_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_binding_3
with due as (
select customer_id, binding_id, party_id, wake_at as due_at, coalesce(terms -> 'terminal' ->> 'bankId', '') as slot_group from binding
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce(terms -> 'terminal' ->> 'bankId', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 3 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update binding as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.customer_id = clocked.customer_id and claimed.binding_id = clocked.binding_id
returning json_build_array(clocked.customer_id, clocked.binding_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_binding_4
with due as (
select customer_id, binding_id, party_id, wake_at as due_at, coalesce(terms -> 'terminal' ->> 'bankId', '') as slot_group from binding
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce(terms -> 'terminal' ->> 'bankId', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 4 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update binding as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.customer_id = clocked.customer_id and claimed.binding_id = clocked.binding_id
returning json_build_array(clocked.customer_id, clocked.binding_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_binding_8
with due as (
select customer_id, binding_id, party_id, wake_at as due_at, coalesce(terms -> 'terminal' ->> 'bankId', '') as slot_group from binding
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce(terms -> 'terminal' ->> 'bankId', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 8 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update binding as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.customer_id = clocked.customer_id and claimed.binding_id = clocked.binding_id
returning json_build_array(clocked.customer_id, clocked.binding_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_binding_of_party
with due as (
select customer_id, binding_id, party_id, wake_at as due_at, coalesce(terms -> 'terminal' ->> 'bankId', '') as slot_group from binding
where wake_at <= $1::timestamptz and party_id = $2::text and (json_array_length($3::json) = 0 or coalesce(terms -> 'terminal' ->> 'bankId', '') not in (select json_array_elements_text($3::json)))
order by wake_at limit $4::int4 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update binding as claimed
set wake_at = $1::timestamptz + $5::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.customer_id = clocked.customer_id and claimed.binding_id = clocked.binding_id
returning json_build_array(clocked.customer_id, clocked.binding_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_card
with due as (
select card_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from card
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 32 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update card as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.card_id = clocked.card_id
returning json_build_array(clocked.card_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_card_1
with due as (
select card_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from card
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 1 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update card as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.card_id = clocked.card_id
returning json_build_array(clocked.card_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_card_2
with due as (
select card_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from card
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 2 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update card as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.card_id = clocked.card_id
returning json_build_array(clocked.card_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_card_3
with due as (
select card_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from card
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 3 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update card as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.card_id = clocked.card_id
returning json_build_array(clocked.card_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_card_4
with due as (
select card_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from card
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 4 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update card as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.card_id = clocked.card_id
returning json_build_array(clocked.card_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_card_8
with due as (
select card_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from card
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 8 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update card as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.card_id = clocked.card_id
returning json_build_array(clocked.card_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_card_of_party
with due as (
select card_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from card
where wake_at <= $1::timestamptz and party_id = $2::text and (json_array_length($3::json) = 0 or coalesce('', '') not in (select json_array_elements_text($3::json)))
order by wake_at limit $4::int4 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update card as claimed
set wake_at = $1::timestamptz + $5::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.card_id = clocked.card_id
returning json_build_array(clocked.card_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_charge_undo
with due as (
select invoice_id, payment_id, operation, party_id, wake_at as due_at, coalesce((select terms -> 'terminal' ->> 'bankId' from payment
where payment.invoice_id = charge_undo.invoice_id and payment.payment_id = charge_undo.payment_id), '') as slot_group from charge_undo
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce((select terms -> 'terminal' ->> 'bankId' from payment
where payment.invoice_id = charge_undo.invoice_id and payment.payment_id = charge_undo.payment_id), '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 32 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update charge_undo as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id and claimed.payment_id = clocked.payment_id and claimed.operation = clocked.operation
returning json_build_array(clocked.invoice_id, clocked.payment_id, clocked.operation) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_charge_undo_1
with due as (
select invoice_id, payment_id, operation, party_id, wake_at as due_at, coalesce((select terms -> 'terminal' ->> 'bankId' from payment
where payment.invoice_id = charge_undo.invoice_id and payment.payment_id = charge_undo.payment_id), '') as slot_group from charge_undo
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce((select terms -> 'terminal' ->> 'bankId' from payment
where payment.invoice_id = charge_undo.invoice_id and payment.payment_id = charge_undo.payment_id), '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 1 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update charge_undo as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id and claimed.payment_id = clocked.payment_id and claimed.operation = clocked.operation
returning json_build_array(clocked.invoice_id, clocked.payment_id, clocked.operation) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_charge_undo_2
with due as (
select invoice_id, payment_id, operation, party_id, wake_at as due_at, coalesce((select terms -> 'terminal' ->> 'bankId' from payment
where payment.invoice_id = charge_undo.invoice_id and payment.payment_id = charge_undo.payment_id), '') as slot_group from charge_undo
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce((select terms -> 'terminal' ->> 'bankId' from payment
where payment.invoice_id = charge_undo.invoice_id and payment.payment_id = charge_undo.payment_id), '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 2 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update charge_undo as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id and claimed.payment_id = clocked.payment_id and claimed.operation = clocked.operation
returning json_build_array(clocked.invoice_id, clocked.payment_id, clocked.operation) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_charge_undo_3
with due as (
select invoice_id, payment_id, operation, party_id, wake_at as due_at, coalesce((select terms -> 'terminal' ->> 'bankId' from payment
where payment.invoice_id = charge_undo.invoice_id and payment.payment_id = charge_undo.payment_id), '') as slot_group from charge_undo
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce((select terms -> 'terminal' ->> 'bankId' from payment
where payment.invoice_id = charge_undo.invoice_id and payment.payment_id = charge_undo.payment_id), '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 3 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update charge_undo as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id and claimed.payment_id = clocked.payment_id and claimed.operation = clocked.operation
returning json_build_array(clocked.invoice_id, clocked.payment_id, clocked.operation) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_charge_undo_4
with due as (
select invoice_id, payment_id, operation, party_id, wake_at as due_at, coalesce((select terms -> 'terminal' ->> 'bankId' from payment
where payment.invoice_id = charge_undo.invoice_id and payment.payment_id = charge_undo.payment_id), '') as slot_group from charge_undo
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce((select terms -> 'terminal' ->> 'bankId' from payment
where payment.invoice_id = charge_undo.invoice_id and payment.payment_id = charge_undo.payment_id), '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 4 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update charge_undo as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id and claimed.payment_id = clocked.payment_id and claimed.operation = clocked.operation
returning json_build_array(clocked.invoice_id, clocked.payment_id, clocked.operation) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_charge_undo_8
with due as (
select invoice_id, payment_id, operation, party_id, wake_at as due_at, coalesce((select terms -> 'terminal' ->> 'bankId' from payment
where payment.invoice_id = charge_undo.invoice_id and payment.payment_id = charge_undo.payment_id), '') as slot_group from charge_undo
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce((select terms -> 'terminal' ->> 'bankId' from payment
where payment.invoice_id = charge_undo.invoice_id and payment.payment_id = charge_undo.payment_id), '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 8 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update charge_undo as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id and claimed.payment_id = clocked.payment_id and claimed.operation = clocked.operation
returning json_build_array(clocked.invoice_id, clocked.payment_id, clocked.operation) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_charge_undo_of_party
with due as (
select invoice_id, payment_id, operation, party_id, wake_at as due_at, coalesce((select terms -> 'terminal' ->> 'bankId' from payment
where payment.invoice_id = charge_undo.invoice_id and payment.payment_id = charge_undo.payment_id), '') as slot_group from charge_undo
where wake_at <= $1::timestamptz and party_id = $2::text and (json_array_length($3::json) = 0 or coalesce((select terms -> 'terminal' ->> 'bankId' from payment
where payment.invoice_id = charge_undo.invoice_id and payment.payment_id = charge_undo.payment_id), '') not in (select json_array_elements_text($3::json)))
order by wake_at limit $4::int4 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update charge_undo as claimed
set wake_at = $1::timestamptz + $5::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id and claimed.payment_id = clocked.payment_id and claimed.operation = clocked.operation
returning json_build_array(clocked.invoice_id, clocked.payment_id, clocked.operation) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_destination
with due as (
select destination_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from destination
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 32 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update destination as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.destination_id = clocked.destination_id
returning json_build_array(clocked.destination_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_destination_1
with due as (
select destination_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from destination
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 1 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update destination as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.destination_id = clocked.destination_id
returning json_build_array(clocked.destination_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_destination_2
with due as (
select destination_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from destination
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 2 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update destination as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.destination_id = clocked.destination_id
returning json_build_array(clocked.destination_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_destination_3
with due as (
select destination_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from destination
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 3 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update destination as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.destination_id = clocked.destination_id
returning json_build_array(clocked.destination_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_destination_4
with due as (
select destination_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from destination
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 4 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update destination as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.destination_id = clocked.destination_id
returning json_build_array(clocked.destination_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_destination_8
with due as (
select destination_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from destination
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 8 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update destination as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.destination_id = clocked.destination_id
returning json_build_array(clocked.destination_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_destination_of_party
with due as (
select destination_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from destination
where wake_at <= $1::timestamptz and party_id = $2::text and (json_array_length($3::json) = 0 or coalesce('', '') not in (select json_array_elements_text($3::json)))
order by wake_at limit $4::int4 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update destination as claimed
set wake_at = $1::timestamptz + $5::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.destination_id = clocked.destination_id
returning json_build_array(clocked.destination_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_export
with due as (
select party_id, export_id, wake_at as due_at, coalesce('', '') as slot_group from export
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 32 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update export as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.party_id = clocked.party_id and claimed.export_id = clocked.export_id
returning json_build_array(clocked.party_id, clocked.export_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_export_1
with due as (
select party_id, export_id, wake_at as due_at, coalesce('', '') as slot_group from export
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 1 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update export as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.party_id = clocked.party_id and claimed.export_id = clocked.export_id
returning json_build_array(clocked.party_id, clocked.export_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_export_2
with due as (
select party_id, export_id, wake_at as due_at, coalesce('', '') as slot_group from export
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 2 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update export as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.party_id = clocked.party_id and claimed.export_id = clocked.export_id
returning json_build_array(clocked.party_id, clocked.export_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_export_3
with due as (
select party_id, export_id, wake_at as due_at, coalesce('', '') as slot_group from export
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 3 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update export as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.party_id = clocked.party_id and claimed.export_id = clocked.export_id
returning json_build_array(clocked.party_id, clocked.export_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_export_4
with due as (
select party_id, export_id, wake_at as due_at, coalesce('', '') as slot_group from export
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 4 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update export as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.party_id = clocked.party_id and claimed.export_id = clocked.export_id
returning json_build_array(clocked.party_id, clocked.export_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_export_8
with due as (
select party_id, export_id, wake_at as due_at, coalesce('', '') as slot_group from export
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 8 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update export as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.party_id = clocked.party_id and claimed.export_id = clocked.export_id
returning json_build_array(clocked.party_id, clocked.export_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_export_of_party
with due as (
select party_id, export_id, wake_at as due_at, coalesce('', '') as slot_group from export
where wake_at <= $1::timestamptz and party_id = $2::text and (json_array_length($3::json) = 0 or coalesce('', '') not in (select json_array_elements_text($3::json)))
order by wake_at limit $4::int4 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update export as claimed
set wake_at = $1::timestamptz + $5::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.party_id = clocked.party_id and claimed.export_id = clocked.export_id
returning json_build_array(clocked.party_id, clocked.export_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_invoice
with due as (
select invoice_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from invoice
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 32 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update invoice as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id
returning json_build_array(clocked.invoice_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_invoice_1
with due as (
select invoice_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from invoice
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 1 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update invoice as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id
returning json_build_array(clocked.invoice_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_invoice_2
with due as (
select invoice_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from invoice
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 2 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update invoice as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id
returning json_build_array(clocked.invoice_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_invoice_3
with due as (
select invoice_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from invoice
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 3 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update invoice as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id
returning json_build_array(clocked.invoice_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_invoice_4
with due as (
select invoice_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from invoice
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 4 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update invoice as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id
returning json_build_array(clocked.invoice_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_invoice_8
with due as (
select invoice_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from invoice
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 8 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update invoice as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id
returning json_build_array(clocked.invoice_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_invoice_of_party
with due as (
select invoice_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from invoice
where wake_at <= $1::timestamptz and party_id = $2::text and (json_array_length($3::json) = 0 or coalesce('', '') not in (select json_array_elements_text($3::json)))
order by wake_at limit $4::int4 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update invoice as claimed
set wake_at = $1::timestamptz + $5::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id
returning json_build_array(clocked.invoice_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_payer_email
with due as (
select invoice_id, payment_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from payer_email
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 32 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update payer_email as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id and claimed.payment_id = clocked.payment_id
returning json_build_array(clocked.invoice_id, clocked.payment_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_payer_email_1
with due as (
select invoice_id, payment_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from payer_email
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 1 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update payer_email as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id and claimed.payment_id = clocked.payment_id
returning json_build_array(clocked.invoice_id, clocked.payment_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_payer_email_2
with due as (
select invoice_id, payment_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from payer_email
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 2 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update payer_email as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id and claimed.payment_id = clocked.payment_id
returning json_build_array(clocked.invoice_id, clocked.payment_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_payer_email_3
with due as (
select invoice_id, payment_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from payer_email
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 3 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update payer_email as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id and claimed.payment_id = clocked.payment_id
returning json_build_array(clocked.invoice_id, clocked.payment_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_payer_email_4
with due as (
select invoice_id, payment_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from payer_email
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 4 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update payer_email as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id and claimed.payment_id = clocked.payment_id
returning json_build_array(clocked.invoice_id, clocked.payment_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_payer_email_8
with due as (
select invoice_id, payment_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from payer_email
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 8 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update payer_email as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id and claimed.payment_id = clocked.payment_id
returning json_build_array(clocked.invoice_id, clocked.payment_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_payer_email_of_party
with due as (
select invoice_id, payment_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from payer_email
where wake_at <= $1::timestamptz and party_id = $2::text and (json_array_length($3::json) = 0 or coalesce('', '') not in (select json_array_elements_text($3::json)))
order by wake_at limit $4::int4 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update payer_email as claimed
set wake_at = $1::timestamptz + $5::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id and claimed.payment_id = clocked.payment_id
returning json_build_array(clocked.invoice_id, clocked.payment_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_payment
with due as (
select invoice_id, payment_id, party_id, wake_at as due_at, coalesce((terms -> 'terminal' ->> 'bankId') || case when terms -> 'payer' ->> 'seriesId' is null then '' else ' without payer' end, '') as slot_group from payment
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce((terms -> 'terminal' ->> 'bankId') || case when terms -> 'payer' ->> 'seriesId' is null then '' else ' without payer' end, '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 32 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update payment as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id and claimed.payment_id = clocked.payment_id
returning json_build_array(clocked.invoice_id, clocked.payment_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_payment_1
with due as (
select invoice_id, payment_id, party_id, wake_at as due_at, coalesce((terms -> 'terminal' ->> 'bankId') || case when terms -> 'payer' ->> 'seriesId' is null then '' else ' without payer' end, '') as slot_group from payment
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce((terms -> 'terminal' ->> 'bankId') || case when terms -> 'payer' ->> 'seriesId' is null then '' else ' without payer' end, '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 1 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update payment as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id and claimed.payment_id = clocked.payment_id
returning json_build_array(clocked.invoice_id, clocked.payment_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_payment_2
with due as (
select invoice_id, payment_id, party_id, wake_at as due_at, coalesce((terms -> 'terminal' ->> 'bankId') || case when terms -> 'payer' ->> 'seriesId' is null then '' else ' without payer' end, '') as slot_group from payment
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce((terms -> 'terminal' ->> 'bankId') || case when terms -> 'payer' ->> 'seriesId' is null then '' else ' without payer' end, '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 2 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update payment as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id and claimed.payment_id = clocked.payment_id
returning json_build_array(clocked.invoice_id, clocked.payment_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_payment_3
with due as (
select invoice_id, payment_id, party_id, wake_at as due_at, coalesce((terms -> 'terminal' ->> 'bankId') || case when terms -> 'payer' ->> 'seriesId' is null then '' else ' without payer' end, '') as slot_group from payment
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce((terms -> 'terminal' ->> 'bankId') || case when terms -> 'payer' ->> 'seriesId' is null then '' else ' without payer' end, '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 3 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update payment as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id and claimed.payment_id = clocked.payment_id
returning json_build_array(clocked.invoice_id, clocked.payment_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_payment_4
with due as (
select invoice_id, payment_id, party_id, wake_at as due_at, coalesce((terms -> 'terminal' ->> 'bankId') || case when terms -> 'payer' ->> 'seriesId' is null then '' else ' without payer' end, '') as slot_group from payment
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce((terms -> 'terminal' ->> 'bankId') || case when terms -> 'payer' ->> 'seriesId' is null then '' else ' without payer' end, '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 4 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update payment as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id and claimed.payment_id = clocked.payment_id
returning json_build_array(clocked.invoice_id, clocked.payment_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_payment_8
with due as (
select invoice_id, payment_id, party_id, wake_at as due_at, coalesce((terms -> 'terminal' ->> 'bankId') || case when terms -> 'payer' ->> 'seriesId' is null then '' else ' without payer' end, '') as slot_group from payment
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce((terms -> 'terminal' ->> 'bankId') || case when terms -> 'payer' ->> 'seriesId' is null then '' else ' without payer' end, '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 8 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update payment as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id and claimed.payment_id = clocked.payment_id
returning json_build_array(clocked.invoice_id, clocked.payment_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_payment_of_party
with due as (
select invoice_id, payment_id, party_id, wake_at as due_at, coalesce((terms -> 'terminal' ->> 'bankId') || case when terms -> 'payer' ->> 'seriesId' is null then '' else ' without payer' end, '') as slot_group from payment
where wake_at <= $1::timestamptz and party_id = $2::text and (json_array_length($3::json) = 0 or coalesce((terms -> 'terminal' ->> 'bankId') || case when terms -> 'payer' ->> 'seriesId' is null then '' else ' without payer' end, '') not in (select json_array_elements_text($3::json)))
order by wake_at limit $4::int4 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update payment as claimed
set wake_at = $1::timestamptz + $5::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.invoice_id = clocked.invoice_id and claimed.payment_id = clocked.payment_id
returning json_build_array(clocked.invoice_id, clocked.payment_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_series
with due as (
select series_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from series
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 32 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update series as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.series_id = clocked.series_id
returning json_build_array(clocked.series_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_series_1
with due as (
select series_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from series
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 1 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update series as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.series_id = clocked.series_id
returning json_build_array(clocked.series_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_series_2
with due as (
select series_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from series
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 2 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update series as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.series_id = clocked.series_id
returning json_build_array(clocked.series_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_series_3
with due as (
select series_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from series
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 3 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update series as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.series_id = clocked.series_id
returning json_build_array(clocked.series_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_series_4
with due as (
select series_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from series
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 4 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update series as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.series_id = clocked.series_id
returning json_build_array(clocked.series_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_series_8
with due as (
select series_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from series
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 8 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update series as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.series_id = clocked.series_id
returning json_build_array(clocked.series_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_series_of_party
with due as (
select series_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from series
where wake_at <= $1::timestamptz and party_id = $2::text and (json_array_length($3::json) = 0 or coalesce('', '') not in (select json_array_elements_text($3::json)))
order by wake_at limit $4::int4 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update series as claimed
set wake_at = $1::timestamptz + $5::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.series_id = clocked.series_id
returning json_build_array(clocked.series_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_subscription
with due as (
select subscription_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from subscription
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 32 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update subscription as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.subscription_id = clocked.subscription_id
returning json_build_array(clocked.subscription_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_subscription_1
with due as (
select subscription_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from subscription
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 1 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update subscription as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.subscription_id = clocked.subscription_id
returning json_build_array(clocked.subscription_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_subscription_2
with due as (
select subscription_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from subscription
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 2 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update subscription as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.subscription_id = clocked.subscription_id
returning json_build_array(clocked.subscription_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_subscription_3
with due as (
select subscription_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from subscription
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 3 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update subscription as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.subscription_id = clocked.subscription_id
returning json_build_array(clocked.subscription_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_subscription_4
with due as (
select subscription_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from subscription
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 4 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update subscription as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.subscription_id = clocked.subscription_id
returning json_build_array(clocked.subscription_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_subscription_8
with due as (
select subscription_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from subscription
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce('', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 8 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update subscription as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.subscription_id = clocked.subscription_id
returning json_build_array(clocked.subscription_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_subscription_of_party
with due as (
select subscription_id, party_id, wake_at as due_at, coalesce('', '') as slot_group from subscription
where wake_at <= $1::timestamptz and party_id = $2::text and (json_array_length($3::json) = 0 or coalesce('', '') not in (select json_array_elements_text($3::json)))
order by wake_at limit $4::int4 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update subscription as claimed
set wake_at = $1::timestamptz + $5::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.subscription_id = clocked.subscription_id
returning json_build_array(clocked.subscription_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_withdrawal
with due as (
select withdrawal_id, party_id, wake_at as due_at, coalesce(terms -> 'route' ->> 'bankId', '') as slot_group from withdrawal
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce(terms -> 'route' ->> 'bankId', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 32 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update withdrawal as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.withdrawal_id = clocked.withdrawal_id
returning json_build_array(clocked.withdrawal_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_withdrawal_1
with due as (
select withdrawal_id, party_id, wake_at as due_at, coalesce(terms -> 'route' ->> 'bankId', '') as slot_group from withdrawal
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce(terms -> 'route' ->> 'bankId', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 1 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update withdrawal as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.withdrawal_id = clocked.withdrawal_id
returning json_build_array(clocked.withdrawal_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_withdrawal_2
with due as (
select withdrawal_id, party_id, wake_at as due_at, coalesce(terms -> 'route' ->> 'bankId', '') as slot_group from withdrawal
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce(terms -> 'route' ->> 'bankId', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 2 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update withdrawal as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.withdrawal_id = clocked.withdrawal_id
returning json_build_array(clocked.withdrawal_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_withdrawal_3
with due as (
select withdrawal_id, party_id, wake_at as due_at, coalesce(terms -> 'route' ->> 'bankId', '') as slot_group from withdrawal
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce(terms -> 'route' ->> 'bankId', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 3 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update withdrawal as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.withdrawal_id = clocked.withdrawal_id
returning json_build_array(clocked.withdrawal_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_withdrawal_4
with due as (
select withdrawal_id, party_id, wake_at as due_at, coalesce(terms -> 'route' ->> 'bankId', '') as slot_group from withdrawal
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce(terms -> 'route' ->> 'bankId', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 4 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update withdrawal as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.withdrawal_id = clocked.withdrawal_id
returning json_build_array(clocked.withdrawal_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_withdrawal_8
with due as (
select withdrawal_id, party_id, wake_at as due_at, coalesce(terms -> 'route' ->> 'bankId', '') as slot_group from withdrawal
where wake_at <= (select $1::timestamptz) and (json_array_length($2::json) = 0 or coalesce(terms -> 'route' ->> 'bankId', '') not in (select json_array_elements_text($2::json)))
order by wake_at limit 8 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update withdrawal as claimed
set wake_at = $1::timestamptz + offset_ms * interval '1 ms' + $3::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.withdrawal_id = clocked.withdrawal_id
returning json_build_array(clocked.withdrawal_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_due_withdrawal_of_party
with due as (
select withdrawal_id, party_id, wake_at as due_at, coalesce(terms -> 'route' ->> 'bankId', '') as slot_group from withdrawal
where wake_at <= $1::timestamptz and party_id = $2::text and (json_array_length($3::json) = 0 or coalesce(terms -> 'route' ->> 'bankId', '') not in (select json_array_elements_text($3::json)))
order by wake_at limit $4::int4 for update skip locked
), clocked as (
select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
)
update withdrawal as claimed
set wake_at = $1::timestamptz + $5::int8 * interval '1 ms',
attempts = attempts + 1
from clocked where claimed.withdrawal_id = clocked.withdrawal_id
returning json_build_array(clocked.withdrawal_id) as key,
clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
claimed.wake_at as leased_until, clocked.slot_group;

-- claim_idempotency_key
insert into idempotency_key (owner_id, idempotency_key, request_hash, created_at)
values ($1::text, $2::text, $3::bytea, $4::timestamptz)
on conflict do nothing returning owner_id;

-- claim_send_of_withdrawal
update withdrawal set sends = sends + 1, is_unsent = false
where withdrawal_id = $1::text and version = $2::int4 and sends = $3::int4 and is_unsent and status = 'sending'
and stuck_at is null
returning withdrawal_id;

-- claim_subscription_key
insert into subscription_key (party_id, owner_id, unique_key, subscription_id)
values ($1::text, $2::text, $3::text, $4::text) on conflict do nothing returning subscription_id;

-- claim_webhook_queues
with recursive waiting as (
(select webhook_id from webhook_queue where wake_at is not null order by webhook_id limit 1)
union all
select (select queue.webhook_id from webhook_queue as queue
where queue.wake_at is not null and queue.webhook_id > waiting.webhook_id order by queue.webhook_id limit 1)
from waiting where waiting.webhook_id is not null
), capacity as (
select waiting.webhook_id, greatest(0, coalesce(busy.free, $1::int4)) as free
from waiting join webhook on webhook.webhook_id = waiting.webhook_id
left join json_to_recordset($2::json) as busy (webhook_id text, free int) on busy.webhook_id = waiting.webhook_id
order by hashtextextended(waiting.webhook_id, $3::int8)
), due as (
select queue.aggregate_id, queue.webhook_id
from capacity cross join lateral (
select aggregate_id, webhook_id from webhook_queue
where webhook_queue.webhook_id = capacity.webhook_id and wake_at <= $4::timestamptz
order by wake_at limit capacity.free for update skip locked
) as queue
limit $5::int4
)
update webhook_queue as claimed
set wake_at = $4::timestamptz + $6::int8 * interval '1 ms', leased_until = $4::timestamptz + $6::int8 * interval '1 ms'
from due where claimed.aggregate_id = due.aggregate_id and claimed.webhook_id = due.webhook_id
returning claimed.aggregate_id, claimed.webhook_id, claimed.next_position, claimed.last_position,
claimed.replay_until, claimed.resume_at, claimed.attempts, claimed.rewinds, claimed.wake_at;

-- close_payer_attempt
update payer_attempt set open = times_without(open, $1::timestamptz) where subject in (
select subject from payer_attempt where subject in ($2::bytea, $3::bytea) order by subject for update
);

-- compare_with_bank
with ours as (
select aggregate_id, operation_id, bank_id, kind, sign, amount_minor, currency, original_id, card_mask, certainty, counterpart_id, object, object_id, status, party_id, asked_at, known_at from (
select invoice_id as aggregate_id, name || suffix as operation_id, terms -> 'terminal' ->> 'bankId' as bank_id, kind, sign,
minor as amount_minor, currency, case when suffix = '.f' then name || '.a' when kind <> 'authorise' then name || charge end as original_id,
terms -> 'payer' -> 'card' ->> 'mask' as card_mask, certainty,
case certainty
when 'undone' then name || case when suffix <> charge then '.f' when is_late then '.l' when is_refused then '.u' else '.r' end
when 'undoes' then name || case when suffix = '.f' then '.a' else charge end
end as counterpart_id,
'payment' as object, name as object_id, status, party_id, asked_at, known_at
from payment
cross join lateral (
select invoice_id || '.' || payment_id as name, terms -> 'flow' ->> 'type' = 'instant' as is_instant,
case when terms ->> 'isSteppedUp' = 'true' then '.s' else '.a' end as charge
) as known
cross join lateral (
select max(created_at) filter (where type = 'payment_processed') as approved_at,
max(created_at) filter (where type = 'payment_failed') as failed_at,
max(created_at) filter (where type = 'payment_capture_started') as capture_asked_at,
max(created_at) filter (where type = 'payment_captured') as captured_at,
max(created_at) filter (where type in ('payment_reversal_started', 'payment_cancel_started')) as reversal_asked_at,
max(created_at) filter (where type in ('payment_failed', 'payment_cancelled')) as reversed_at,
max(created_at) filter (where type = 'payment_reversal_refused') as refused_at,
max(created_at) filter (where type = 'payment_approved_late') as late_at,
max(created_at) filter (where type = 'payment_given_back') as given_back_at,
max(created_at) filter (where type = 'payment_undo_started' and operation = 'f') as undo_at,
max(created_at) filter (where type = 'payment_undone' and operation = 'f') as undone_at,
coalesce(bool_or(type = 'payment_undo_started' and operation = 'f2'), false) as is_undo_repeated,
coalesce(bool_or(type = 'payment_undo_started' and operation in ('u2', 'l2')), false) as is_way_back_repeated,
max((amount ->> 'minor')::bigint) filter (where type = 'payment_given_back') as given_back_minor,
max((amount ->> 'minor')::bigint) filter (where type = 'payment_capture_failed') as uncaptured_minor,
coalesce(bool_or(type = 'payment_reversal_refused'), false) as is_refused,
coalesce(bool_or(type = 'payment_approved_late'), false) as is_late,
coalesce(bool_or(type = 'payment_given_back'), false) as is_given_back,
coalesce(bool_or("settledBecause" is not null and type = 'payment_given_back'), false) as is_late_settled,
coalesce(bool_or("settledBecause" is not null and type = 'payment_undone' and operation = 'f'), false) as is_undo_settled,
case when bool_or("settledBecause" is not null and type in ('payment_failed', 'payment_cancelled')
or type = 'payment_undo_started' and operation in ('u2', 'l2')) then 'may' end as settled
from event, json_to_recordset(facts) as fact (type text, "paymentId" text, "settledBecause" text, amount json, operation text)
where aggregate_id = invoice_id and "paymentId" = payment_id
) as log
cross join lateral (
select status in ('captured', 'refunding', 'refunded') or uncaptured_minor is not null as is_taken
) as outcome
-- Whatever the payment made of the bank's report: it may have been cancelled before.
cross join lateral (
select not is_instant and not is_taken and exists (
select from exchange_note
where what = 'holdEnded' and operation_id = name || charge
and exchange_note.bank_id = terms -> 'terminal' ->> 'bankId') as has_ended
) as reported
cross join lateral (values
(charge, 'authorise', case when is_instant then 1 else 0 end, amount_minor,
coalesce(settled, case when status in ('authorising', 'challenged', 'reversing') then 'open' when is_late_settled then 'may'
when status = 'failed' or status = 'cancelled' and is_refused and not is_given_back
then case when has_ended then 'may' else 'undone' end
else 'done' end),
payment.created_at, coalesce(approved_at, failed_at)),
-- The declined charge of a payment that was stepped up; without a step-up there is only one.
(case charge when '.a' then '.s' else '.a' end, 'authorise', case when is_instant then 1 else 0 end, amount_minor,
case when undo_at is null then 'never' when undone_at is null then 'open' when is_undo_settled or is_undo_repeated then 'may' else 'undone' end,
undo_at, undone_at),
('.f', case when is_instant then 'refund' else 'reverse' end, case when is_instant then -1 else 0 end, amount_minor,
case when undo_at is null then 'never' when undone_at is null then 'open' when is_undo_settled or is_undo_repeated then 'may' else 'undoes' end,
undo_at, undone_at),
('.c', 'capture', 1, coalesce(captured_minor, uncaptured_minor, given_back_minor, amount_minor),
case when status = 'capturing' then 'open' when is_taken and not is_instant then 'done'
when is_given_back and not is_instant then 'may' else 'never' end,
capture_asked_at, captured_at),
('.r', 'reverse', case when is_instant then -1 else 0 end, amount_minor,
coalesce(settled, case when is_refused then 'never' when status in ('reversing', 'cancelling') then 'open'
when has_ended then 'may' when status = 'cancelled' and not is_taken then 'done'
when status = 'failed' then 'undoes' else 'never' end),
case when status = 'failed' then payment.created_at else reversal_asked_at end, reversed_at),
('.u', 'refund', -1, coalesce(given_back_minor, amount_minor),
coalesce(settled, case when not is_refused then 'never' when status in ('reversing', 'cancelling') then 'open'
when not is_given_back then 'never' when status = 'failed' then 'undoes' else 'done' end),
refused_at, given_back_at),
('.l', case when is_instant then 'refund' else 'reverse' end, case when is_instant then -1 else 0 end, amount_minor,
case when not is_late then 'never' when is_late_settled or is_way_back_repeated then 'may' when is_given_back then 'undoes' else 'open' end,
late_at, given_back_at)
) as operation (suffix, kind, sign, minor, certainty, asked_at, known_at)
where invoice_id between $1::text and $2::text) as source
union all
select aggregate_id, operation_id, bank_id, kind, sign, amount_minor, currency, original_id, card_mask, certainty, counterpart_id, object, object_id, status, party_id, asked_at, known_at from (
select invoice_id as aggregate_id, name || '.' || refund_id as operation_id, terms -> 'terminal' ->> 'bankId' as bank_id,
'refund' as kind, -1 as sign, refund.amount_minor, refund.currency, name || case when terms ->> 'isSteppedUp' = 'true' then '.s' else '.a' end as original_id,
terms -> 'payer' -> 'card' ->> 'mask' as card_mask,
case when refund.waits_until is not null then 'never' when refund.status = 'pending' then 'open'
when refund.status = 'failed' and not is_returned then 'never' else coalesce(settled, 'done') end as certainty,
null as counterpart_id, 'refund' as object, name || '.' || refund_id as object_id, refund.status, refund.party_id,
coalesce(reserved.happened_at, refund.created_at) as asked_at, ended.happened_at as known_at
from refund
join payment using (invoice_id, payment_id)
cross join lateral (select invoice_id || '.' || payment_id as name) as known
cross join lateral (
select case when bool_or("settledBecause" is not null or type = 'refund_returned') then 'may' end as settled,
coalesce(bool_or(type = 'refund_returned'), false) as is_returned
from event, json_to_recordset(facts) as fact (type text, "paymentId" text, "refundId" text, "settledBecause" text)
where aggregate_id = invoice_id and "paymentId" = payment_id and "refundId" = refund_id
) as log
left join ledger_transfer as reserved on reserved.aggregate_id = invoice_id and not reserved.completes_pending
and reserved.step = 'refund' and reserved.operation_id = 'payment/' || payment_id || '/refund/' || refund_id
left join ledger_transfer as ended on ended.aggregate_id = invoice_id and ended.completes_pending and ended.step = 'refund'
and ended.operation_id = 'payment/' || payment_id || '/refund/' || refund_id
where invoice_id between $1::text and $2::text) as source
union all
select aggregate_id, operation_id, bank_id, kind, sign, amount_minor, currency, original_id, card_mask, certainty, counterpart_id, object, object_id, status, party_id, asked_at, known_at from (
select invoice_id as aggregate_id, name || '.' || begun.operation as operation_id, terms -> 'terminal' ->> 'bankId' as bank_id,
'refund' as kind, -1 as sign, (begun.amount ->> 'minor')::bigint as amount_minor, currency,
name || case begun.operation when 'f2' then '.a' else case when terms ->> 'isSteppedUp' = 'true' then '.s' else '.a' end end as original_id,
terms -> 'payer' -> 'card' ->> 'mask' as card_mask,
case when ended.at is null then 'open' when ended.settled then 'may' else 'done' end as certainty, null as counterpart_id,
'payment' as object, name as object_id, status, payment.party_id, event.created_at as asked_at, ended.at as known_at
from payment
cross join lateral (select invoice_id || '.' || payment_id as name) as known
join event on event.aggregate_id = invoice_id
cross join lateral json_to_recordset(event.facts) as begun (type text, "paymentId" text, amount json, operation text)
cross join lateral (
select max(later.created_at) as at, bool_or("settledBecause" is not null) as settled
from event as later, json_to_recordset(later.facts) as fact (type text, "paymentId" text, "settledBecause" text, operation text)
where later.aggregate_id = invoice_id and fact."paymentId" = payment_id and fact.type = 'payment_undone'
and fact.operation = begun.operation
) as ended
where begun."paymentId" = payment_id and begun.type = 'payment_undo_started' and begun.operation <> 'f'
and invoice_id between $1::text and $2::text) as source
union all
select aggregate_id, operation_id, bank_id, kind, sign, amount_minor, currency, original_id, card_mask, certainty, counterpart_id, object, object_id, status, party_id, asked_at, known_at from (
select customer_id as aggregate_id, name || '.' || suffix as operation_id, terms -> 'terminal' ->> 'bankId' as bank_id,
kind, sign, amount_minor, currency, case when kind <> 'authorise' then name || '.charge' end as original_id,
terms -> 'card' -> 'details' ->> 'mask' as card_mask, certainty,
case certainty when 'undone' then name || '.reverse' when 'undoes' then name || '.charge' end as counterpart_id,
'binding' as object, name as object_id, status, party_id, asked_at, known_at
from binding
left join (
select aggregate_id, "bindingId",
max(created_at) filter (where type = 'binding_charged') as charged_at,
max(created_at) filter (where type = 'binding_reversal_started') as reversal_asked_at,
max(created_at) filter (where type = 'binding_refund_started') as refund_asked_at,
max(created_at) filter (where type in ('binding_succeeded', 'binding_failed')) as ended_at,
bool_or(type = 'binding_failed' and reason is not null) as is_closed
from event, json_to_recordset(facts) as fact (type text, "bindingId" text, reason text)
where aggregate = 'customer' and aggregate_id between $1::text and $2::text
group by aggregate_id, "bindingId"
) as log on log.aggregate_id = customer_id and log."bindingId" = binding_id
cross join lateral (
select customer_id || '.' || binding_id as name, case when is_closed then 'may' end as closed,
refund_asked_at is not null as is_refunded
) as known
cross join lateral (values
('charge', 'authorise', 1,
coalesce(closed, case when status in ('authorising', 'challenged', 'reversing') then 'open'
when charged_at is null then 'undone' else 'done' end),
created_at, coalesce(charged_at, ended_at)),
('reverse', 'reverse', -1,
coalesce(closed, case when is_refunded or status in ('authorising', 'challenged') then 'never'
when status in ('reversing', 'returning') then 'open' when charged_at is null then 'undoes' else 'done' end),
case when charged_at is null then created_at else coalesce(reversal_asked_at, charged_at) end, ended_at),
('refund', 'refund', -1,
coalesce(closed, case when not is_refunded then 'never' when status = 'refunding' then 'open' else 'done' end),
refund_asked_at, ended_at)
) as operation (suffix, kind, sign, certainty, asked_at, known_at)
where customer_id between $1::text and $2::text) as source
union all
select aggregate_id, operation_id, bank_id, kind, sign, amount_minor, currency, original_id, card_mask, certainty, counterpart_id, object, object_id, status, party_id, asked_at, known_at from (
select withdrawal_id as aggregate_id, withdrawal_id || '.p' as operation_id, terms -> 'route' ->> 'bankId' as bank_id,
'payout' as kind, -1 as sign, amount_minor, withdrawal.currency, null as original_id, card ->> 'mask' as card_mask,
case withdrawal.status when 'sending' then 'open' when 'succeeded' then 'done' else 'never' end as certainty,
null as counterpart_id, 'withdrawal' as object, withdrawal_id as object_id, withdrawal.status, withdrawal.party_id,
withdrawal.created_at as asked_at, ended.happened_at as known_at
from withdrawal
left join destination using (destination_id)
left join ledger_transfer as ended on ended.aggregate_id = withdrawal_id and ended.operation_id = 'withdrawal'
and ended.step = 'payout' and ended.completes_pending
where withdrawal_id between $1::text and $2::text
union all
select withdrawal_id, withdrawal_id || '.p.returned', terms -> 'route' ->> 'bankId', 'return', 1,
(result -> 'returned' -> 'amount' ->> 'minor')::int8, withdrawal.currency, withdrawal_id || '.p', card ->> 'mask',
'may', null, 'withdrawal', withdrawal_id, withdrawal.status, withdrawal.party_id, withdrawal.created_at,
(result -> 'returned' ->> 'at')::timestamptz
from withdrawal
left join destination using (destination_id)
where withdrawal_id between $1::text and $2::text and result -> 'returned' is not null) as source
), line as (
select *, row_number() over (partition by operation_id order by sequence) as copy
from report_line where run_id = $3::text and aggregate_id between $1::text and $2::text
), pair as (
select operation_id, sequence,
case
when certainty is null then 'doubtful'
when sequence is null and (bank_id is distinct from $4::text or certainty in ('never', 'undone', 'undoes', 'may'))
then 'silent'
when certainty = 'done' and copy = 1 and bank_id = $4::text
and (line.kind, line.sign, line.amount_minor, line.currency) = (ours.kind, ours.sign, ours.amount_minor, ours.currency)
and (line.original_id is null or line.original_id is not distinct from ours.original_id)
and (line.card_mask is null or ours.card_mask is null
or left(line.card_mask, 6) || right(line.card_mask, 4) = left(ours.card_mask, 6) || right(ours.card_mask, 4))
then 'equal'
else 'doubtful'
end as verdict,
json_strip_nulls(json_build_object(
'operationId', operation_id,
'isCounterpartBooked',
exists (select from line as other where other.operation_id = ours.counterpart_id),
'ours', case when certainty is not null then json_build_object(
'bankId', bank_id, 'kind', ours.kind, 'sign', ours.sign, 'minor', ours.amount_minor, 'currency', ours.currency,
'originalId', ours.original_id, 'cardMask', ours.card_mask, 'certainty', certainty, 'object', object,
'objectId', object_id, 'status', status, 'partyId', party_id, 'askedAt', instant_text(asked_at),
'knownAt', instant_text(known_at)) end,
'line', case when sequence is not null then json_build_object(
'sequence', sequence, 'copy', copy, 'kind', line.kind, 'sign', line.sign, 'minor', line.amount_minor,
'currency', line.currency, 'originalId', line.original_id, 'cardMask', line.card_mask,
'at', instant_text(booked_at)) end)) as pair
from ours full join line using (operation_id)
)
select count(*) filter (where verdict = 'equal') as equal,
coalesce(json_agg(pair order by operation_id, sequence) filter (where verdict = 'doubtful'), '[]') as pairs
from pair;

-- confirm_bank
update bank
set stopped_at = null, stopped_because = null, confirmed_because = $1::text, report_cursor = greatest(report_cursor, $2::int8)
where bank_id = $3::text and stopped_at is not null returning bank_id;

-- continue_console_session
update console_session set seen_at = $1::timestamptz
where session_id = $2::text and ended_at is null and seen_at <= $3::timestamptz;

-- copy_to_search_binding
with fresh as materialized (
select binding.party_id, binding.shop_id, binding.customer_id, binding.binding_id, binding.created_at, case when customer.status = 'deleted' then customer.status else binding.status end as status, binding.external_id, binding.terms->'card'->'details'->>'bin' as first6, binding.terms->'card'->'details'->>'lastDigits' as last4, case when binding.status = 'failed'
then (select string_agg(code, ':') from json_array_elements_text(binding.state->'failure') as code) end as failure
from json_array_elements_text($1::json) as changed (id) cross join lateral (select * from customer where customer_id = changed.id offset 0) as customer
cross join lateral (select * from binding where customer_id = changed.id offset 0) as binding
)
insert into search_binding as copy (party_id, shop_id, customer_id, binding_id, created_at, status, external_id, first6, last4, failure)
select * from fresh order by customer_id, binding_id
on conflict (party_id, customer_id, binding_id) do update
set party_id = excluded.party_id, shop_id = excluded.shop_id, customer_id = excluded.customer_id, binding_id = excluded.binding_id, created_at = excluded.created_at, status = excluded.status, external_id = excluded.external_id, first6 = excluded.first6, last4 = excluded.last4, failure = excluded.failure
where copy.* is distinct from excluded.*;

-- copy_to_search_customer
with fresh as materialized (
select customer.party_id, customer.shop_id, customer.customer_id, customer.created_at, customer.status, customer.external_id, lower(customer.contact_info->>'email') as email
from json_array_elements_text($1::json) as changed (id) cross join lateral (select * from customer where customer_id = changed.id offset 0) as customer
)
insert into search_customer as copy (party_id, shop_id, customer_id, created_at, status, external_id, email)
select * from fresh order by customer_id
on conflict (party_id, customer_id) do update
set party_id = excluded.party_id, shop_id = excluded.shop_id, customer_id = excluded.customer_id, created_at = excluded.created_at, status = excluded.status, external_id = excluded.external_id, email = excluded.email
where copy.* is distinct from excluded.*;

-- copy_to_search_invoice
with fresh as materialized (
select invoice.party_id, invoice.shop_id, invoice.invoice_id, invoice.created_at, invoice.status, invoice.amount_minor, invoice.external_id
from json_array_elements_text($1::json) as changed (id) cross join lateral (select * from invoice where invoice_id = changed.id offset 0) as invoice
)
insert into search_invoice as copy (party_id, shop_id, invoice_id, created_at, status, amount_minor, external_id)
select * from fresh order by invoice_id
on conflict (party_id, invoice_id) do update
set party_id = excluded.party_id, shop_id = excluded.shop_id, invoice_id = excluded.invoice_id, created_at = excluded.created_at, status = excluded.status, amount_minor = excluded.amount_minor, external_id = excluded.external_id
where copy.* is distinct from excluded.*;

-- copy_to_search_payment
with fresh as materialized (
select payment.party_id, payment.shop_id, payment.invoice_id, payment.payment_id, payment.created_at, (select created_at from invoice where invoice_id = payment.invoice_id) as invoice_created_at, payment.status, payment.flow->>'type' as flow, case when payment.status in ('captured', 'refunding', 'refunded')
then payment.captured_minor else payment.amount_minor end as amount_minor, payment.external_id, coalesce(payment.payer->>'customerId', payment.payer->'savedBy'->>'customerId') as customer_id, lower(payment.payer->'contactInfo'->>'email') as email, payment.payer->'clientInfo'->>'ip' as ip, payment.payer->'clientInfo'->>'fingerprint' as fingerprint, coalesce(payment.payer->'card', parent.card)->>'bin' as first6, coalesce(payment.payer->'card', parent.card)->>'lastDigits' as last4, coalesce(payment.payer->'card', parent.card)->>'paymentSystem' as payment_system, case when payment.approval->'references' is null then payment.approval->>'reference'
else payment.approval->'references'->>'rrn' end as rrn, payment.approval->>'approvalCode' as approval_code, payment.currency, case when payment.payer->>'seriesId' is null then 0 else 1 + coalesce(tried.retries, 0) end as attempt, case when payment.status = 'failed' then payment.state->>'declineClass' end as decline_class, case when payment.status = 'failed' then (select string_agg(code, ':') from json_array_elements_text(payment.state->'failure') as code) end as failure, case when payment.status = 'failed' then payment.state->'bank'->>'code' end as bank_code
from json_array_elements_text($1::json) as changed (id) cross join 
lateral (
select *, parsed_terms->'payer' as payer, parsed_terms->'flow' as flow, state::jsonb->'approval' as approval
from (select *, terms::jsonb as parsed_terms from payment where invoice_id = changed.id offset 0) as payment offset 0
) as payment
left join lateral (
select terms::jsonb->'payer'->'card' as card from payment as parent
where parent.invoice_id = payment.payer->'parent'->>'invoiceId' and parent.payment_id = payment.payer->'parent'->>'paymentId'
offset 0
) as parent on true
left join lateral (
select case when is_retry then (
select count(*)::int4 from series_attempt as earlier
where earlier.series_id = attempt.series_id and earlier.is_retry and earlier.created_at <= attempt.created_at
and earlier.created_at > coalesce((
select max(first.created_at) from series_attempt as first
where first.series_id = attempt.series_id and not first.is_retry and first.created_at <= attempt.created_at
), '-infinity')
) end as retries
from series_attempt as attempt
where series_id = payment.payer->>'seriesId' and attempt.invoice_id = payment.invoice_id
and attempt.payment_id = payment.payment_id
offset 0
) as tried on true
), copied as (
insert into search_payment as copy (party_id, shop_id, invoice_id, payment_id, created_at, invoice_created_at, status, flow, amount_minor, external_id, customer_id, email, ip, fingerprint, first6, last4, payment_system, rrn, approval_code, currency, attempt, decline_class, failure, bank_code)
select * from fresh order by invoice_id, payment_id
on conflict (party_id, invoice_id, payment_id) do update
set party_id = excluded.party_id, shop_id = excluded.shop_id, invoice_id = excluded.invoice_id, payment_id = excluded.payment_id, created_at = excluded.created_at, invoice_created_at = excluded.invoice_created_at, status = excluded.status, flow = excluded.flow, amount_minor = excluded.amount_minor, external_id = excluded.external_id, customer_id = excluded.customer_id, email = excluded.email, ip = excluded.ip, fingerprint = excluded.fingerprint, first6 = excluded.first6, last4 = excluded.last4, payment_system = excluded.payment_system, rrn = excluded.rrn, approval_code = excluded.approval_code, currency = excluded.currency, attempt = excluded.attempt, decline_class = excluded.decline_class, failure = excluded.failure, bank_code = excluded.bank_code
where copy.* is distinct from excluded.*
), changed as (
select party_id as party_id, shop_id as shop_id, date_bin('15 minutes', created_at, '2000-01-01T00:00:00Z') as quarter, 'payment' as what, currency as currency, case when status in ('authorising', 'challenged', 'reversing') then 'pending' when status in ('held', 'capturing', 'cancelling') then 'processed' when status in ('captured', 'refunding') then 'captured' when status in ('cancelled') then 'cancelled' when status in ('refunded') then 'refunded' when status in ('failed') then 'failed' end as status, attempt as attempt, coalesce(payment_system, '') as payment_system, coalesce(decline_class, '') as decline_class, coalesce(failure, '') as failure, coalesce(bank_code, '') as bank_code, amount_minor, 1 as sign from fresh
union all
select party_id as party_id, shop_id as shop_id, date_bin('15 minutes', created_at, '2000-01-01T00:00:00Z') as quarter, 'payment' as what, currency as currency, case when status in ('authorising', 'challenged', 'reversing') then 'pending' when status in ('held', 'capturing', 'cancelling') then 'processed' when status in ('captured', 'refunding') then 'captured' when status in ('cancelled') then 'cancelled' when status in ('refunded') then 'refunded' when status in ('failed') then 'failed' end as status, attempt as attempt, coalesce(payment_system, '') as payment_system, coalesce(decline_class, '') as decline_class, coalesce(failure, '') as failure, coalesce(bank_code, '') as bank_code, amount_minor, -1 from (
select before.* from fresh cross join lateral (
select * from search_payment where search_payment.party_id = fresh.party_id and search_payment.invoice_id = fresh.invoice_id and search_payment.payment_id = fresh.payment_id offset 0
) as before where before.currency is not null
) as before
)
insert into search_sum as kept (party_id, shop_id, quarter, what, currency, status, attempt, payment_system, decline_class, failure, bank_code, amount_minor, n)
select party_id, shop_id, quarter, what, currency, status, attempt, payment_system, decline_class, failure, bank_code, sum(sign * amount_minor), sum(sign) from changed
group by party_id, shop_id, quarter, what, currency, status, attempt, payment_system, decline_class, failure, bank_code having sum(sign * amount_minor) <> 0 or sum(sign) <> 0
on conflict (party_id, shop_id, quarter, what, currency, status, attempt, payment_system, decline_class, failure, bank_code) do update
set amount_minor = kept.amount_minor + excluded.amount_minor, n = kept.n + excluded.n;

-- copy_to_search_payout
with fresh as materialized (
select withdrawal.party_id, concat('-', case when withdrawal.livemode then 'live' when not withdrawal.livemode then 'test'
else split_part(reserved.debit_account, ':', 1) end) as shop_id, withdrawal.withdrawal_id, withdrawal.created_at, withdrawal.status, withdrawal.amount_minor, withdrawal.currency
from json_array_elements_text($1::json) as changed (id) cross join lateral (select * from withdrawal where withdrawal_id = changed.id offset 0) as withdrawal
left join lateral (
select debit_account from ledger_transfer
where aggregate_id = changed.id and operation_id = 'withdrawal' and step = 'payout' and not completes_pending offset 0
) as reserved on true
), copied as (
insert into search_payout as copy (party_id, shop_id, withdrawal_id, created_at, status, amount_minor, currency)
select * from fresh order by withdrawal_id
on conflict (party_id, withdrawal_id) do update
set party_id = excluded.party_id, shop_id = excluded.shop_id, withdrawal_id = excluded.withdrawal_id, created_at = excluded.created_at, status = excluded.status, amount_minor = excluded.amount_minor, currency = excluded.currency
where copy.* is distinct from excluded.*
), changed as (
select party_id as party_id, shop_id as shop_id, date_bin('15 minutes', created_at, '2000-01-01T00:00:00Z') as quarter, 'payout' as what, currency as currency, status as status, 0 as attempt, '' as payment_system, '' as decline_class, '' as failure, '' as bank_code, amount_minor, 1 as sign from fresh
union all
select party_id as party_id, shop_id as shop_id, date_bin('15 minutes', created_at, '2000-01-01T00:00:00Z') as quarter, 'payout' as what, currency as currency, status as status, 0 as attempt, '' as payment_system, '' as decline_class, '' as failure, '' as bank_code, amount_minor, -1 from (
select before.* from fresh cross join lateral (
select * from search_payout where search_payout.party_id = fresh.party_id and search_payout.withdrawal_id = fresh.withdrawal_id offset 0
) as before where before.currency is not null
) as before
)
insert into search_sum as kept (party_id, shop_id, quarter, what, currency, status, attempt, payment_system, decline_class, failure, bank_code, amount_minor, n)
select party_id, shop_id, quarter, what, currency, status, attempt, payment_system, decline_class, failure, bank_code, sum(sign * amount_minor), sum(sign) from changed
group by party_id, shop_id, quarter, what, currency, status, attempt, payment_system, decline_class, failure, bank_code having sum(sign * amount_minor) <> 0 or sum(sign) <> 0
on conflict (party_id, shop_id, quarter, what, currency, status, attempt, payment_system, decline_class, failure, bank_code) do update
set amount_minor = kept.amount_minor + excluded.amount_minor, n = kept.n + excluded.n;

-- copy_to_search_refund
with fresh as materialized (
select refund.party_id, payment.shop_id, refund.invoice_id, refund.payment_id, refund.refund_id, refund.created_at, refund.status, refund.external_id, refund.rrn, refund.amount_minor, refund.currency
from json_array_elements_text($1::json) as changed (id) cross join 
lateral (select * from refund where invoice_id = changed.id offset 0) as refund
cross join lateral (
select shop_id from payment
where payment.invoice_id = refund.invoice_id and payment.payment_id = refund.payment_id
offset 0
) as payment
), copied as (
insert into search_refund as copy (party_id, shop_id, invoice_id, payment_id, refund_id, created_at, status, external_id, rrn, amount_minor, currency)
select * from fresh order by invoice_id, payment_id, refund_id
on conflict (party_id, invoice_id, payment_id, refund_id) do update
set party_id = excluded.party_id, shop_id = excluded.shop_id, invoice_id = excluded.invoice_id, payment_id = excluded.payment_id, refund_id = excluded.refund_id, created_at = excluded.created_at, status = excluded.status, external_id = excluded.external_id, rrn = excluded.rrn, amount_minor = excluded.amount_minor, currency = excluded.currency
where copy.* is distinct from excluded.*
), changed as (
select party_id as party_id, shop_id as shop_id, date_bin('15 minutes', created_at, '2000-01-01T00:00:00Z') as quarter, 'refund' as what, currency as currency, status as status, 0 as attempt, '' as payment_system, '' as decline_class, '' as failure, '' as bank_code, amount_minor, 1 as sign from fresh
union all
select party_id as party_id, shop_id as shop_id, date_bin('15 minutes', created_at, '2000-01-01T00:00:00Z') as quarter, 'refund' as what, currency as currency, status as status, 0 as attempt, '' as payment_system, '' as decline_class, '' as failure, '' as bank_code, amount_minor, -1 from (
select before.* from fresh cross join lateral (
select * from search_refund where search_refund.party_id = fresh.party_id and search_refund.invoice_id = fresh.invoice_id and search_refund.payment_id = fresh.payment_id and search_refund.refund_id = fresh.refund_id offset 0
) as before where before.currency is not null
) as before
)
insert into search_sum as kept (party_id, shop_id, quarter, what, currency, status, attempt, payment_system, decline_class, failure, bank_code, amount_minor, n)
select party_id, shop_id, quarter, what, currency, status, attempt, payment_system, decline_class, failure, bank_code, sum(sign * amount_minor), sum(sign) from changed
group by party_id, shop_id, quarter, what, currency, status, attempt, payment_system, decline_class, failure, bank_code having sum(sign * amount_minor) <> 0 or sum(sign) <> 0
on conflict (party_id, shop_id, quarter, what, currency, status, attempt, payment_system, decline_class, failure, bank_code) do update
set amount_minor = kept.amount_minor + excluded.amount_minor, n = kept.n + excluded.n;

-- copy_to_search_retry
with fresh as materialized (
select payment.party_id, payment.shop_id, payment.invoice_id, payment.payment_id, payment.created_at, attempt.outcome, coalesce(payment.payer->'card'->>'paymentSystem', '') as payment_system, retry->>'declineClass' as decline_class, coalesce(before.bank_code, '') as bank_code, (retry->>'number')::int as number, (retry->>'days')::int as days, (retry->>'localHour')::int as local_hour, concat(retry->>'policy', ' ', retry->>'policyVersion') as policy
from json_array_elements_text($1::json) as changed (id) cross join 
lateral (
select *, payer->'retry' as retry from (
select *, terms::jsonb->'payer' as payer from payment
where invoice_id = changed.id and strpos(terms::text, '"retry"') > 0 offset 0
) as payment where payer->'retry' is not null
) as payment
join lateral (
select outcome from series_attempt
where series_id = payment.payer->>'seriesId' and invoice_id = payment.invoice_id and payment_id = payment.payment_id
offset 0
) as attempt on true
left join lateral (
select state::jsonb->'bank'->>'code' as bank_code from payment as earlier
where earlier.invoice_id = payment.invoice_id and earlier.status = 'failed' and earlier.created_at < payment.created_at
order by earlier.created_at desc limit 1
) as before on true
)
insert into search_retry as copy (party_id, shop_id, invoice_id, payment_id, created_at, outcome, payment_system, decline_class, bank_code, number, days, local_hour, policy)
select * from fresh order by invoice_id, payment_id
on conflict (party_id, invoice_id, payment_id) do update
set party_id = excluded.party_id, shop_id = excluded.shop_id, invoice_id = excluded.invoice_id, payment_id = excluded.payment_id, created_at = excluded.created_at, outcome = excluded.outcome, payment_system = excluded.payment_system, decline_class = excluded.decline_class, bank_code = excluded.bank_code, number = excluded.number, days = excluded.days, local_hour = excluded.local_hour, policy = excluded.policy
where copy.* is distinct from excluded.*;

-- copy_to_search_series
with fresh as materialized (
select series.party_id, series.shop_id, series.series_id, started.created_at, series.status, least((series.terms->>'endsAt')::timestamptz, (series.terms->'card'->>'endsAt')::timestamptz) as ends_at, series.terms->>'kind' as root_kind, series.terms->'root'->>'invoiceId' as root_of, series.terms->'root'->>'paymentId' as root_id
from json_array_elements_text($1::json) as changed (id) cross join lateral (select * from series where series_id = changed.id offset 0) as series
cross join lateral (
select created_at from event where aggregate_id = changed.id and sequence = 1 offset 0
) as started
)
insert into search_series as copy (party_id, shop_id, series_id, created_at, status, ends_at, root_kind, root_of, root_id)
select * from fresh order by series_id
on conflict (party_id, series_id) do update
set party_id = excluded.party_id, shop_id = excluded.shop_id, series_id = excluded.series_id, created_at = excluded.created_at, status = excluded.status, ends_at = excluded.ends_at, root_kind = excluded.root_kind, root_of = excluded.root_of, root_id = excluded.root_id
where copy.* is distinct from excluded.*;

-- count_due_subscriptions
select greatest(ceil(extract(epoch from wake_at - $1::timestamptz) / 3600)::int - 1, 0) as hour, count(*) as due,
min(wake_at) filter (where wake_at <= $1::timestamptz) as oldest
from subscription where wake_at <= $1::timestamptz + interval '48 hours' group by 1 order by 1;

-- count_exchanges
insert into exchange_sum (bank_id, hour, kind, state, within_ms, n)
select bank_id, date_trunc('hour', begun_at, 'UTC') as hour, kind, state, case when state not in ('approved', 'declined') then 0
when (extract(epoch from heard_at - begun_at) * 1000)::numeric <= 50 then 50 when (extract(epoch from heard_at - begun_at) * 1000)::numeric <= 100 then 100 when (extract(epoch from heard_at - begun_at) * 1000)::numeric <= 200 then 200 when (extract(epoch from heard_at - begun_at) * 1000)::numeric <= 500 then 500 when (extract(epoch from heard_at - begun_at) * 1000)::numeric <= 1000 then 1000 when (extract(epoch from heard_at - begun_at) * 1000)::numeric <= 2000 then 2000 when (extract(epoch from heard_at - begun_at) * 1000)::numeric <= 5000 then 5000 when (extract(epoch from heard_at - begun_at) * 1000)::numeric <= 10000 then 10000 when (extract(epoch from heard_at - begun_at) * 1000)::numeric <= 30000 then 30000 else 2147483647 end as within_ms, count(*)
from exchange where begun_at >= $1::timestamptz and begun_at < coalesce($2::timestamptz, 'infinity'::timestamptz)
group by bank_id, hour, kind, state, within_ms;

-- count_limits_reset
update limits_reset set resets = resets + 1;

-- count_open_notes
select count(*) filter (where meaning = 'contradiction') as contradictions,
count(*) filter (where meaning = 'waits') as waiting,
min(noted_at) filter (where meaning = 'waits') as oldest
from exchange_note where meaning in ('waits', 'contradiction');

-- count_parked_webhook_queues
select count(*) as parked from webhook_queue
where stuck_at is not null and exists (select from webhook where webhook.webhook_id = webhook_queue.webhook_id);

-- count_paused_terminals
select count(*) as paused from terminal left join test_clock using (party_id)
where paused_until > $1::timestamptz + coalesce(offset_ms, 0) * interval '1 ms' and retired_at is null;

-- count_pending_refunds
select count(*) as pending,
count(*) filter (where refund_due_at < $1::timestamptz + coalesce(offset_ms, 0) * interval '1 ms') as overdue
from binding left join test_clock using (party_id) where refund_due_at is not null;

-- count_refunds_by_approval_code
select count(*) as total from (
select created_at from (
select * from search_refund as refund
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and created_at >= $3::timestamptz
and (invoice_id, payment_id) in (
select payment.invoice_id, payment.payment_id from search_payment as payment
where payment.party_id = $1::text and payment.approval_code = $4::text)
and ($5::text is null or invoice_id = $5::text)
and ($6::text is null or external_id = $6::text)
and ($7::text is null or payment_id = $7::text)
and ($8::text is null or refund_id = $8::text)
and ($9::text is null or status = $9::text)
and ($10::text is null or rrn = $10::text)
and created_at < $11::timestamptz
order by created_at desc, invoice_id desc, payment_id desc, refund_id desc limit $12::int4
) as found_rows
order by created_at desc, invoice_id desc, payment_id desc, refund_id desc limit $12::int4
) as counted;

-- count_refunds_by_external_id
select count(*) as total from (
select created_at from (
select * from search_refund as refund
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and created_at >= $3::timestamptz
and external_id = $4::text and ($5::text is null or (invoice_id, payment_id) in (
select payment.invoice_id, payment.payment_id from search_payment as payment
where payment.party_id = $1::text and payment.approval_code = $5::text))
and ($6::text is null or invoice_id = $6::text)
and ($4::text is null or external_id = $4::text)
and ($7::text is null or payment_id = $7::text)
and ($8::text is null or refund_id = $8::text)
and ($9::text is null or status = $9::text)
and ($10::text is null or rrn = $10::text)
and created_at < $11::timestamptz
order by created_at desc, invoice_id desc, payment_id desc, refund_id desc limit $12::int4
) as found_rows
order by created_at desc, invoice_id desc, payment_id desc, refund_id desc limit $12::int4
) as counted;

-- count_refunds_by_invoice_id
select count(*) as total from (
select created_at from (
select * from search_refund as refund
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and created_at >= $3::timestamptz
and invoice_id = $4::text and ($5::text is null or (invoice_id, payment_id) in (
select payment.invoice_id, payment.payment_id from search_payment as payment
where payment.party_id = $1::text and payment.approval_code = $5::text))
and ($4::text is null or invoice_id = $4::text)
and ($6::text is null or external_id = $6::text)
and ($7::text is null or payment_id = $7::text)
and ($8::text is null or refund_id = $8::text)
and ($9::text is null or status = $9::text)
and ($10::text is null or rrn = $10::text)
and created_at < $11::timestamptz
order by created_at desc, invoice_id desc, payment_id desc, refund_id desc limit $12::int4
) as found_rows
order by created_at desc, invoice_id desc, payment_id desc, refund_id desc limit $12::int4
) as counted;

-- count_refunds_by_rrn
select count(*) as total from (
select created_at from (
select * from search_refund as refund
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and created_at >= $3::timestamptz
and rrn = $4::text and ($5::text is null or (invoice_id, payment_id) in (
select payment.invoice_id, payment.payment_id from search_payment as payment
where payment.party_id = $1::text and payment.approval_code = $5::text))
and ($6::text is null or invoice_id = $6::text)
and ($7::text is null or external_id = $7::text)
and ($8::text is null or payment_id = $8::text)
and ($9::text is null or refund_id = $9::text)
and ($10::text is null or status = $10::text)
and ($4::text is null or rrn = $4::text)
and created_at < $11::timestamptz
order by created_at desc, invoice_id desc, payment_id desc, refund_id desc limit $12::int4
) as found_rows
order by created_at desc, invoice_id desc, payment_id desc, refund_id desc limit $12::int4
) as counted;

-- count_refunds_by_time
select count(*) as total from (
select created_at from unnest(string_to_array($1::text, E'\n')) as shop (id) cross join lateral (
select * from search_refund as refund
where party_id = $2::text and shop_id = shop.id and created_at >= $3::timestamptz
and ($4::text is null or (invoice_id, payment_id) in (
select payment.invoice_id, payment.payment_id from search_payment as payment
where payment.party_id = $2::text and payment.approval_code = $4::text))
and ($5::text is null or invoice_id = $5::text)
and ($6::text is null or external_id = $6::text)
and ($7::text is null or payment_id = $7::text)
and ($8::text is null or refund_id = $8::text)
and ($9::text is null or status = $9::text)
and ($10::text is null or rrn = $10::text)
and created_at < $11::timestamptz
order by created_at desc, invoice_id desc, payment_id desc, refund_id desc limit $12::int4
) as found_rows
order by created_at desc, invoice_id desc, payment_id desc, refund_id desc limit $12::int4
) as counted;

-- count_retries
select value, count(*) as n, count(*) filter (where outcome = 'approved') as recovered
from search_retry cross join lateral (
select case $1::text when 'network' then payment_system when 'declineClass' then decline_class when 'code' then bank_code when 'retry' then number::text when 'days' then days::text when 'localHour' then local_hour::text when 'policy' then policy end as value
) as keyed
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json)))
and created_at >= $4::timestamptz and created_at < $5::timestamptz and outcome in ('approved', 'declined', 'lost')
group by value order by length(value), value limit 1000;

-- count_stopped_banks
select count(*) as stopped from bank where stopped_at is not null;

-- count_unbalanced
with account as (
select account_id, forbids_overdraft, overdraft_minor, code = 'binding.clearing' as clears,
split_part(account_id, ':', 1) as mode, split_part(account_id, ':', 2) as currency,
sum(debits_posted) as debits_posted, sum(credits_posted) as credits_posted,
sum(debits_pending) as debits_pending, sum(credits_pending) as credits_pending
from ledger_balance left join ledger_account using (account_id)
group by account_id, forbids_overdraft, overdraft_minor, code
), kind as (
select sum(debits_posted) <> sum(credits_posted) or sum(debits_pending) <> sum(credits_pending) as is_broken
from account group by mode, currency
)
select (select count(*) from kind where is_broken) + count(*) as broken
from account
where forbids_overdraft and credits_posted + overdraft_minor < debits_posted + debits_pending
or clears and credits_posted - debits_posted <> debits_pending;

-- count_unsent_attempt
update payment set unsent_attempts = $1::int4
where invoice_id = $2::text and payment_id = $3::text and status = 'authorising' and attempts = $4::int4
and unsent_attempts in ($4::int4 - 1, -$4::int4);

-- count_waiting_refunds
select count(*) as waiting from waiting_refund where party_id = $1::text and shop_id = $2::text;

-- count_waiting_subscriptions
select
(select count(*) from subscription
where strpos(state::text, '"parkedFor"') > 0 and (state->>'parkedFor') is not null) as parked,
(select count(*) from subscription where strpos(state::text, '"configuration"') > 0
and (state->'open'->0->>'declineClass') = 'configuration') as misconfigured;

-- delete_all_payer_attempts
with restarted as (
update invoice set payer_attempts = 0 where payer_attempts > 0 and status = 'unpaid' and party_id = $1::text
) delete from payer_attempt;

-- delete_bank
with kept as (
select (select count(*) from terminal where bank_id = $1::text)
+ (select count(*) from payout_terminal where bank_id = $1::text) as terminals
), gone as (
delete from bank where bank_id = $1::text and (select terminals from kept) = 0 returning bank_id
)
select exists (select from gone) as is_deleted, terminals from kept;

-- delete_customer
with changed as (
update customer set version = version + 1, changed_at = greatest(changed_at, $1::timestamptz), status = 'deleted',
active_binding_id = null
where customer_id = $2::text and version = $3::int4
returning customer_id, party_id, version, changed_at
), expedited as (
update binding set wake_at = $1::timestamptz
from changed where binding.customer_id = changed.customer_id and wake_at > $1::timestamptz
)
select append_event('customer', customer_id, version, party_id, changed_at, $4::json) as version from changed;

-- delete_day_sums
delete from search_day_sum where party_id = $1::text and shop_id = $2::text and day >= $3::timestamptz and day < $3::timestamptz + interval '24 hours';

-- delete_exchange_sums
delete from exchange_sum where hour >= $1::timestamptz and hour < coalesce($2::timestamptz, 'infinity'::timestamptz);

-- delete_expired_security_codes
delete from security_code where session_id in
(select session_id from security_code where expires_at <= $1::timestamptz limit $2::int4 for update skip locked)
returning session_id;

-- delete_export
delete from export where party_id = $1::text and export_id = $2::text;

-- delete_export_pieces
delete from export_piece where export_id = $1::text and run < $2::int4;

-- delete_hour_sums
delete from search_hour_sum where party_id = $1::text and shop_id = $2::text and hour >= $3::timestamptz and hour < $3::timestamptz + interval '24 hours';

-- delete_invoice_template
update invoice_template set deleted_at = $1::timestamptz
where invoice_template_id = $2::text and deleted_at is null
returning invoice_template_id;

-- delete_late_exchanges
delete from exchange_late where begun_at >= $1::timestamptz and begun_at < coalesce($2::timestamptz, 'infinity'::timestamptz);

-- delete_old_payer_attempts
delete from payer_attempt where subject in (
select subject from payer_attempt where kept_until < $1::timestamptz order by kept_until limit $2::int4 for update skip locked
) and kept_until < $1::timestamptz returning kept_until;

-- delete_old_security_code_keys
delete from security_code_key where half_hour < $1::int4;

-- delete_old_shop_guards
delete from shop_guard where until < $1::timestamptz;

-- delete_old_shop_outcomes
delete from shop_outcome where (party_id, shop_id, bin, minute, shard) in (
select party_id, shop_id, bin, minute, shard from shop_outcome where minute < $1::timestamptz order by minute limit $2::int4
for update skip locked
) returning minute;

-- delete_payout_limit
delete from payout_limit_rule
where party_id = $1::text and currency = $2::text and network = $3::text and level = $4::text
returning currency;

-- delete_retained_card
with gone as (
delete from card where card_id = $1::text and retained_for::jsonb = ($2::json)::jsonb returning card_id, party_id, session_id, external_id
), code as (
delete from security_code using gone where security_code.session_id = gone.session_id
), freed as (
delete from external_id using gone
where external_id.party_id = gone.party_id and operation = 'createPaymentResource'
and external_id.external_id = gone.external_id and entity_id = gone.card_id
)
select card_id from gone;

-- delete_shop_guard
with forgotten as (
delete from shop_outcome where $1::text is null or party_id = $2::text and shop_id = $1::text
)
delete from shop_guard where $1::text is null or party_id = $2::text and shop_id = $1::text returning bin;

-- delete_sums
delete from search_sum
where party_id = $1::text and shop_id = $2::text and quarter >= $3::timestamptz and quarter < $4::timestamptz;

-- delete_unretained_cards
with gone as (
delete from card where card_id in (
select card_id from card where not is_retained and stored_at < $1::timestamptz
limit $2::int4 for update skip locked
) returning card_id, party_id, session_id, external_id
), code as (
delete from security_code using gone where security_code.session_id = gone.session_id
), freed as (
delete from external_id using gone
where external_id.party_id = gone.party_id and operation = 'createPaymentResource'
and external_id.external_id = gone.external_id and entity_id = gone.card_id
)
select card_id from gone;

-- delete_webhook
with gone as (
delete from webhook where webhook_id = $1::text and party_id = $2::text returning webhook_id
), keyless as (
delete from webhook_key where webhook_id in (select webhook_id from gone)
)
select webhook_id from gone;

-- doubt_sends_of_withdrawals
update withdrawal set is_unsent = false where status = 'sending' and is_unsent returning withdrawal_id;

-- doubt_unsent_attempt
update payment set unsent_attempts = -$1::int4
where invoice_id = $2::text and payment_id = $3::text and unsent_attempts = $1::int4 - 1;

-- drop_security_codes
with codes as (delete from security_code) delete from security_code_key;

-- earliest_due_of_party
select ordinal, wake_at from (
select 0 as ordinal, min(wake_at) as wake_at from invoice where party_id = $1::text and wake_at <= $2::timestamptz
union all
select 1 as ordinal, min(wake_at) as wake_at from payment where party_id = $1::text and wake_at <= $2::timestamptz
union all
select 2 as ordinal, min(wake_at) as wake_at from charge_undo where party_id = $1::text and wake_at <= $2::timestamptz
union all
select 3 as ordinal, min(wake_at) as wake_at from binding where party_id = $1::text and wake_at <= $2::timestamptz
union all
select 4 as ordinal, min(wake_at) as wake_at from card where party_id = $1::text and wake_at <= $2::timestamptz
union all
select 5 as ordinal, min(wake_at) as wake_at from series where party_id = $1::text and wake_at <= $2::timestamptz
union all
select 6 as ordinal, min(wake_at) as wake_at from payer_email where party_id = $1::text and wake_at <= $2::timestamptz
union all
select 7 as ordinal, min(wake_at) as wake_at from destination where party_id = $1::text and wake_at <= $2::timestamptz
union all
select 8 as ordinal, min(wake_at) as wake_at from subscription where party_id = $1::text and wake_at <= $2::timestamptz
union all
select 9 as ordinal, min(wake_at) as wake_at from withdrawal where party_id = $1::text and wake_at <= $2::timestamptz
union all
select 10 as ordinal, min(wake_at) as wake_at from export where party_id = $1::text and wake_at <= $2::timestamptz
) as due where wake_at is not null order by ordinal;

-- end_charge
with changed as (
update series
set version = version + 1, status = $1::text, chain = $2::text, state = $3::json,
changed_at = $4::timestamptz, wake_at = $5::timestamptz,
attempts = 0, stuck_at = null, stuck_reason = null
where series_id = $6::text and version = $7::int4
returning series_id, party_id, version, changed_at
), attempted as (
update series_attempt
set outcome = $8::text, ended_at = changed.changed_at,
captured_at = case when $9::bool then changed.changed_at end, held_until = $10::timestamptz,
network = $11::text, code = $12::text, advice = $13::text, effect = $14::text,
rule = $15::text, pack = $16::text, decline_class = $17::text
from changed
where series_attempt.series_id = $6::text and invoice_id = $18::text and payment_id = $19::text
and (outcome = 'pending' or $8::text = 'approved' and outcome in ('unsent', 'lost'))
returning series_attempt.series_id
)
select append_event('series', series_id, version, party_id, changed_at, $20::json) as version
from changed join attempted using (series_id);

-- end_charge_undo
with moved as (
delete from charge_undo where invoice_id = $1::text and payment_id = $2::text and operation = $3::text returning invoice_id
), changed as (
update invoice set version = invoice.version + 1, changed_at = greatest(invoice.changed_at, $4::timestamptz)
from moved where invoice.invoice_id = moved.invoice_id
returning invoice.invoice_id, invoice.party_id, invoice.version, invoice.changed_at
), logged as (
insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
select invoice_id, version, 'invoice', party_id, changed_at, $5::json from changed
), exchanged as (
insert into exchange (aggregate_id, operation, bank_id, terminal_id, kind, amount_minor, currency, digest, card_token, wire_keys, not_after, begun_at, state, answer, far_reference, heard_at)
select one.* from changed, json_to_recordset($6::json) as one (aggregate_id text, operation text, bank_id text, terminal_id text, kind text, amount_minor bigint, currency text, digest bytea, card_token text, wire_keys json, not_after timestamptz, begun_at timestamptz, state text, answer json, far_reference text, heard_at timestamptz)
on conflict (aggregate_id, operation) do update
set bank_id = excluded.bank_id, terminal_id = excluded.terminal_id, digest = excluded.digest, wire_keys = excluded.wire_keys, not_after = excluded.not_after, state = excluded.state, answer = excluded.answer, far_reference = excluded.far_reference, heard_at = excluded.heard_at
where exchange.state not in ('approved', 'declined', 'takenBack', 'settled')
)
select version, record_journal(changed.invoice_id, $7::text, changed.changed_at, $8::json) as journal from changed;

-- end_console_session
update console_session set ended_at = coalesce(ended_at, $1::timestamptz)
where session_id = $2::text returning session_id;

-- end_exchange
update exchange set state = $1::text, heard_at = $2::timestamptz
where aggregate_id = $3::text and operation = $4::text and state in ('begun', 'challenged');

-- end_export_run
update export set as_of = $1::timestamptz, sha256 = $2::text, md5 = $3::text, failure = $4::text, expires_at = $5::timestamptz,
row_count = case when ($4::text)::text is null then row_count else 0 end,
byte_count = case when ($4::text)::text is null then byte_count else 0 end,
wake_at = $5::timestamptz, attempts = 0, stuck_reason = null
where party_id = $6::text and export_id = $7::text and run = $8::int4 and expires_at is null
returning export_id;

-- end_hold_of_charge
with ended as (
update series_attempt set captured_at = $1::timestamptz, held_until = null
where series_id = $2::text and invoice_id = $3::text and payment_id = $4::text and captured_at is null
)
select series.series_id, series.party_id, series.shop_id, series.version, series.status, series.card_key, series.card_token, series.chain, series.terms, series.state, series.changed_at,
(select settings from recurring_settings as wish
where wish.party_id = series.party_id and wish.shop_id = series.shop_id) as settings from series where series_id = $2::text;

-- end_identity_challenge
update identity_challenge set status = $1::text, failure_reason = $2::text
where identity_id = $3::text and challenge_id = $4::text and status = 'pending'
returning challenge_id;

-- end_obligation
with changed as (
update series
set version = version + 1, status = $1::text, chain = $2::text, state = $3::json,
changed_at = $4::timestamptz, wake_at = $5::timestamptz,
attempts = 0, stuck_at = null, stuck_reason = null
where series_id = $6::text and version = $7::int4
returning series_id, party_id, version, changed_at
), attempted as (
update series_attempt set obligation_ended_at = changed.changed_at
from changed where series_attempt.series_id = $6::text and invoice_id = $8::text
)
select append_event('series', series_id, version, party_id, changed_at, $9::json) as version from changed;

-- end_payer_email
select asker from end_payer_emails($1::json);

-- end_refund
with moved as (
update payment
set version = payment.version + 1, status = $1::text, captured_minor = $2::int8, refunded_minor = $3::int8,
state = $4::json, wake_at = $5::timestamptz, attempts = $6::int4, stuck_at = null, stuck_reason = null
where payment.invoice_id = $7::text and payment.payment_id = $8::text and payment.version = $9::int4
returning payment.invoice_id
), changed as (
update invoice
set version = invoice.version + json_array_length($10::json), changed_at = greatest(invoice.changed_at, $11::timestamptz),
status = case when $12::bool then 'paid' else status end,
payment_in_progress = $13::bool,
wake_at = case when $13::bool or $12::bool or status <> 'unpaid' then null else due_date end
from moved where invoice.invoice_id = moved.invoice_id
returning invoice.invoice_id, party_id, invoice.version, invoice.changed_at
), logged as (
insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
select invoice_id, version - json_array_length($10::json) + entry.ordinal::int, 'invoice', party_id,
changed_at, entry.facts
from changed, json_array_elements($10::json) with ordinality as entry (facts, ordinal)
), exchanged as (
insert into exchange (aggregate_id, operation, bank_id, terminal_id, kind, amount_minor, currency, digest, card_token, wire_keys, not_after, begun_at, state, answer, far_reference, heard_at)
select one.* from changed, json_to_recordset($14::json) as one (aggregate_id text, operation text, bank_id text, terminal_id text, kind text, amount_minor bigint, currency text, digest bytea, card_token text, wire_keys json, not_after timestamptz, begun_at timestamptz, state text, answer json, far_reference text, heard_at timestamptz)
on conflict (aggregate_id, operation) do update
set bank_id = excluded.bank_id, terminal_id = excluded.terminal_id, digest = excluded.digest, wire_keys = excluded.wire_keys, not_after = excluded.not_after, state = excluded.state, answer = excluded.answer, far_reference = excluded.far_reference, heard_at = excluded.heard_at
where exchange.state not in ('approved', 'declined', 'takenBack', 'settled')
), ended as (
update refund set status = $15::text, failure = $16::json, waits_until = null, rrn = coalesce($17::text, rrn),
arn = coalesce($18::text, arn)
from changed where refund.invoice_id = $7::text and payment_id = $8::text and refund_id = $19::text
), left_queue as (
delete from waiting_refund using changed
where waiting_refund.invoice_id = $7::text and payment_id = $8::text and refund_id = $19::text
)
select version, record_journal(changed.invoice_id, $20::text, changed.changed_at, $21::json) as journal from changed;

-- end_withdrawal
with changed as (
update withdrawal set version = version + 1, changed_at = greatest(withdrawal.changed_at, $1::timestamptz), status = $2::text, result = $3::json,
wake_at = $4::timestamptz, attempts = 0, stuck_at = null, stuck_reason = null
where withdrawal_id = $5::text and version = $6::int4 and sends = $7::int4
returning withdrawal_id, party_id, currency, amount_minor, version, changed_at
), logged as (
insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
select withdrawal_id, version, 'withdrawal', party_id, changed_at, $8::json from changed
), exchanged as (
insert into exchange (aggregate_id, operation, bank_id, terminal_id, kind, amount_minor, currency, digest, card_token, wire_keys, not_after, begun_at, state, answer, far_reference, heard_at)
select one.* from changed, json_to_recordset($9::json) as one (aggregate_id text, operation text, bank_id text, terminal_id text, kind text, amount_minor bigint, currency text, digest bytea, card_token text, wire_keys json, not_after timestamptz, begun_at timestamptz, state text, answer json, far_reference text, heard_at timestamptz)
on conflict (aggregate_id, operation) do update
set bank_id = excluded.bank_id, terminal_id = excluded.terminal_id, digest = excluded.digest, wire_keys = excluded.wire_keys, not_after = excluded.not_after, state = excluded.state, answer = excluded.answer, far_reference = excluded.far_reference, heard_at = excluded.heard_at
where exchange.state not in ('approved', 'declined', 'takenBack', 'settled')
), uncounted as (
insert into payout_usage as usage (subject, currency, period, amount_minor, payouts)
select subject, changed.currency, period, -changed.amount_minor, -1
from changed, json_array_elements_text($10::json) as subject, unnest(array[$11::text, $12::text]) as period
order by subject collate "C", period collate "C"
on conflict (subject, currency, period) do update
set amount_minor = usage.amount_minor + excluded.amount_minor, payouts = usage.payouts - 1
returning period
)
select record_journal(changed.withdrawal_id, $13::text, changed.changed_at, $14::json) as journal from changed, (select count(*) from uncounted) as before;

-- expect_return_of_withdrawal
update withdrawal set wake_at = $1::timestamptz, attempts = 0
where withdrawal_id = $2::text and status = 'succeeded' and result -> 'returned' is null
and wake_at is null and stuck_at is null
returning withdrawal_id;

-- expedite_binding
update binding set wake_at = $1::timestamptz, attempts = case when attempts > 2 then attempts - 1 else attempts end
where customer_id = $2::json ->> 0 and binding_id = $2::json ->> 1 and wake_at > $1::timestamptz returning json_build_array(customer_id, binding_id) as key;

-- expedite_card
update card set wake_at = $1::timestamptz, attempts = case when attempts > 2 then attempts - 1 else attempts end
where card_id = $2::json ->> 0 and wake_at > $1::timestamptz returning json_build_array(card_id) as key;

-- expedite_charge_undo
update charge_undo set wake_at = $1::timestamptz, attempts = case when attempts > 2 then attempts - 1 else attempts end
where invoice_id = $2::json ->> 0 and payment_id = $2::json ->> 1 and operation = $2::json ->> 2 and wake_at > $1::timestamptz returning json_build_array(invoice_id, payment_id, operation) as key;

-- expedite_destination
update destination set wake_at = $1::timestamptz, attempts = case when attempts > 2 then attempts - 1 else attempts end
where destination_id = $2::json ->> 0 and wake_at > $1::timestamptz returning json_build_array(destination_id) as key;

-- expedite_export
update export set wake_at = $1::timestamptz, attempts = case when attempts > 2 then attempts - 1 else attempts end
where party_id = $2::json ->> 0 and export_id = $2::json ->> 1 and wake_at > $1::timestamptz returning json_build_array(party_id, export_id) as key;

-- expedite_invoice
update invoice set wake_at = $1::timestamptz, attempts = case when attempts > 2 then attempts - 1 else attempts end
where invoice_id = $2::json ->> 0 and wake_at > $1::timestamptz returning json_build_array(invoice_id) as key;

-- expedite_payer_email
update payer_email set wake_at = $1::timestamptz, attempts = case when attempts > 2 then attempts - 1 else attempts end
where invoice_id = $2::json ->> 0 and payment_id = $2::json ->> 1 and wake_at > $1::timestamptz returning json_build_array(invoice_id, payment_id) as key;

-- expedite_payment
update payment set wake_at = $1::timestamptz, attempts = case when attempts > 2 then attempts - 1 else attempts end
where invoice_id = $2::json ->> 0 and payment_id = $2::json ->> 1 and wake_at > $1::timestamptz returning json_build_array(invoice_id, payment_id) as key;

-- expedite_retained_card
update card set wake_at = $1::timestamptz, attempts = 0 where card_id = $2::text and wake_at > $1::timestamptz;

-- expedite_series
update series set wake_at = $1::timestamptz, attempts = case when attempts > 2 then attempts - 1 else attempts end
where series_id = $2::json ->> 0 and wake_at > $1::timestamptz returning json_build_array(series_id) as key;

-- expedite_subscription
update subscription set wake_at = $1::timestamptz, attempts = case when attempts > 2 then attempts - 1 else attempts end
where subscription_id = $2::json ->> 0 and wake_at > $1::timestamptz returning json_build_array(subscription_id) as key;

-- expedite_withdrawal
update withdrawal set wake_at = $1::timestamptz, attempts = case when attempts > 2 then attempts - 1 else attempts end
where withdrawal_id = $2::json ->> 0 and wake_at > $1::timestamptz returning json_build_array(withdrawal_id) as key;

-- failing_binding
select json_build_array(customer_id, binding_id) as key, party_id, attempts, wake_at, stuck_reason from binding
where wake_at <= $1::timestamptz + (select coalesce(max(offset_ms), 0) from test_clock) * interval '1 ms'
and stuck_reason is not null
order by wake_at limit 1000;

-- failing_card
select json_build_array(card_id) as key, party_id, attempts, wake_at, stuck_reason from card
where wake_at <= $1::timestamptz + (select coalesce(max(offset_ms), 0) from test_clock) * interval '1 ms'
and stuck_reason is not null
order by wake_at limit 1000;

-- failing_charge_undo
select json_build_array(invoice_id, payment_id, operation) as key, party_id, attempts, wake_at, stuck_reason from charge_undo
where wake_at <= $1::timestamptz + (select coalesce(max(offset_ms), 0) from test_clock) * interval '1 ms'
and stuck_reason is not null
order by wake_at limit 1000;

-- failing_destination
select json_build_array(destination_id) as key, party_id, attempts, wake_at, stuck_reason from destination
where wake_at <= $1::timestamptz + (select coalesce(max(offset_ms), 0) from test_clock) * interval '1 ms'
and stuck_reason is not null
order by wake_at limit 1000;

-- failing_export
select json_build_array(party_id, export_id) as key, party_id, attempts, wake_at, stuck_reason from export
where wake_at <= $1::timestamptz + (select coalesce(max(offset_ms), 0) from test_clock) * interval '1 ms'
and stuck_reason is not null
order by wake_at limit 1000;

-- failing_invoice
select json_build_array(invoice_id) as key, party_id, attempts, wake_at, stuck_reason from invoice
where wake_at <= $1::timestamptz + (select coalesce(max(offset_ms), 0) from test_clock) * interval '1 ms'
and stuck_reason is not null
order by wake_at limit 1000;

-- failing_payer_email
select json_build_array(invoice_id, payment_id) as key, party_id, attempts, wake_at, stuck_reason from payer_email
where wake_at <= $1::timestamptz + (select coalesce(max(offset_ms), 0) from test_clock) * interval '1 ms'
and stuck_reason is not null
order by wake_at limit 1000;

-- failing_payment
select json_build_array(invoice_id, payment_id) as key, party_id, attempts, wake_at, stuck_reason from payment
where wake_at <= $1::timestamptz + (select coalesce(max(offset_ms), 0) from test_clock) * interval '1 ms'
and stuck_reason is not null
order by wake_at limit 1000;

-- failing_series
select json_build_array(series_id) as key, party_id, attempts, wake_at, stuck_reason from series
where wake_at <= $1::timestamptz + (select coalesce(max(offset_ms), 0) from test_clock) * interval '1 ms'
and stuck_reason is not null
order by wake_at limit 1000;

-- failing_subscription
select json_build_array(subscription_id) as key, party_id, attempts, wake_at, stuck_reason from subscription
where wake_at <= $1::timestamptz + (select coalesce(max(offset_ms), 0) from test_clock) * interval '1 ms'
and stuck_reason is not null
order by wake_at limit 1000;

-- failing_withdrawal
select json_build_array(withdrawal_id) as key, party_id, attempts, wake_at, stuck_reason from withdrawal
where wake_at <= $1::timestamptz + (select coalesce(max(offset_ms), 0) from test_clock) * interval '1 ms'
and stuck_reason is not null
order by wake_at limit 1000;

-- find_broken_b1
with since as (
select case when $1::bool then reached_at else '-infinity' end as instant from ledger_watermark
), touched as (
select distinct aggregate_id from ledger_transfer where created_at >= $2::timestamptz
), changed as (
select aggregate_id from touched
union select aggregate_id from event where created_at >= $2::timestamptz - interval '10 minutes' and aggregate = 'customer'
), cases as (
select customer_id, binding_id, status, amount_minor, booked.*,
case
when terms -> 'imported' is not null then (charged_minor, returned_minor, refundable_minor) = (0, 0, 0)
when status in ('returning', 'refunding')
then (charged_minor, returned_minor, refundable_minor) = (amount_minor, 0, amount_minor)
when status in ('succeeded', 'withdrawn')
then (charged_minor, returned_minor, refundable_minor) = (amount_minor, amount_minor, 0)
when status = 'failed'
then charged_minor = returned_minor and charged_minor in (0, amount_minor) and refundable_minor = 0
else (charged_minor, returned_minor, refundable_minor) = (0, 0, 0)
end as holds
from (select binding.* from changed join binding on customer_id = aggregate_id) as binding
full join (
select aggregate_id as customer_id, split_part(operation_id, '/', 2) as binding_id
from changed join ledger_transfer using (aggregate_id)
where operation_id like 'binding/%' group by 1, 2
) as named using (customer_id, binding_id)
cross join lateral (
select coalesce(sum(posted_minor) filter (where step = 'charge'), 0) as charged_minor,
coalesce(sum(posted_minor) filter (where step = 'return'), 0) as returned_minor,
coalesce(sum(pending_minor), 0) as refundable_minor
from ledger_transfer
where aggregate_id = customer_id and operation_id = 'binding/' || binding_id
) as booked
)
select count(*) as checked, count(*) filter (where holds is not true) as broken,
coalesce((select json_agg(example) from (select * from cases where holds is not true limit 5) as example), '[]')
as examples
from cases;

-- find_broken_b2
with since as (
select case when $1::bool then reached_at else '-infinity' end as instant from ledger_watermark
), touched as (
select distinct aggregate_id from ledger_transfer where created_at >= $2::timestamptz
), changed as (
select aggregate_id from touched
union select aggregate_id from event where created_at >= $2::timestamptz - interval '10 minutes' and aggregate = 'customer'
), cases as (
select customer.customer_id, customer.status, active_binding_id, latest.binding_id,
case customer.status
when 'deleted' then active_binding_id is null
else active_binding_id is not distinct from latest.binding_id
end as holds
from changed join customer on customer_id = aggregate_id
left join lateral (
select binding_id from binding
where binding.customer_id = customer.customer_id and bound_at_version is not null
order by bound_at_version desc limit 1
) as latest on true
)
select count(*) as checked, count(*) filter (where holds is not true) as broken,
coalesce((select json_agg(example) from (select * from cases where holds is not true limit 5) as example), '[]')
as examples
from cases;

-- find_broken_i1
with since as (
select case when $1::bool then reached_at else '-infinity' end as instant from ledger_watermark
), touched as (
select distinct aggregate_id from ledger_transfer where created_at >= $2::timestamptz
), cases as (
select split_part(account_id, ':', 1) as mode, split_part(account_id, ':', 2) as currency,
sum(debits_posted)::text as debits_posted, sum(credits_posted)::text as credits_posted,
sum(debits_pending)::text as debits_pending, sum(credits_pending)::text as credits_pending,
sum(debits_posted) = sum(credits_posted) and sum(debits_pending) = sum(credits_pending) as holds
from ledger_balance group by 1, 2
)
select count(*) as checked, count(*) filter (where holds is not true) as broken,
coalesce((select json_agg(example) from (select * from cases where holds is not true limit 5) as example), '[]')
as examples
from cases;

-- find_broken_i2
with since as (
select case when $1::bool then reached_at else '-infinity' end as instant from ledger_watermark
), touched as (
select distinct aggregate_id from ledger_transfer where created_at >= $2::timestamptz
), cases as (
select account_id, shard, to_json(balance) as balance, to_json(summed) as transfers,
(coalesce(balance.debits_posted, 0), coalesce(balance.credits_posted, 0),
coalesce(balance.debits_pending, 0), coalesce(balance.credits_pending, 0))
= (coalesce(summed.debits_posted, 0), coalesce(summed.credits_posted, 0),
coalesce(summed.debits_pending, 0), coalesce(summed.credits_pending, 0)) as holds
from ledger_balance as balance
full join (
select account_id, shard, sum(debits_posted) as debits_posted, sum(credits_posted) as credits_posted,
sum(debits_pending) as debits_pending, sum(credits_pending) as credits_pending
from (
select * from ledger_checkpoint where (select instant from since) > '-infinity'
union all
select debit_account, debit_shard, posted_minor, 0, pending_minor, 0
from ledger_transfer where created_at >= (select instant from since) and created_at >= $2::timestamptz
union all
select credit_account, credit_shard, 0, posted_minor, 0, pending_minor
from ledger_transfer where created_at >= (select instant from since) and created_at >= $2::timestamptz
) as leg
group by account_id, shard
) as summed using (account_id, shard)
)
select count(*) as checked, count(*) filter (where holds is not true) as broken,
coalesce((select json_agg(example) from (select * from cases where holds is not true limit 5) as example), '[]')
as examples
from cases;

-- find_broken_i3
with since as (
select case when $1::bool then reached_at else '-infinity' end as instant from ledger_watermark
), touched as (
select distinct aggregate_id from ledger_transfer where created_at >= $2::timestamptz
), cases as (
select done.aggregate_id, done.operation_id, done.step,
count(held.step) = 1 and count(*) = 1
and bool_and(held.pending_minor = -done.pending_minor and held.pending_minor >= done.posted_minor
and (held.debit_account, held.debit_shard, held.credit_account, held.credit_shard)
= (done.debit_account, done.debit_shard, done.credit_account, done.credit_shard)) as holds
from touched join ledger_transfer as done using (aggregate_id)
left join ledger_transfer as held on held.aggregate_id = done.aggregate_id
and held.operation_id = done.operation_id and held.step = done.step and held.phase = 'pending'
where done.completes_pending
group by done.aggregate_id, done.operation_id, done.step
)
select count(*) as checked, count(*) filter (where holds is not true) as broken,
coalesce((select json_agg(example) from (select * from cases where holds is not true limit 5) as example), '[]')
as examples
from cases;

-- find_broken_i4
with since as (
select case when $1::bool then reached_at else '-infinity' end as instant from ledger_watermark
), touched as (
select distinct aggregate_id from ledger_transfer where created_at >= $2::timestamptz
), cases as (
select account_id, overdraft_minor, sum(credits_posted - debits_posted - debits_pending)::text as available,
sum(credits_posted - debits_posted - debits_pending) >= -overdraft_minor as holds
from ledger_account join ledger_balance using (account_id)
where forbids_overdraft group by account_id, overdraft_minor
)
select count(*) as checked, count(*) filter (where holds is not true) as broken,
coalesce((select json_agg(example) from (select * from cases where holds is not true limit 5) as example), '[]')
as examples
from cases;

-- find_broken_i5
with since as (
select case when $1::bool then reached_at else '-infinity' end as instant from ledger_watermark
), touched as (
select distinct aggregate_id from ledger_transfer where created_at >= $2::timestamptz
), cases as (
select transfer.aggregate_id, operation_id, step, debit_account, credit_account,
debited.livemode = credited.livemode and debited.currency = credited.currency as holds
from ledger_transfer as transfer
left join ledger_account as debited on debited.account_id = debit_account
left join ledger_account as credited on credited.account_id = credit_account
where created_at >= $2::timestamptz
)
select count(*) as checked, count(*) filter (where holds is not true) as broken,
coalesce((select json_agg(example) from (select * from cases where holds is not true limit 5) as example), '[]')
as examples
from cases;

-- find_broken_i6
with since as (
select case when $1::bool then reached_at else '-infinity' end as instant from ledger_watermark
), touched as (
select distinct aggregate_id from ledger_transfer where created_at >= $2::timestamptz
), cases as (
select touched.aggregate_id, split_part(operation_id, '/', 2) as payment,
coalesce(sum(posted_minor) filter (where step in ('hold', 'sale')), 0) as captured_minor,
coalesce(sum(posted_minor + open_minor) filter (where step = 'refund'), 0) as refunded_minor,
coalesce(sum(posted_minor) filter (where step in ('hold', 'sale')), 0)
>= coalesce(sum(posted_minor + open_minor) filter (where step = 'refund'), 0) as holds
from touched cross join lateral (
select operation_id, step, sum(pending_minor) as open_minor, sum(posted_minor) as posted_minor,
bool_or(phase = 'pending') as was_held
from ledger_transfer as transfer where transfer.aggregate_id = touched.aggregate_id
group by operation_id, step
) as done
where operation_id like 'payment/%' group by 1, 2
)
select count(*) as checked, count(*) filter (where holds is not true) as broken,
coalesce((select json_agg(example) from (select * from cases where holds is not true limit 5) as example), '[]')
as examples
from cases;

-- find_broken_i7
with since as (
select case when $1::bool then reached_at else '-infinity' end as instant from ledger_watermark
), touched as (
select distinct aggregate_id from ledger_transfer where created_at >= $2::timestamptz
), cases as (
select touched.aggregate_id, operation_id, array_agg(step) as steps,
count(distinct (open_minor > 0, posted_minor > 0)) filter (where was_held) <= 1
and count(*) filter (where step in ('hold', 'sale')) <= 1
and (count(*) filter (where step = 'fee') = 0
or count(*) filter (where step in ('hold', 'sale') and posted_minor > 0) = 1) as holds
from touched cross join lateral (
select operation_id, step, sum(pending_minor) as open_minor, sum(posted_minor) as posted_minor,
bool_or(phase = 'pending') as was_held
from ledger_transfer as transfer where transfer.aggregate_id = touched.aggregate_id
group by operation_id, step
) as done
group by 1, 2
)
select count(*) as checked, count(*) filter (where holds is not true) as broken,
coalesce((select json_agg(example) from (select * from cases where holds is not true limit 5) as example), '[]')
as examples
from cases;

-- find_broken_i8
with since as (
select case when $1::bool then reached_at else '-infinity' end as instant from ledger_watermark
), touched as (
select distinct aggregate_id from ledger_transfer where created_at >= $2::timestamptz
), cases as (
select held.aggregate_id, held.operation_id, held.step, held.pending_minor, held.created_at,
exists (
select from ledger_transfer as done where done.completes_pending and done.aggregate_id = held.aggregate_id
and done.operation_id = held.operation_id and done.step = held.step
) as holds
from ledger_transfer as held
where held.step = 'hold' and held.phase = 'pending' and held.created_at < now() - interval '31 days'
and held.created_at >= $2::timestamptz - interval '31 days' union all 
select held.aggregate_id, held.operation_id, held.step, held.pending_minor, held.created_at,
exists (
select from ledger_transfer as done where done.completes_pending and done.aggregate_id = held.aggregate_id
and done.operation_id = held.operation_id and done.step = held.step
) as holds
from ledger_transfer as held
where held.step = 'refund' and held.phase = 'pending' and held.created_at < now() - interval '4 days'
and held.created_at >= $2::timestamptz - interval '4 days' union all 
select held.aggregate_id, held.operation_id, held.step, held.pending_minor, held.created_at,
exists (
select from ledger_transfer as done where done.completes_pending and done.aggregate_id = held.aggregate_id
and done.operation_id = held.operation_id and done.step = held.step
) as holds
from ledger_transfer as held
where held.step = 'payout' and held.phase = 'pending' and held.created_at < now() - interval '4 days'
and held.created_at >= $2::timestamptz - interval '4 days'
)
select count(*) as checked, count(*) filter (where holds is not true) as broken,
coalesce((select json_agg(example) from (select * from cases where holds is not true limit 5) as example), '[]')
as examples
from cases;

-- find_broken_i9
with since as (
select case when $1::bool then reached_at else '-infinity' end as instant from ledger_watermark
), touched as (
select distinct aggregate_id from ledger_transfer where created_at >= $2::timestamptz
), cases as (
select account_id, sum(credits_posted - debits_posted)::text as own, sum(debits_pending)::text as returning,
sum(credits_posted - debits_posted) = sum(debits_pending) as holds
from ledger_account join ledger_balance using (account_id)
where code = 'binding.clearing' group by account_id
)
select count(*) as checked, count(*) filter (where holds is not true) as broken,
coalesce((select json_agg(example) from (select * from cases where holds is not true limit 5) as example), '[]')
as examples
from cases;

-- find_broken_i9a
with since as (
select case when $1::bool then reached_at else '-infinity' end as instant from ledger_watermark
), touched as (
select distinct aggregate_id from ledger_transfer where created_at >= $2::timestamptz
), cases as (
select held.aggregate_id, held.operation_id, held.step, held.pending_minor, held.created_at,
exists (
select from ledger_transfer as done where done.completes_pending and done.aggregate_id = held.aggregate_id
and done.operation_id = held.operation_id and done.step = held.step
) as holds
from ledger_transfer as held
where held.step = 'return' and held.phase = 'pending' and held.created_at < now() - interval '24 hours'
and held.created_at >= $2::timestamptz - interval '24 hours'
)
select count(*) as checked, count(*) filter (where holds is not true) as broken,
coalesce((select json_agg(example) from (select * from cases where holds is not true limit 5) as example), '[]')
as examples
from cases;

-- find_broken_p1
with since as (
select case when $1::bool then reached_at else '-infinity' end as instant from ledger_watermark
), touched as (
select distinct aggregate_id from ledger_transfer where created_at >= $2::timestamptz
), changed as (
select aggregate_id from touched
union select aggregate_id from event where created_at >= $2::timestamptz - interval '10 minutes' and aggregate = 'invoice'
), cases as (
select invoice_id, payment_id, status, said.held_minor, said.taken_minor, said.returned_minor, said.returning_minor,
booked.held_minor as booked_held, booked.taken_minor as booked_taken, booked.returned_minor as booked_returned,
booked.returning_minor as booked_returning,
(coalesce(said.held_minor, 0), coalesce(said.taken_minor, 0), coalesce(said.returned_minor, 0),
coalesce(said.returning_minor, 0))
= (coalesce(booked.held_minor, 0), coalesce(booked.taken_minor, 0), coalesce(booked.returned_minor, 0),
coalesce(booked.returning_minor, 0)) as holds
from (
select invoice_id, payment_id, status,
case when status in ('held', 'capturing', 'cancelling') then amount_minor else 0 end as held_minor,
case when status in ('captured', 'refunding', 'refunded') then captured_minor else 0 end as taken_minor,
refunded_minor as returned_minor,
coalesce((state -> 'refund' ->> 'minor')::bigint, 0) as returning_minor
from changed join payment on invoice_id = aggregate_id
) as said
full join (
select aggregate_id as invoice_id, split_part(operation_id, '/', 2) as payment_id,
sum(pending_minor) filter (where step = 'hold') as held_minor,
sum(case step when 'uncaptured' then - posted_minor else posted_minor end)
filter (where step in ('hold', 'sale', 'uncaptured')) as taken_minor,
sum(case step when 'returned' then - posted_minor else posted_minor end)
filter (where step in ('refund', 'returned')) as returned_minor,
sum(pending_minor) filter (where step = 'refund') as returning_minor
from changed join ledger_transfer using (aggregate_id)
where operation_id like 'payment/%'
group by 1, 2
) as booked using (invoice_id, payment_id)
)
select count(*) as checked, count(*) filter (where holds is not true) as broken,
coalesce((select json_agg(example) from (select * from cases where holds is not true limit 5) as example), '[]')
as examples
from cases;

-- find_broken_p2
with since as (
select case when $1::bool then reached_at else '-infinity' end as instant from ledger_watermark
), touched as (
select distinct aggregate_id from ledger_transfer where created_at >= $2::timestamptz
), changed as (
select aggregate_id from touched
union select aggregate_id from event where created_at >= $2::timestamptz - interval '10 minutes' and aggregate = 'invoice'
), cases as (
select invoice_id, payment_id, refund_id, status, amount_minor, fee_minor, waits_until, booked.*,
case
when waits_until is not null then status = 'pending' and booked.open_minor is null
when status = 'pending' then (booked.open_minor, booked.posted_minor) = (amount_minor + fee_minor, 0)
when status = 'succeeded' then (booked.open_minor, booked.posted_minor) = (0, amount_minor + fee_minor)
else (coalesce(booked.open_minor, 0), coalesce(booked.posted_minor, 0)) = (0, 0)
end as holds
from changed join refund on invoice_id = aggregate_id
left join lateral (
select sum(pending_minor) as open_minor,
sum(case when step in ('returned', 'returned_fee') then - posted_minor else posted_minor end) as posted_minor
from ledger_transfer
where aggregate_id = invoice_id and operation_id = 'payment/' || payment_id || '/refund/' || refund_id
) as booked on true
)
select count(*) as checked, count(*) filter (where holds is not true) as broken,
coalesce((select json_agg(example) from (select * from cases where holds is not true limit 5) as example), '[]')
as examples
from cases;

-- find_broken_p3
with since as (
select case when $1::bool then reached_at else '-infinity' end as instant from ledger_watermark
), touched as (
select distinct aggregate_id from ledger_transfer where created_at >= $2::timestamptz
), changed as (
select aggregate_id from touched
union select aggregate_id from event where created_at >= $2::timestamptz - interval '10 minutes' and aggregate = 'invoice'
), cases as (
select invoice_id, payment_id, refund_id, waiting.refund_id is not null and waits_until is not null as holds
from changed join refund on invoice_id = aggregate_id
full join waiting_refund as waiting using (invoice_id, payment_id, refund_id)
where waits_until is not null or waiting.refund_id is not null and invoice_id in (select aggregate_id from changed)
)
select count(*) as checked, count(*) filter (where holds is not true) as broken,
coalesce((select json_agg(example) from (select * from cases where holds is not true limit 5) as example), '[]')
as examples
from cases;

-- find_broken_w1
with since as (
select case when $1::bool then reached_at else '-infinity' end as instant from ledger_watermark
), touched as (
select distinct aggregate_id from ledger_transfer where created_at >= $2::timestamptz
), cases as (
select coalesce(withdrawal_id, aggregate_id) as withdrawal_id, said.status, said.held_minor, said.paid_minor,
said.fee_minor, said.returned_minor, booked.*,
said.status is not null
and (said.held_minor, said.paid_minor, said.fee_minor, said.returned_minor)
= (coalesce(booked.held_minor, 0), coalesce(booked.paid_minor, 0), coalesce(booked.fee_minor, 0),
coalesce(booked.returned_minor, 0))
and (said.status = 'sending' or coalesce(booked.moving_minor, 0) = 0)
and coalesce(booked.wallets, '') in ('', said.wallet_id) as holds
from (
select withdrawal_id, wallet_id, status,
case when status = 'sending' then amount_minor else 0 end as held_minor,
case when status = 'succeeded' then amount_minor else 0 end as paid_minor,
case when status = 'failed' then 0 else fee_minor end as fee_minor,
coalesce((result -> 'returned' -> 'amount' ->> 'minor')::int8, 0) as returned_minor
from withdrawal where not $1::bool or withdrawal_id in (select aggregate_id from touched)
) as said
full join (
select aggregate_id, sum(pending_minor) filter (where step = 'payout') as held_minor,
sum(posted_minor) filter (where step = 'payout') as paid_minor,
sum(pending_minor + posted_minor) filter (where step = 'payout_fee') as fee_minor,
sum(posted_minor) filter (where step = 'returned') as returned_minor,
sum(pending_minor) filter (where step like 'moved%') as moving_minor,
string_agg(distinct split_part(case when step = 'returned' then credit_account else debit_account end, ':', 4), ' ')
filter (where split_part(credit_account, ':', 3) <> 'recon.suspense' and step not like 'moved%') as wallets
from touched join ledger_transfer using (aggregate_id)
where operation_id = 'withdrawal' group by aggregate_id
) as booked on booked.aggregate_id = withdrawal_id
)
select count(*) as checked, count(*) filter (where holds is not true) as broken,
coalesce((select json_agg(example) from (select * from cases where holds is not true limit 5) as example), '[]')
as examples
from cases;

-- find_broken_w2
with since as (
select case when $1::bool then reached_at else '-infinity' end as instant from ledger_watermark
), touched as (
select distinct aggregate_id from ledger_transfer where created_at >= $2::timestamptz
), cases as (
select coalesce(deposit_id, aggregate_id) as deposit_id, said.amount_minor, said.reversed_at, booked.*,
(said.amount_minor, said.wallet_id) = (booked.minor, booked.wallets)
and coalesce(booked.reversed_minor, 0) = case when said.reversed_at is null then 0 else said.amount_minor end as holds
from (select * from deposit where not $1::bool or deposit_id in (select aggregate_id from touched)) as said
full join (
select aggregate_id, sum(posted_minor) filter (where step = 'deposit') as minor,
sum(posted_minor) filter (where step = 'reversal') as reversed_minor,
string_agg(distinct split_part(case when step = 'deposit' then credit_account else debit_account end, ':', 4), ' ')
as wallets
from touched join ledger_transfer using (aggregate_id)
where operation_id = 'deposit' group by aggregate_id
) as booked on booked.aggregate_id = deposit_id
)
select count(*) as checked, count(*) filter (where holds is not true) as broken,
coalesce((select json_agg(example) from (select * from cases where holds is not true limit 5) as example), '[]')
as examples
from cases;

-- find_broken_w3
with since as (
select case when $1::bool then reached_at else '-infinity' end as instant from ledger_watermark
), touched as (
select distinct aggregate_id from ledger_transfer where created_at >= $2::timestamptz
), cases as (
select coalesce(transfer_id, aggregate_id) as transfer_id, said.status, said.amount_minor, booked.*,
said.status is not null
and (case said.status when 'succeeded' then said.amount_minor else 0 end) = coalesce(booked.minor, 0)
and coalesce(booked.wallets, '') in ('', said.sender_id || '>' || said.receiver_id) as holds
from (select * from wallet_transfer where not $1::bool or transfer_id in (select aggregate_id from touched)) as said
full join (
select aggregate_id, sum(posted_minor) as minor,
string_agg(distinct split_part(debit_account, ':', 4) || '>' || split_part(credit_account, ':', 4), ' ') as wallets
from touched join ledger_transfer using (aggregate_id)
where operation_id = 'transfer' group by aggregate_id
) as booked on booked.aggregate_id = transfer_id
)
select count(*) as checked, count(*) filter (where holds is not true) as broken,
coalesce((select json_agg(example) from (select * from cases where holds is not true limit 5) as example), '[]')
as examples
from cases;

-- find_charge_undo
select amount_minor, is_refused, stuck_at from charge_undo where invoice_id = $1::text and payment_id = $2::text and operation = $3::text;

-- find_console_session
select party_id, is_operator, opened_at, seen_at from console_session
where session_id = $1::text and session_hash = $2::bytea and livemode = $3::bool
and ended_at is null and seen_at > $4::timestamptz and opened_at > $5::timestamptz;

-- find_due
select ordinal from (
select 0 as ordinal where (select min(wake_at) from invoice) <= $1::timestamptz
union all
select 1 as ordinal where (select min(wake_at) from payment) <= $1::timestamptz
union all
select 2 as ordinal where (select min(wake_at) from charge_undo) <= $1::timestamptz
union all
select 3 as ordinal where (select min(wake_at) from binding) <= $1::timestamptz
union all
select 4 as ordinal where (select min(wake_at) from card) <= $1::timestamptz
union all
select 5 as ordinal where (select min(wake_at) from series) <= $1::timestamptz
union all
select 6 as ordinal where (select min(wake_at) from payer_email) <= $1::timestamptz
union all
select 7 as ordinal where (select min(wake_at) from destination) <= $1::timestamptz
union all
select 8 as ordinal where (select min(wake_at) from subscription) <= $1::timestamptz
union all
select 9 as ordinal where (select min(wake_at) from withdrawal) <= $1::timestamptz
union all
select 10 as ordinal where (select min(wake_at) from export) <= $1::timestamptz
union all
select null where exists (select from test_clock where offset_ms > 0)
) as due order by ordinal;

-- find_due_on_clocks
select party_id, offset_ms, ordinal from test_clock cross join lateral (
select 0 as ordinal where exists (select from invoice
where party_id = test_clock.party_id and wake_at <= $1::timestamptz + test_clock.offset_ms * interval '1 ms')
union all
select 1 as ordinal where exists (select from payment
where party_id = test_clock.party_id and wake_at <= $1::timestamptz + test_clock.offset_ms * interval '1 ms')
union all
select 2 as ordinal where exists (select from charge_undo
where party_id = test_clock.party_id and wake_at <= $1::timestamptz + test_clock.offset_ms * interval '1 ms')
union all
select 3 as ordinal where exists (select from binding
where party_id = test_clock.party_id and wake_at <= $1::timestamptz + test_clock.offset_ms * interval '1 ms')
union all
select 4 as ordinal where exists (select from card
where party_id = test_clock.party_id and wake_at <= $1::timestamptz + test_clock.offset_ms * interval '1 ms')
union all
select 5 as ordinal where exists (select from series
where party_id = test_clock.party_id and wake_at <= $1::timestamptz + test_clock.offset_ms * interval '1 ms')
union all
select 6 as ordinal where exists (select from payer_email
where party_id = test_clock.party_id and wake_at <= $1::timestamptz + test_clock.offset_ms * interval '1 ms')
union all
select 7 as ordinal where exists (select from destination
where party_id = test_clock.party_id and wake_at <= $1::timestamptz + test_clock.offset_ms * interval '1 ms')
union all
select 8 as ordinal where exists (select from subscription
where party_id = test_clock.party_id and wake_at <= $1::timestamptz + test_clock.offset_ms * interval '1 ms')
union all
select 9 as ordinal where exists (select from withdrawal
where party_id = test_clock.party_id and wake_at <= $1::timestamptz + test_clock.offset_ms * interval '1 ms')
union all
select 10 as ordinal where exists (select from export
where party_id = test_clock.party_id and wake_at <= $1::timestamptz + test_clock.offset_ms * interval '1 ms')
) as due where offset_ms > 0 order by party_id, ordinal;

-- find_end_of_reconciliation_page
select least(
(select aggregate_id from report_line where run_id = $1::text and aggregate_id >= $2::text order by aggregate_id offset $3::int4 limit 1),
(select invoice_id from payment where invoice_id >= $2::text order by invoice_id offset $3::int4 limit 1),
(select invoice_id from refund where invoice_id >= $2::text order by invoice_id offset $3::int4 limit 1),
(select invoice_id from payment where invoice_id >= $2::text order by invoice_id offset $3::int4 limit 1),
(select customer_id from binding where customer_id >= $2::text order by customer_id offset $3::int4 limit 1),
(select withdrawal_id from withdrawal where withdrawal_id >= $2::text order by withdrawal_id offset $3::int4 limit 1)) as last;

-- find_expected_operation
select certainty from (select aggregate_id, operation_id, bank_id, kind, sign, amount_minor, currency, original_id, card_mask, certainty, counterpart_id, object, object_id, status, party_id, asked_at, known_at from (
select invoice_id as aggregate_id, name || suffix as operation_id, terms -> 'terminal' ->> 'bankId' as bank_id, kind, sign,
minor as amount_minor, currency, case when suffix = '.f' then name || '.a' when kind <> 'authorise' then name || charge end as original_id,
terms -> 'payer' -> 'card' ->> 'mask' as card_mask, certainty,
case certainty
when 'undone' then name || case when suffix <> charge then '.f' when is_late then '.l' when is_refused then '.u' else '.r' end
when 'undoes' then name || case when suffix = '.f' then '.a' else charge end
end as counterpart_id,
'payment' as object, name as object_id, status, party_id, asked_at, known_at
from payment
cross join lateral (
select invoice_id || '.' || payment_id as name, terms -> 'flow' ->> 'type' = 'instant' as is_instant,
case when terms ->> 'isSteppedUp' = 'true' then '.s' else '.a' end as charge
) as known
cross join lateral (
select max(created_at) filter (where type = 'payment_processed') as approved_at,
max(created_at) filter (where type = 'payment_failed') as failed_at,
max(created_at) filter (where type = 'payment_capture_started') as capture_asked_at,
max(created_at) filter (where type = 'payment_captured') as captured_at,
max(created_at) filter (where type in ('payment_reversal_started', 'payment_cancel_started')) as reversal_asked_at,
max(created_at) filter (where type in ('payment_failed', 'payment_cancelled')) as reversed_at,
max(created_at) filter (where type = 'payment_reversal_refused') as refused_at,
max(created_at) filter (where type = 'payment_approved_late') as late_at,
max(created_at) filter (where type = 'payment_given_back') as given_back_at,
max(created_at) filter (where type = 'payment_undo_started' and operation = 'f') as undo_at,
max(created_at) filter (where type = 'payment_undone' and operation = 'f') as undone_at,
coalesce(bool_or(type = 'payment_undo_started' and operation = 'f2'), false) as is_undo_repeated,
coalesce(bool_or(type = 'payment_undo_started' and operation in ('u2', 'l2')), false) as is_way_back_repeated,
max((amount ->> 'minor')::bigint) filter (where type = 'payment_given_back') as given_back_minor,
max((amount ->> 'minor')::bigint) filter (where type = 'payment_capture_failed') as uncaptured_minor,
coalesce(bool_or(type = 'payment_reversal_refused'), false) as is_refused,
coalesce(bool_or(type = 'payment_approved_late'), false) as is_late,
coalesce(bool_or(type = 'payment_given_back'), false) as is_given_back,
coalesce(bool_or("settledBecause" is not null and type = 'payment_given_back'), false) as is_late_settled,
coalesce(bool_or("settledBecause" is not null and type = 'payment_undone' and operation = 'f'), false) as is_undo_settled,
case when bool_or("settledBecause" is not null and type in ('payment_failed', 'payment_cancelled')
or type = 'payment_undo_started' and operation in ('u2', 'l2')) then 'may' end as settled
from event, json_to_recordset(facts) as fact (type text, "paymentId" text, "settledBecause" text, amount json, operation text)
where aggregate_id = invoice_id and "paymentId" = payment_id
) as log
cross join lateral (
select status in ('captured', 'refunding', 'refunded') or uncaptured_minor is not null as is_taken
) as outcome
-- Whatever the payment made of the bank's report: it may have been cancelled before.
cross join lateral (
select not is_instant and not is_taken and exists (
select from exchange_note
where what = 'holdEnded' and operation_id = name || charge
and exchange_note.bank_id = terms -> 'terminal' ->> 'bankId') as has_ended
) as reported
cross join lateral (values
(charge, 'authorise', case when is_instant then 1 else 0 end, amount_minor,
coalesce(settled, case when status in ('authorising', 'challenged', 'reversing') then 'open' when is_late_settled then 'may'
when status = 'failed' or status = 'cancelled' and is_refused and not is_given_back
then case when has_ended then 'may' else 'undone' end
else 'done' end),
payment.created_at, coalesce(approved_at, failed_at)),
-- The declined charge of a payment that was stepped up; without a step-up there is only one.
(case charge when '.a' then '.s' else '.a' end, 'authorise', case when is_instant then 1 else 0 end, amount_minor,
case when undo_at is null then 'never' when undone_at is null then 'open' when is_undo_settled or is_undo_repeated then 'may' else 'undone' end,
undo_at, undone_at),
('.f', case when is_instant then 'refund' else 'reverse' end, case when is_instant then -1 else 0 end, amount_minor,
case when undo_at is null then 'never' when undone_at is null then 'open' when is_undo_settled or is_undo_repeated then 'may' else 'undoes' end,
undo_at, undone_at),
('.c', 'capture', 1, coalesce(captured_minor, uncaptured_minor, given_back_minor, amount_minor),
case when status = 'capturing' then 'open' when is_taken and not is_instant then 'done'
when is_given_back and not is_instant then 'may' else 'never' end,
capture_asked_at, captured_at),
('.r', 'reverse', case when is_instant then -1 else 0 end, amount_minor,
coalesce(settled, case when is_refused then 'never' when status in ('reversing', 'cancelling') then 'open'
when has_ended then 'may' when status = 'cancelled' and not is_taken then 'done'
when status = 'failed' then 'undoes' else 'never' end),
case when status = 'failed' then payment.created_at else reversal_asked_at end, reversed_at),
('.u', 'refund', -1, coalesce(given_back_minor, amount_minor),
coalesce(settled, case when not is_refused then 'never' when status in ('reversing', 'cancelling') then 'open'
when not is_given_back then 'never' when status = 'failed' then 'undoes' else 'done' end),
refused_at, given_back_at),
('.l', case when is_instant then 'refund' else 'reverse' end, case when is_instant then -1 else 0 end, amount_minor,
case when not is_late then 'never' when is_late_settled or is_way_back_repeated then 'may' when is_given_back then 'undoes' else 'open' end,
late_at, given_back_at)
) as operation (suffix, kind, sign, minor, certainty, asked_at, known_at)
where invoice_id between $1::text and $2::text) as source
union all
select aggregate_id, operation_id, bank_id, kind, sign, amount_minor, currency, original_id, card_mask, certainty, counterpart_id, object, object_id, status, party_id, asked_at, known_at from (
select invoice_id as aggregate_id, name || '.' || refund_id as operation_id, terms -> 'terminal' ->> 'bankId' as bank_id,
'refund' as kind, -1 as sign, refund.amount_minor, refund.currency, name || case when terms ->> 'isSteppedUp' = 'true' then '.s' else '.a' end as original_id,
terms -> 'payer' -> 'card' ->> 'mask' as card_mask,
case when refund.waits_until is not null then 'never' when refund.status = 'pending' then 'open'
when refund.status = 'failed' and not is_returned then 'never' else coalesce(settled, 'done') end as certainty,
null as counterpart_id, 'refund' as object, name || '.' || refund_id as object_id, refund.status, refund.party_id,
coalesce(reserved.happened_at, refund.created_at) as asked_at, ended.happened_at as known_at
from refund
join payment using (invoice_id, payment_id)
cross join lateral (select invoice_id || '.' || payment_id as name) as known
cross join lateral (
select case when bool_or("settledBecause" is not null or type = 'refund_returned') then 'may' end as settled,
coalesce(bool_or(type = 'refund_returned'), false) as is_returned
from event, json_to_recordset(facts) as fact (type text, "paymentId" text, "refundId" text, "settledBecause" text)
where aggregate_id = invoice_id and "paymentId" = payment_id and "refundId" = refund_id
) as log
left join ledger_transfer as reserved on reserved.aggregate_id = invoice_id and not reserved.completes_pending
and reserved.step = 'refund' and reserved.operation_id = 'payment/' || payment_id || '/refund/' || refund_id
left join ledger_transfer as ended on ended.aggregate_id = invoice_id and ended.completes_pending and ended.step = 'refund'
and ended.operation_id = 'payment/' || payment_id || '/refund/' || refund_id
where invoice_id between $1::text and $2::text) as source
union all
select aggregate_id, operation_id, bank_id, kind, sign, amount_minor, currency, original_id, card_mask, certainty, counterpart_id, object, object_id, status, party_id, asked_at, known_at from (
select invoice_id as aggregate_id, name || '.' || begun.operation as operation_id, terms -> 'terminal' ->> 'bankId' as bank_id,
'refund' as kind, -1 as sign, (begun.amount ->> 'minor')::bigint as amount_minor, currency,
name || case begun.operation when 'f2' then '.a' else case when terms ->> 'isSteppedUp' = 'true' then '.s' else '.a' end end as original_id,
terms -> 'payer' -> 'card' ->> 'mask' as card_mask,
case when ended.at is null then 'open' when ended.settled then 'may' else 'done' end as certainty, null as counterpart_id,
'payment' as object, name as object_id, status, payment.party_id, event.created_at as asked_at, ended.at as known_at
from payment
cross join lateral (select invoice_id || '.' || payment_id as name) as known
join event on event.aggregate_id = invoice_id
cross join lateral json_to_recordset(event.facts) as begun (type text, "paymentId" text, amount json, operation text)
cross join lateral (
select max(later.created_at) as at, bool_or("settledBecause" is not null) as settled
from event as later, json_to_recordset(later.facts) as fact (type text, "paymentId" text, "settledBecause" text, operation text)
where later.aggregate_id = invoice_id and fact."paymentId" = payment_id and fact.type = 'payment_undone'
and fact.operation = begun.operation
) as ended
where begun."paymentId" = payment_id and begun.type = 'payment_undo_started' and begun.operation <> 'f'
and invoice_id between $1::text and $2::text) as source
union all
select aggregate_id, operation_id, bank_id, kind, sign, amount_minor, currency, original_id, card_mask, certainty, counterpart_id, object, object_id, status, party_id, asked_at, known_at from (
select customer_id as aggregate_id, name || '.' || suffix as operation_id, terms -> 'terminal' ->> 'bankId' as bank_id,
kind, sign, amount_minor, currency, case when kind <> 'authorise' then name || '.charge' end as original_id,
terms -> 'card' -> 'details' ->> 'mask' as card_mask, certainty,
case certainty when 'undone' then name || '.reverse' when 'undoes' then name || '.charge' end as counterpart_id,
'binding' as object, name as object_id, status, party_id, asked_at, known_at
from binding
left join (
select aggregate_id, "bindingId",
max(created_at) filter (where type = 'binding_charged') as charged_at,
max(created_at) filter (where type = 'binding_reversal_started') as reversal_asked_at,
max(created_at) filter (where type = 'binding_refund_started') as refund_asked_at,
max(created_at) filter (where type in ('binding_succeeded', 'binding_failed')) as ended_at,
bool_or(type = 'binding_failed' and reason is not null) as is_closed
from event, json_to_recordset(facts) as fact (type text, "bindingId" text, reason text)
where aggregate = 'customer' and aggregate_id between $1::text and $2::text
group by aggregate_id, "bindingId"
) as log on log.aggregate_id = customer_id and log."bindingId" = binding_id
cross join lateral (
select customer_id || '.' || binding_id as name, case when is_closed then 'may' end as closed,
refund_asked_at is not null as is_refunded
) as known
cross join lateral (values
('charge', 'authorise', 1,
coalesce(closed, case when status in ('authorising', 'challenged', 'reversing') then 'open'
when charged_at is null then 'undone' else 'done' end),
created_at, coalesce(charged_at, ended_at)),
('reverse', 'reverse', -1,
coalesce(closed, case when is_refunded or status in ('authorising', 'challenged') then 'never'
when status in ('reversing', 'returning') then 'open' when charged_at is null then 'undoes' else 'done' end),
case when charged_at is null then created_at else coalesce(reversal_asked_at, charged_at) end, ended_at),
('refund', 'refund', -1,
coalesce(closed, case when not is_refunded then 'never' when status = 'refunding' then 'open' else 'done' end),
refund_asked_at, ended_at)
) as operation (suffix, kind, sign, certainty, asked_at, known_at)
where customer_id between $1::text and $2::text) as source
union all
select aggregate_id, operation_id, bank_id, kind, sign, amount_minor, currency, original_id, card_mask, certainty, counterpart_id, object, object_id, status, party_id, asked_at, known_at from (
select withdrawal_id as aggregate_id, withdrawal_id || '.p' as operation_id, terms -> 'route' ->> 'bankId' as bank_id,
'payout' as kind, -1 as sign, amount_minor, withdrawal.currency, null as original_id, card ->> 'mask' as card_mask,
case withdrawal.status when 'sending' then 'open' when 'succeeded' then 'done' else 'never' end as certainty,
null as counterpart_id, 'withdrawal' as object, withdrawal_id as object_id, withdrawal.status, withdrawal.party_id,
withdrawal.created_at as asked_at, ended.happened_at as known_at
from withdrawal
left join destination using (destination_id)
left join ledger_transfer as ended on ended.aggregate_id = withdrawal_id and ended.operation_id = 'withdrawal'
and ended.step = 'payout' and ended.completes_pending
where withdrawal_id between $1::text and $2::text
union all
select withdrawal_id, withdrawal_id || '.p.returned', terms -> 'route' ->> 'bankId', 'return', 1,
(result -> 'returned' -> 'amount' ->> 'minor')::int8, withdrawal.currency, withdrawal_id || '.p', card ->> 'mask',
'may', null, 'withdrawal', withdrawal_id, withdrawal.status, withdrawal.party_id, withdrawal.created_at,
(result -> 'returned' ->> 'at')::timestamptz
from withdrawal
left join destination using (destination_id)
where withdrawal_id between $1::text and $2::text and result -> 'returned' is not null) as source
) as ours where operation_id = $3::text;

-- find_largest_charge_of_customer
with line as (
select subscription_id, place, (item->>'quantity')::int8 as quantity, (item->>'priceMinor')::int8 as price,
(item->>'lastPriceMinor')::int8 as last_price
from subscription, lateral (values
('items', state->'items'), ('scheduled', state->'scheduledItems'), ('change', state->'change'->'items')
) as source (place, items), json_array_elements(items) as item
where customer_id = $1::text and state->'endsAfter' is null
), total as (
select subscription_id, greatest(sum(quantity * price), sum(quantity * coalesce(last_price, price))) as minor
from line group by subscription_id, place
union all
select subscription_id, (period->>'amountMinor')::int8 from subscription, json_array_elements(state->'open') as period
where customer_id = $1::text
)
select count(distinct subscription_id) as others, coalesce(max(minor), 0)::int8 as largest_minor
from total join subscription using (subscription_id)
where party_id = $2::text and subscription_id <> $3::text and phase <> 'ended' and terms->>'currency' = $4::text;

-- find_next_day_to_sum
select party_id, shop_id, date_bin('15 minutes', at, '2000-01-01T00:00:00Z') as start,
coalesce((
select date_bin('15 minutes', payment.created_at, '2000-01-01T00:00:00Z') + interval '15 minutes' from search_payment as payment
where payment.party_id = first.party_id and payment.shop_id = first.shop_id
and payment.created_at >= first.at and payment.created_at < day + interval '24 hours'
order by payment.created_at limit 1 offset $1::int4
), (
select date_bin('15 minutes', payout.created_at, '2000-01-01T00:00:00Z') + interval '15 minutes' from search_payout as payout
where payout.party_id = first.party_id and payout.shop_id = first.shop_id
and payout.created_at >= first.at and payout.created_at < day + interval '24 hours'
order by payout.created_at limit 1 offset $1::int4
), day + interval '24 hours') as until,
day
from (
(select party_id, shop_id, created_at as at from search_payment
where (party_id, shop_id, created_at) >= ($2::text, $3::text, $4::timestamptz)
order by party_id, shop_id, created_at limit 1)
union all 
(select party_id, shop_id, created_at as at from search_refund
where (party_id, shop_id, created_at) >= ($2::text, $3::text, $4::timestamptz)
order by party_id, shop_id, created_at limit 1)
union all 
(select party_id, shop_id, created_at as at from search_payout
where (party_id, shop_id, created_at) >= ($2::text, $3::text, $4::timestamptz)
order by party_id, shop_id, created_at limit 1)
union all 
(select party_id, shop_id, quarter as at from search_sum
where (party_id, shop_id, quarter) >= ($2::text, $3::text, $4::timestamptz)
order by party_id, shop_id, quarter limit 1)
union all 
(select party_id, shop_id, hour as at from search_hour_sum
where (party_id, shop_id, hour) >= ($2::text, $3::text, $4::timestamptz)
order by party_id, shop_id, hour limit 1)
union all 
(select party_id, shop_id, day as at from search_day_sum
where (party_id, shop_id, day) >= ($2::text, $3::text, $4::timestamptz)
order by party_id, shop_id, day limit 1)
) as first cross join lateral (select date_trunc('day', at, 'UTC') as day) as of_day
order by party_id, shop_id, at limit 1;

-- find_other_programs
select application_name as name from pg_stat_activity
where datname = current_database() and application_name ~ '^mandate( [0-9]|$)' and pid <> pg_backend_pid();

-- find_settled_time
select least(
now() - $1::int8 * interval '1 ms',
(select min(xact_start) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()),
(select min(prepared) - $1::int8 * interval '1 ms' from pg_prepared_xacts
where database = current_database())) as until;

-- fix_webhook_messages
insert into webhook_message as message (aggregate_id, position, body, created_at)
select aggregate_id, position, body, $1::timestamptz
from json_to_recordset($2::json) as fresh (aggregate_id text, position bigint, body text)
order by aggregate_id, position
on conflict (aggregate_id, position) do update set body = message.body
returning aggregate_id, position, body;

-- forget_idempotency_keys
delete from idempotency_key where (owner_id, idempotency_key) in
(select owner_id, idempotency_key from idempotency_key where created_at < $1::timestamptz limit $2::int4)
returning owner_id;

-- forget_ledger_checkpoint
delete from ledger_checkpoint;

-- fund_refund
with moved as (
update payment
set version = payment.version + 1, status = $1::text, captured_minor = $2::int8, refunded_minor = $3::int8,
state = $4::json, wake_at = $5::timestamptz, attempts = $6::int4, stuck_at = null, stuck_reason = null
where payment.invoice_id = $7::text and payment.payment_id = $8::text and payment.version = $9::int4
returning payment.invoice_id
), changed as (
update invoice
set version = invoice.version + json_array_length($10::json), changed_at = greatest(invoice.changed_at, $11::timestamptz),
status = case when $12::bool then 'paid' else status end,
payment_in_progress = $13::bool,
wake_at = case when $13::bool or $12::bool or status <> 'unpaid' then null else due_date end
from moved where invoice.invoice_id = moved.invoice_id
returning invoice.invoice_id, party_id, invoice.version, invoice.changed_at
), logged as (
insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
select invoice_id, version - json_array_length($10::json) + entry.ordinal::int, 'invoice', party_id,
changed_at, entry.facts
from changed, json_array_elements($10::json) with ordinality as entry (facts, ordinal)
), exchanged as (
insert into exchange (aggregate_id, operation, bank_id, terminal_id, kind, amount_minor, currency, digest, card_token, wire_keys, not_after, begun_at, state, answer, far_reference, heard_at)
select one.* from changed, json_to_recordset($14::json) as one (aggregate_id text, operation text, bank_id text, terminal_id text, kind text, amount_minor bigint, currency text, digest bytea, card_token text, wire_keys json, not_after timestamptz, begun_at timestamptz, state text, answer json, far_reference text, heard_at timestamptz)
on conflict (aggregate_id, operation) do update
set bank_id = excluded.bank_id, terminal_id = excluded.terminal_id, digest = excluded.digest, wire_keys = excluded.wire_keys, not_after = excluded.not_after, state = excluded.state, answer = excluded.answer, far_reference = excluded.far_reference, heard_at = excluded.heard_at
where exchange.state not in ('approved', 'declined', 'takenBack', 'settled')
), funded as (
update refund set waits_until = null
from changed where refund.invoice_id = $7::text and payment_id = $8::text and refund_id = $15::text
), left_queue as (
delete from waiting_refund using changed
where waiting_refund.invoice_id = $7::text and payment_id = $8::text and refund_id = $15::text
)
select version, record_journal(changed.invoice_id, $16::text, changed.changed_at, $17::json) as journal from changed;

-- give_back_send_of_withdrawal
update withdrawal set is_unsent = true, stuck_at = null, stuck_reason = null,
wake_at = case when wake_at = $1::timestamptz then wake_at else $2::timestamptz end,
attempts = case when wake_at = $1::timestamptz then attempts else 2 end
where withdrawal_id = $3::text and version = $4::int4 and sends = $5::int4 and status = 'sending';

-- hold_charges_of_bank
update bank set charges_held_since = $1::timestamptz, charges_held_until = $2::timestamptz, charges_held_because = $3::text
where bank_id = $4::text and charges_held_until is not distinct from $5::timestamptz returning bank_id;

-- insert_api_key
insert into api_key (key_id, party_id, name, livemode, scopes, created_at, secret_hash, key_version) values ($1::text, $2::text, $3::text, $4::bool, $5::text, $6::timestamptz, $7::bytea, $8::int4);

-- insert_binding
with unchanged as (
select customer_id from customer where customer_id = $1::text and version = $2::int4 - 1 for update
), admitted as (
select from unchanged where not exists (
select from payer_attempt where subject = $3::bytea and (cardinality(times_since(payer_attempt.paid, $4::timestamptz - interval '1 hour')) <= 10
and cardinality(times_since(payer_attempt.open, $4::timestamptz - interval '60000 milliseconds')) + cardinality(times_since(payer_attempt.declined, $4::timestamptz - interval '1 hour'))
>= 10 + cardinality(times_since(payer_attempt.paid, $4::timestamptz - interval '1 hour')))
or subject = $5::bytea and cardinality(times_since(payer_attempt.open, $4::timestamptz - interval '3600000 milliseconds')) + greatest(
cardinality(times_since(payer_attempt.declined, $4::timestamptz - interval '1 hour')) - 4,
cardinality(times_since(payer_attempt.declined, $4::timestamptz - interval '1 day')) - 9,
cardinality(times_since(payer_attempt.mismatched, $4::timestamptz - interval '1 hour')) - 3) >= 0
)
), opened_address as (
insert into payer_attempt as earlier (subject, open, kept_until)
select $3::bytea, array[$4::timestamptz], date_trunc('hour', $4::timestamptz) + interval '25 hours' from admitted where $3::bytea is not null
on conflict (subject) do update
set open = $4::timestamptz || times_since(earlier.open, $4::timestamptz - interval '60000 milliseconds'), kept_until = excluded.kept_until
where not (cardinality(times_since(earlier.paid, $4::timestamptz - interval '1 hour')) <= 10
and cardinality(times_since(earlier.open, $4::timestamptz - interval '60000 milliseconds')) + cardinality(times_since(earlier.declined, $4::timestamptz - interval '1 hour'))
>= 10 + cardinality(times_since(earlier.paid, $4::timestamptz - interval '1 hour')))
returning subject
), placed as (
select from admitted where $3::bytea is null or exists (select from opened_address)
), opened_card as (
insert into payer_attempt as earlier (subject, open, kept_until)
select $5::bytea, array[$4::timestamptz], date_trunc('hour', $4::timestamptz) + interval '25 hours' from placed where $5::bytea is not null
on conflict (subject) do update
set open = $4::timestamptz || times_since(earlier.open, $4::timestamptz - interval '3600000 milliseconds'), kept_until = excluded.kept_until
where not cardinality(times_since(earlier.open, $4::timestamptz - interval '3600000 milliseconds')) + greatest(
cardinality(times_since(earlier.declined, $4::timestamptz - interval '1 hour')) - 4,
cardinality(times_since(earlier.declined, $4::timestamptz - interval '1 day')) - 9,
cardinality(times_since(earlier.mismatched, $4::timestamptz - interval '1 hour')) - 3) >= 0
returning subject
), counted as (
select from placed where $5::bytea is null or exists (select from opened_card)
), kept as (update card
set is_retained = true, wake_at = coalesce(wake_at, date_trunc('minute', valid_until) + interval '1 minute'),
retained_for = (coalesce(retained_for::jsonb, '[]') || to_jsonb($6::text))::json
from counted where card_id = $7::text and card.party_id = $8::text
returning card_id
), changed as (
update customer set version = version + 1, changed_at = greatest(customer.changed_at, $9::timestamptz), bindings_made = $10::int4
from unchanged where customer.customer_id = unchanged.customer_id and exists (select from kept)
returning customer.customer_id, party_id, version, changed_at
), identified as (
insert into external_id (party_id, operation, external_id, entity_id, fingerprint)
select changed.party_id, 'createBinding', $11::text, $12::text, $13::bytea
from changed where $11::text is not null
), made as (
insert into binding (customer_id, binding_id, party_id, shop_id, version, number, status, created_at, amount_minor, currency, terms, state, external_id, refund_due_at, card_fingerprint, wake_at, attempts, attempted_card, attempted_address, attempted_bin, attempted_at)
select $1::text, $12::text, $8::text, $14::text, $2::int4, $10::int4, $15::text, $16::timestamptz, $17::int8, $18::text, $19::json, $20::json, $11::text, $21::timestamptz, $22::bytea, $23::timestamptz, $24::int4, $5::bytea, $3::bytea, $25::text, $4::timestamptz from changed
), logged as (
insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
select customer_id, version, 'customer', party_id, changed_at, $26::json from changed
), begun as (
insert into exchange (aggregate_id, operation, bank_id, terminal_id, kind, amount_minor, currency, digest, card_token, wire_keys, not_after, begun_at, state, answer, far_reference, heard_at)
select one.* from changed, json_to_recordset($27::json) as one (aggregate_id text, operation text, bank_id text, terminal_id text, kind text, amount_minor bigint, currency text, digest bytea, card_token text, wire_keys json, not_after timestamptz, begun_at timestamptz, state text, answer json, far_reference text, heard_at timestamptz)
on conflict (aggregate_id, operation) do update
set bank_id = excluded.bank_id, terminal_id = excluded.terminal_id, digest = excluded.digest, wire_keys = excluded.wire_keys, not_after = excluded.not_after, state = excluded.state, answer = excluded.answer, far_reference = excluded.far_reference, heard_at = excluded.heard_at
where exchange.state not in ('approved', 'declined', 'takenBack', 'settled')
)
select not exists (select from unchanged) as version_conflict, exists (select from counted) as is_counted,
exists (select from changed) as is_made, exists (select from opened_address) as address_opened, exists (select from opened_card) as card_opened;

-- insert_card
with made as (
insert into card (card_id, party_id, session_id, made_for_kind, made_for_id, purpose, valid_until, payment_system, mask, client_info, fingerprint, fingerprint_key_version, match_hash, stored_at, external_id, ciphertext, key_version)
select $1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::timestamptz, $8::text, $9::text, $10::json, $11::bytea, $12::int4, $13::bytea, $14::timestamptz, $15::text, $16::bytea, $17::int4
where claim_external_id($2::text, 'createPaymentResource', $15::text, $1::text, $13::bytea)
returning card_id
), code as (
insert into security_code (session_id, card_id, half_hour, ciphertext, expires_at)
select $3::text, $1::text, $18::int4, $19::bytea, $20::timestamptz from made, security_code_key as key
where key.half_hour = $18::int4 and key.wrapped = $21::bytea
returning session_id
)
select exists (select from code) as has_code from made;

-- insert_card_decline
insert into card_decline
(card_key, invoice_id, payment_id, party_id, shop_id, amount_minor, currency, by_merchant, attempted_at)
values ($1::bytea, $2::text, $3::text, $4::text, $5::text, $6::int8, $7::text, $8::bool, $9::timestamptz)
on conflict do nothing;

-- insert_card_stop
with concerned as (
select series_id, changed_at from series
where card_key = $1::bytea and status = 'active' and series_id <> $2::text
and ($3::bool or party_id = $4::text and shop_id = $5::text)
order by series_id for update
), stopped as (
insert into card_stop (card_key, invoice_id, payment_id, party_id, shop_id, everywhere, stopped_at, rule, pack, decline_class)
select $1::bytea, $6::text, $7::text, $4::text, $5::text, $3::bool,
greatest($8::timestamptz, (select max(changed_at) from concerned)), $9::text, $10::text, $11::text
on conflict do nothing
)
update series set wake_at = least(wake_at, $8::timestamptz), card_stops = card_stops + 1
from concerned where series.series_id = concerned.series_id;

-- insert_consent_link
insert into consent_link (consent_link_id, party_id, shop_id, series_id, terms, language, redirect_url, external_id, created_at, expires_at, customer_id, binding_id, cancelled_at)
select $1::text, $2::text, $3::text, $4::text, $5::json, $6::text, $7::text, $8::text, $9::timestamptz, $10::timestamptz, $11::text, $12::text, $13::timestamptz
where claim_external_id($2::text, $14::text, $15::text, $1::text, $16::bytea)
returning consent_link_id;

-- insert_console_session
insert into console_session (session_id, party_id, is_operator, made_by, created_at, livemode, link_hash) values ($1::text, $2::text, $3::bool, $4::text, $5::timestamptz, $6::bool, $7::bytea);

-- insert_customer
with changed as (
insert into customer (customer_id, party_id, shop_id, version, status, active_binding_id, created_at, contact_info, metadata, external_id, bindings_made, changed_at)
select $1::text, $2::text, $3::text, $4::int4, $5::text, $6::text, $7::timestamptz, $8::json, $9::json, $10::text, $11::int4, $12::timestamptz
where claim_external_id($2::text, 'createCustomer', $10::text, $1::text, $13::bytea)
returning customer_id, party_id, version, changed_at
)
select append_event('customer', customer_id, version, party_id, changed_at, $14::json) as version from changed;

-- insert_data_key
insert into data_key (purpose, key_version, wrapped, master_key_id, created_at, form)
values ($1::text, $2::int4, $3::bytea, $4::text, $5::timestamptz, $6::int4)
on conflict do nothing returning key_version;

-- insert_deposit
with changed as (
insert into deposit (deposit_id, party_id, wallet_id, identity_id, source_id, created_at, amount_minor, currency, description, reversed_at, changed_at) values ($1::text, $2::text, $3::text, $4::text, $5::text, $6::timestamptz, $7::int8, $8::text, $9::text, $10::timestamptz, $6::timestamptz)
on conflict do nothing returning deposit_id, party_id, 1 as version, changed_at
)
select append_event('deposit', deposit_id, version, party_id, changed_at, $11::json) as version,
record_journal(deposit_id, $12::text, changed_at, $13::json) as journal
from changed;

-- insert_destination
with changed as (
insert into destination (destination_id, party_id, identity_id, version, name, currency, status, created_at, card_token, card_hash, card, failure, metadata, external_id, changed_at, wake_at, attempts)
select $1::text, $2::text, $3::text, $4::int4, $5::text, $6::text, $7::text, $8::timestamptz, $9::text, $10::bytea, $11::json, $12::json, $13::json, $14::text, $8::timestamptz, $15::timestamptz, $16::int4
where claim_external_id($2::text, 'createDestination', $14::text, $1::text, $17::bytea)
returning destination_id, party_id, version, changed_at
)
select append_event('destination', destination_id, version, party_id, changed_at, $18::json) as version from changed;

-- insert_dunning_policy
insert into dunning_policy (party_id, shop_id, name, version, policy, created_at)
values ($1::text, $2::text, $3::text, $4::int4, $5::json, $6::timestamptz)
on conflict do nothing returning version;

-- insert_exchange_note
insert into exchange_note (bank_id, note_key, operation_id, what, heard, meaning, noted_at)
values ($1::text, $2::text, $3::text, $4::text, $5::json, $6::text, $7::timestamptz)
on conflict do nothing returning note_key;

-- insert_export
insert into export (party_id, export_id, slot, terms, made_by, created_at, wake_at)
select $1::text, $2::text, free.slot, $3::json, $4::text, $5::timestamptz, $5::timestamptz
from (
select slot from generate_series(1, 3) as slot
where slot not in (select taken.slot from export as taken where taken.party_id = $1::text and expires_at is null)
order by slot limit 1
) as free
where (
select count(*) from export where party_id = $1::text and failure is distinct from 'cancelled'
) < $6::int4
on conflict do nothing returning export_id;

-- insert_export_piece
with kept as (
update export set row_count = $1::int8, byte_count = $2::int8, wake_at = $3::timestamptz
where party_id = $4::text and export_id = $5::text and run = $6::int4 and expires_at is null
returning export_id
)
insert into export_piece (export_id, run, number, key_version, content)
select export_id, $6::int4, $7::int4, $8::int4, $9::bytea from kept returning number;

-- insert_identity
with changed as (
insert into identity (identity_id, party_id, version, name, provider, class, level, is_blocked, created_at, metadata, external_id, effective_challenge, sender, changed_at)
select $1::text, $2::text, $3::int4, $4::text, $5::text, $6::text, $7::text, $8::bool, $9::timestamptz, $10::json, $11::text, $12::text, $13::json, $9::timestamptz
where claim_external_id($2::text, 'createIdentity', $11::text, $1::text, $14::bytea)
returning identity_id, party_id, version, changed_at
)
select append_event('identity', identity_id, version, party_id, changed_at, $15::json) as version from changed;

-- insert_identity_challenge
insert into identity_challenge (identity_id, challenge_id, type, proofs, status, created_at, failure_reason) values ($1::text, $2::text, $3::text, $4::json, $5::text, $6::timestamptz, $7::text);

-- insert_imported_bindings
with moved as (
update customer
set version = given.version, status = given.status, active_binding_id = given.active_binding_id,
bindings_made = given.bindings_made, changed_at = greatest(customer.changed_at, given.changed_at)
from json_populate_recordset(null::customer, $1::json) as given
where customer.customer_id = given.customer_id and customer.version = given.version - 1
returning customer.customer_id, customer.party_id, customer.version, customer.changed_at
), made as (
insert into customer (customer_id, party_id, shop_id, version, status, active_binding_id, created_at, contact_info, metadata, external_id, bindings_made, changed_at)
select customer_id, party_id, shop_id, version, status, active_binding_id, created_at, contact_info, metadata, external_id, bindings_made, changed_at from json_populate_recordset(null::customer, $2::json)
returning customer_id, party_id, version, changed_at
), bound as (
insert into binding (customer_id, binding_id, party_id, shop_id, version, number, status, created_at, amount_minor, currency, terms, state, external_id, refund_due_at, card_fingerprint, bound_at_version, series_id, attempts)
select customer_id, binding_id, party_id, shop_id, version, number, status, created_at, amount_minor, currency, terms, state, external_id, refund_due_at, card_fingerprint, bound_at_version, series_id, attempts from json_populate_recordset(null::binding, $3::json)
), identified as (
insert into external_id (party_id, operation, external_id, entity_id, fingerprint)
select party_id, operation, external_id, entity_id, fingerprint from json_populate_recordset(null::external_id, $4::json)
), logged as (
insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
select customer_id, version, 'customer', party_id, changed_at, facts
from (select * from moved union all select * from made) as changed
join json_to_recordset($5::json) as given (customer_id text, facts json) using (customer_id)
)
select case when count(*) = json_array_length($1::json) then 0 else version_conflict() end as conflicts from moved;

-- insert_imported_series
with made as (
insert into series (series_id, party_id, shop_id, version, status, card_key, card_token, chain, terms, state, changed_at, wake_at)
select series_id, party_id, shop_id, version, status, card_key, card_token, chain, terms, state, changed_at, wake_at from json_populate_recordset(null::series, $1::json)
)
insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
select series_id, 1, 'series', party_id, changed_at, facts
from json_to_recordset($1::json)
as given (series_id text, party_id text, changed_at timestamptz, facts json);

-- insert_invoice
with claimed as materialized (
select * from (
select * from json_to_recordset($1::json) as change (asker int4, invoice_id text, party_id text, shop_id text, version int4, status text, reason text, created_at timestamptz, due_date timestamptz, amount_minor int8, currency text, product text, description text, cart json, bank_account json, client_info json, metadata json, external_id text, invoice_template_id text, recurring json, original_minor int8, subscription_id text, facts json, wake_at timestamptz, operation text, claimed_id text, fingerprint bytea) order by party_id, operation, claimed_id, asker offset 0
) as change
where claim_external_id(party_id, operation, claimed_id, invoice_id, fingerprint)
), made as (
insert into invoice (invoice_id, party_id, shop_id, version, status, reason, created_at, due_date, amount_minor, currency, product, description, cart, bank_account, client_info, metadata, external_id, invoice_template_id, recurring, original_minor, subscription_id, changed_at, wake_at)
select invoice_id, party_id, shop_id, version, status, reason, created_at, due_date, amount_minor, currency, product, description, cart, bank_account, client_info, metadata, external_id, invoice_template_id, recurring, original_minor, subscription_id, created_at, wake_at from claimed
returning invoice_id, version, party_id, changed_at
), logged as (
insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
select invoice_id, made.version, 'invoice', made.party_id, changed_at, facts from made join claimed using (invoice_id)
)
select asker, version from claimed;

-- insert_invoice_stop
insert into invoice_stop (invoice_id, payment_id, stopped_at, rule, pack, decline_class)
values ($1::text, $2::text, $3::timestamptz, $4::text, $5::text, $6::text)
on conflict do nothing;

-- insert_invoice_template
insert into invoice_template (invoice_template_id, party_id, shop_id, name, description, lifetime, details, metadata, external_id, created_at)
select $1::text, $2::text, $3::text, $4::text, $5::text, $6::json, $7::json, $8::json, $9::text, $10::timestamptz
where claim_external_id($2::text, 'createInvoiceTemplate', $9::text, $1::text, $11::bytea)
returning invoice_template_id;

-- insert_next_webhook_key
with made as (
insert into webhook_key (webhook_id, key_version, public_key, signing_public_key, ciphertext, ciphertext_key_version, signs_from)
select webhook_id, $1::int4, $2::text, $3::text, $4::bytea, $5::int4, $6::timestamptz from webhook where webhook_id = $7::text
on conflict do nothing returning key_version
), gone as (
delete from webhook_key
where webhook_id = $7::text and key_version < $8::int4 and exists (select from made)
)
select key_version from made;

-- insert_party
insert into party (party_id, name, created_at) values ($1::text, $2::text, $3::timestamptz)
on conflict do nothing returning party_id;

-- insert_payer_email
insert into payer_email (invoice_id, payment_id, party_id, about, series_id, status, created_at, recipient, paid_at, amount_minor,
currency, reference, approval_code, content, wake_at)
values ($1::text, $2::text, $3::text, $4::text, $5::text, 'waiting', $6::timestamptz, $7::text, $8::timestamptz,
$9::int8, $10::text, $11::text, $12::text, $13::json, $6::timestamptz)
on conflict do nothing;

-- insert_payment
with payable as (
select invoice_id from invoice where invoice_id = $1::text and version = $2::int4 for update
), admitted as (
select from payable where not exists (
select from payer_attempt where subject = $3::bytea and (cardinality(times_since(payer_attempt.paid, $4::timestamptz - interval '1 hour')) <= 10
and cardinality(times_since(payer_attempt.open, $4::timestamptz - interval '60000 milliseconds')) + cardinality(times_since(payer_attempt.declined, $4::timestamptz - interval '1 hour'))
>= 10 + cardinality(times_since(payer_attempt.paid, $4::timestamptz - interval '1 hour')))
or subject = $5::bytea and cardinality(times_since(payer_attempt.open, $4::timestamptz - interval '3600000 milliseconds')) + greatest(
cardinality(times_since(payer_attempt.declined, $4::timestamptz - interval '1 hour')) - 4,
cardinality(times_since(payer_attempt.declined, $4::timestamptz - interval '1 day')) - 9,
cardinality(times_since(payer_attempt.mismatched, $4::timestamptz - interval '1 hour')) - 3) >= 0
)
), opened_address as (
insert into payer_attempt as earlier (subject, open, kept_until)
select $3::bytea, array[$4::timestamptz], date_trunc('hour', $4::timestamptz) + interval '25 hours' from admitted where $3::bytea is not null
on conflict (subject) do update
set open = $4::timestamptz || times_since(earlier.open, $4::timestamptz - interval '60000 milliseconds'), kept_until = excluded.kept_until
where not (cardinality(times_since(earlier.paid, $4::timestamptz - interval '1 hour')) <= 10
and cardinality(times_since(earlier.open, $4::timestamptz - interval '60000 milliseconds')) + cardinality(times_since(earlier.declined, $4::timestamptz - interval '1 hour'))
>= 10 + cardinality(times_since(earlier.paid, $4::timestamptz - interval '1 hour')))
returning subject
), placed as (
select from admitted where $3::bytea is null or exists (select from opened_address)
), opened_card as (
insert into payer_attempt as earlier (subject, open, kept_until)
select $5::bytea, array[$4::timestamptz], date_trunc('hour', $4::timestamptz) + interval '25 hours' from placed where $5::bytea is not null
on conflict (subject) do update
set open = $4::timestamptz || times_since(earlier.open, $4::timestamptz - interval '3600000 milliseconds'), kept_until = excluded.kept_until
where not cardinality(times_since(earlier.open, $4::timestamptz - interval '3600000 milliseconds')) + greatest(
cardinality(times_since(earlier.declined, $4::timestamptz - interval '1 hour')) - 4,
cardinality(times_since(earlier.declined, $4::timestamptz - interval '1 day')) - 9,
cardinality(times_since(earlier.mismatched, $4::timestamptz - interval '1 hour')) - 3) >= 0
returning subject
), counted as (
select from placed where $5::bytea is null or exists (select from opened_card)
), kept as (update card
set is_retained = true, wake_at = coalesce(wake_at, date_trunc('minute', valid_until) + interval '1 minute'),
retained_for = (coalesce(retained_for::jsonb, '[]') || to_jsonb($6::text))::json
from counted where card_id = $7::text and card.party_id = $8::text
returning card_id
), changed as (
update invoice
set version = invoice.version + 1, changed_at = greatest(invoice.changed_at, $9::timestamptz),
payments_made = payments_made + 1, payment_in_progress = true, wake_at = null, payer_attempts = payer_attempts + 1
from kept where invoice.invoice_id = $1::text and invoice.version = $2::int4
returning invoice.invoice_id, invoice.party_id, invoice.version, invoice.changed_at
), identified as (
insert into external_id (party_id, operation, external_id, entity_id, fingerprint)
select changed.party_id, 'createPayment', $10::text, $1::text || '.' || $11::text, $12::bytea
from changed where $10::text is not null
), used as (
insert into external_id (party_id, operation, external_id, entity_id, fingerprint)
select changed.party_id, 'authenticatePayment', $13::text, $1::text || '.' || $11::text, ''
from changed where $13::text is not null), made as (
insert into payment (invoice_id, payment_id, party_id, shop_id, version, status, created_at, amount_minor, currency, captured_minor, refunded_minor, terms, state, external_id, wake_at, attempts, attempted_card, attempted_address, attempted_bin, attempted_at)
select $1::text, $11::text, $8::text, $14::text, $15::int4, $16::text, $17::timestamptz, $18::int8, $19::text, $20::int8, $21::int8, $22::json, $23::json, $10::text, $24::timestamptz, $25::int4, $5::bytea, $3::bytea, $26::text, $4::timestamptz from changed
), logged as (
insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
select invoice_id, version, 'invoice', party_id, changed_at, $27::json from changed
), begun as (
insert into exchange (aggregate_id, operation, bank_id, terminal_id, kind, amount_minor, currency, digest, card_token, wire_keys, not_after, begun_at, state, answer, far_reference, heard_at)
select one.* from changed, json_to_recordset($28::json) as one (aggregate_id text, operation text, bank_id text, terminal_id text, kind text, amount_minor bigint, currency text, digest bytea, card_token text, wire_keys json, not_after timestamptz, begun_at timestamptz, state text, answer json, far_reference text, heard_at timestamptz)
on conflict (aggregate_id, operation) do update
set bank_id = excluded.bank_id, terminal_id = excluded.terminal_id, digest = excluded.digest, wire_keys = excluded.wire_keys, not_after = excluded.not_after, state = excluded.state, answer = excluded.answer, far_reference = excluded.far_reference, heard_at = excluded.heard_at
where exchange.state not in ('approved', 'declined', 'takenBack', 'settled')
)
select exists (select from payable) as is_payable, exists (select from counted) as is_counted,
exists (select from changed) as is_made, exists (select from opened_address) as address_opened, exists (select from opened_card) as card_opened;

-- insert_payout_grant
insert into payout_grant (grant_id, token_hash, kind, entity_id, amount_minor, currency, valid_until)
values ($1::text, $2::bytea, $3::text, $4::text, $5::int8, $6::text, $7::timestamptz);

-- insert_retained_cards
insert into card (card_id, party_id, session_id, made_for_kind, made_for_id, purpose, valid_until, payment_system, mask, client_info, fingerprint, fingerprint_key_version, match_hash, stored_at, external_id, ciphertext, key_version, is_retained, retained_for, wake_at)
select card_id, party_id, session_id, made_for_kind, made_for_id, purpose, valid_until, payment_system, mask, client_info, fingerprint, fingerprint_key_version, match_hash, stored_at, external_id, ciphertext, key_version, is_retained, retained_for, wake_at from json_populate_recordset(null::card, $1::json);

-- insert_security_code
insert into security_code (session_id, card_id, half_hour, ciphertext, expires_at)
select $1::text, $2::text, $3::int4, $4::bytea, $5::timestamptz from card, security_code_key as key
where card.card_id = $2::text and key.half_hour = $3::int4 and key.wrapped = $6::bytea
returning session_id;

-- insert_security_code_key
insert into security_code_key (half_hour, wrapped) values ($1::int4, $2::bytea)
on conflict (half_hour) do update set half_hour = excluded.half_hour
returning wrapped;

-- insert_series
with changed as (
insert into series (series_id, party_id, shop_id, version, status, card_key, card_token, chain, terms, state, changed_at, wake_at)
values ($1::text, $2::text, $3::text, $4::int4, $5::text, $6::bytea, $7::text, $8::text, $9::json, $10::json, $11::timestamptz, $12::timestamptz)
on conflict do nothing
returning series_id, party_id, version, changed_at
)
select append_event('series', series_id, version, party_id, changed_at, $13::json) as version from changed;

-- insert_shop
insert into shop (party_id, shop_id, livemode, name, url, category_id, currency, created_at) values ($1::text, $2::text, $3::bool, $4::text, $5::text, $6::int4, $7::text, $8::timestamptz)
on conflict do nothing returning shop_id;

-- insert_subscription
with changed as (
insert into subscription (subscription_id, party_id, shop_id, customer_id, version, phase, terms, state, external_id, created_at, changed_at, wake_at)
select $1::text, $2::text, $3::text, $4::text, $5::int4, $6::text, $7::json, $8::json, $9::text, $10::timestamptz, $11::timestamptz, $12::timestamptz
where claim_external_id($2::text, 'createSubscription', $9::text, $1::text, $13::bytea)
returning subscription_id, party_id, version, changed_at
)
select append_event('subscription', subscription_id, version, party_id, changed_at, $14::json) as version from changed;

-- insert_wallet
with changed as (
insert into wallet (wallet_id, party_id, identity_id, name, currency, created_at, metadata, external_id)
select $1::text, $2::text, $3::text, $4::text, $5::text, $6::timestamptz, $7::json, $8::text
where claim_external_id($2::text, 'createWallet', $8::text, $1::text, $9::bytea)
returning wallet_id, party_id, 1 as version, created_at as changed_at
)
select append_event('wallet', wallet_id, version, party_id, changed_at, $10::json) as version from changed;

-- insert_wallet_transfer
with changed as (
insert into wallet_transfer (transfer_id, party_id, sender_id, receiver_id, created_at, amount_minor, currency, status, external_id)
select $1::text, $2::text, $3::text, $4::text, $5::timestamptz, $6::int8, $7::text, $8::text, $9::text
where claim_external_id($2::text, 'createTransfer', $9::text, $1::text, $10::bytea)
returning transfer_id, party_id, json_array_length($11::json) as version, created_at as changed_at
)
select append_events('wallet_transfer', transfer_id, version, party_id, changed_at, $11::json) as version,
count_turnover($12::json, $7::text, $6::int8, $13::text, $14::text) as counted,
record_journal(transfer_id, $15::text, changed_at, $16::json) as journal
from changed;

-- insert_webhook
with made as (
insert into webhook (webhook_id, party_id, topic, owner_id, wallet_id, event_types, url, created_at)
select $1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text, $8::timestamptz
where (select count(*) from webhook where party_id = $2::text and owner_id = $4::text) < $9::int4
returning webhook_id
), keyed as (
insert into webhook_key (webhook_id, key_version, public_key, signing_public_key, ciphertext, ciphertext_key_version, signs_from)
select webhook_id, $10::int4, $11::text, $12::text, $13::bytea, $14::int4, $15::timestamptz from made
)
select webhook_id from made;

-- insert_withdrawal
with changed as (
insert into withdrawal (withdrawal_id, party_id, wallet_id, destination_id, identity_id, version, status, created_at, amount_minor, fee_minor, currency, terms, result, external_id, changed_at, wake_at, attempts, is_unsent, livemode)
select $1::text, $2::text, $3::text, $4::text, $5::text, $6::int4, $7::text, $8::timestamptz, $9::int8, $10::int8, $11::text, $12::json, $13::json, $14::text, $8::timestamptz, $15::timestamptz, $16::int4, true, $17::bool
where claim_external_id($2::text, 'createWithdrawal', $14::text, $1::text, $18::bytea)
returning withdrawal_id, party_id, version, changed_at
), logged as (
insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
select withdrawal_id, version - json_array_length($19::json) + entry.ordinal::int, 'withdrawal', party_id,
changed_at, entry.facts
from changed, json_array_elements($19::json) with ordinality as entry (facts, ordinal)
), begun as (
insert into exchange (aggregate_id, operation, bank_id, terminal_id, kind, amount_minor, currency, digest, card_token, wire_keys, not_after, begun_at, state, answer, far_reference, heard_at)
select one.* from changed, json_to_recordset($20::json) as one (aggregate_id text, operation text, bank_id text, terminal_id text, kind text, amount_minor bigint, currency text, digest bytea, card_token text, wire_keys json, not_after timestamptz, begun_at timestamptz, state text, answer json, far_reference text, heard_at timestamptz)
on conflict (aggregate_id, operation) do update
set bank_id = excluded.bank_id, terminal_id = excluded.terminal_id, digest = excluded.digest, wire_keys = excluded.wire_keys, not_after = excluded.not_after, state = excluded.state, answer = excluded.answer, far_reference = excluded.far_reference, heard_at = excluded.heard_at
where exchange.state not in ('approved', 'declined', 'takenBack', 'settled')
)
select count_turnover($21::json, $11::text, $9::int8, $22::text, $23::text) as counted,
record_journal(changed.withdrawal_id, $24::text, changed.changed_at, $25::json) as journal
from changed;

-- keep_card
update card
set is_retained = true, wake_at = coalesce(wake_at, date_trunc('minute', valid_until) + interval '1 minute'),
retained_for = (coalesce(retained_for::jsonb, '[]') || to_jsonb($1::text))::json
where card_id = $2::text and party_id = $3::text
returning card_id;

-- limit_search_time
select from set_config('statement_timeout', $1::text, true) as limited,
set_config('plan_cache_mode', 'force_custom_plan', true) as planned;

-- list_api_keys
select key_id, party_id, name, livemode, scopes, created_at, expires_at, revoked_at from api_key where party_id = $1::text order by created_at, key_id;

-- list_away_banks
select bank_id, away_since, away_because from bank where away_seen_at > $1::timestamptz - interval '2 minutes';

-- list_banks
select bank_id, url, created_at, is_shared, stopped_at, stopped_because, checked_at, check_problem,
charges_held_until, charges_held_because,
(select count(*) from terminal where terminal.bank_id = bank.bank_id and retired_at is null)
+ (select count(*) from payout_terminal as paying
where paying.bank_id = bank.bank_id and retired_at is null) as terminals
from bank order by bank_id;

-- list_banks_with_held_charges
select bank_id, charges_held_since from bank where charges_held_until > $1::timestamptz;

-- list_console_sessions
select session_id, party_id, is_operator, made_by, created_at, opened_at, seen_at, ended_at
from console_session order by created_at desc, session_id limit 1000;

-- list_deposits
select deposit_id, party_id, wallet_id, identity_id, source_id, created_at, amount_minor, currency, description, reversed_at from deposit where deposit.party_id = $1::text and ($2::text is null or deposit.wallet_id = $2::text)
and ($3::text is null or deposit.identity_id = $3::text)
and ($4::text is null or deposit.deposit_id = $4::text)
and ($5::text is null or deposit.source_id = $5::text)
and ($6::text is null or deposit.currency = $6::text)
and ($7::bool is null or (deposit.reversed_at is not null) = $7::bool)
and ($8::timestamptz is null or deposit.created_at >= $8::timestamptz)
and ($9::timestamptz is null or deposit.created_at < $9::timestamptz)
and ($10::int8 is null or deposit.amount_minor >= $10::int8)
and ($11::int8 is null or deposit.amount_minor <= $11::int8)
and ($12::timestamptz is null or (deposit.created_at, deposit.deposit_id) < ($12::timestamptz, $13::text))
order by deposit.created_at desc, deposit.deposit_id desc limit $14::int4;

-- list_destinations
select destination.destination_id, destination.party_id, destination.identity_id, destination.version, destination.name, destination.currency, destination.status, destination.created_at, destination.card_token, destination.card_hash, destination.card, destination.failure, destination.metadata, destination.external_id, provider, sender,
(identity.is_blocked or party.is_blocked or party.is_suspended or returns >= 2) as is_blocked from destination join identity using (identity_id) join party on party.party_id = destination.party_id where destination.party_id = $1::text and ($2::text is null or destination.identity_id = $2::text)
and ($3::text is null or destination.currency = $3::text)
and ($4::timestamptz is null or (destination.created_at, destination.destination_id) < ($4::timestamptz, $5::text))
order by destination.created_at desc, destination.destination_id desc limit $6::int4;

-- list_dunning_policies
select distinct on (name) policy, created_at from dunning_policy
where party_id = $1::text and shop_id = $2::text order by name, version desc;

-- list_exports
select party_id, export_id, terms, made_by, created_at, run, row_count, byte_count, as_of, sha256, md5, failure, expires_at from export where party_id = $1::text order by created_at desc, export_id desc;

-- list_identities
select identity_id, party_id, version, name, provider, class, level, is_blocked, created_at, metadata, external_id, effective_challenge, sender from identity where identity.party_id = $1::text and ($2::text is null or identity.provider = $2::text)
and ($3::text is null or identity.class = $3::text)
and ($4::text is null or identity.level = $4::text)
and ($5::timestamptz is null or (identity.created_at, identity.identity_id) < ($5::timestamptz, $6::text))
order by identity.created_at desc, identity.identity_id desc limit $7::int4;

-- list_invoice_templates
select invoice_template_id, party_id, shop_id, name, description, lifetime, details, metadata, external_id, created_at from invoice_template
where party_id = $1::text and deleted_at is null
order by created_at desc, invoice_template_id limit $2::int4;

-- list_key_ids
select key_id from api_key where livemode = $1::bool and revoked_at is null;

-- list_newest_payments
select payment.invoice_id, payment.payment_id, payment.party_id, payment.shop_id, payment.version, payment.status, payment.created_at, payment.amount_minor, payment.currency, payment.captured_minor, payment.refunded_minor, payment.terms, payment.state, payment.external_id, invoice.changed_at,
payment.stuck_reason is not null
or payment.status in ('authorising', 'reversing', 'capturing', 'cancelling', 'refunding')
and (payment.attempts > 1 or payment.wake_at <= $1::timestamptz + coalesce(offset_ms, 0) * interval '1 ms') as is_waiting,
payment.attempts, payment.wake_at, payment.stuck_at, payment.stuck_reason,
invoice.created_at as invoice_created_at, $1::timestamptz + coalesce(offset_ms, 0) * interval '1 ms' as own_now
from payment
join lateral (
select changed_at, created_at from invoice where invoice.invoice_id = payment.invoice_id limit 1
) as invoice on true
left join test_clock on test_clock.party_id = payment.party_id
where payment.invoice_id >= $2::text and ($3::text::text is null or payment.party_id = $3::text)
and ($4::text::text is null or payment.shop_id = $4::text)
order by payment.invoice_id desc, payment.payment_id desc limit $5::int4;

-- list_parked_subscriptions
select subscription_id, party_id, shop_id, customer_id, version, phase, terms, state, external_id, created_at, changed_at from subscription
where strpos(state::text, '"parkedFor"') > 0 and (state->>'parkedFor') is not null and ($1::text is null or party_id = $1::text) and ($2::text is null or shop_id = $2::text)
and ($3::text is null or $3::text = case
when phase <> 'running' then phase
when exists (select from json_array_elements(state->'open') as period where period->>'declineClass' is not null) then 'pastDue'
when state->'latest'->>'kind' = 'trial' then 'trialing'
else 'active' end) and (created_at, subscription_id) < (coalesce($4::timestamptz, 'infinity'), coalesce($5::text, '')) order by created_at desc, subscription_id desc limit $6::int4;

-- list_parties
select party_id, name, is_blocked, is_suspended, coalesce(offset_ms, 0) as offset_ms
from party left join test_clock using (party_id)
order by party.created_at;

-- list_payments_of_invoice
select payment.invoice_id, payment.payment_id, payment.party_id, payment.shop_id, payment.version, payment.status, payment.created_at, payment.amount_minor, payment.currency, payment.captured_minor, payment.refunded_minor, payment.terms, payment.state, payment.external_id, invoice.changed_at,
payment.stuck_reason is not null
or payment.status in ('authorising', 'reversing', 'capturing', 'cancelling', 'refunding')
and (payment.attempts > 1 or payment.wake_at <= $1::timestamptz + coalesce(offset_ms, 0) * interval '1 ms') as is_waiting,
payment.attempts, payment.wake_at, payment.stuck_at, payment.stuck_reason,
invoice.created_at as invoice_created_at, $1::timestamptz + coalesce(offset_ms, 0) * interval '1 ms' as own_now
from payment
join lateral (
select changed_at, created_at from invoice where invoice.invoice_id = payment.invoice_id limit 1
) as invoice on true
left join test_clock on test_clock.party_id = payment.party_id
where payment.invoice_id = $2::text
order by length(payment.payment_id), payment.payment_id;

-- list_pending_refunds
select customer_id, binding_id, party_id, status, amount_minor, currency, refund_due_at,
refund_due_at < $1::timestamptz + coalesce(offset_ms, 0) * interval '1 ms' as is_overdue,
case when stuck_at is not null then stuck_reason end as stuck_reason
from binding left join test_clock using (party_id)
where refund_due_at is not null order by refund_due_at limit 1000;

-- list_shops
select party_id, shop_id, livemode, name, description, url, category_id, currency, fees, when_short, three_d_secure, one_off_receipts, is_blocked, is_suspended, created_at, origins from shop where party_id = $1::text order by created_at, shop_id;

-- list_subscriptions_of_customer
select subscription_id, party_id, shop_id, customer_id, version, phase, terms, state, external_id, created_at, changed_at from subscription where customer_id = $1::text and party_id = $2::text
order by created_at desc, subscription_id desc limit 100;

-- list_subscriptions_of_shop
select subscription_id, party_id, shop_id, customer_id, version, phase, terms, state, external_id, created_at, changed_at, ($1::text is null or $1::text = case
when phase <> 'running' then phase
when exists (select from json_array_elements(state->'open') as period where period->>'declineClass' is not null) then 'pastDue'
when state->'latest'->>'kind' = 'trial' then 'trialing'
else 'active' end) and ($2::bool is null or $2::bool = coalesce(strpos(state::text, '"parkedFor"') > 0 and (state->>'parkedFor') is not null, false)) as is_found, number = $3::int4 as is_last
from (select subscription_id, party_id, shop_id, customer_id, version, phase, terms, state, external_id, created_at, changed_at, row_number() over (order by created_at desc, subscription_id desc) as number from subscription
where party_id = $4::text and shop_id = $5::text and (created_at, subscription_id) < (coalesce($6::timestamptz, 'infinity'), coalesce($7::text, '')) order by created_at desc, subscription_id desc limit $3::int4) as looked_at
where number = $3::int4 or (($1::text is null or $1::text = case
when phase <> 'running' then phase
when exists (select from json_array_elements(state->'open') as period where period->>'declineClass' is not null) then 'pastDue'
when state->'latest'->>'kind' = 'trial' then 'trialing'
else 'active' end) and ($2::bool is null or $2::bool = coalesce(strpos(state::text, '"parkedFor"') > 0 and (state->>'parkedFor') is not null, false))) order by created_at desc, subscription_id desc limit $8::int4;

-- list_terminals
select shop_id, terminal_id, bank_id, merchant_id, descriptor, merchant_facts, priority, retired_at, paused_until,
paused_because, terms
from (
select party_id, shop_id, terminal_id, bank_id, merchant_id, descriptor, merchant_facts, priority, retired_at,
paused_until, paused_because, null as terms from terminal
union all
select party_id, null, terminal_id, bank_id, merchant_id, descriptor, merchant_facts, priority, retired_at,
null, null, terms from payout_terminal
) as terminal
where party_id = $1::text order by shop_id nulls last, retired_at is not null, priority, terminal_id;

-- list_waiting_payments
select * from (
select payment.invoice_id, payment.payment_id, payment.party_id, payment.shop_id, payment.version, payment.status, payment.created_at, payment.amount_minor, payment.currency, payment.captured_minor, payment.refunded_minor, payment.terms, payment.state, payment.external_id, invoice.changed_at,
payment.stuck_reason is not null
or payment.status in ('authorising', 'reversing', 'capturing', 'cancelling', 'refunding')
and (payment.attempts > 1 or payment.wake_at <= $1::timestamptz + coalesce(offset_ms, 0) * interval '1 ms') as is_waiting,
payment.attempts, payment.wake_at, payment.stuck_at, payment.stuck_reason,
invoice.created_at as invoice_created_at, $1::timestamptz + coalesce(offset_ms, 0) * interval '1 ms' as own_now
from (
select * from payment
where wake_at <= $2::timestamptz + (select coalesce(max(offset_ms), 0) from test_clock) * interval '1 ms'
union all
select * from payment where stuck_at is not null
) as payment
join lateral (
select changed_at, created_at from invoice where invoice.invoice_id = payment.invoice_id limit 1
) as invoice on true
left join test_clock on test_clock.party_id = payment.party_id
where ($3::text::text is null or payment.party_id = $3::text)
and ($4::text::text is null or payment.shop_id = $4::text)
) as payment
where is_waiting
order by changed_at, invoice_id limit $5::int4;

-- list_wallets
select wallet.wallet_id, wallet.party_id, wallet.identity_id, wallet.name, wallet.currency, wallet.created_at, wallet.metadata, wallet.external_id, identity.is_blocked or party.is_blocked or party.is_suspended as is_blocked, provider, level,
identity.name as owner_name, identity.class as owner_class, sender from wallet join identity using (identity_id) join party on party.party_id = wallet.party_id where wallet.party_id = $1::text and ($2::text is null or wallet.identity_id = $2::text)
and ($3::text is null or wallet.currency = $3::text)
and ($4::timestamptz is null or (wallet.created_at, wallet.wallet_id) < ($4::timestamptz, $5::text))
order by wallet.created_at desc, wallet.wallet_id desc limit $6::int4;

-- list_withdrawals
select withdrawal.withdrawal_id, withdrawal.party_id, withdrawal.wallet_id, withdrawal.destination_id, withdrawal.identity_id, withdrawal.version, withdrawal.status, withdrawal.created_at, withdrawal.amount_minor, withdrawal.fee_minor, withdrawal.currency, withdrawal.terms, withdrawal.result, withdrawal.external_id, withdrawal.sends, withdrawal.is_unsent from withdrawal where withdrawal.party_id = $1::text and ($2::text is null or withdrawal.wallet_id = $2::text)
and ($3::text is null or withdrawal.identity_id = $3::text)
and ($4::text is null or withdrawal.withdrawal_id = $4::text)
and ($5::text is null or withdrawal.destination_id = $5::text)
and ($6::text is null or withdrawal.status = $6::text)
and ($7::text is null or withdrawal.currency = $7::text)
and ($8::timestamptz is null or withdrawal.created_at >= $8::timestamptz)
and ($9::timestamptz is null or withdrawal.created_at < $9::timestamptz)
and ($10::int8 is null or withdrawal.amount_minor >= $10::int8)
and ($11::int8 is null or withdrawal.amount_minor <= $11::int8)
and ($12::timestamptz is null or (withdrawal.created_at, withdrawal.withdrawal_id) < ($12::timestamptz, $13::text))
order by withdrawal.created_at desc, withdrawal.withdrawal_id desc limit $14::int4;

-- lock_chargeable_customer
select binding.customer_id, binding.binding_id, binding.party_id, binding.shop_id, binding.version, binding.number, binding.status, binding.created_at, binding.amount_minor, binding.currency, binding.terms, binding.state, binding.external_id, binding.refund_due_at, customer.shop_id as of_shop, series_id, contact_info,
customer.active_binding_id is not null as is_ready
from customer left join binding
on binding.customer_id = customer.customer_id and binding.binding_id = customer.active_binding_id
where customer.customer_id = $1::text and customer.party_id = $2::text
and customer.status <> 'deleted'
for share of customer;

-- lock_chargeable_customer_together
select asker, found.*
from json_to_recordset($1::json) as asked (asker int4, customer_id text, party_id text)
cross join lateral (select binding.customer_id, binding.binding_id, binding.party_id, binding.shop_id, binding.version, binding.number, binding.status, binding.created_at, binding.amount_minor, binding.currency, binding.terms, binding.state, binding.external_id, binding.refund_due_at, customer.shop_id as of_shop, series_id, contact_info,
customer.active_binding_id is not null as is_ready
from customer left join binding
on binding.customer_id = customer.customer_id and binding.binding_id = customer.active_binding_id
where customer.customer_id = asked.customer_id and customer.party_id = asked.party_id
and customer.status <> 'deleted'
for share of customer skip locked offset 0) as found;

-- lock_consent_link
select consent_link_id, party_id, shop_id, series_id, terms, language, redirect_url, external_id, created_at, expires_at, customer_id, binding_id, cancelled_at from consent_link where consent_link_id = $1::text for update;

-- lock_data_keys
select purpose, key_version, wrapped, master_key_id, form from data_key for update;

-- lock_exchange_note
select note_key from exchange_note
where bank_id = $1::text and note_key = $2::text and meaning = 'waits' for update;

-- lock_exchange_sum_position
select from exchange_sum_position for update;

-- lock_ledger_main_row
select from ledger_balance where account_id = $1::text and shard = 0 for no key update;

-- lock_party_for_webhooks
select party_id from party where party_id = $1::text for no key update;

-- lock_search_list_position
select seen, rebuild_after, rebuilt, pg_snapshot_xmax(seen::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot())
or exists (select from webhook_feed where mismatch_since is not null) as is_mismatch
from search_list_position where set_config('enable_seqscan', 'off', true) = 'off' for update skip locked;

-- lock_search_position
select seen, rebuild_after, resum_from, rebuilt, pg_snapshot_xmax(seen::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot())
or exists (select from webhook_feed where mismatch_since is not null) as is_mismatch
from search_position where set_config('enable_seqscan', 'off', true) = 'off' for update skip locked;

-- lock_series
select series.series_id, series.party_id, series.shop_id, series.version, series.status, series.card_key, series.card_token, series.chain, series.terms, series.state, series.changed_at,
(select settings from recurring_settings as wish
where wish.party_id = series.party_id and wish.shop_id = series.shop_id) as settings from series where series_id = $1::text for update;

-- lock_series_together
select asker, found.*
from json_to_recordset($1::json) as asked (asker int4, series_id text)
cross join lateral (select series.series_id, series.party_id, series.shop_id, series.version, series.status, series.card_key, series.card_token, series.chain, series.terms, series.state, series.changed_at,
(select settings from recurring_settings as wish
where wish.party_id = series.party_id and wish.shop_id = series.shop_id) as settings from series where series_id = asked.series_id for update skip locked offset 0) as found;

-- lock_webhook_feed
select seen, mismatch_since from webhook_feed for update skip locked;

-- make_day_sums
insert into search_day_sum (party_id, shop_id, day, what, currency, status, attempt, payment_system, decline_class, failure, bank_code, amount_minor, n)
select party_id, shop_id, date_trunc('day', quarter, 'UTC') as day, what, currency, status, attempt, payment_system, decline_class, failure, bank_code, sum(amount_minor), sum(n)
from search_sum where party_id = $1::text and shop_id = $2::text and quarter >= $3::timestamptz and quarter < $3::timestamptz + interval '24 hours'
group by party_id, shop_id, day, what, currency, status, attempt, payment_system, decline_class, failure, bank_code;

-- make_hour_sums
insert into search_hour_sum (party_id, shop_id, hour, what, currency, status, decline_class, amount_minor, n)
select party_id, shop_id, date_trunc('hour', quarter, 'UTC') as hour, what, currency, status, decline_class, sum(amount_minor), sum(n)
from search_sum where party_id = $1::text and shop_id = $2::text and quarter >= $3::timestamptz and quarter < $3::timestamptz + interval '24 hours'
group by party_id, shop_id, hour, what, currency, status, decline_class;

-- make_webhook_event_numbers
with wanted as (
select aggregate_id, chunk, row_number() over (order by aggregate_id, chunk) as ordinal
from json_to_recordset($1::json) as wanted (aggregate_id text, chunk int)
), counted as (
update webhook_event_number_counter
set last_base = greatest(last_base + (select count(*) from wanted),
floor(extract(epoch from clock_timestamp() - timestamptz '2025-01-01Z'))::bigint * 8192)
returning last_base - (select count(*) from wanted) as first_base
)
insert into webhook_event_number (aggregate_id, chunk, base)
select aggregate_id, chunk, first_base + ordinal from wanted, counted
on conflict do nothing
returning aggregate_id, chunk, base;

-- mark_cluster_mismatch
update webhook_feed set mismatch_since = $1::timestamptz where mismatch_since is null;

-- mark_stuck_binding
update binding set wake_at = null, stuck_at = $1::timestamptz, stuck_reason = $2::text
where customer_id = $3::json ->> 0 and binding_id = $3::json ->> 1 and attempts = $4::int4 and wake_at = $5::timestamptz;

-- mark_stuck_card
update card set wake_at = null, stuck_at = $1::timestamptz, stuck_reason = $2::text
where card_id = $3::json ->> 0 and attempts = $4::int4 and wake_at = $5::timestamptz;

-- mark_stuck_charge_undo
update charge_undo set wake_at = null, stuck_at = $1::timestamptz, stuck_reason = $2::text
where invoice_id = $3::json ->> 0 and payment_id = $3::json ->> 1 and operation = $3::json ->> 2 and attempts = $4::int4 and wake_at = $5::timestamptz;

-- mark_stuck_destination
update destination set wake_at = null, stuck_at = $1::timestamptz, stuck_reason = $2::text
where destination_id = $3::json ->> 0 and attempts = $4::int4 and wake_at = $5::timestamptz;

-- mark_stuck_export
update export set wake_at = null, stuck_at = $1::timestamptz, stuck_reason = $2::text
where party_id = $3::json ->> 0 and export_id = $3::json ->> 1 and attempts = $4::int4 and wake_at = $5::timestamptz;

-- mark_stuck_invoice
update invoice set wake_at = null, stuck_at = $1::timestamptz, stuck_reason = $2::text
where invoice_id = $3::json ->> 0 and attempts = $4::int4 and wake_at = $5::timestamptz;

-- mark_stuck_payer_email
update payer_email set wake_at = null, stuck_at = $1::timestamptz, stuck_reason = $2::text
where invoice_id = $3::json ->> 0 and payment_id = $3::json ->> 1 and attempts = $4::int4 and wake_at = $5::timestamptz;

-- mark_stuck_payment
update payment set wake_at = null, stuck_at = $1::timestamptz, stuck_reason = $2::text
where invoice_id = $3::json ->> 0 and payment_id = $3::json ->> 1 and attempts = $4::int4 and wake_at = $5::timestamptz;

-- mark_stuck_series
update series set wake_at = null, stuck_at = $1::timestamptz, stuck_reason = $2::text
where series_id = $3::json ->> 0 and attempts = $4::int4 and wake_at = $5::timestamptz;

-- mark_stuck_subscription
update subscription set wake_at = null, stuck_at = $1::timestamptz, stuck_reason = $2::text
where subscription_id = $3::json ->> 0 and attempts = $4::int4 and wake_at = $5::timestamptz;

-- mark_stuck_withdrawal
update withdrawal set wake_at = null, stuck_at = $1::timestamptz, stuck_reason = $2::text
where withdrawal_id = $3::json ->> 0 and attempts = $4::int4 and wake_at = $5::timestamptz;

-- move_exchange_sum_position
update exchange_sum_position set counted_until = $1::timestamptz, counted_at = $2::timestamptz;

-- move_report_cursor
update bank set report_cursor = $1::int8
where bank_id = $2::text and report_cursor is not distinct from $3::int8 and stopped_at is null;

-- move_search_list_position
update search_list_position set seen = $1::text;

-- move_search_list_rebuild
update search_list_position set rebuild_after = $1::text, rebuilt = rebuilt + $2::int8 returning rebuilt;

-- move_search_position
update search_position set seen = $1::text;

-- move_search_rebuild
update search_position
set rebuild_after = $1::text, resum_from = $2::json, rebuilt = rebuilt + $3::int8 returning rebuilt;

-- move_test_clock
insert into test_clock (party_id, offset_ms) values ($1::text, $2::int8)
on conflict (party_id) do update set offset_ms = greatest(test_clock.offset_ms, excluded.offset_ms)
returning offset_ms;

-- move_updates_cursor
update bank set updates_cursor = greatest(updates_cursor, $1::int8) where bank_id = $2::text;

-- move_webhook_feed
update webhook_feed set seen = $1::text;

-- move_webhook_queues
insert into webhook_queue as queue
(aggregate_id, webhook_id, next_position, last_position, waiting_since, wake_at)
select aggregate_id, webhook_id, first_position, last_position, $1::timestamptz, $1::timestamptz
from json_to_recordset($2::json) as fresh
(aggregate_id text, webhook_id text, first_position bigint, last_position bigint)
order by aggregate_id, webhook_id
on conflict (aggregate_id, webhook_id) do update
set last_position = greatest(queue.last_position, excluded.last_position),
waiting_since = case when excluded.last_position >= queue.next_position
then coalesce(queue.waiting_since, excluded.waiting_since) else queue.waiting_since end,
wake_at = case when queue.stuck_at is null and excluded.last_position >= queue.next_position
then coalesce(queue.wake_at, excluded.wake_at) else queue.wake_at end;

-- move_withdrawal
with changed as (
update withdrawal set terms = $1::json, wake_at = $2::timestamptz, sends = sends + 1
where withdrawal_id = $3::text and version = $4::int4 and sends = $5::int4 and not is_unsent and status = 'sending'
and attempts = 1
returning withdrawal_id, greatest(changed_at, $6::timestamptz) as changed_at
)
select record_exchanges($7::json) as exchanges,
record_journal(withdrawal_id, $8::text, changed_at, $9::json) as journal
from changed;

-- name_series_of_binding
update binding set series_id = $1::text where customer_id = $2::text and binding_id = $3::text;

-- note_problem_of_report
update bank set check_problem = $1::text
where bank_id = $2::text and check_problem is distinct from $1::text;

-- open_console_session
update console_session set session_hash = $1::bytea, opened_at = $2::timestamptz, seen_at = $2::timestamptz
where session_id = $3::text and link_hash = $4::bytea and livemode = $5::bool
and opened_at is null and ended_at is null and created_at > $6::timestamptz
returning party_id, is_operator, made_by;

-- open_ledger_accounts
with opened as (
insert into ledger_account (account_id, livemode, currency, code, party_id, owner_id, forbids_overdraft, shards)
select account_id, livemode, currency, code, party_id, owner_id, forbids_overdraft, shards
from json_to_recordset($1::json) as asked (account_id text, livemode bool, currency text, code text, party_id text,
owner_id text, forbids_overdraft bool, shards int)
order by account_id
on conflict do nothing
returning account_id, forbids_overdraft, shards
)
insert into ledger_balance (account_id, shard, is_unsharded)
select account_id, shard, forbids_overdraft and shards = 0
from opened, generate_series(case when forbids_overdraft or shards = 0 then 0 else 1 end, shards) as shard;

-- pause_terminal
update terminal set paused_until = greatest(paused_until, $1::timestamptz), paused_because = $2::text
where party_id = $3::text and shop_id = $4::text and terminal_id = $5::text;

-- postpone_binding
update binding set wake_at = $1::timestamptz, stuck_reason = $2::text
where customer_id = $3::json ->> 0 and binding_id = $3::json ->> 1 and attempts = $4::int4 and wake_at is not null;

-- postpone_card
update card set wake_at = $1::timestamptz, stuck_reason = $2::text
where card_id = $3::json ->> 0 and attempts = $4::int4 and wake_at is not null;

-- postpone_charge_undo
update charge_undo set wake_at = $1::timestamptz, stuck_reason = $2::text
where invoice_id = $3::json ->> 0 and payment_id = $3::json ->> 1 and operation = $3::json ->> 2 and attempts = $4::int4 and wake_at is not null;

-- postpone_destination
update destination set wake_at = $1::timestamptz, stuck_reason = $2::text
where destination_id = $3::json ->> 0 and attempts = $4::int4 and wake_at is not null;

-- postpone_export
update export set wake_at = $1::timestamptz, stuck_reason = $2::text
where party_id = $3::json ->> 0 and export_id = $3::json ->> 1 and attempts = $4::int4 and wake_at is not null;

-- postpone_invoice
update invoice set wake_at = $1::timestamptz, stuck_reason = $2::text
where invoice_id = $3::json ->> 0 and attempts = $4::int4 and wake_at is not null;

-- postpone_payer_email
update payer_email set wake_at = $1::timestamptz, stuck_reason = $2::text
where invoice_id = $3::json ->> 0 and payment_id = $3::json ->> 1 and attempts = $4::int4 and wake_at is not null;

-- postpone_payment
update payment set wake_at = $1::timestamptz, stuck_reason = $2::text
where invoice_id = $3::json ->> 0 and payment_id = $3::json ->> 1 and attempts = $4::int4 and wake_at is not null;

-- postpone_series
update series set wake_at = $1::timestamptz, stuck_reason = $2::text
where series_id = $3::json ->> 0 and attempts = $4::int4 and wake_at is not null;

-- postpone_subscription
update subscription set wake_at = $1::timestamptz, stuck_reason = $2::text
where subscription_id = $3::json ->> 0 and attempts = $4::int4 and wake_at is not null;

-- postpone_withdrawal
update withdrawal set wake_at = $1::timestamptz, stuck_reason = $2::text
where withdrawal_id = $3::json ->> 0 and attempts = $4::int4 and wake_at is not null;

-- purge_console_sessions
delete from console_session where created_at < $1::timestamptz;

-- purge_webhook_attempts
delete from webhook_attempt as attempt using (
select webhook_id, attempted_at, aggregate_id, position, attempt from webhook_attempt
where attempted_at < $1::timestamptz limit $2::int4
) as old
where attempt.webhook_id = old.webhook_id and attempt.attempted_at = old.attempted_at
and attempt.aggregate_id = old.aggregate_id and attempt.position = old.position
and attempt.attempt = old.attempt
returning attempt.webhook_id;

-- purge_webhook_messages
delete from webhook_message as message using (
select aggregate_id, position from webhook_message as kept where created_at < $1::timestamptz and not exists (
select from webhook_queue as queue where queue.aggregate_id = kept.aggregate_id
and (wake_at is not null or stuck_at is not null))
limit $2::int4
) as old
where message.aggregate_id = old.aggregate_id and message.position = old.position
returning message.aggregate_id;

-- purge_webhook_queues
delete from webhook_queue where (aggregate_id, webhook_id) in (
select aggregate_id, webhook_id from webhook_queue as queue
where not exists (select from webhook where webhook.webhook_id = queue.webhook_id) limit $1::int4)
returning aggregate_id;

-- put_back_binding
update binding set wake_at = $1::timestamptz, stuck_reason = $2::text, attempts = greatest(attempts - 1, 1)
where customer_id = $3::json ->> 0 and binding_id = $3::json ->> 1 and attempts = $4::int4 and wake_at is not null;

-- put_back_card
update card set wake_at = $1::timestamptz, stuck_reason = $2::text, attempts = greatest(attempts - 1, 1)
where card_id = $3::json ->> 0 and attempts = $4::int4 and wake_at is not null;

-- put_back_charge_undo
update charge_undo set wake_at = $1::timestamptz, stuck_reason = $2::text, attempts = greatest(attempts - 1, 1)
where invoice_id = $3::json ->> 0 and payment_id = $3::json ->> 1 and operation = $3::json ->> 2 and attempts = $4::int4 and wake_at is not null;

-- put_back_destination
update destination set wake_at = $1::timestamptz, stuck_reason = $2::text, attempts = greatest(attempts - 1, 1)
where destination_id = $3::json ->> 0 and attempts = $4::int4 and wake_at is not null;

-- put_back_export
update export set wake_at = $1::timestamptz, stuck_reason = $2::text, attempts = greatest(attempts - 1, 1)
where party_id = $3::json ->> 0 and export_id = $3::json ->> 1 and attempts = $4::int4 and wake_at is not null;

-- put_back_invoice
update invoice set wake_at = $1::timestamptz, stuck_reason = $2::text, attempts = greatest(attempts - 1, 1)
where invoice_id = $3::json ->> 0 and attempts = $4::int4 and wake_at is not null;

-- put_back_payer_email
update payer_email set wake_at = $1::timestamptz, stuck_reason = $2::text, attempts = greatest(attempts - 1, 1)
where invoice_id = $3::json ->> 0 and payment_id = $3::json ->> 1 and attempts = $4::int4 and wake_at is not null;

-- put_back_payment
update payment set wake_at = $1::timestamptz, stuck_reason = $2::text, attempts = greatest(attempts - 1, 1)
where invoice_id = $3::json ->> 0 and payment_id = $3::json ->> 1 and attempts = $4::int4 and wake_at is not null;

-- put_back_series
update series set wake_at = $1::timestamptz, stuck_reason = $2::text, attempts = greatest(attempts - 1, 1)
where series_id = $3::json ->> 0 and attempts = $4::int4 and wake_at is not null;

-- put_back_subscription
update subscription set wake_at = $1::timestamptz, stuck_reason = $2::text, attempts = greatest(attempts - 1, 1)
where subscription_id = $3::json ->> 0 and attempts = $4::int4 and wake_at is not null;

-- put_back_withdrawal
update withdrawal set wake_at = $1::timestamptz, stuck_reason = $2::text, attempts = greatest(attempts - 1, 1)
where withdrawal_id = $3::json ->> 0 and attempts = $4::int4 and wake_at is not null;

-- put_branding
insert into branding (party_id, shop_id, accent, logo, terms_url, privacy_url)
values ($1::text, $2::text, $3::text, $4::bytea, $5::text, $6::text)
on conflict (party_id, shop_id) do update set
accent = excluded.accent, logo = excluded.logo,
terms_url = excluded.terms_url, privacy_url = excluded.privacy_url;

-- put_payout_terminals_first
update payout_terminal set priority = case when bank_id = $1::text then $2::int4 else $2::int4 + 1 end
where party_id = $3::text and priority in ($2::int4, $2::int4 + 1);

-- put_recurring_settings
insert into recurring_settings (party_id, shop_id, settings) values ($1::text, $2::text, $3::json)
on conflict (party_id, shop_id) do update set settings = excluded.settings;

-- put_shop_guards
insert into shop_guard as earlier (party_id, shop_id, bin, mode, since, until, approved, declined)
select party_id, shop_id, bin, mode, since, until, approved, declined
from json_to_recordset($1::json) as new (party_id text, shop_id text, bin text, mode text, since timestamptz,
until timestamptz, approved int8, declined int8)
order by party_id, shop_id, bin
on conflict (party_id, shop_id, bin) do update
set mode = excluded.mode, since = excluded.since, until = excluded.until, approved = excluded.approved,
declined = excluded.declined
where earlier.until <= excluded.since or earlier.mode < excluded.mode
returning party_id, shop_id, bin;

-- put_terminals_first
update terminal set priority = case when bank_id = $1::text then $2::int4 else $2::int4 + 1 end
where party_id = $3::text and priority in ($2::int4, $2::int4 + 1);

-- read_accepted_delivery
select exists (
select from webhook_queue as queue cross join lateral (
select from webhook_attempt
where webhook_attempt.webhook_id = queue.webhook_id and webhook_attempt.aggregate_id = $1::text
and position >= $2::int8 and position < $3::int8 and status between 200 and 299
and event_type in (select json_array_elements_text($4::json))
limit 1
) as accepted
where queue.aggregate_id = $1::text
) as accepted;

-- read_active_card_of_customer
select status, active_binding_id from customer where customer_id = $1::text;

-- read_active_card_of_customer_together
select asker, found.*
from json_to_recordset($1::json) as asked (asker int4, customer_id text)
cross join lateral (select status, active_binding_id from customer where customer_id = asked.customer_id offset 0) as found;

-- read_api_key
select key_id, party_id, name, livemode, scopes, created_at, expires_at, revoked_at, secret_hash, key_version from api_key where key_id = $1::text;

-- read_api_key_together
select asker, found.*
from json_to_recordset($1::json) as asked (asker int4, key_id text)
cross join lateral (select key_id, party_id, name, livemode, scopes, created_at, expires_at, revoked_at, secret_hash, key_version from api_key where key_id = asked.key_id offset 0) as found;

-- read_bank
select url, secret_ciphertext, key_version, stopped_at is not null as is_stopped, charges_held_until,
case when starts_with(abilities, url || ' ') then substr(abilities, length(url) + 2) end as abilities
from bank where bank_id = $1::text;

-- read_bank_to_watch
select bank_id, updates_cursor, report_cursor, is_shared, stopped_at from bank where bank_id = $1::text;

-- read_binding
select binding.customer_id, binding.binding_id, binding.party_id, binding.shop_id, binding.version, binding.number, binding.status, binding.created_at, binding.amount_minor, binding.currency, binding.terms, binding.state, binding.external_id, binding.refund_due_at, series_id, customer.status as customer_status, customer.active_binding_id, customer.version as customer_version from binding join customer using (customer_id)
where customer_id = $1::text and binding_id = $2::text;

-- read_binding_by_external_id
select entity_id, claim.fingerprint as request_fingerprint
from external_id as claim 
where claim.party_id = $1::text and claim.operation = 'createBinding' and claim.external_id = $2::text;

-- read_binding_of_customer
select customer.changed_at, binding.customer_id, binding.binding_id, binding.party_id, binding.shop_id, binding.version, binding.number, binding.status, binding.created_at, binding.amount_minor, binding.currency, binding.terms, binding.state, binding.external_id, binding.refund_due_at, series_id, customer.status as customer_status, customer.active_binding_id, customer.version as customer_version, (
select before.binding_id from binding as before
where before.customer_id = customer.customer_id and before.bound_at_version is not null
and before.binding_id <> $1::text
order by before.bound_at_version desc limit 1
) as bound_before
from customer
left join binding on binding.customer_id = customer.customer_id and binding.binding_id = $1::text
where customer.customer_id = $2::text and customer.party_id = $3::text
and customer.status <> 'deleted';

-- read_binding_of_customer_together
select asker, found.*
from json_to_recordset($1::json) as asked (asker int4, customer_id text, party_id text, binding_id text)
cross join lateral (select customer.changed_at, binding.customer_id, binding.binding_id, binding.party_id, binding.shop_id, binding.version, binding.number, binding.status, binding.created_at, binding.amount_minor, binding.currency, binding.terms, binding.state, binding.external_id, binding.refund_due_at, series_id, customer.status as customer_status, customer.active_binding_id, customer.version as customer_version, (
select before.binding_id from binding as before
where before.customer_id = customer.customer_id and before.bound_at_version is not null
and before.binding_id <> asked.binding_id
order by before.bound_at_version desc limit 1
) as bound_before
from customer
left join binding on binding.customer_id = customer.customer_id and binding.binding_id = asked.binding_id
where customer.customer_id = asked.customer_id and customer.party_id = asked.party_id
and customer.status <> 'deleted' offset 0) as found;

-- read_binding_together
select asker, found.*
from json_to_recordset($1::json) as asked (asker int4, customer_id text, binding_id text)
cross join lateral (select binding.customer_id, binding.binding_id, binding.party_id, binding.shop_id, binding.version, binding.number, binding.status, binding.created_at, binding.amount_minor, binding.currency, binding.terms, binding.state, binding.external_id, binding.refund_due_at, series_id, customer.status as customer_status, customer.active_binding_id, customer.version as customer_version from binding join customer using (customer_id)
where customer_id = asked.customer_id and binding_id = asked.binding_id offset 0) as found;

-- read_bindings_of_customer
select binding.customer_id, binding.binding_id, binding.party_id, binding.shop_id, binding.version, binding.number, binding.status, binding.created_at, binding.amount_minor, binding.currency, binding.terms, binding.state, binding.external_id, binding.refund_due_at, series_id, customer.status as customer_status, customer.active_binding_id, customer.version as customer_version
from customer left join lateral (
select * from binding
where binding.customer_id = customer.customer_id and number > $1::int4
order by number limit $2::int4
) as binding on true
where customer.customer_id = $3::text and customer.party_id = $4::text
and customer.status <> 'deleted'
order by number;

-- read_bindings_of_series
select binding_id from binding
where customer_id = $1::text and status = 'succeeded'
and (series_id = $2::text or series_id is null);

-- read_bound_series
select distinct series_id, case when series_id is null then binding_id end as binding_id
from binding where customer_id = $1::text and status = 'succeeded';

-- read_branding
select accent, logo, terms_url, privacy_url from branding where party_id = $1::text and shop_id = $2::text;

-- read_card_by_external_id
select card.card_id, card.party_id, card.session_id, card.made_for_kind, card.made_for_id, card.purpose, card.valid_until, card.payment_system, card.mask, card.client_info, card.fingerprint, card.fingerprint_key_version, card.match_hash, claim.fingerprint as request_fingerprint
from external_id as claim join card on card_id = entity_id 
where claim.party_id = $1::text and claim.operation = 'createPaymentResource' and claim.external_id = $2::text;

-- read_card_of_party
select card_id, party_id, session_id, made_for_kind, made_for_id, purpose, valid_until, payment_system, mask, client_info, fingerprint, fingerprint_key_version, match_hash from card where card_id = $1::text and party_id = $2::text;

-- read_card_of_party_together
select asker, found.*
from json_to_recordset($1::json) as asked (asker int4, card_id text, party_id text)
cross join lateral (select card_id, party_id, session_id, made_for_kind, made_for_id, purpose, valid_until, payment_system, mask, client_info, fingerprint, fingerprint_key_version, match_hash from card where card_id = asked.card_id and party_id = asked.party_id offset 0) as found;

-- read_cards_of_destinations
select distinct card_token from destination where card_token in (select json_array_elements_text($1::json));

-- read_categories
select category_id, name, description from category order by category_id;

-- read_changed_for_lists
with found as materialized (
select * from (
(select aggregate, aggregate_id, written_in from event where written_in = any (array(select pg_snapshot_xip(($1::text)::pg_snapshot))) and written_in < ($2::text)::xid8 and (aggregate = 'customer'
or aggregate = 'series' and facts::text ~ '"(series_started|series_stopped|consent_withdrawn|consent_renewed)"') order by written_in fetch first ($3::int4) rows with ties)
union all
(select aggregate, aggregate_id, written_in from event where written_in >= pg_snapshot_xmax(($1::text)::pg_snapshot) and written_in < ($2::text)::xid8 and (aggregate = 'customer'
or aggregate = 'series' and facts::text ~ '"(series_started|series_stopped|consent_withdrawn|consent_renewed)"') order by written_in fetch first ($3::int4) rows with ties)
) as unseen order by written_in fetch first ($3::int4) rows with ties
)
select pg_current_snapshot()::text as snapshot, count(*) as found, max(written_in)::text as found_until,
array_to_json(array_agg(distinct aggregate_id) filter (where aggregate = 'customer')) as customer_ids,
array_to_json(array_agg(distinct aggregate_id) filter (where aggregate = 'series')) as series_ids
from found;

-- read_changed_for_searches
with found as materialized (
select * from (
(select aggregate, aggregate_id, written_in from event where written_in = any (array(select pg_snapshot_xip(($1::text)::pg_snapshot))) and aggregate in ('invoice', 'withdrawal') order by written_in fetch first ($2::int4) rows with ties)
union all
(select aggregate, aggregate_id, written_in from event where written_in >= pg_snapshot_xmax(($1::text)::pg_snapshot) and aggregate in ('invoice', 'withdrawal') order by written_in fetch first ($2::int4) rows with ties)
) as unseen order by written_in fetch first ($2::int4) rows with ties
), reached as materialized (
select count(*) as found, max(written_in)::text as found_until from found
), changed as materialized (
select aggregate, aggregate_id, array_agg(written_in) as transactions,
case when aggregate = 'invoice' and (select found from reached) < $2::int4
and not bool_or(pg_visible_in_snapshot(written_in, ($3::text)::pg_snapshot))
then exists (select from payment where invoice_id = aggregate_id and status in ('authorising', 'reversing', 'capturing', 'cancelling', 'refunding') offset 0)
else false end as waits
from found group by aggregate, aggregate_id
)
select pg_current_snapshot()::text as snapshot, found, found_until,
(select array_to_json(array_agg(aggregate_id)) from changed where aggregate = 'invoice' and not waits) as invoice_ids,
(select array_to_json(array_agg(aggregate_id)) from changed where aggregate = 'withdrawal') as withdrawal_ids,
(select array_to_json(array_agg(distinct number::text)) from changed cross join unnest(transactions) as number
where waits) as waiting
from reached;

-- read_charge_history
select
series.series_id, series.party_id, series.shop_id, series.version, series.status, series.card_key, series.card_token, series.chain, series.terms, series.state, series.changed_at,
(select settings from recurring_settings as wish
where wish.party_id = series.party_id and wish.shop_id = series.shop_id) as settings, card_stops,
(select max(created_at) from series_attempt where series_id = $1::text and outcome <> 'unsent'
and decline_class is distinct from 'configuration') as last_attempt_at,
others.captured_at as last_captured_at, others.held_until,
exists (select from series_attempt where series_id = $1::text and outcome = 'pending') as is_pending,
exists (select from series_attempt where series_id = $1::text and invoice_id = $2::text
and obligation_ended_at is not null) as has_obligation_ended,
stop.stopped_at, stop.rule as stop_rule, stop.pack as stop_pack, stop.decline_class as stop_class,
ended.ended_at as charge_stopped_at, ended.rule as charge_rule, ended.pack as charge_pack,
ended.decline_class as charge_class,
(select decline_class from series_attempt
where series_id = $1::text and invoice_id = $2::text and outcome <> 'unsent'
order by created_at desc limit 1) as invoice_class,
(select json_agg(json_build_object('at', attempted_at::text, 'isOfCharge', coalesce(
by_merchant and decline.party_id = series.party_id and decline.shop_id = series.shop_id
and currency = $3::text and amount_minor = $4::int8, false)) order by attempted_at)
from card_decline as decline
where decline.card_key = series.card_key and attempted_at > $5::timestamptz) as declines
from series
left join lateral (
select stopped_at, rule, pack, decline_class from card_stop
where card_stop.card_key = series.card_key
and (everywhere or card_stop.party_id = series.party_id and card_stop.shop_id = series.shop_id)
and (not is_of_charge or card_stop.invoice_id = $2::text)
order by stopped_at desc limit 1
) as stop on true
left join lateral (
select stopped_at as ended_at, rule, pack, decline_class from invoice_stop where invoice_id = $2::text
union all
select ended_at, rule, pack, decline_class from series_attempt
where series_id = $1::text and invoice_id = $2::text and effect = 'stop charge'
order by ended_at desc limit 1
) as ended on true
left join lateral (
select max(captured_at) as captured_at, max(held_until) as held_until from series_attempt
where series_id = $1::text and invoice_id is distinct from $2::text
) as others on true
where series_id = $1::text;

-- read_charge_history_together
select asker, found.*
from json_to_recordset($1::json) as asked (asker int4, series_id text, invoice_id text, amount_minor int8, currency text, declines_after timestamptz)
cross join lateral (
select
series.series_id, series.party_id, series.shop_id, series.version, series.status, series.card_key, series.card_token, series.chain, series.terms, series.state, series.changed_at,
(select settings from recurring_settings as wish
where wish.party_id = series.party_id and wish.shop_id = series.shop_id) as settings, card_stops,
(select max(created_at) from series_attempt where series_id = asked.series_id and outcome <> 'unsent'
and decline_class is distinct from 'configuration') as last_attempt_at,
others.captured_at as last_captured_at, others.held_until,
exists (select from series_attempt where series_id = asked.series_id and outcome = 'pending') as is_pending,
exists (select from series_attempt where series_id = asked.series_id and invoice_id = asked.invoice_id
and obligation_ended_at is not null) as has_obligation_ended,
stop.stopped_at, stop.rule as stop_rule, stop.pack as stop_pack, stop.decline_class as stop_class,
ended.ended_at as charge_stopped_at, ended.rule as charge_rule, ended.pack as charge_pack,
ended.decline_class as charge_class,
(select decline_class from series_attempt
where series_id = asked.series_id and invoice_id = asked.invoice_id and outcome <> 'unsent'
order by created_at desc limit 1) as invoice_class,
(select json_agg(json_build_object('at', attempted_at::text, 'isOfCharge', coalesce(
by_merchant and decline.party_id = series.party_id and decline.shop_id = series.shop_id
and currency = asked.currency and amount_minor = asked.amount_minor, false)) order by attempted_at)
from card_decline as decline
where decline.card_key = series.card_key and attempted_at > asked.declines_after) as declines
from series
left join lateral (
select stopped_at, rule, pack, decline_class from card_stop
where card_stop.card_key = series.card_key
and (everywhere or card_stop.party_id = series.party_id and card_stop.shop_id = series.shop_id)
and (not is_of_charge or card_stop.invoice_id = asked.invoice_id)
order by stopped_at desc limit 1
) as stop on true
left join lateral (
select stopped_at as ended_at, rule, pack, decline_class from invoice_stop where invoice_id = asked.invoice_id
union all
select ended_at, rule, pack, decline_class from series_attempt
where series_id = asked.series_id and invoice_id = asked.invoice_id and effect = 'stop charge'
order by ended_at desc limit 1
) as ended on true
left join lateral (
select max(captured_at) as captured_at, max(held_until) as held_until from series_attempt
where series_id = asked.series_id and invoice_id is distinct from asked.invoice_id
) as others on true
where series_id = asked.series_id offset 0) as found;

-- read_chargeable_customer
select binding.customer_id, binding.binding_id, binding.party_id, binding.shop_id, binding.version, binding.number, binding.status, binding.created_at, binding.amount_minor, binding.currency, binding.terms, binding.state, binding.external_id, binding.refund_due_at, customer.shop_id as of_shop, series_id, contact_info,
customer.active_binding_id is not null as is_ready
from customer left join binding
on binding.customer_id = customer.customer_id and binding.binding_id = customer.active_binding_id
where customer.customer_id = $1::text and customer.party_id = $2::text
and customer.status <> 'deleted';

-- read_consent_link
select consent_link_id, party_id, shop_id, series_id, terms, language, redirect_url, external_id, created_at, expires_at, customer_id, binding_id, cancelled_at from consent_link where consent_link_id = $1::text;

-- read_consent_link_by_external_id
select consent_link.consent_link_id, consent_link.party_id, consent_link.shop_id, consent_link.series_id, consent_link.terms, consent_link.language, consent_link.redirect_url, consent_link.external_id, consent_link.created_at, consent_link.expires_at, consent_link.customer_id, consent_link.binding_id, consent_link.cancelled_at, claim.fingerprint as request_fingerprint
from external_id as claim join consent_link on consent_link_id = entity_id 
where claim.party_id = $1::text and claim.operation = 'createConsentLink' and claim.external_id = $2::text;

-- read_contradictions
select bank_id, note_key, operation_id, what, heard, meaning, noted_at from exchange_note
where meaning in ('waits', 'contradiction') and meaning = 'contradiction'
and ($1::text is null or bank_id = $1::text)
order by noted_at desc, note_key limit $2::int4;

-- read_customer_by_external_id
select customer.customer_id, customer.party_id, customer.shop_id, customer.version, customer.status, customer.active_binding_id, customer.created_at, customer.contact_info, customer.metadata, customer.external_id, customer.bindings_made, customer.changed_at, claim.fingerprint as request_fingerprint
from external_id as claim join customer on customer_id = entity_id 
where claim.party_id = $1::text and claim.operation = 'createCustomer' and claim.external_id = $2::text;

-- read_customer_events
select event.sequence, event.created_at, event.facts
from customer left join lateral (
select sequence, created_at, facts from event
where aggregate_id = customer_id and sequence > $1::int8
order by sequence limit $2::int4
) as event on true
where customer_id = $3::text and party_id = $4::text and status <> 'deleted'
order by event.sequence;

-- read_customer_of_party
select customer_id, party_id, shop_id, version, status, active_binding_id, created_at, contact_info, metadata, external_id, bindings_made, changed_at from customer
where customer_id = $1::text and party_id = $2::text and status <> 'deleted';

-- read_customer_of_party_together
select asker, found.*
from json_to_recordset($1::json) as asked (asker int4, customer_id text, party_id text)
cross join lateral (select customer_id, party_id, shop_id, version, status, active_binding_id, created_at, contact_info, metadata, external_id, bindings_made, changed_at from customer
where customer_id = asked.customer_id and party_id = asked.party_id and status <> 'deleted' offset 0) as found;

-- read_customer_of_payer
select customer_id, party_id, shop_id, version, status, active_binding_id, created_at, contact_info, metadata, external_id, bindings_made, changed_at, exists (
select from binding where binding.customer_id = customer.customer_id
and binding.status not in ('succeeded', 'withdrawn', 'failed')
) as is_binding
from customer where customer_id = $1::text;

-- read_customers_to_import_for
select customer_id, party_id, shop_id, version, status, active_binding_id, contact_info, bindings_made, changed_at
from json_array_elements_text($1::json) as asked (id) join customer on customer_id = asked.id
where status <> 'deleted';

-- read_data_keys
select purpose, key_version, wrapped, master_key_id, form from data_key;

-- read_declined_shops
with guarded as (
select party_id, shop_id, bin, date_trunc('minute', since) + interval '1 minute' as since from shop_guard where until > $1::timestamptz
), outcome as (
select outcome.party_id, outcome.shop_id, outcome.bin, approved, declined, minute < $2::timestamptz as is_usual,
minute >= greatest(date_trunc('minute', $2::timestamptz), of_shop.since, of_bin.since) as is_recent
from shop_outcome as outcome
left join guarded as of_shop on of_shop.party_id = outcome.party_id and of_shop.shop_id = outcome.shop_id and of_shop.bin = ''
left join guarded as of_bin
on of_bin.party_id = outcome.party_id and of_bin.shop_id = outcome.shop_id and of_bin.bin = outcome.bin
where (outcome.party_id, outcome.shop_id) in (
select party_id, shop_id from shop_outcome where minute >= date_trunc('minute', $2::timestamptz)
group by party_id, shop_id having sum(declined) > $3::int4
)
), of_bin as (
select party_id, shop_id, bin,
coalesce(sum(outcome.approved) filter (where is_recent), 0)::int8 as approved,
coalesce(sum(outcome.declined) filter (where is_recent), 0)::int8 as declined,
coalesce(sum(outcome.approved) filter (where is_usual), 0)::int8 as usual_approved,
coalesce(sum(outcome.declined) filter (where is_usual), 0)::int8 as usual_declined
from outcome group by party_id, shop_id, bin
)
select party_id, shop_id, bin, approved, declined, usual_approved, usual_declined from of_bin where declined > $3::int4
union all
select party_id, shop_id, '', sum(approved)::int8, sum(least(declined, $4::int4))::int8, sum(usual_approved)::int8,
sum(usual_declined)::int8
from of_bin group by party_id, shop_id having sum(least(declined, $4::int4)) > $3::int4;

-- read_deposit
select deposit.deposit_id, deposit.party_id, deposit.wallet_id, deposit.identity_id, deposit.source_id, deposit.created_at, deposit.amount_minor, deposit.currency, deposit.description, deposit.reversed_at, debit_account
from deposit join ledger_transfer on aggregate_id = deposit_id and operation_id = 'deposit' and step = 'deposit'
where deposit_id = $1::text;

-- read_destination
select destination.destination_id, destination.party_id, destination.identity_id, destination.version, destination.name, destination.currency, destination.status, destination.created_at, destination.card_token, destination.card_hash, destination.card, destination.failure, destination.metadata, destination.external_id, provider, sender,
(identity.is_blocked or party.is_blocked or party.is_suspended or returns >= 2) as is_blocked from destination join identity using (identity_id) join party on party.party_id = destination.party_id
where destination_id = $1::text and ($2::text is null or destination.party_id = $2::text);

-- read_destination_by_external_id
select destination.destination_id, destination.party_id, destination.identity_id, destination.version, destination.name, destination.currency, destination.status, destination.created_at, destination.card_token, destination.card_hash, destination.card, destination.failure, destination.metadata, destination.external_id, provider, sender,
(identity.is_blocked or party.is_blocked or party.is_suspended or returns >= 2) as is_blocked, claim.fingerprint as request_fingerprint
from external_id as claim join destination on destination_id = entity_id join identity using (identity_id) join party on party.party_id = destination.party_id
where claim.party_id = $1::text and claim.operation = 'createDestination' and claim.external_id = $2::text;

-- read_destination_events
select event.sequence, event.created_at, event.facts
from destination left join lateral (
select sequence, created_at, facts from event
where aggregate_id = destination_id and sequence > $1::int8
order by sequence limit $2::int4
) as event on true
where destination_id = $3::text and party_id = $4::text and true
order by event.sequence;

-- read_dunning_policy
select policy, created_at from dunning_policy
where party_id = $1::text and shop_id = $2::text and name = $3::text
and version = coalesce($4::int4, version)
order by version desc limit 1;

-- read_earlier_bindings
select (
select created_at from binding
where customer_id = $1::text and $2::int4 is not null
order by number desc offset $2::int4 - 1 limit 1
) as of_customer, (
select created_at from binding
where card_fingerprint = $3::bytea and $4::int4 is not null and created_at > $5::timestamptz
order by created_at desc offset $4::int4 - 1 limit 1
) as with_card;

-- read_encrypted_card
select party_id, purpose, retained_for, ciphertext, key_version from card where card_id = $1::text;

-- read_encrypted_card_together
select asker, found.*
from json_to_recordset($1::json) as asked (asker int4, card_id text)
cross join lateral (select party_id, purpose, retained_for, ciphertext, key_version from card where card_id = asked.card_id offset 0) as found;

-- read_exchange_notes_about
select bank_id, note_key, operation_id, what, heard, meaning, noted_at from exchange_note
where operation_id in (select json_array_elements_text($1::json)) order by noted_at, note_key;

-- read_exchange_sums
select bank_id, hour, kind, state, within_ms, n from exchange_sum where hour >= $1::timestamptz and hour < coalesce($2::timestamptz, 'infinity'::timestamptz) order by bank_id, hour;

-- read_exchanges
select aggregate_id, operation, bank_id, terminal_id, kind, amount_minor, currency, digest, wire_keys, not_after, begun_at, state, answer, heard_at from exchange
where aggregate_id = $1::text and ($2::text is null or operation = $2::text)
order by begun_at, operation;

-- read_exchanges_named
select exchange.aggregate_id, exchange.operation, exchange.bank_id, exchange.terminal_id, exchange.kind, exchange.amount_minor, exchange.currency, exchange.digest, exchange.wire_keys, exchange.not_after, exchange.begun_at, exchange.state, exchange.answer, exchange.heard_at
from json_array_elements_text($1::json) as asked (id)
join exchange on aggregate_id = split_part(id, '.', 1)
and operation = substr(id, length(split_part(id, '.', 1)) + 2);

-- read_export
select party_id, export_id, terms, made_by, created_at, run, row_count, byte_count, as_of, sha256, md5, failure, expires_at from export where party_id = $1::text and export_id = $2::text;

-- read_export_piece
select key_version, content from export_piece
where export_id = $1::text and run = $2::int4 and number = $3::int4;

-- read_first_waiting_refund
select invoice_id, payment_id, refund_id from waiting_refund
where party_id = $1::text and shop_id = $2::text
order by created_at, invoice_id, payment_id, refund_id limit 1;

-- read_has_livemode
select count(*) = 2 as has_livemode from pg_attribute
where attrelid in (to_regclass('api_key'), to_regclass('shop')) and attname = 'livemode' and not attisdropped;

-- read_idempotent_answer
select request_hash, status, body_ciphertext, key_version, warnings from idempotency_key
where owner_id = $1::text and idempotency_key = $2::text;

-- read_identity
select identity_id, party_id, version, name, provider, class, level, is_blocked, created_at, metadata, external_id, effective_challenge, sender from identity
where identity_id = $1::text and ($2::text is null or party_id = $2::text);

-- read_identity_by_external_id
select identity.identity_id, identity.party_id, identity.version, identity.name, identity.provider, identity.class, identity.level, identity.is_blocked, identity.created_at, identity.metadata, identity.external_id, identity.effective_challenge, identity.sender, claim.fingerprint as request_fingerprint
from external_id as claim join identity on identity_id = entity_id 
where claim.party_id = $1::text and claim.operation = 'createIdentity' and claim.external_id = $2::text;

-- read_identity_challenges
select identity_id, challenge_id, type, proofs, status, created_at, failure_reason from identity_challenge
where identity_id = $1::text and ($2::text is null or challenge_id = $2::text)
and ($3::text is null or status = $3::text)
order by created_at, challenge_id limit 1000;

-- read_imported_external_ids
select claim.operation, claim.external_id, entity_id, fingerprint
from (
select 'createBinding' as operation, json_array_elements_text($1::json) as external_id
union select 'createCustomer', json_array_elements_text($2::json)
) as asked
join external_id as claim on claim.operation = asked.operation and claim.external_id = asked.external_id
where claim.party_id = $3::text;

-- read_invoice
select invoice_id, party_id, shop_id, version, status, reason, created_at, due_date, amount_minor, currency, product, description, cart, bank_account, client_info, metadata, external_id, invoice_template_id, recurring, original_minor, subscription_id, payment_in_progress from invoice where invoice_id = $1::text;

-- read_invoice_by_external_id
select invoice.invoice_id, invoice.party_id, invoice.shop_id, invoice.version, invoice.status, invoice.reason, invoice.created_at, invoice.due_date, invoice.amount_minor, invoice.currency, invoice.product, invoice.description, invoice.cart, invoice.bank_account, invoice.client_info, invoice.metadata, invoice.external_id, invoice.invoice_template_id, invoice.recurring, invoice.original_minor, invoice.subscription_id, invoice.payment_in_progress, claim.fingerprint as request_fingerprint
from external_id as claim join invoice on invoice_id = entity_id 
where claim.party_id = $1::text and claim.operation = 'createInvoice' and claim.external_id = $2::text;

-- read_invoice_events
select event.sequence, event.created_at, event.facts
from invoice left join lateral (
select sequence, created_at, facts from event
where aggregate_id = invoice_id and sequence > $1::int8
order by sequence limit $2::int4
) as event on true
where invoice_id = $3::text and party_id = $4::text and true
order by event.sequence;

-- read_invoice_from_template_by_external_id
select invoice.invoice_id, invoice.party_id, invoice.shop_id, invoice.version, invoice.status, invoice.reason, invoice.created_at, invoice.due_date, invoice.amount_minor, invoice.currency, invoice.product, invoice.description, invoice.cart, invoice.bank_account, invoice.client_info, invoice.metadata, invoice.external_id, invoice.invoice_template_id, invoice.recurring, invoice.original_minor, invoice.subscription_id, invoice.payment_in_progress, claim.fingerprint as request_fingerprint
from external_id as claim join invoice on invoice_id = entity_id 
where claim.party_id = $1::text and claim.operation = 'createInvoiceWithTemplate' and claim.external_id = $2::text;

-- read_invoice_of_party
select invoice_id, party_id, shop_id, version, status, reason, created_at, due_date, amount_minor, currency, product, description, cart, bank_account, client_info, metadata, external_id, invoice_template_id, recurring, original_minor, subscription_id, payment_in_progress from invoice where invoice_id = $1::text and party_id = $2::text;

-- read_invoice_of_party_together
select asker, found.*
from json_to_recordset($1::json) as asked (asker int4, invoice_id text, party_id text)
cross join lateral (select invoice_id, party_id, shop_id, version, status, reason, created_at, due_date, amount_minor, currency, product, description, cart, bank_account, client_info, metadata, external_id, invoice_template_id, recurring, original_minor, subscription_id, payment_in_progress from invoice where invoice_id = asked.invoice_id and party_id = asked.party_id offset 0) as found;

-- read_invoice_template
select invoice_template_id, party_id, shop_id, name, description, lifetime, details, metadata, external_id, created_at from invoice_template
where invoice_template_id = $1::text and deleted_at is null;

-- read_invoice_template_by_external_id
select invoice_template.invoice_template_id, invoice_template.party_id, invoice_template.shop_id, invoice_template.name, invoice_template.description, invoice_template.lifetime, invoice_template.details, invoice_template.metadata, invoice_template.external_id, invoice_template.created_at, invoice_template.deleted_at, claim.fingerprint as request_fingerprint
from external_id as claim join invoice_template on invoice_template_id = entity_id 
where claim.party_id = $1::text and claim.operation = 'createInvoiceTemplate' and claim.external_id = $2::text;

-- read_invoice_together
select asker, found.*
from json_to_recordset($1::json) as asked (asker int4, invoice_id text)
cross join lateral (select invoice_id, party_id, shop_id, version, status, reason, created_at, due_date, amount_minor, currency, product, description, cart, bank_account, client_info, metadata, external_id, invoice_template_id, recurring, original_minor, subscription_id, payment_in_progress from invoice where invoice_id = asked.invoice_id offset 0) as found;

-- read_invoices_to_export
with found as materialized (
select shop_id, invoice_id, created_at, status, amount_minor, external_id from unnest(string_to_array($1::text, E'\n')) as shop (id) cross join lateral (
select * from search_invoice as invoice
where party_id = $2::text and shop_id = shop.id  and created_at >= $3::timestamptz
and (created_at, invoice_id) < ($4::timestamptz, $5::text)
and ($6::text is null or invoice_id = $6::text)
and ($7::text is null or external_id = $7::text)
and ($8::int8 is null or amount_minor >= $8::int8)
and ($9::int8 is null or amount_minor <= $9::int8)
and ($10::text is null or status = $10::text)
and ($11::int8 is null or amount_minor = $11::int8)
and (not $12::bool or exists (
select from search_payment as payment
where payment.party_id = $2::text and payment.invoice_id = invoice.invoice_id
and ($13::text is null or payment_id = $13::text)
and ($14::text is null or $14::text <> '' and status = any(string_to_array($14::text, ',')))
and ($15::text is null or flow = $15::text)
and ($16::int8 is null or amount_minor = $16::int8)
and ($17::text is null or customer_id = $17::text)
and ($18::text is null or email = $18::text)
and ($19::text is null or ip = $19::text)
and ($20::text is null or fingerprint = $20::text)
and ($21::text is null or first6 = $21::text)
and ($22::text is null or right(last4, length($22::text)) = $22::text)
and ($23::text is null or payment_system = $23::text)
and ($24::text is null or rrn = $24::text)
and ($25::text is null or approval_code = $25::text) offset 0))
order by created_at desc, invoice_id desc limit $26::int4
) as found_rows
order by created_at desc, invoice_id desc limit $26::int4
)
select found.shop_id, found.invoice_id, found.created_at, found.status, found.amount_minor, found.external_id, invoice.currency, invoice.due_date, invoice.product, invoice.description
from found join invoice using (invoice_id)
order by found.created_at desc, found.invoice_id desc;

-- read_known_series
select series_id from series where series_id in (select json_array_elements_text($1::json));

-- read_last_revoked_binding
select binding_id from binding where customer_id = $1::text and status = 'withdrawn'
order by version desc limit 1;

-- read_late_exchange_hours
select distinct date_trunc('hour', begun_at, 'UTC') as hour from exchange_late order by hour;

-- read_latest_fact
select max(created_at) as at from event, json_array_elements(facts) as fact
where aggregate_id = $1::text and fact::jsonb @> $2::json::jsonb;

-- read_latest_payer_email
select invoice_id, payment_id, party_id, about, series_id, status, created_at, recipient, paid_at, amount_minor, currency, reference, approval_code, content, ended_at, subject, text_body, html_body, refusal from payer_email where invoice_id = $1::text
order by created_at desc, payment_id limit 1;

-- read_ledger_balance
select coalesce(sum(debits_posted), 0)::int8 as debits_posted,
coalesce(sum(credits_posted), 0)::int8 as credits_posted,
coalesce(sum(debits_pending), 0)::int8 as debits_pending,
coalesce(sum(credits_pending), 0)::int8 as credits_pending
from ledger_balance where account_id = $1::text;

-- read_ledger_balances
select account_id, coalesce(sum(debits_posted), 0)::int8 as debits_posted,
coalesce(sum(credits_posted), 0)::int8 as credits_posted,
coalesce(sum(debits_pending), 0)::int8 as debits_pending,
coalesce(sum(credits_pending), 0)::int8 as credits_pending
from ledger_balance where account_id = any(array(select json_array_elements_text($1::json)))
group by account_id;

-- read_ledger_transfers_of
select operation_id, step, phase, split_part(debit_account, ':', 3) as debit, split_part(credit_account, ':', 3) as credit,
case when posted_minor > 0 then posted_minor else abs(pending_minor) end as minor,
split_part(debit_account, ':', 2) as currency, happened_at
from ledger_transfer
where aggregate_id = $1::text
and (operation_id = $2::text or starts_with(operation_id, $2::text || '/'))
order by happened_at, operation_id, step, completes_pending limit 1000;

-- read_ledger_watermark
select nullif(reached_at, '-infinity') as reached_at from ledger_watermark;

-- read_limits_resets
select resets from limits_reset;

-- read_logs
select event.aggregate_id, event.aggregate, event.sequence, event.created_at, event.facts, numbers.base,
(select json_object_agg(position, body) from webhook_message as message
where message.aggregate_id = event.aggregate_id
and position between event.sequence * 8 and event.sequence * 8 + 7) as bodies
from event left join webhook_event_number as numbers
on numbers.aggregate_id = event.aggregate_id and numbers.chunk = event.sequence / 64
where event.aggregate_id in (select json_array_elements_text($1::json))
order by event.aggregate_id, event.sequence;

-- read_modes
select exists (select from api_key where livemode) or exists (select from shop where livemode) as is_live,
count(*) as test_keys, min(party_id) as party_id
from api_key
where not livemode and revoked_at is null and (expires_at is null or expires_at > $1::timestamptz);

-- read_new_events
with found as materialized (
select * from (
(select aggregate_id, written_in from event where written_in = any (array(select pg_snapshot_xip(($1::text)::pg_snapshot))) and case when $2::text is null
then exists (select from webhook where webhook.party_id = event.party_id)
else event.party_id = $2::text end order by written_in fetch first ($3::int4) rows with ties)
union all
(select aggregate_id, written_in from event where written_in >= pg_snapshot_xmax(($1::text)::pg_snapshot) and case when $2::text is null
then exists (select from webhook where webhook.party_id = event.party_id)
else event.party_id = $2::text end order by written_in fetch first ($3::int4) rows with ties)
) as unseen order by written_in fetch first ($3::int4) rows with ties
), reached as (
select count(*) as found, max(written_in) as until from found
)
select pg_current_snapshot()::text as snapshot,
pg_snapshot_xmax(($1::text)::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot()) as is_behind,
reached.found, reached.until::text as found_until,
fresh.aggregate_id, fresh.aggregate, fresh.party_id, fresh.sequence, fresh.written_in::text as written_in,
fresh.facts, fresh.first_facts
from reached left join lateral (
select event.aggregate_id, event.aggregate, event.party_id, event.sequence, event.written_in, event.facts,
first.facts as first_facts
from (select distinct aggregate_id from found) as touched
join event on event.aggregate_id = touched.aggregate_id
and not pg_visible_in_snapshot(event.written_in, ($1::text)::pg_snapshot)
join event as first on first.aggregate_id = event.aggregate_id and first.sequence = 1
) as fresh on true
order by fresh.aggregate_id, fresh.sequence;

-- read_newest_migration
select max(number) as newest from migration;

-- read_obligation
select
coalesce(bool_or(obligation_ended_at is null) filter (where invoice_id = $1::text)
and not bool_or(captured_at is not null) filter (where invoice_id = $1::text), false) as is_open,
min(ended_at) filter (where invoice_id <> $1::text and obligation_ended_at is null
and outcome in ('declined', 'lost') and decline_class is distinct from 'configuration' and ended_at >= $2::timestamptz
and not coalesce(is_retry and created_at <= $3::timestamptz, false)) as others_failed_at,
max(created_at) filter (where outcome <> 'unsent' and decline_class is distinct from 'configuration') as last_attempt_at
from series_attempt where series_id = $4::text;

-- read_offered_consent_link
select consent_link.consent_link_id, consent_link.party_id, consent_link.shop_id, consent_link.series_id, consent_link.terms, consent_link.language, consent_link.redirect_url, consent_link.external_id, consent_link.created_at, consent_link.expires_at, consent_link.customer_id, consent_link.binding_id, consent_link.cancelled_at, claim.fingerprint as request_fingerprint
from external_id as claim join consent_link on consent_link_id = entity_id 
where claim.party_id = $1::text and claim.operation = 'offerConsentLink' and claim.external_id = $2::text;

-- read_oldest_pending_refund
select min(refund.created_at) as since
from (
select invoice_id, payment_id from payment where wake_at <= $1::timestamptz and status = 'refunding'
union all
select invoice_id, payment_id from payment where stuck_at is not null and status = 'refunding'
) as open
join refund using (invoice_id, payment_id)
where refund.status = 'pending' and refund.waits_until is null;

-- read_oldest_sending_withdrawal
select min(created_at) as since
from (
select created_at from withdrawal where wake_at is not null and status = 'sending'
union all
select created_at from withdrawal where stuck_at is not null and status = 'sending'
) as open;

-- read_oldest_unknown_payment
select min(event.created_at) as since
from (
select invoice_id, payment_id from payment where wake_at <= $1::timestamptz and status in ('authorising', 'reversing', 'capturing', 'cancelling')
union all
select invoice_id, payment_id from payment where stuck_at is not null and status in ('authorising', 'reversing', 'capturing', 'cancelling')
) as open
join invoice using (invoice_id)
join event on aggregate_id = invoice_id and sequence = invoice.version;

-- read_oldest_unseen_of_lists
select created_at from event where written_in >= (select pg_snapshot_xmin(seen::pg_snapshot) from search_list_position)
and not pg_visible_in_snapshot(written_in, (select seen::pg_snapshot from search_list_position))
and (aggregate = 'customer'
or aggregate = 'series' and facts::text ~ '"(series_started|series_stopped|consent_withdrawn|consent_renewed)"') order by written_in limit 1;

-- read_oldest_unseen_of_searches
select created_at from event where aggregate in ('invoice', 'withdrawal')
and written_in >= (select pg_snapshot_xmin(seen::pg_snapshot) from search_position)
and not pg_visible_in_snapshot(written_in, (select seen::pg_snapshot from search_position)) order by written_in limit 1;

-- read_open_wallet_grants
select grant_id, valid_until from payout_grant
where kind = 'wallet' and entity_id = $1::text and used_by is null and valid_until > $2::timestamptz
and currency = $3::text and amount_minor >= $4::int8
order by grant_id limit 100;

-- read_outbox
select invoice_id, payment_id, party_id, about, series_id, status, created_at, recipient, paid_at, amount_minor, currency, reference, approval_code, content, ended_at, subject, text_body, html_body, refusal from payer_email
where party_id = $1::text and ($2::text is null or invoice_id = $2::text or content ->> 'invoiceId' = $2::text)
order by created_at desc, about, invoice_id, payment_id limit $3::int4;

-- read_overdraft
select overdraft_minor from ledger_account where account_id = $1::text;

-- read_paid_period_of_invoice
select number, kind, starts_on, ends_on, starts_at, ends_at, due_at, lines, amount_minor, credit_minor, outcome, invoice_id, (
select max(ends_at) from subscription_period
where subscription_id = $1::text and outcome = 'paid' and invoice_id is distinct from $2::text
) as paid_through
from subscription_period
where subscription_id = $1::text and invoice_id = $2::text;

-- read_party
select party_id, name, is_blocked, is_suspended, coalesce(offset_ms, 0) as offset_ms
from party left join test_clock using (party_id)
where party_id = $1::text;

-- read_party_together
select asker, found.*
from json_to_recordset($1::json) as asked (asker int4, party_id text)
cross join lateral (select party_id, name, is_blocked, is_suspended, coalesce(offset_ms, 0) as offset_ms
from party left join test_clock using (party_id)
where party_id = asked.party_id offset 0) as found;

-- read_payable_invoice
select shop_id, version, status, amount_minor, currency, due_date, payment_in_progress, payments_made, payer_attempts,
created_at, changed_at, recurring, subscription_id
from invoice where invoice_id = $1::text and party_id = $2::text;

-- read_payable_invoice_together
select asker, found.*
from json_to_recordset($1::json) as asked (asker int4, invoice_id text, party_id text)
cross join lateral (select shop_id, version, status, amount_minor, currency, due_date, payment_in_progress, payments_made, payer_attempts,
created_at, changed_at, recurring, subscription_id
from invoice where invoice_id = asked.invoice_id and party_id = asked.party_id offset 0) as found;

-- read_payer_attempts
select subject, json_build_object(
'open', array(select instant_text(at) from unnest(open) as at order by at desc),
'declined', array(select instant_text(at) from unnest(declined) as at order by at desc),
'mismatched', array(select instant_text(at) from unnest(mismatched) as at order by at desc),
'paid', array(select instant_text(at) from unnest(paid) as at order by at desc)) as times
from payer_attempt where subject in ($1::bytea, $2::bytea);

-- read_payer_email
select invoice_id, payment_id, party_id, about, series_id, status, created_at, recipient, paid_at, amount_minor, currency, reference, approval_code, content, ended_at, subject, text_body, html_body, refusal from payer_email where invoice_id = $1::text and payment_id = $2::text;

-- read_payer_emails_of
select payer_email.invoice_id, payer_email.payment_id, payer_email.party_id, payer_email.about, payer_email.series_id, payer_email.status, payer_email.created_at, payer_email.recipient, payer_email.paid_at, payer_email.amount_minor, payer_email.currency, payer_email.reference, payer_email.approval_code, payer_email.content, payer_email.ended_at, payer_email.subject, payer_email.text_body, payer_email.html_body, payer_email.refusal
from json_to_recordset($1::json) as asked (invoice_id text, payment_id text)
join payer_email using (invoice_id, payment_id);

-- read_payment
select payment.invoice_id, payment.payment_id, payment.party_id, payment.shop_id, payment.version, payment.status, payment.created_at, payment.amount_minor, payment.currency, payment.captured_minor, payment.refunded_minor, payment.terms, payment.state, payment.external_id, invoice.changed_at, unsent_attempts from payment join invoice using (invoice_id)
where invoice_id = $1::text and payment_id = $2::text;

-- read_payment_by_external_id
select payment.invoice_id, payment.payment_id, payment.party_id, payment.shop_id, payment.version, payment.status, payment.created_at, payment.amount_minor, payment.currency, payment.captured_minor, payment.refunded_minor, payment.terms, payment.state, payment.external_id, claim.fingerprint as request_fingerprint
from external_id as claim join payment on invoice_id = split_part(entity_id, '.', 1) and payment_id = split_part(entity_id, '.', 2)
where claim.party_id = $1::text and claim.operation = 'createPayment' and claim.external_id = $2::text;

-- read_payment_together
select asker, found.*
from json_to_recordset($1::json) as asked (asker int4, invoice_id text, payment_id text)
cross join lateral (select payment.invoice_id, payment.payment_id, payment.party_id, payment.shop_id, payment.version, payment.status, payment.created_at, payment.amount_minor, payment.currency, payment.captured_minor, payment.refunded_minor, payment.terms, payment.state, payment.external_id, invoice.changed_at, unsent_attempts from payment join invoice using (invoice_id)
where invoice_id = asked.invoice_id and payment_id = asked.payment_id offset 0) as found;

-- read_payments_of_invoice
select payment.invoice_id is not null as found, payment.invoice_id, payment.payment_id, payment.party_id, payment.shop_id, payment.version, payment.status, payment.created_at, payment.amount_minor, payment.currency, payment.captured_minor, payment.refunded_minor, payment.terms, payment.state, payment.external_id
from invoice left join payment on payment.invoice_id = invoice.invoice_id
where invoice.invoice_id = $1::text and invoice.party_id = $2::text
order by length(payment_id), payment_id;

-- read_payments_to_export
select shop_id, invoice_id, payment_id, created_at, flow, amount_minor, external_id, customer_id, email, ip, fingerprint, first6, last4, payment_system, rrn, approval_code, currency, attempt, decline_class, failure, bank_code, case when status in ('authorising', 'challenged', 'reversing') then 'pending' when status in ('held', 'capturing', 'cancelling') then 'processed' when status in ('captured', 'refunding') then 'captured' when status in ('cancelled') then 'cancelled' when status in ('refunded') then 'refunded' when status in ('failed') then 'failed' end as public_status from unnest(string_to_array($1::text, E'\n')) as shop (id) cross join lateral (
select * from search_payment
where party_id = $2::text and shop_id = shop.id  and created_at >= $3::timestamptz
and (created_at, invoice_id, payment_id) < ($4::timestamptz, $5::text, $6::text)
and ($7::text is null or invoice_id = any(string_to_array($7::text, E'\n')))
and ($8::text is null or invoice_id = $8::text)
and ($9::text is null or external_id = $9::text)
and ($10::int8 is null or amount_minor >= $10::int8)
and ($11::int8 is null or amount_minor <= $11::int8)
and ($12::text is null or payment_id = $12::text)
and ($13::text is null or $13::text <> '' and status = any(string_to_array($13::text, ',')))
and ($14::text is null or flow = $14::text)
and ($15::int8 is null or amount_minor = $15::int8)
and ($16::text is null or customer_id = $16::text)
and ($17::text is null or email = $17::text)
and ($18::text is null or ip = $18::text)
and ($19::text is null or fingerprint = $19::text)
and ($20::text is null or first6 = $20::text)
and ($21::text is null or right(last4, length($21::text)) = $21::text)
and ($22::text is null or payment_system = $22::text)
and ($23::text is null or rrn = $23::text)
and ($24::text is null or approval_code = $24::text)
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4
) as found_rows
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4;

-- read_payout_fees
select currency, basis_points, fixed_minor from payout_fee where party_id = $1::text order by currency;

-- read_payout_grant
select grant_id, token_hash, kind, entity_id, amount_minor, currency, valid_until, used_by from payout_grant
where grant_id = $1::text and kind = $2::text;

-- read_payout_limits
select party_id, network, currency, level, min_minor, per_payout_minor, per_day_minor, per_month_minor, payouts_per_day, card_per_day_minor, card_per_month_minor, card_payouts_per_day, set_by, set_at, reason from payout_limit_rule
where party_id in ($1::text, $2::text) order by party_id, currency, network, level;

-- read_payout_terminals
select terminal_id, bank_id, merchant_id, descriptor, merchant_facts, terms, retired_at is not null as is_retired from payout_terminal
where party_id = $1::text order by priority, terminal_id;

-- read_pending_charge
select series.series_id, series.party_id, series.shop_id, series.version, series.status, series.card_key, series.card_token, series.chain, series.terms, series.state, series.changed_at,
(select settings from recurring_settings as wish
where wish.party_id = series.party_id and wish.shop_id = series.shop_id) as settings, created_at, amount_minor, currency, is_retry
from series join series_attempt as attempt on attempt.series_id = series.series_id
where series.series_id = $1::text and invoice_id = $2::text and payment_id = $3::text
and outcome = 'pending';

-- read_pending_series_attempt
select created_at, amount_minor, currency, is_retry from series_attempt
where series_id = $1::text and invoice_id = $2::text and payment_id = $3::text
and (outcome = 'pending' or $4::bool and outcome in ('unsent', 'lost'));

-- read_period_of_invoice
select starts_on, ends_on from subscription_period
where subscription_id = $1::text and invoice_id = $2::text;

-- read_period_of_invoice_together
select asker, found.*
from json_to_recordset($1::json) as asked (asker int4, subscription_id text, invoice_id text)
cross join lateral (select starts_on, ends_on from subscription_period
where subscription_id = asked.subscription_id and invoice_id = asked.invoice_id offset 0) as found;

-- read_periods_of_subscription
select number, kind, starts_on, ends_on, starts_at, ends_at, due_at, lines, amount_minor, credit_minor, outcome, invoice_id from subscription_period
where subscription_id = $1::text and number < $2::int4 order by number desc limit $3::int4;

-- read_portion_to_list
select id, is_customer from (
(select customer_id as id, true as is_customer from customer where customer_id > $1::text
order by customer_id limit $2::int4)
union all
(select series_id, false from series where series_id > $1::text order by series_id limit $2::int4)
) as portion order by id limit $2::int4;

-- read_portion_to_search
select id, is_invoice from (
(select invoice_id as id, true as is_invoice from invoice where invoice_id > $1::text
order by invoice_id limit $2::int4)
union all
(select withdrawal_id, false from withdrawal where withdrawal_id > $1::text
order by withdrawal_id limit $2::int4)
) as portion order by id limit $2::int4;

-- read_recurring_settings
select settings from recurring_settings where party_id = $1::text and shop_id = $2::text;

-- read_recurring_settings_together
select asker, found.*
from json_to_recordset($1::json) as asked (asker int4, party_id text, shop_id text)
cross join lateral (select settings from recurring_settings where party_id = asked.party_id and shop_id = asked.shop_id offset 0) as found;

-- read_refund_by_external_id
select refund.invoice_id, refund.payment_id, refund.refund_id, refund.created_at, refund.status, refund.amount_minor, refund.currency, refund.fee_minor, refund.reason, refund.cart, refund.external_id, refund.failure, refund.waits_until, refund.rrn, refund.arn,
(select answer from exchange where exchange.aggregate_id = refund.invoice_id
and exchange.operation = refund.payment_id || '.' || refund.refund_id) as answer, claim.fingerprint as request_fingerprint
from external_id as claim join refund on invoice_id = split_part(entity_id, '.', 1) and payment_id = split_part(entity_id, '.', 2)
and refund_id = split_part(entity_id, '.', 3)
where claim.party_id = $1::text and claim.operation = 'createRefund' and claim.external_id = $2::text;

-- read_refunds
select refund.invoice_id, refund.payment_id, refund.refund_id, refund.created_at, refund.status, refund.amount_minor, refund.currency, refund.fee_minor, refund.reason, refund.cart, refund.external_id, refund.failure, refund.waits_until, refund.rrn, refund.arn,
(select answer from exchange where exchange.aggregate_id = refund.invoice_id
and exchange.operation = refund.payment_id || '.' || refund.refund_id) as answer from refund
where invoice_id = $1::text and payment_id = $2::text and ($3::text is null or refund_id = $3::text)
order by length(refund_id), refund_id;

-- read_refunds_to_export
select shop_id, invoice_id, payment_id, refund_id, created_at, status, external_id, rrn, amount_minor, currency from unnest(string_to_array($1::text, E'\n')) as shop (id) cross join lateral (
select * from search_refund as refund
where party_id = $2::text and shop_id = shop.id and created_at >= $3::timestamptz
and ($4::text is null or (invoice_id, payment_id) in (
select payment.invoice_id, payment.payment_id from search_payment as payment
where payment.party_id = $2::text and payment.approval_code = $4::text))
and ($5::text is null or invoice_id = $5::text)
and ($6::text is null or external_id = $6::text)
and ($7::text is null or payment_id = $7::text)
and ($8::text is null or refund_id = $8::text)
and ($9::text is null or status = $9::text)
and ($10::text is null or rrn = $10::text)
and (created_at, invoice_id, payment_id, refund_id) < ($11::timestamptz, $12::text, $13::text, $14::text)
order by created_at desc, invoice_id desc, payment_id desc, refund_id desc limit $15::int4 + $16::int4
) as found_rows
order by created_at desc, invoice_id desc, payment_id desc, refund_id desc limit $15::int4 offset $16::int4;

-- read_replay_cursor
select created_at from webhook_event_number as numbers
join event on event.aggregate_id = numbers.aggregate_id and event.sequence = numbers.chunk * 64 + $1::int4
where base = $2::int8 and party_id = $3::text;

-- read_replayed_stretch
select stretch.aggregate_id, first_sequence, last_sequence,
(select max(sequence) from event, webhook, webhook_feed
where event.aggregate_id = stretch.aggregate_id and webhook_id = $1::text
and (pg_visible_in_snapshot(event.written_in, seen::pg_snapshot)
or pg_visible_in_snapshot(event.written_in,
coalesce(created_snapshot, format('%1$s:%1$s:', webhook.written_in::text::numeric + 1))::pg_snapshot))
) as newest_sequence,
first.facts as first_facts, stretch.facts
from (
select aggregate_id, min(sequence) as first_sequence, max(sequence) as last_sequence, json_agg(facts) as facts
from event
where created_at >= $2::timestamptz and created_at < $3::timestamptz and party_id = $4::text and aggregate = $5::text
and aggregate_id > $6::text
group by aggregate_id order by aggregate_id limit $7::int4
) as stretch
join event as first on first.aggregate_id = stretch.aggregate_id and first.sequence = 1
order by stretch.aggregate_id;

-- read_retained_card
select retained_for, valid_until from card where card_id = $1::text and is_retained;

-- read_search_freshness
with unseen as materialized (
select party_id, created_at, written_in from event where aggregate in ('invoice', 'withdrawal')
and written_in >= (select pg_snapshot_xmin(seen::pg_snapshot) from search_position)
and not pg_visible_in_snapshot(written_in, (select seen::pg_snapshot from search_position))
order by written_in limit 1000
)
select rebuild_after is not null or resum_from is not null as is_rebuilding,
(select created_at from unseen where party_id = $1::text or (select count(*) from unseen) = 1000
order by written_in, created_at limit 1) as unseen_since
from search_position;

-- read_search_list_freshness
with unseen as materialized (
select party_id, created_at, written_in from event where written_in >= (select pg_snapshot_xmin(seen::pg_snapshot) from search_list_position)
and not pg_visible_in_snapshot(written_in, (select seen::pg_snapshot from search_list_position))
and (aggregate = 'customer'
or aggregate = 'series' and facts::text ~ '"(series_started|series_stopped|consent_withdrawn|consent_renewed)"')
order by written_in limit 1000
)
select rebuild_after is not null as is_rebuilding,
(select created_at from unseen where party_id = $1::text or (select count(*) from unseen) = 1000
order by written_in, created_at limit 1) as unseen_since
from search_list_position;

-- read_security_code_key
select wrapped from security_code_key where half_hour = $1::int4;

-- read_series
select series.series_id, series.party_id, series.shop_id, series.version, series.status, series.card_key, series.card_token, series.chain, series.terms, series.state, series.changed_at,
(select settings from recurring_settings as wish
where wish.party_id = series.party_id and wish.shop_id = series.shop_id) as settings from series where series_id = $1::text;

-- read_series_charge
select is_retry, packs, outcome, network, code, advice, effect, rule, pack, ended_at from series_attempt
where series_id = $1::text and invoice_id = $2::text and payment_id = $3::text;

-- read_series_events
select sequence, created_at, facts from event
where aggregate_id = $1::text and sequence > $2::int4 order by sequence limit $3::int4;

-- read_server_state
select current_setting('transaction_read_only') = 'on' as is_read_only,
exists (select from pg_stat_activity
where datname = current_database() and usename = current_user and wait_event ~* '^(syncrep|wal)'
and query_start < clock_timestamp() - $1::int4 * interval '1 ms') as commits_wait;

-- read_shop
select party_id, shop_id, livemode, name, description, url, category_id, currency, fees, when_short, three_d_secure, one_off_receipts, is_blocked, is_suspended, created_at, origins from shop where party_id = $1::text and shop_id = $2::text;

-- read_shop_guards
select party_id, shop_id, bin, mode, since, until, approved, declined from shop_guard where until > $1::timestamptz order by party_id, shop_id, bin;

-- read_shop_together
select asker, found.*
from json_to_recordset($1::json) as asked (asker int4, party_id text, shop_id text)
cross join lateral (select party_id, shop_id, livemode, name, description, url, category_id, currency, fees, when_short, three_d_secure, one_off_receipts, is_blocked, is_suspended, created_at, origins from shop where party_id = asked.party_id and shop_id = asked.shop_id offset 0) as found;

-- read_shop_zones
select shop_id, settings from recurring_settings
where party_id = $1::text and shop_id = any(array(select json_array_elements_text($2::json)));

-- read_snapshot
select pg_current_snapshot()::text as snapshot;

-- read_strict_ids
select exists (
select from shop where party_id = $1::text and strict_ids and shop_id = coalesce(
$2::text,
(select shop_id from invoice where invoice_id = $3::text and party_id = $1::text),
(select shop_id from customer where customer_id = $4::text and party_id = $1::text),
shop_id)
) as is_strict;

-- read_subscription
select subscription_id, party_id, shop_id, customer_id, version, phase, terms, state, external_id, created_at, changed_at from subscription where subscription_id = $1::text;

-- read_subscription_by_external_id
select subscription.subscription_id, subscription.party_id, subscription.shop_id, subscription.customer_id, subscription.version, subscription.phase, subscription.terms, subscription.state, subscription.external_id, subscription.created_at, subscription.changed_at, claim.fingerprint as request_fingerprint
from external_id as claim join subscription on subscription_id = entity_id 
where claim.party_id = $1::text and claim.operation = 'createSubscription' and claim.external_id = $2::text;

-- read_subscription_events
select event.sequence, event.created_at, event.facts
from subscription left join lateral (
select sequence, created_at, facts from event
where aggregate_id = subscription_id and sequence > $1::int8
order by sequence limit $2::int4
) as event on true
where subscription_id = $3::text and party_id = $4::text and true
order by event.sequence;

-- read_subscription_key
select subscription_id from subscription_key where party_id = $1::text and owner_id = $2::text and unique_key = $3::text;

-- read_subscription_of_invoice
select subscription_id, number from subscription_invoice where invoice_id = $1::text;

-- read_subscription_together
select asker, found.*
from json_to_recordset($1::json) as asked (asker int4, subscription_id text)
cross join lateral (select subscription_id, party_id, shop_id, customer_id, version, phase, terms, state, external_id, created_at, changed_at from subscription where subscription_id = asked.subscription_id offset 0) as found;

-- read_table_sizes
select relname::text as name, greatest(reltuples, 0)::int8 as rows, pg_total_relation_size(oid) as bytes
from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace
order by pg_total_relation_size(oid) desc, relname;

-- read_terminal_holds
select terminal_id, network, initiation, days from terminal_hold
where party_id = $1::text and shop_id = $2::text order by terminal_id, network, initiation;

-- read_terminals
select terminal_id, bank_id, merchant_id, descriptor, merchant_facts, paused_until, paused_because, retired_at is not null as is_retired from terminal
where party_id = $1::text and shop_id = $2::text order by priority, terminal_id;

-- read_terminals_of_party
select shop_id, terminal_id, bank_id, merchant_id, descriptor, merchant_facts, exists (
select from terminal as other
where other.party_id <> terminal.party_id and other.bank_id = terminal.bank_id
and other.terminal_id = terminal.terminal_id and other.merchant_id = terminal.merchant_id
) as is_shared
from terminal where party_id = $1::text and retired_at is null order by shop_id, priority, terminal_id;

-- read_used_authentication
select entity_id from external_id
where party_id = $1::text and operation = 'authenticatePayment' and external_id = $2::text;

-- read_wait_of_withdrawal
select attempts, wake_at, stuck_at from withdrawal
where withdrawal_id = $1::text and status = 'sending';

-- read_waiting_notes
select bank_id, note_key, operation_id, what, heard, meaning, noted_at from exchange_note
where meaning in ('waits', 'contradiction') and meaning = 'waits'
and ($1::text is null or bank_id = $1::text)
and ($2::timestamptz is null or (noted_at, note_key) > ($2::timestamptz, $3::text))
order by noted_at, note_key limit $4::int4;

-- read_waiting_queues_of
select webhook_id, next_position, last_position, waiting_since, attempts, last_failure, wake_at, stuck_at
from webhook_queue
where aggregate_id = $1::text and (wake_at is not null or stuck_at is not null)
order by webhook_id;

-- read_wallet
select wallet.wallet_id, wallet.party_id, wallet.identity_id, wallet.name, wallet.currency, wallet.created_at, wallet.metadata, wallet.external_id, identity.is_blocked or party.is_blocked or party.is_suspended as is_blocked, provider, level,
identity.name as owner_name, identity.class as owner_class, sender from wallet join identity using (identity_id) join party on party.party_id = wallet.party_id
where wallet_id = $1::text and ($2::text is null or wallet.party_id = $2::text);

-- read_wallet_by_external_id
select wallet.wallet_id, wallet.party_id, wallet.identity_id, wallet.name, wallet.currency, wallet.created_at, wallet.metadata, wallet.external_id, identity.is_blocked or party.is_blocked or party.is_suspended as is_blocked, provider, level,
identity.name as owner_name, identity.class as owner_class, sender, claim.fingerprint as request_fingerprint
from external_id as claim join wallet on wallet_id = entity_id join identity using (identity_id) join party on party.party_id = wallet.party_id
where claim.party_id = $1::text and claim.operation = 'createWallet' and claim.external_id = $2::text;

-- read_wallet_transfer
select transfer_id, party_id, sender_id, receiver_id, created_at, amount_minor, currency, status, external_id from wallet_transfer where transfer_id = $1::text and party_id = $2::text;

-- read_wallet_transfer_by_external_id
select wallet_transfer.transfer_id, wallet_transfer.party_id, wallet_transfer.sender_id, wallet_transfer.receiver_id, wallet_transfer.created_at, wallet_transfer.amount_minor, wallet_transfer.currency, wallet_transfer.status, wallet_transfer.external_id, claim.fingerprint as request_fingerprint
from external_id as claim join wallet_transfer on transfer_id = entity_id
where claim.party_id = $1::text and claim.operation = 'createTransfer' and claim.external_id = $2::text;

-- read_webhook
select webhook_id, party_id, topic, owner_id, wallet_id, event_types, url, created_at,
coalesce(created_snapshot, format('%1$s:%1$s:', written_in::text::numeric + 1)) as created_snapshot, key_version, public_key, signing_public_key, ciphertext, ciphertext_key_version, signs_from from webhook join webhook_key using (webhook_id)
where webhook_id = $1::text order by key_version;

-- read_webhook_attempts
select aggregate_id, position, attempt, event_type, attempted_at, duration_ms, status, failure,
(select base from webhook_event_number as numbers
where numbers.aggregate_id = attempted.aggregate_id and chunk = position / 8 / 64) as base
from webhook_attempt as attempted
where webhook_id = $1::text and ($2::text is null or aggregate_id = $2::text)
and ($3::timestamptz is null or attempted_at < $3::timestamptz)
and ($4::timestamptz is null or attempted_at <= $4::timestamptz)
and ($4::timestamptz is null or (attempted_at, aggregate_id, position, attempt)
< ($4::timestamptz, $5::text, $6::int8, $7::int4))
order by attempted_at desc, aggregate_id desc, position desc, attempt desc limit $8::int4;

-- read_webhook_deliveries
select * from (
select tried.webhook_id, position, attempt, event_type, attempted_at, duration_ms, status, failure
from webhook_queue as queue cross join lateral (
select * from webhook_attempt
where webhook_attempt.webhook_id = queue.webhook_id and webhook_attempt.aggregate_id = $1::text
and position between $2::int8 and $3::int8
order by attempted_at desc limit $4::int4
) as tried
where queue.aggregate_id = $1::text
order by attempted_at desc, webhook_id desc, position desc, attempt desc limit $4::int4
) as latest
order by attempted_at, webhook_id, position, attempt;

-- read_webhook_event_numbers
select aggregate_id, chunk, base from webhook_event_number
join json_to_recordset($1::json) as wanted (aggregate_id text, chunk int) using (aggregate_id, chunk);

-- read_webhook_feed
select mismatch_since is not null as is_mismatch,
(select created_at from event
where written_in >= pg_snapshot_xmin(seen::pg_snapshot)
and not pg_visible_in_snapshot(written_in, seen::pg_snapshot)
and exists (select from webhook where webhook.party_id = event.party_id)
order by written_in limit 1) as oldest
from webhook_feed;

-- read_webhook_lags
select webhook.webhook_id, lagging.waiting_since as oldest
from webhook cross join lateral (
select waiting_since from webhook_queue as queue
where queue.webhook_id = webhook.webhook_id and wake_at is not null and waiting_since is not null
order by waiting_since limit 1
) as lagging
order by oldest limit $1::int4;

-- read_webhook_queues
select aggregate_id, state, attempts, last_failure, waiting_since, wake_at, stuck_at
from webhook_queue cross join lateral (
select case when stuck_at is not null then 'parked' when wake_at is null then 'done'
when attempts > 0 then 'failing' else 'waiting' end as state
) as derived
where webhook_id = $1::text and ($2::text is null or state = $2::text) and aggregate_id > $3::text
order by aggregate_id limit $4::int4;

-- read_webhooks_of_parties
select webhook_id, party_id, topic, owner_id, wallet_id, event_types, url, created_at,
coalesce(created_snapshot, format('%1$s:%1$s:', written_in::text::numeric + 1)) as created_snapshot, key_version, public_key, signing_public_key, ciphertext, ciphertext_key_version, signs_from from webhook join webhook_key using (webhook_id)
where party_id in (select json_array_elements_text($1::json)) order by created_at, webhook_id, key_version;

-- read_withdrawal
select withdrawal.withdrawal_id, withdrawal.party_id, withdrawal.wallet_id, withdrawal.destination_id, withdrawal.identity_id, withdrawal.version, withdrawal.status, withdrawal.created_at, withdrawal.amount_minor, withdrawal.fee_minor, withdrawal.currency, withdrawal.terms, withdrawal.result, withdrawal.external_id, withdrawal.sends, withdrawal.is_unsent from withdrawal
where withdrawal_id = $1::text and ($2::text is null or withdrawal.party_id = $2::text);

-- read_withdrawal_by_external_id
select withdrawal.withdrawal_id, withdrawal.party_id, withdrawal.wallet_id, withdrawal.destination_id, withdrawal.identity_id, withdrawal.version, withdrawal.status, withdrawal.created_at, withdrawal.amount_minor, withdrawal.fee_minor, withdrawal.currency, withdrawal.terms, withdrawal.result, withdrawal.external_id, withdrawal.sends, withdrawal.is_unsent, claim.fingerprint as request_fingerprint
from external_id as claim join withdrawal on withdrawal_id = entity_id 
where claim.party_id = $1::text and claim.operation = 'createWithdrawal' and claim.external_id = $2::text;

-- read_withdrawal_events
select event.sequence, event.created_at, event.facts
from withdrawal left join lateral (
select sequence, created_at, facts from event
where aggregate_id = withdrawal_id and sequence > $1::int8
order by sequence limit $2::int4
) as event on true
where withdrawal_id = $3::text and party_id = $4::text and true
order by event.sequence;

-- refuse_charge_undo
with moved as (
update charge_undo set is_refused = true, wake_at = null, stuck_at = $1::timestamptz, stuck_reason = $2::text
where invoice_id = $3::text and payment_id = $4::text and operation = $5::text and not is_refused returning invoice_id
), changed as (
update invoice set version = invoice.version + 1, changed_at = greatest(invoice.changed_at, $1::timestamptz)
from moved where invoice.invoice_id = moved.invoice_id
returning invoice.invoice_id, invoice.party_id, invoice.version, invoice.changed_at
), logged as (
insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
select invoice_id, version, 'invoice', party_id, changed_at, $6::json from changed
), exchanged as (
insert into exchange (aggregate_id, operation, bank_id, terminal_id, kind, amount_minor, currency, digest, card_token, wire_keys, not_after, begun_at, state, answer, far_reference, heard_at)
select one.* from changed, json_to_recordset($7::json) as one (aggregate_id text, operation text, bank_id text, terminal_id text, kind text, amount_minor bigint, currency text, digest bytea, card_token text, wire_keys json, not_after timestamptz, begun_at timestamptz, state text, answer json, far_reference text, heard_at timestamptz)
on conflict (aggregate_id, operation) do update
set bank_id = excluded.bank_id, terminal_id = excluded.terminal_id, digest = excluded.digest, wire_keys = excluded.wire_keys, not_after = excluded.not_after, state = excluded.state, answer = excluded.answer, far_reference = excluded.far_reference, heard_at = excluded.heard_at
where exchange.state not in ('approved', 'declined', 'takenBack', 'settled')
)
select version, record_journal(changed.invoice_id, $8::text, changed.changed_at, $9::json) as journal from changed;

-- release_charges_of_bank
update bank set charges_held_until = $1::timestamptz
where bank_id = $2::text and charges_held_until > $1::timestamptz returning bank_id;

-- release_subscription_key
delete from subscription_key where party_id = $1::text and owner_id = $2::text and unique_key = $3::text and subscription_id = $4::text;

-- report_away_bank
update bank
set away_since = least($1::timestamptz, case when away_seen_at > $2::timestamptz - interval '2 minutes' then away_since end),
away_because = $3::text, away_seen_at = $2::timestamptz
where bank_id = $4::text;

-- report_bank_back
update bank set away_since = null, away_because = null, away_seen_at = null
where bank_id = $1::text and away_since is not null;

-- reroute_binding
with locked as (
select version from customer where customer_id = $1::text for update
), rerouted as (
update binding
set version = locked.version + 1, wake_at = $2::timestamptz, terms = (
select json_object_agg(key, case key when 'terminal' then $3::json else value end order by place)
from json_each(terms) with ordinality as term (key, value, place)
)
from locked
where customer_id = $1::text and binding_id = $4::text and binding.version = $5::int4
and attempts = 1 and status = 'authorising'
returning customer_id, binding.version
), changed as (
update customer set version = rerouted.version, changed_at = greatest(customer.changed_at, $6::timestamptz)
from rerouted where customer.customer_id = rerouted.customer_id
returning customer.customer_id, party_id, customer.version, changed_at
)
select append_event('customer', customer_id, version, party_id, changed_at, $7::json) as version,
record_exchanges($8::json) as exchanges
from changed;

-- reroute_payment
with moved as (
update payment
set version = version + 1, wake_at = $1::timestamptz, terms = (
select json_object_agg(key, case key when 'terminal' then $2::json else value end order by place)
from json_each(terms) with ordinality as term (key, value, place)
)
where invoice_id = $3::text and payment_id = $4::text and version = $5::int4
and attempts = 1 and status = 'authorising'
returning invoice_id
), changed as (
update invoice set version = invoice.version + 1, changed_at = greatest(invoice.changed_at, $6::timestamptz)
from moved where invoice.invoice_id = moved.invoice_id
returning invoice.invoice_id, party_id, invoice.version, invoice.changed_at
)
select append_event('invoice', invoice_id, version, party_id, changed_at, $7::json) as version,
record_exchanges($8::json) as exchanges
from changed;

-- reschedule_binding
update binding set wake_at = $1::timestamptz, stuck_reason = null, attempts = least(attempts, 2)
where customer_id = $2::text and binding_id = $3::text and version = $4::int4;

-- reschedule_charge_undo
update charge_undo set wake_at = $1::timestamptz, stuck_reason = null, attempts = least(attempts, 2)
where invoice_id = $2::text and payment_id = $3::text and operation = $4::text and stuck_at is null;

-- reschedule_destination
update destination set wake_at = $1::timestamptz, stuck_reason = null
where destination_id = $2::text and version = $3::int4;

-- reschedule_export
update export set wake_at = $1::timestamptz, attempts = 0, stuck_reason = null
where party_id = $2::text and export_id = $3::text and run = $4::int4;

-- reschedule_invoice
update invoice set wake_at = $1::timestamptz, stuck_reason = null, attempts = 0
where invoice_id = $2::text and version = $3::int4;

-- reschedule_payment
update payment set wake_at = $1::timestamptz, stuck_reason = null, attempts = least(attempts, 2)
where invoice_id = $2::text and payment_id = $3::text and version = $4::int4;

-- reschedule_retained_card
update card set wake_at = $1::timestamptz, attempts = 0, stuck_at = null, stuck_reason = null,
client_info = case when $2::bool then (client_info::jsonb - 'browser')::json else client_info end
where card_id = $3::text and attempts > 0;

-- reschedule_series
update series set wake_at = $1::timestamptz, stuck_reason = null, attempts = 0
where series_id = $2::text and version = $3::int4;

-- reschedule_withdrawal
update withdrawal set wake_at = $1::timestamptz, stuck_reason = null
where withdrawal_id = $2::text and version = $3::int4 and stuck_at is null;

-- reset_ledger_watermark
update ledger_watermark set reached_at = '-infinity';

-- rest_subscription
update subscription set attempts = 0, stuck_reason = null,
wake_at = case when wake_at = $1::timestamptz then $2::timestamptz else wake_at end
where subscription_id = $3::text and version = $4::int4 and (attempts > 0 or wake_at = $1::timestamptz);

-- resume_stuck_refunds
update binding set wake_at = $1::timestamptz, attempts = 1, stuck_at = null, stuck_reason = null
where refund_due_at is not null and stuck_at < $2::timestamptz + coalesce((
select offset_ms from test_clock where test_clock.party_id = binding.party_id), 0) * interval '1 ms'
returning binding_id;

-- resume_terminal
update terminal set paused_until = null, paused_because = null
where party_id = $1::text and shop_id = $2::text and terminal_id = $3::text and paused_until is not null
returning terminal_id;

-- resume_webhook_queues
update webhook_queue set wake_at = $1::timestamptz, attempts = 0, stuck_at = null, stuck_reason = null
where (aggregate_id, webhook_id) in (
select aggregate_id, webhook_id from webhook_queue
where webhook_id = $2::text and ($3::text is null or aggregate_id = $3::text)
and (stuck_at is not null or (wake_at > $1::timestamptz and leased_until is distinct from wake_at))
limit $4::int4 for update skip locked)
returning aggregate_id;

-- retire_card_decline
with seen as materialized (
select card_key, invoice_id, payment_id from card_decline where (card_key, invoice_id, payment_id) > (decode(coalesce($1::json ->> 0, ''), 'hex'), coalesce($1::json ->> 1, ''), coalesce($1::json ->> 2, '')) order by card_key, invoice_id, payment_id limit $2::int4
), counted as (
select count(*) as found from card_decline as old join seen on old.card_key = seen.card_key and old.invoice_id = seen.invoice_id and old.payment_id = seen.payment_id where old.attempted_at < $3::timestamptz
), gone as (
delete from card_decline as old using seen where old.card_key = seen.card_key and old.invoice_id = seen.invoice_id and old.payment_id = seen.payment_id and not $4::bool and old.attempted_at < $3::timestamptz
)
select found,
(select json_build_array(encode(card_key, 'hex'), invoice_id, payment_id) from seen order by card_key desc, invoice_id desc, payment_id desc limit 1) as last
from counted;

-- retire_exchange
with seen as materialized (
select aggregate_id, operation from exchange where (aggregate_id, operation) > (coalesce($1::json ->> 0, ''), coalesce($1::json ->> 1, '')) order by aggregate_id, operation limit $2::int4
), counted as (
select count(*) as found from exchange as old join seen on old.aggregate_id = seen.aggregate_id and old.operation = seen.operation where old.begun_at < $3::timestamptz and old.begun_at < now() - interval '540 days'
and old.state in ('approved', 'declined', 'takenBack', 'settled')
), gone as (
delete from exchange as old using seen where old.aggregate_id = seen.aggregate_id and old.operation = seen.operation and not $4::bool and old.begun_at < $3::timestamptz and old.begun_at < now() - interval '540 days'
and old.state in ('approved', 'declined', 'takenBack', 'settled')
)
select found,
(select json_build_array(aggregate_id, operation) from seen order by aggregate_id desc, operation desc limit 1) as last
from counted;

-- retire_payout_grant
with seen as materialized (
select grant_id from payout_grant where (grant_id) > (coalesce($1::json ->> 0, '')) order by grant_id limit $2::int4
), counted as (
select count(*) as found from payout_grant as old join seen on old.grant_id = seen.grant_id where old.valid_until < $3::timestamptz
), gone as (
delete from payout_grant as old using seen where old.grant_id = seen.grant_id and not $4::bool and old.valid_until < $3::timestamptz
)
select found,
(select json_build_array(grant_id) from seen order by grant_id desc limit 1) as last
from counted;

-- retire_payout_terminal
update payout_terminal set retired_at = coalesce(retired_at, $1::timestamptz) where party_id = $2::text and terminal_id = $3::text returning terminal_id;

-- retire_terminal
update terminal set retired_at = coalesce(retired_at, $1::timestamptz) where party_id = $2::text and shop_id = $3::text and terminal_id = $4::text returning terminal_id;

-- retire_webhook_queue
with seen as materialized (
select aggregate_id, webhook_id from webhook_queue where (aggregate_id, webhook_id) > (coalesce($1::json ->> 0, ''), coalesce($1::json ->> 1, '')) order by aggregate_id, webhook_id limit $2::int4
), counted as (
select count(*) as found from webhook_queue as old join seen on old.aggregate_id = seen.aggregate_id and old.webhook_id = seen.webhook_id where old.wake_at is null and old.stuck_at is null and old.resume_at is null and old.next_position > old.last_position
and not exists (select from event where event.aggregate_id = old.aggregate_id and event.created_at >= $3::timestamptz)
), gone as (
delete from webhook_queue as old using seen where old.aggregate_id = seen.aggregate_id and old.webhook_id = seen.webhook_id and not $4::bool and old.wake_at is null and old.stuck_at is null and old.resume_at is null and old.next_position > old.last_position
and not exists (select from event where event.aggregate_id = old.aggregate_id and event.created_at >= $3::timestamptz)
)
select found,
(select json_build_array(aggregate_id, webhook_id) from seen order by aggregate_id desc, webhook_id desc limit 1) as last
from counted;

-- retry_stuck_binding
update binding set wake_at = $1::timestamptz, attempts = 2, stuck_at = null, stuck_reason = null
where customer_id = $2::json ->> 0 and binding_id = $2::json ->> 1 and stuck_at is not null returning json_build_array(customer_id, binding_id) as key;

-- retry_stuck_card
update card set wake_at = $1::timestamptz, attempts = 2, stuck_at = null, stuck_reason = null
where card_id = $2::json ->> 0 and stuck_at is not null returning json_build_array(card_id) as key;

-- retry_stuck_charge_undo
update charge_undo set wake_at = $1::timestamptz, attempts = 2, stuck_at = null, stuck_reason = null
where invoice_id = $2::json ->> 0 and payment_id = $2::json ->> 1 and operation = $2::json ->> 2 and stuck_at is not null returning json_build_array(invoice_id, payment_id, operation) as key;

-- retry_stuck_destination
update destination set wake_at = $1::timestamptz, attempts = 2, stuck_at = null, stuck_reason = null
where destination_id = $2::json ->> 0 and stuck_at is not null returning json_build_array(destination_id) as key;

-- retry_stuck_export
update export set wake_at = $1::timestamptz, attempts = 2, stuck_at = null, stuck_reason = null
where party_id = $2::json ->> 0 and export_id = $2::json ->> 1 and stuck_at is not null returning json_build_array(party_id, export_id) as key;

-- retry_stuck_invoice
update invoice set wake_at = $1::timestamptz, attempts = 2, stuck_at = null, stuck_reason = null
where invoice_id = $2::json ->> 0 and stuck_at is not null returning json_build_array(invoice_id) as key;

-- retry_stuck_payer_email
update payer_email set wake_at = $1::timestamptz, attempts = 2, stuck_at = null, stuck_reason = null
where invoice_id = $2::json ->> 0 and payment_id = $2::json ->> 1 and stuck_at is not null returning json_build_array(invoice_id, payment_id) as key;

-- retry_stuck_payment
update payment set wake_at = $1::timestamptz, attempts = 2, stuck_at = null, stuck_reason = null
where invoice_id = $2::json ->> 0 and payment_id = $2::json ->> 1 and stuck_at is not null returning json_build_array(invoice_id, payment_id) as key;

-- retry_stuck_series
update series set wake_at = $1::timestamptz, attempts = 2, stuck_at = null, stuck_reason = null
where series_id = $2::json ->> 0 and stuck_at is not null returning json_build_array(series_id) as key;

-- retry_stuck_subscription
update subscription set wake_at = $1::timestamptz, attempts = 2, stuck_at = null, stuck_reason = null
where subscription_id = $2::json ->> 0 and stuck_at is not null returning json_build_array(subscription_id) as key;

-- retry_stuck_withdrawal
update withdrawal set wake_at = $1::timestamptz, attempts = 2, stuck_at = null, stuck_reason = null
where withdrawal_id = $2::json ->> 0 and stuck_at is not null returning json_build_array(withdrawal_id) as key;

-- return_withdrawal
with changed as (
update withdrawal set version = version + 1, changed_at = greatest(changed_at, $1::timestamptz), result = $2::json,
wake_at = null, attempts = 0, stuck_at = null, stuck_reason = null
where withdrawal_id = $3::text and version = $4::int4
returning withdrawal_id, party_id, version, changed_at
), counted as (
update destination set returns = returns + 1
where destination_id = $5::text and exists (select from changed)
returning destination_id
)
select append_event('withdrawal', withdrawal_id, version, party_id, changed_at, $6::json) as version,
record_journal(withdrawal_id, $7::text, changed_at, $8::json) as journal
from changed, (select count(*) from counted) as before;

-- reverse_deposit
with changed as (
update deposit set reversed_at = $1::timestamptz, changed_at = greatest(changed_at, $1::timestamptz)
where deposit_id = $2::text and reversed_at is null
returning deposit_id, party_id, 2 as version, changed_at
)
select append_event('deposit', deposit_id, version, party_id, changed_at, $3::json) as version,
record_journal(deposit_id, $4::text, changed_at, $5::json) as journal
from changed;

-- revoke_api_key
update api_key set revoked_at = coalesce(revoked_at, $1::timestamptz),
expires_at = least(expires_at, $2::timestamptz)
where key_id = $3::text returning key_id;

-- rewind_webhook_queues
insert into webhook_queue as queue (aggregate_id, webhook_id, next_position, last_position, replay_until, resume_at,
waiting_since, wake_at)
select aggregate_id, $1::text, first, newest, least(last, newest), newest + 1, $2::timestamptz, $2::timestamptz
from json_to_recordset($3::json) as stretch (aggregate_id text, first bigint, last bigint, newest bigint)
order by aggregate_id
on conflict (aggregate_id, webhook_id) do update
set next_position = least(queue.next_position, excluded.next_position),
replay_until = case
when excluded.next_position >= coalesce(queue.resume_at, queue.next_position) then queue.replay_until
else greatest(queue.replay_until,
least(excluded.replay_until, coalesce(queue.resume_at, queue.next_position) - 1)) end,
resume_at = case
when excluded.next_position >= coalesce(queue.resume_at, queue.next_position) then queue.resume_at
else coalesce(queue.resume_at, queue.next_position) end,
-- Tells the node that has claimed the queue that it was rewound.
rewinds = queue.rewinds + case
when excluded.next_position >= coalesce(queue.resume_at, queue.next_position) then 0 else 1 end,
waiting_since = coalesce(queue.waiting_since, excluded.waiting_since),
wake_at = coalesce(queue.wake_at, excluded.wake_at),
attempts = case when queue.stuck_at is null then queue.attempts else 0 end,
stuck_at = null, stuck_reason = null
returning aggregate_id;

-- rewrap_data_key
update data_key set wrapped = $1::bytea, master_key_id = $2::text
where purpose = $3::text and key_version = $4::int4;

-- search_bindings
with found as materialized (
select created_at, customer_id, binding_id from search_binding
where party_id = $1::text and created_at >= $2::timestamptz
and ($3::text is null or shop_id = $3::text) and ($4::text is null or shop_id = any(string_to_array($4::text, ','))) and ($5::text is null or status = any(string_to_array($5::text, ',')))
and (created_at, customer_id, binding_id) < ($6::timestamptz, $7::text, $8::text)
and status <> 'deleted' and ($9::text is null or customer_id = $9::text) and ($10::text is null or external_id = $10::text) and ($11::text is null or first6 = $11::text) and ($12::text is null or (last4 = $12::text or length($12::text) < 4 and right(last4, length($12::text)) = $12::text))
and ($13::text is null or (failure = $13::text or starts_with(failure, $13::text || ':') or failure || ':' || failure = $13::text))
order by created_at desc, customer_id desc, binding_id desc limit $14::int4
)
select binding.customer_id, binding.binding_id, binding.party_id, binding.shop_id, binding.version, binding.number, binding.status, binding.created_at, binding.amount_minor, binding.currency, binding.terms, binding.state, binding.external_id, binding.refund_due_at, series_id, customer.status as customer_status, customer.active_binding_id, customer.version as customer_version from found join binding using (customer_id, binding_id) join customer using (customer_id)
order by found.created_at desc, found.customer_id desc, found.binding_id desc;

-- search_customers
with found as materialized (
select created_at, customer_id from search_customer
where party_id = $1::text and created_at >= $2::timestamptz
and ($3::text is null or shop_id = $3::text) and ($4::text is null or shop_id = any(string_to_array($4::text, ','))) and ($5::text is null or status = any(string_to_array($5::text, ',')))
and (created_at, customer_id) < ($6::timestamptz, $7::text)
and status <> 'deleted' and ($8::text is null or customer_id = $8::text) and ($9::text is null or external_id = $9::text) and ($10::text is null or email = $10::text)
order by created_at desc, customer_id desc limit $11::int4
)
select customer.customer_id, customer.party_id, customer.shop_id, customer.version, customer.status, customer.active_binding_id, customer.created_at, customer.contact_info, customer.metadata, customer.external_id, customer.bindings_made, customer.changed_at from found join customer using (customer_id)
order by found.created_at desc, found.customer_id desc;

-- search_invoices_by_amounts
with found as materialized (
select created_at, invoice_id from (
with between_amounts as materialized (
select created_at, invoice_id from search_invoice
where party_id = $1::text and created_at >= $2::timestamptz
and (created_at, invoice_id) < ($3::timestamptz, $4::text)
and ($5::int8 is null or amount_minor >= $5::int8)
and ($6::int8 is null or amount_minor <= $6::int8)
order by amount_minor, created_at, invoice_id limit 20000 + 1
)
(select created_at, invoice_id from (
select created_at, invoice_id from between_amounts where (select count(*) from between_amounts) <= 20000
order by created_at desc, invoice_id desc
) as one
where exists (
select from search_invoice as fitting where party_id = $1::text and shop_id = any(string_to_array($7::text, E'\n'))
and fitting.invoice_id = one.invoice_id
and ($8::text is null or invoice_id = $8::text)
and ($9::text is null or external_id = $9::text)
and ($10::text is null or status = $10::text)
and ($11::int8 is null or amount_minor = $11::int8) offset 0)
order by created_at desc, invoice_id desc limit $12::int4)
union all
select created_at, invoice_id from (select created_at, invoice_id from unnest(string_to_array($7::text, E'\n')) as shop (id) cross join lateral (
select * from search_invoice as invoice
where party_id = $1::text and shop_id = shop.id  and created_at >= $2::timestamptz
and (created_at, invoice_id) < ($3::timestamptz, $4::text)
and ($8::text is null or invoice_id = $8::text)
and ($9::text is null or external_id = $9::text)
and ($5::int8 is null or amount_minor >= $5::int8)
and ($6::int8 is null or amount_minor <= $6::int8)
and ($10::text is null or status = $10::text)
and ($11::int8 is null or amount_minor = $11::int8)
and (not $13::bool or exists (
select from search_payment as payment
where payment.party_id = $1::text and payment.invoice_id = invoice.invoice_id
and ($14::text is null or payment_id = $14::text)
and ($15::text is null or $15::text <> '' and status = any(string_to_array($15::text, ',')))
and ($16::text is null or flow = $16::text)
and ($17::int8 is null or amount_minor = $17::int8)
and ($18::text is null or customer_id = $18::text)
and ($19::text is null or email = $19::text)
and ($20::text is null or ip = $20::text)
and ($21::text is null or fingerprint = $21::text)
and ($22::text is null or first6 = $22::text)
and ($23::text is null or right(last4, length($23::text)) = $23::text)
and ($24::text is null or payment_system = $24::text)
and ($25::text is null or rrn = $25::text)
and ($26::text is null or approval_code = $26::text) offset 0))
order by created_at desc, invoice_id desc limit $12::int4
) as found_rows
order by created_at desc, invoice_id desc limit $12::int4) as of_time
where (select count(*) from between_amounts) > 20000
) as of_amounts
order by created_at desc, invoice_id desc limit $12::int4
)
select invoice.invoice_id, invoice.party_id, invoice.shop_id, invoice.version, invoice.status, invoice.reason, invoice.created_at, invoice.due_date, invoice.amount_minor, invoice.currency, invoice.product, invoice.description, invoice.cart, invoice.bank_account, invoice.client_info, invoice.metadata, invoice.external_id, invoice.invoice_template_id, invoice.recurring, invoice.original_minor, invoice.subscription_id, invoice.payment_in_progress from found join invoice using (invoice_id)
order by found.created_at desc, found.invoice_id desc;

-- search_invoices_by_approval_code
with found as materialized (
select created_at, invoice_id from (
select distinct invoice_created_at as created_at, invoice_id from search_payment as payment
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and approval_code = $3::text and invoice_created_at >= $4::timestamptz
and (invoice_created_at, invoice_id) < ($5::timestamptz, $6::text)
and ($7::text is null or payment_id = $7::text)
and ($8::text is null or $8::text <> '' and status = any(string_to_array($8::text, ',')))
and ($9::text is null or flow = $9::text)
and ($10::int8 is null or amount_minor = $10::int8)
and ($11::text is null or customer_id = $11::text)
and ($12::text is null or email = $12::text)
and ($13::text is null or ip = $13::text)
and ($14::text is null or fingerprint = $14::text)
and ($15::text is null or first6 = $15::text)
and ($16::text is null or right(last4, length($16::text)) = $16::text)
and ($17::text is null or payment_system = $17::text)
and ($18::text is null or rrn = $18::text)
and ($3::text is null or approval_code = $3::text)
and $19::bool and exists (
select from search_invoice as invoice where party_id = $1::text and invoice.invoice_id = payment.invoice_id
and ($20::text is null or invoice_id = $20::text)
and ($21::text is null or external_id = $21::text)
and ($22::int8 is null or amount_minor >= $22::int8)
and ($23::int8 is null or amount_minor <= $23::int8)
and ($24::text is null or status = $24::text)
and ($25::int8 is null or amount_minor = $25::int8) offset 0)
order by created_at desc, invoice_id desc limit $26::int4
) as found_rows
order by created_at desc, invoice_id desc limit $26::int4
)
select invoice.invoice_id, invoice.party_id, invoice.shop_id, invoice.version, invoice.status, invoice.reason, invoice.created_at, invoice.due_date, invoice.amount_minor, invoice.currency, invoice.product, invoice.description, invoice.cart, invoice.bank_account, invoice.client_info, invoice.metadata, invoice.external_id, invoice.invoice_template_id, invoice.recurring, invoice.original_minor, invoice.subscription_id, invoice.payment_in_progress from found join invoice using (invoice_id)
order by found.created_at desc, found.invoice_id desc;

-- search_invoices_by_customer_id
with found as materialized (
select created_at, invoice_id from (
select distinct invoice_created_at as created_at, invoice_id from search_payment as payment
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and customer_id = $3::text and invoice_created_at >= $4::timestamptz
and (invoice_created_at, invoice_id) < ($5::timestamptz, $6::text)
and ($7::text is null or payment_id = $7::text)
and ($8::text is null or $8::text <> '' and status = any(string_to_array($8::text, ',')))
and ($9::text is null or flow = $9::text)
and ($10::int8 is null or amount_minor = $10::int8)
and ($3::text is null or customer_id = $3::text)
and ($11::text is null or email = $11::text)
and ($12::text is null or ip = $12::text)
and ($13::text is null or fingerprint = $13::text)
and ($14::text is null or first6 = $14::text)
and ($15::text is null or right(last4, length($15::text)) = $15::text)
and ($16::text is null or payment_system = $16::text)
and ($17::text is null or rrn = $17::text)
and ($18::text is null or approval_code = $18::text)
and $19::bool and exists (
select from search_invoice as invoice where party_id = $1::text and invoice.invoice_id = payment.invoice_id
and ($20::text is null or invoice_id = $20::text)
and ($21::text is null or external_id = $21::text)
and ($22::int8 is null or amount_minor >= $22::int8)
and ($23::int8 is null or amount_minor <= $23::int8)
and ($24::text is null or status = $24::text)
and ($25::int8 is null or amount_minor = $25::int8) offset 0)
order by created_at desc, invoice_id desc limit $26::int4
) as found_rows
order by created_at desc, invoice_id desc limit $26::int4
)
select invoice.invoice_id, invoice.party_id, invoice.shop_id, invoice.version, invoice.status, invoice.reason, invoice.created_at, invoice.due_date, invoice.amount_minor, invoice.currency, invoice.product, invoice.description, invoice.cart, invoice.bank_account, invoice.client_info, invoice.metadata, invoice.external_id, invoice.invoice_template_id, invoice.recurring, invoice.original_minor, invoice.subscription_id, invoice.payment_in_progress from found join invoice using (invoice_id)
order by found.created_at desc, found.invoice_id desc;

-- search_invoices_by_email
with found as materialized (
select created_at, invoice_id from (
select distinct invoice_created_at as created_at, invoice_id from search_payment as payment
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and email = $3::text and invoice_created_at >= $4::timestamptz
and (invoice_created_at, invoice_id) < ($5::timestamptz, $6::text)
and ($7::text is null or payment_id = $7::text)
and ($8::text is null or $8::text <> '' and status = any(string_to_array($8::text, ',')))
and ($9::text is null or flow = $9::text)
and ($10::int8 is null or amount_minor = $10::int8)
and ($11::text is null or customer_id = $11::text)
and ($3::text is null or email = $3::text)
and ($12::text is null or ip = $12::text)
and ($13::text is null or fingerprint = $13::text)
and ($14::text is null or first6 = $14::text)
and ($15::text is null or right(last4, length($15::text)) = $15::text)
and ($16::text is null or payment_system = $16::text)
and ($17::text is null or rrn = $17::text)
and ($18::text is null or approval_code = $18::text)
and $19::bool and exists (
select from search_invoice as invoice where party_id = $1::text and invoice.invoice_id = payment.invoice_id
and ($20::text is null or invoice_id = $20::text)
and ($21::text is null or external_id = $21::text)
and ($22::int8 is null or amount_minor >= $22::int8)
and ($23::int8 is null or amount_minor <= $23::int8)
and ($24::text is null or status = $24::text)
and ($25::int8 is null or amount_minor = $25::int8) offset 0)
order by created_at desc, invoice_id desc limit $26::int4
) as found_rows
order by created_at desc, invoice_id desc limit $26::int4
)
select invoice.invoice_id, invoice.party_id, invoice.shop_id, invoice.version, invoice.status, invoice.reason, invoice.created_at, invoice.due_date, invoice.amount_minor, invoice.currency, invoice.product, invoice.description, invoice.cart, invoice.bank_account, invoice.client_info, invoice.metadata, invoice.external_id, invoice.invoice_template_id, invoice.recurring, invoice.original_minor, invoice.subscription_id, invoice.payment_in_progress from found join invoice using (invoice_id)
order by found.created_at desc, found.invoice_id desc;

-- search_invoices_by_external_id
with found as materialized (
select created_at, invoice_id from (
select * from search_invoice as invoice
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and external_id = $3::text and created_at >= $4::timestamptz
and (created_at, invoice_id) < ($5::timestamptz, $6::text)
and ($7::text is null or invoice_id = $7::text)
and ($3::text is null or external_id = $3::text)
and ($8::int8 is null or amount_minor >= $8::int8)
and ($9::int8 is null or amount_minor <= $9::int8)
and ($10::text is null or status = $10::text)
and ($11::int8 is null or amount_minor = $11::int8)
and (not $12::bool or exists (
select from search_payment as payment
where payment.party_id = $1::text and payment.invoice_id = invoice.invoice_id
and ($13::text is null or payment_id = $13::text)
and ($14::text is null or $14::text <> '' and status = any(string_to_array($14::text, ',')))
and ($15::text is null or flow = $15::text)
and ($16::int8 is null or amount_minor = $16::int8)
and ($17::text is null or customer_id = $17::text)
and ($18::text is null or email = $18::text)
and ($19::text is null or ip = $19::text)
and ($20::text is null or fingerprint = $20::text)
and ($21::text is null or first6 = $21::text)
and ($22::text is null or right(last4, length($22::text)) = $22::text)
and ($23::text is null or payment_system = $23::text)
and ($24::text is null or rrn = $24::text)
and ($25::text is null or approval_code = $25::text) offset 0))
order by created_at desc, invoice_id desc limit $26::int4
) as found_rows
order by created_at desc, invoice_id desc limit $26::int4
)
select invoice.invoice_id, invoice.party_id, invoice.shop_id, invoice.version, invoice.status, invoice.reason, invoice.created_at, invoice.due_date, invoice.amount_minor, invoice.currency, invoice.product, invoice.description, invoice.cart, invoice.bank_account, invoice.client_info, invoice.metadata, invoice.external_id, invoice.invoice_template_id, invoice.recurring, invoice.original_minor, invoice.subscription_id, invoice.payment_in_progress from found join invoice using (invoice_id)
order by found.created_at desc, found.invoice_id desc;

-- search_invoices_by_fingerprint
with found as materialized (
select created_at, invoice_id from (
select distinct invoice_created_at as created_at, invoice_id from search_payment as payment
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and fingerprint = $3::text and md5(fingerprint) = md5($3::text) and invoice_created_at >= $4::timestamptz
and (invoice_created_at, invoice_id) < ($5::timestamptz, $6::text)
and ($7::text is null or payment_id = $7::text)
and ($8::text is null or $8::text <> '' and status = any(string_to_array($8::text, ',')))
and ($9::text is null or flow = $9::text)
and ($10::int8 is null or amount_minor = $10::int8)
and ($11::text is null or customer_id = $11::text)
and ($12::text is null or email = $12::text)
and ($13::text is null or ip = $13::text)
and ($3::text is null or fingerprint = $3::text)
and ($14::text is null or first6 = $14::text)
and ($15::text is null or right(last4, length($15::text)) = $15::text)
and ($16::text is null or payment_system = $16::text)
and ($17::text is null or rrn = $17::text)
and ($18::text is null or approval_code = $18::text)
and $19::bool and exists (
select from search_invoice as invoice where party_id = $1::text and invoice.invoice_id = payment.invoice_id
and ($20::text is null or invoice_id = $20::text)
and ($21::text is null or external_id = $21::text)
and ($22::int8 is null or amount_minor >= $22::int8)
and ($23::int8 is null or amount_minor <= $23::int8)
and ($24::text is null or status = $24::text)
and ($25::int8 is null or amount_minor = $25::int8) offset 0)
order by created_at desc, invoice_id desc limit $26::int4
) as found_rows
order by created_at desc, invoice_id desc limit $26::int4
)
select invoice.invoice_id, invoice.party_id, invoice.shop_id, invoice.version, invoice.status, invoice.reason, invoice.created_at, invoice.due_date, invoice.amount_minor, invoice.currency, invoice.product, invoice.description, invoice.cart, invoice.bank_account, invoice.client_info, invoice.metadata, invoice.external_id, invoice.invoice_template_id, invoice.recurring, invoice.original_minor, invoice.subscription_id, invoice.payment_in_progress from found join invoice using (invoice_id)
order by found.created_at desc, found.invoice_id desc;

-- search_invoices_by_invoice_amount
with found as materialized (
select created_at, invoice_id from (
select * from search_invoice as invoice
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and amount_minor = $3::int8 and created_at >= $4::timestamptz
and (created_at, invoice_id) < ($5::timestamptz, $6::text)
and ($7::text is null or invoice_id = $7::text)
and ($8::text is null or external_id = $8::text)
and ($9::int8 is null or amount_minor >= $9::int8)
and ($10::int8 is null or amount_minor <= $10::int8)
and ($11::text is null or status = $11::text)
and ($3::int8 is null or amount_minor = $3::int8)
and (not $12::bool or exists (
select from search_payment as payment
where payment.party_id = $1::text and payment.invoice_id = invoice.invoice_id
and ($13::text is null or payment_id = $13::text)
and ($14::text is null or $14::text <> '' and status = any(string_to_array($14::text, ',')))
and ($15::text is null or flow = $15::text)
and ($16::int8 is null or amount_minor = $16::int8)
and ($17::text is null or customer_id = $17::text)
and ($18::text is null or email = $18::text)
and ($19::text is null or ip = $19::text)
and ($20::text is null or fingerprint = $20::text)
and ($21::text is null or first6 = $21::text)
and ($22::text is null or right(last4, length($22::text)) = $22::text)
and ($23::text is null or payment_system = $23::text)
and ($24::text is null or rrn = $24::text)
and ($25::text is null or approval_code = $25::text) offset 0))
order by created_at desc, invoice_id desc limit $26::int4
) as found_rows
order by created_at desc, invoice_id desc limit $26::int4
)
select invoice.invoice_id, invoice.party_id, invoice.shop_id, invoice.version, invoice.status, invoice.reason, invoice.created_at, invoice.due_date, invoice.amount_minor, invoice.currency, invoice.product, invoice.description, invoice.cart, invoice.bank_account, invoice.client_info, invoice.metadata, invoice.external_id, invoice.invoice_template_id, invoice.recurring, invoice.original_minor, invoice.subscription_id, invoice.payment_in_progress from found join invoice using (invoice_id)
order by found.created_at desc, found.invoice_id desc;

-- search_invoices_by_invoice_id
with found as materialized (
select created_at, invoice_id from (
select * from search_invoice as invoice
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and invoice_id = $3::text and created_at >= $4::timestamptz
and (created_at, invoice_id) < ($5::timestamptz, $6::text)
and ($3::text is null or invoice_id = $3::text)
and ($7::text is null or external_id = $7::text)
and ($8::int8 is null or amount_minor >= $8::int8)
and ($9::int8 is null or amount_minor <= $9::int8)
and ($10::text is null or status = $10::text)
and ($11::int8 is null or amount_minor = $11::int8)
and (not $12::bool or exists (
select from search_payment as payment
where payment.party_id = $1::text and payment.invoice_id = invoice.invoice_id
and ($13::text is null or payment_id = $13::text)
and ($14::text is null or $14::text <> '' and status = any(string_to_array($14::text, ',')))
and ($15::text is null or flow = $15::text)
and ($16::int8 is null or amount_minor = $16::int8)
and ($17::text is null or customer_id = $17::text)
and ($18::text is null or email = $18::text)
and ($19::text is null or ip = $19::text)
and ($20::text is null or fingerprint = $20::text)
and ($21::text is null or first6 = $21::text)
and ($22::text is null or right(last4, length($22::text)) = $22::text)
and ($23::text is null or payment_system = $23::text)
and ($24::text is null or rrn = $24::text)
and ($25::text is null or approval_code = $25::text) offset 0))
order by created_at desc, invoice_id desc limit $26::int4
) as found_rows
order by created_at desc, invoice_id desc limit $26::int4
)
select invoice.invoice_id, invoice.party_id, invoice.shop_id, invoice.version, invoice.status, invoice.reason, invoice.created_at, invoice.due_date, invoice.amount_minor, invoice.currency, invoice.product, invoice.description, invoice.cart, invoice.bank_account, invoice.client_info, invoice.metadata, invoice.external_id, invoice.invoice_template_id, invoice.recurring, invoice.original_minor, invoice.subscription_id, invoice.payment_in_progress from found join invoice using (invoice_id)
order by found.created_at desc, found.invoice_id desc;

-- search_invoices_by_ip
with found as materialized (
select created_at, invoice_id from (
select distinct invoice_created_at as created_at, invoice_id from search_payment as payment
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and ip = $3::text and invoice_created_at >= $4::timestamptz
and (invoice_created_at, invoice_id) < ($5::timestamptz, $6::text)
and ($7::text is null or payment_id = $7::text)
and ($8::text is null or $8::text <> '' and status = any(string_to_array($8::text, ',')))
and ($9::text is null or flow = $9::text)
and ($10::int8 is null or amount_minor = $10::int8)
and ($11::text is null or customer_id = $11::text)
and ($12::text is null or email = $12::text)
and ($3::text is null or ip = $3::text)
and ($13::text is null or fingerprint = $13::text)
and ($14::text is null or first6 = $14::text)
and ($15::text is null or right(last4, length($15::text)) = $15::text)
and ($16::text is null or payment_system = $16::text)
and ($17::text is null or rrn = $17::text)
and ($18::text is null or approval_code = $18::text)
and $19::bool and exists (
select from search_invoice as invoice where party_id = $1::text and invoice.invoice_id = payment.invoice_id
and ($20::text is null or invoice_id = $20::text)
and ($21::text is null or external_id = $21::text)
and ($22::int8 is null or amount_minor >= $22::int8)
and ($23::int8 is null or amount_minor <= $23::int8)
and ($24::text is null or status = $24::text)
and ($25::int8 is null or amount_minor = $25::int8) offset 0)
order by created_at desc, invoice_id desc limit $26::int4
) as found_rows
order by created_at desc, invoice_id desc limit $26::int4
)
select invoice.invoice_id, invoice.party_id, invoice.shop_id, invoice.version, invoice.status, invoice.reason, invoice.created_at, invoice.due_date, invoice.amount_minor, invoice.currency, invoice.product, invoice.description, invoice.cart, invoice.bank_account, invoice.client_info, invoice.metadata, invoice.external_id, invoice.invoice_template_id, invoice.recurring, invoice.original_minor, invoice.subscription_id, invoice.payment_in_progress from found join invoice using (invoice_id)
order by found.created_at desc, found.invoice_id desc;

-- search_invoices_by_last4
with found as materialized (
select created_at, invoice_id from (
select distinct invoice_created_at as created_at, invoice_id from search_payment as payment
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and last4 = $3::text and invoice_created_at >= $4::timestamptz
and (invoice_created_at, invoice_id) < ($5::timestamptz, $6::text)
and ($7::text is null or payment_id = $7::text)
and ($8::text is null or $8::text <> '' and status = any(string_to_array($8::text, ',')))
and ($9::text is null or flow = $9::text)
and ($10::int8 is null or amount_minor = $10::int8)
and ($11::text is null or customer_id = $11::text)
and ($12::text is null or email = $12::text)
and ($13::text is null or ip = $13::text)
and ($14::text is null or fingerprint = $14::text)
and ($15::text is null or first6 = $15::text)
and ($3::text is null or right(last4, length($3::text)) = $3::text)
and ($16::text is null or payment_system = $16::text)
and ($17::text is null or rrn = $17::text)
and ($18::text is null or approval_code = $18::text)
and $19::bool and exists (
select from search_invoice as invoice where party_id = $1::text and invoice.invoice_id = payment.invoice_id
and ($20::text is null or invoice_id = $20::text)
and ($21::text is null or external_id = $21::text)
and ($22::int8 is null or amount_minor >= $22::int8)
and ($23::int8 is null or amount_minor <= $23::int8)
and ($24::text is null or status = $24::text)
and ($25::int8 is null or amount_minor = $25::int8) offset 0)
order by created_at desc, invoice_id desc limit $26::int4
) as found_rows
order by created_at desc, invoice_id desc limit $26::int4
)
select invoice.invoice_id, invoice.party_id, invoice.shop_id, invoice.version, invoice.status, invoice.reason, invoice.created_at, invoice.due_date, invoice.amount_minor, invoice.currency, invoice.product, invoice.description, invoice.cart, invoice.bank_account, invoice.client_info, invoice.metadata, invoice.external_id, invoice.invoice_template_id, invoice.recurring, invoice.original_minor, invoice.subscription_id, invoice.payment_in_progress from found join invoice using (invoice_id)
order by found.created_at desc, found.invoice_id desc;

-- search_invoices_by_payment_amount
with found as materialized (
select created_at, invoice_id from (
select distinct invoice_created_at as created_at, invoice_id from search_payment as payment
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and amount_minor = $3::int8 and invoice_created_at >= $4::timestamptz
and (invoice_created_at, invoice_id) < ($5::timestamptz, $6::text)
and ($7::text is null or payment_id = $7::text)
and ($8::text is null or $8::text <> '' and status = any(string_to_array($8::text, ',')))
and ($9::text is null or flow = $9::text)
and ($3::int8 is null or amount_minor = $3::int8)
and ($10::text is null or customer_id = $10::text)
and ($11::text is null or email = $11::text)
and ($12::text is null or ip = $12::text)
and ($13::text is null or fingerprint = $13::text)
and ($14::text is null or first6 = $14::text)
and ($15::text is null or right(last4, length($15::text)) = $15::text)
and ($16::text is null or payment_system = $16::text)
and ($17::text is null or rrn = $17::text)
and ($18::text is null or approval_code = $18::text)
and $19::bool and exists (
select from search_invoice as invoice where party_id = $1::text and invoice.invoice_id = payment.invoice_id
and ($20::text is null or invoice_id = $20::text)
and ($21::text is null or external_id = $21::text)
and ($22::int8 is null or amount_minor >= $22::int8)
and ($23::int8 is null or amount_minor <= $23::int8)
and ($24::text is null or status = $24::text)
and ($25::int8 is null or amount_minor = $25::int8) offset 0)
order by created_at desc, invoice_id desc limit $26::int4
) as found_rows
order by created_at desc, invoice_id desc limit $26::int4
)
select invoice.invoice_id, invoice.party_id, invoice.shop_id, invoice.version, invoice.status, invoice.reason, invoice.created_at, invoice.due_date, invoice.amount_minor, invoice.currency, invoice.product, invoice.description, invoice.cart, invoice.bank_account, invoice.client_info, invoice.metadata, invoice.external_id, invoice.invoice_template_id, invoice.recurring, invoice.original_minor, invoice.subscription_id, invoice.payment_in_progress from found join invoice using (invoice_id)
order by found.created_at desc, found.invoice_id desc;

-- search_invoices_by_payment_time
with found as materialized (
select created_at, invoice_id from unnest(string_to_array($1::text, E'\n')) as shop (id) cross join lateral (
select distinct invoice_created_at as created_at, invoice_id from search_payment as payment
where party_id = $2::text and shop_id = shop.id  and invoice_created_at >= $3::timestamptz
and (invoice_created_at, invoice_id) < ($4::timestamptz, $5::text)
and ($6::text is null or payment_id = $6::text)
and ($7::text is null or $7::text <> '' and status = any(string_to_array($7::text, ',')))
and ($8::text is null or flow = $8::text)
and ($9::int8 is null or amount_minor = $9::int8)
and ($10::text is null or customer_id = $10::text)
and ($11::text is null or email = $11::text)
and ($12::text is null or ip = $12::text)
and ($13::text is null or fingerprint = $13::text)
and ($14::text is null or first6 = $14::text)
and ($15::text is null or right(last4, length($15::text)) = $15::text)
and ($16::text is null or payment_system = $16::text)
and ($17::text is null or rrn = $17::text)
and ($18::text is null or approval_code = $18::text)
and $19::bool and exists (
select from search_invoice as invoice where party_id = $2::text and invoice.invoice_id = payment.invoice_id
and ($20::text is null or invoice_id = $20::text)
and ($21::text is null or external_id = $21::text)
and ($22::int8 is null or amount_minor >= $22::int8)
and ($23::int8 is null or amount_minor <= $23::int8)
and ($24::text is null or status = $24::text)
and ($25::int8 is null or amount_minor = $25::int8) offset 0)
order by created_at desc, invoice_id desc limit $26::int4
) as found_rows
order by created_at desc, invoice_id desc limit $26::int4
)
select invoice.invoice_id, invoice.party_id, invoice.shop_id, invoice.version, invoice.status, invoice.reason, invoice.created_at, invoice.due_date, invoice.amount_minor, invoice.currency, invoice.product, invoice.description, invoice.cart, invoice.bank_account, invoice.client_info, invoice.metadata, invoice.external_id, invoice.invoice_template_id, invoice.recurring, invoice.original_minor, invoice.subscription_id, invoice.payment_in_progress from found join invoice using (invoice_id)
order by found.created_at desc, found.invoice_id desc;

-- search_invoices_by_rrn
with found as materialized (
select created_at, invoice_id from (
select distinct invoice_created_at as created_at, invoice_id from search_payment as payment
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and rrn = $3::text and invoice_created_at >= $4::timestamptz
and (invoice_created_at, invoice_id) < ($5::timestamptz, $6::text)
and ($7::text is null or payment_id = $7::text)
and ($8::text is null or $8::text <> '' and status = any(string_to_array($8::text, ',')))
and ($9::text is null or flow = $9::text)
and ($10::int8 is null or amount_minor = $10::int8)
and ($11::text is null or customer_id = $11::text)
and ($12::text is null or email = $12::text)
and ($13::text is null or ip = $13::text)
and ($14::text is null or fingerprint = $14::text)
and ($15::text is null or first6 = $15::text)
and ($16::text is null or right(last4, length($16::text)) = $16::text)
and ($17::text is null or payment_system = $17::text)
and ($3::text is null or rrn = $3::text)
and ($18::text is null or approval_code = $18::text)
and $19::bool and exists (
select from search_invoice as invoice where party_id = $1::text and invoice.invoice_id = payment.invoice_id
and ($20::text is null or invoice_id = $20::text)
and ($21::text is null or external_id = $21::text)
and ($22::int8 is null or amount_minor >= $22::int8)
and ($23::int8 is null or amount_minor <= $23::int8)
and ($24::text is null or status = $24::text)
and ($25::int8 is null or amount_minor = $25::int8) offset 0)
order by created_at desc, invoice_id desc limit $26::int4
) as found_rows
order by created_at desc, invoice_id desc limit $26::int4
)
select invoice.invoice_id, invoice.party_id, invoice.shop_id, invoice.version, invoice.status, invoice.reason, invoice.created_at, invoice.due_date, invoice.amount_minor, invoice.currency, invoice.product, invoice.description, invoice.cart, invoice.bank_account, invoice.client_info, invoice.metadata, invoice.external_id, invoice.invoice_template_id, invoice.recurring, invoice.original_minor, invoice.subscription_id, invoice.payment_in_progress from found join invoice using (invoice_id)
order by found.created_at desc, found.invoice_id desc;

-- search_invoices_by_time
with found as materialized (
select created_at, invoice_id from unnest(string_to_array($1::text, E'\n')) as shop (id) cross join lateral (
select * from search_invoice as invoice
where party_id = $2::text and shop_id = shop.id  and created_at >= $3::timestamptz
and (created_at, invoice_id) < ($4::timestamptz, $5::text)
and ($6::text is null or invoice_id = $6::text)
and ($7::text is null or external_id = $7::text)
and ($8::int8 is null or amount_minor >= $8::int8)
and ($9::int8 is null or amount_minor <= $9::int8)
and ($10::text is null or status = $10::text)
and ($11::int8 is null or amount_minor = $11::int8)
and (not $12::bool or exists (
select from search_payment as payment
where payment.party_id = $2::text and payment.invoice_id = invoice.invoice_id
and ($13::text is null or payment_id = $13::text)
and ($14::text is null or $14::text <> '' and status = any(string_to_array($14::text, ',')))
and ($15::text is null or flow = $15::text)
and ($16::int8 is null or amount_minor = $16::int8)
and ($17::text is null or customer_id = $17::text)
and ($18::text is null or email = $18::text)
and ($19::text is null or ip = $19::text)
and ($20::text is null or fingerprint = $20::text)
and ($21::text is null or first6 = $21::text)
and ($22::text is null or right(last4, length($22::text)) = $22::text)
and ($23::text is null or payment_system = $23::text)
and ($24::text is null or rrn = $24::text)
and ($25::text is null or approval_code = $25::text) offset 0))
order by created_at desc, invoice_id desc limit $26::int4
) as found_rows
order by created_at desc, invoice_id desc limit $26::int4
)
select invoice.invoice_id, invoice.party_id, invoice.shop_id, invoice.version, invoice.status, invoice.reason, invoice.created_at, invoice.due_date, invoice.amount_minor, invoice.currency, invoice.product, invoice.description, invoice.cart, invoice.bank_account, invoice.client_info, invoice.metadata, invoice.external_id, invoice.invoice_template_id, invoice.recurring, invoice.original_minor, invoice.subscription_id, invoice.payment_in_progress from found join invoice using (invoice_id)
order by found.created_at desc, found.invoice_id desc;

-- search_payments_by_amounts
with found as materialized (
select created_at, invoice_id, payment_id from (
with between_amounts as materialized (
select created_at, invoice_id, payment_id from search_payment
where party_id = $1::text and created_at >= $2::timestamptz
and (created_at, invoice_id, payment_id) < ($3::timestamptz, $4::text, $5::text)
and ($6::int8 is null or amount_minor >= $6::int8)
and ($7::int8 is null or amount_minor <= $7::int8)
order by amount_minor, created_at, invoice_id, payment_id limit 20000 + 1
)
(select created_at, invoice_id, payment_id from (
select created_at, invoice_id, payment_id from between_amounts where (select count(*) from between_amounts) <= 20000
order by created_at desc, invoice_id desc, payment_id desc
) as one
where exists (
select from search_payment as fitting where party_id = $1::text and shop_id = any(string_to_array($8::text, E'\n'))
and fitting.invoice_id = one.invoice_id and fitting.payment_id = one.payment_id
and ($9::text is null or invoice_id = any(string_to_array($9::text, E'\n')))
and ($10::text is null or invoice_id = $10::text)
and ($11::text is null or external_id = $11::text)
and ($12::text is null or payment_id = $12::text)
and ($13::text is null or $13::text <> '' and status = any(string_to_array($13::text, ',')))
and ($14::text is null or flow = $14::text)
and ($15::int8 is null or amount_minor = $15::int8)
and ($16::text is null or customer_id = $16::text)
and ($17::text is null or email = $17::text)
and ($18::text is null or ip = $18::text)
and ($19::text is null or fingerprint = $19::text)
and ($20::text is null or first6 = $20::text)
and ($21::text is null or right(last4, length($21::text)) = $21::text)
and ($22::text is null or payment_system = $22::text)
and ($23::text is null or rrn = $23::text)
and ($24::text is null or approval_code = $24::text) offset 0)
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4)
union all
select created_at, invoice_id, payment_id from (select created_at, invoice_id, payment_id from unnest(string_to_array($8::text, E'\n')) as shop (id) cross join lateral (
select * from search_payment
where party_id = $1::text and shop_id = shop.id  and created_at >= $2::timestamptz
and (created_at, invoice_id, payment_id) < ($3::timestamptz, $4::text, $5::text)
and ($9::text is null or invoice_id = any(string_to_array($9::text, E'\n')))
and ($10::text is null or invoice_id = $10::text)
and ($11::text is null or external_id = $11::text)
and ($6::int8 is null or amount_minor >= $6::int8)
and ($7::int8 is null or amount_minor <= $7::int8)
and ($12::text is null or payment_id = $12::text)
and ($13::text is null or $13::text <> '' and status = any(string_to_array($13::text, ',')))
and ($14::text is null or flow = $14::text)
and ($15::int8 is null or amount_minor = $15::int8)
and ($16::text is null or customer_id = $16::text)
and ($17::text is null or email = $17::text)
and ($18::text is null or ip = $18::text)
and ($19::text is null or fingerprint = $19::text)
and ($20::text is null or first6 = $20::text)
and ($21::text is null or right(last4, length($21::text)) = $21::text)
and ($22::text is null or payment_system = $22::text)
and ($23::text is null or rrn = $23::text)
and ($24::text is null or approval_code = $24::text)
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4
) as found_rows
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4) as of_time
where (select count(*) from between_amounts) > 20000
) as of_amounts
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4
)
select payment.invoice_id, payment.payment_id, payment.party_id, payment.shop_id, payment.version, payment.status, payment.created_at, payment.amount_minor, payment.currency, payment.captured_minor, payment.refunded_minor, payment.terms, payment.state, payment.external_id from found join payment using (invoice_id, payment_id)
order by found.created_at desc, found.invoice_id desc, found.payment_id desc;

-- search_payments_by_approval_code
with found as materialized (
select created_at, invoice_id, payment_id from (
select * from search_payment
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and approval_code = $3::text and created_at >= $4::timestamptz
and (created_at, invoice_id, payment_id) < ($5::timestamptz, $6::text, $7::text)
and ($8::text is null or invoice_id = any(string_to_array($8::text, E'\n')))
and ($9::text is null or invoice_id = $9::text)
and ($10::text is null or external_id = $10::text)
and ($11::int8 is null or amount_minor >= $11::int8)
and ($12::int8 is null or amount_minor <= $12::int8)
and ($13::text is null or payment_id = $13::text)
and ($14::text is null or $14::text <> '' and status = any(string_to_array($14::text, ',')))
and ($15::text is null or flow = $15::text)
and ($16::int8 is null or amount_minor = $16::int8)
and ($17::text is null or customer_id = $17::text)
and ($18::text is null or email = $18::text)
and ($19::text is null or ip = $19::text)
and ($20::text is null or fingerprint = $20::text)
and ($21::text is null or first6 = $21::text)
and ($22::text is null or right(last4, length($22::text)) = $22::text)
and ($23::text is null or payment_system = $23::text)
and ($24::text is null or rrn = $24::text)
and ($3::text is null or approval_code = $3::text)
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4
) as found_rows
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4
)
select payment.invoice_id, payment.payment_id, payment.party_id, payment.shop_id, payment.version, payment.status, payment.created_at, payment.amount_minor, payment.currency, payment.captured_minor, payment.refunded_minor, payment.terms, payment.state, payment.external_id from found join payment using (invoice_id, payment_id)
order by found.created_at desc, found.invoice_id desc, found.payment_id desc;

-- search_payments_by_customer_id
with found as materialized (
select created_at, invoice_id, payment_id from (
select * from search_payment
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and customer_id = $3::text and created_at >= $4::timestamptz
and (created_at, invoice_id, payment_id) < ($5::timestamptz, $6::text, $7::text)
and ($8::text is null or invoice_id = any(string_to_array($8::text, E'\n')))
and ($9::text is null or invoice_id = $9::text)
and ($10::text is null or external_id = $10::text)
and ($11::int8 is null or amount_minor >= $11::int8)
and ($12::int8 is null or amount_minor <= $12::int8)
and ($13::text is null or payment_id = $13::text)
and ($14::text is null or $14::text <> '' and status = any(string_to_array($14::text, ',')))
and ($15::text is null or flow = $15::text)
and ($16::int8 is null or amount_minor = $16::int8)
and ($3::text is null or customer_id = $3::text)
and ($17::text is null or email = $17::text)
and ($18::text is null or ip = $18::text)
and ($19::text is null or fingerprint = $19::text)
and ($20::text is null or first6 = $20::text)
and ($21::text is null or right(last4, length($21::text)) = $21::text)
and ($22::text is null or payment_system = $22::text)
and ($23::text is null or rrn = $23::text)
and ($24::text is null or approval_code = $24::text)
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4
) as found_rows
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4
)
select payment.invoice_id, payment.payment_id, payment.party_id, payment.shop_id, payment.version, payment.status, payment.created_at, payment.amount_minor, payment.currency, payment.captured_minor, payment.refunded_minor, payment.terms, payment.state, payment.external_id from found join payment using (invoice_id, payment_id)
order by found.created_at desc, found.invoice_id desc, found.payment_id desc;

-- search_payments_by_email
with found as materialized (
select created_at, invoice_id, payment_id from (
select * from search_payment
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and email = $3::text and created_at >= $4::timestamptz
and (created_at, invoice_id, payment_id) < ($5::timestamptz, $6::text, $7::text)
and ($8::text is null or invoice_id = any(string_to_array($8::text, E'\n')))
and ($9::text is null or invoice_id = $9::text)
and ($10::text is null or external_id = $10::text)
and ($11::int8 is null or amount_minor >= $11::int8)
and ($12::int8 is null or amount_minor <= $12::int8)
and ($13::text is null or payment_id = $13::text)
and ($14::text is null or $14::text <> '' and status = any(string_to_array($14::text, ',')))
and ($15::text is null or flow = $15::text)
and ($16::int8 is null or amount_minor = $16::int8)
and ($17::text is null or customer_id = $17::text)
and ($3::text is null or email = $3::text)
and ($18::text is null or ip = $18::text)
and ($19::text is null or fingerprint = $19::text)
and ($20::text is null or first6 = $20::text)
and ($21::text is null or right(last4, length($21::text)) = $21::text)
and ($22::text is null or payment_system = $22::text)
and ($23::text is null or rrn = $23::text)
and ($24::text is null or approval_code = $24::text)
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4
) as found_rows
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4
)
select payment.invoice_id, payment.payment_id, payment.party_id, payment.shop_id, payment.version, payment.status, payment.created_at, payment.amount_minor, payment.currency, payment.captured_minor, payment.refunded_minor, payment.terms, payment.state, payment.external_id from found join payment using (invoice_id, payment_id)
order by found.created_at desc, found.invoice_id desc, found.payment_id desc;

-- search_payments_by_external_id
with found as materialized (
select created_at, invoice_id, payment_id from (
select * from search_payment
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and external_id = $3::text and created_at >= $4::timestamptz
and (created_at, invoice_id, payment_id) < ($5::timestamptz, $6::text, $7::text)
and ($8::text is null or invoice_id = any(string_to_array($8::text, E'\n')))
and ($9::text is null or invoice_id = $9::text)
and ($3::text is null or external_id = $3::text)
and ($10::int8 is null or amount_minor >= $10::int8)
and ($11::int8 is null or amount_minor <= $11::int8)
and ($12::text is null or payment_id = $12::text)
and ($13::text is null or $13::text <> '' and status = any(string_to_array($13::text, ',')))
and ($14::text is null or flow = $14::text)
and ($15::int8 is null or amount_minor = $15::int8)
and ($16::text is null or customer_id = $16::text)
and ($17::text is null or email = $17::text)
and ($18::text is null or ip = $18::text)
and ($19::text is null or fingerprint = $19::text)
and ($20::text is null or first6 = $20::text)
and ($21::text is null or right(last4, length($21::text)) = $21::text)
and ($22::text is null or payment_system = $22::text)
and ($23::text is null or rrn = $23::text)
and ($24::text is null or approval_code = $24::text)
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4
) as found_rows
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4
)
select payment.invoice_id, payment.payment_id, payment.party_id, payment.shop_id, payment.version, payment.status, payment.created_at, payment.amount_minor, payment.currency, payment.captured_minor, payment.refunded_minor, payment.terms, payment.state, payment.external_id from found join payment using (invoice_id, payment_id)
order by found.created_at desc, found.invoice_id desc, found.payment_id desc;

-- search_payments_by_fingerprint
with found as materialized (
select created_at, invoice_id, payment_id from (
select * from search_payment
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and fingerprint = $3::text and md5(fingerprint) = md5($3::text) and created_at >= $4::timestamptz
and (created_at, invoice_id, payment_id) < ($5::timestamptz, $6::text, $7::text)
and ($8::text is null or invoice_id = any(string_to_array($8::text, E'\n')))
and ($9::text is null or invoice_id = $9::text)
and ($10::text is null or external_id = $10::text)
and ($11::int8 is null or amount_minor >= $11::int8)
and ($12::int8 is null or amount_minor <= $12::int8)
and ($13::text is null or payment_id = $13::text)
and ($14::text is null or $14::text <> '' and status = any(string_to_array($14::text, ',')))
and ($15::text is null or flow = $15::text)
and ($16::int8 is null or amount_minor = $16::int8)
and ($17::text is null or customer_id = $17::text)
and ($18::text is null or email = $18::text)
and ($19::text is null or ip = $19::text)
and ($3::text is null or fingerprint = $3::text)
and ($20::text is null or first6 = $20::text)
and ($21::text is null or right(last4, length($21::text)) = $21::text)
and ($22::text is null or payment_system = $22::text)
and ($23::text is null or rrn = $23::text)
and ($24::text is null or approval_code = $24::text)
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4
) as found_rows
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4
)
select payment.invoice_id, payment.payment_id, payment.party_id, payment.shop_id, payment.version, payment.status, payment.created_at, payment.amount_minor, payment.currency, payment.captured_minor, payment.refunded_minor, payment.terms, payment.state, payment.external_id from found join payment using (invoice_id, payment_id)
order by found.created_at desc, found.invoice_id desc, found.payment_id desc;

-- search_payments_by_invoice_id
with found as materialized (
select created_at, invoice_id, payment_id from (
select * from search_payment
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and invoice_id = $3::text and created_at >= $4::timestamptz
and (created_at, invoice_id, payment_id) < ($5::timestamptz, $6::text, $7::text)
and ($8::text is null or invoice_id = any(string_to_array($8::text, E'\n')))
and ($3::text is null or invoice_id = $3::text)
and ($9::text is null or external_id = $9::text)
and ($10::int8 is null or amount_minor >= $10::int8)
and ($11::int8 is null or amount_minor <= $11::int8)
and ($12::text is null or payment_id = $12::text)
and ($13::text is null or $13::text <> '' and status = any(string_to_array($13::text, ',')))
and ($14::text is null or flow = $14::text)
and ($15::int8 is null or amount_minor = $15::int8)
and ($16::text is null or customer_id = $16::text)
and ($17::text is null or email = $17::text)
and ($18::text is null or ip = $18::text)
and ($19::text is null or fingerprint = $19::text)
and ($20::text is null or first6 = $20::text)
and ($21::text is null or right(last4, length($21::text)) = $21::text)
and ($22::text is null or payment_system = $22::text)
and ($23::text is null or rrn = $23::text)
and ($24::text is null or approval_code = $24::text)
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4
) as found_rows
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4
)
select payment.invoice_id, payment.payment_id, payment.party_id, payment.shop_id, payment.version, payment.status, payment.created_at, payment.amount_minor, payment.currency, payment.captured_minor, payment.refunded_minor, payment.terms, payment.state, payment.external_id from found join payment using (invoice_id, payment_id)
order by found.created_at desc, found.invoice_id desc, found.payment_id desc;

-- search_payments_by_invoice_ids
with found as materialized (
select created_at, invoice_id, payment_id from (
select * from search_payment
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and invoice_id = any(string_to_array($3::text, E'\n')) and created_at >= $4::timestamptz
and (created_at, invoice_id, payment_id) < ($5::timestamptz, $6::text, $7::text)
and ($3::text is null or invoice_id = any(string_to_array($3::text, E'\n')))
and ($8::text is null or invoice_id = $8::text)
and ($9::text is null or external_id = $9::text)
and ($10::int8 is null or amount_minor >= $10::int8)
and ($11::int8 is null or amount_minor <= $11::int8)
and ($12::text is null or payment_id = $12::text)
and ($13::text is null or $13::text <> '' and status = any(string_to_array($13::text, ',')))
and ($14::text is null or flow = $14::text)
and ($15::int8 is null or amount_minor = $15::int8)
and ($16::text is null or customer_id = $16::text)
and ($17::text is null or email = $17::text)
and ($18::text is null or ip = $18::text)
and ($19::text is null or fingerprint = $19::text)
and ($20::text is null or first6 = $20::text)
and ($21::text is null or right(last4, length($21::text)) = $21::text)
and ($22::text is null or payment_system = $22::text)
and ($23::text is null or rrn = $23::text)
and ($24::text is null or approval_code = $24::text)
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4
) as found_rows
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4
)
select payment.invoice_id, payment.payment_id, payment.party_id, payment.shop_id, payment.version, payment.status, payment.created_at, payment.amount_minor, payment.currency, payment.captured_minor, payment.refunded_minor, payment.terms, payment.state, payment.external_id from found join payment using (invoice_id, payment_id)
order by found.created_at desc, found.invoice_id desc, found.payment_id desc;

-- search_payments_by_ip
with found as materialized (
select created_at, invoice_id, payment_id from (
select * from search_payment
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and ip = $3::text and created_at >= $4::timestamptz
and (created_at, invoice_id, payment_id) < ($5::timestamptz, $6::text, $7::text)
and ($8::text is null or invoice_id = any(string_to_array($8::text, E'\n')))
and ($9::text is null or invoice_id = $9::text)
and ($10::text is null or external_id = $10::text)
and ($11::int8 is null or amount_minor >= $11::int8)
and ($12::int8 is null or amount_minor <= $12::int8)
and ($13::text is null or payment_id = $13::text)
and ($14::text is null or $14::text <> '' and status = any(string_to_array($14::text, ',')))
and ($15::text is null or flow = $15::text)
and ($16::int8 is null or amount_minor = $16::int8)
and ($17::text is null or customer_id = $17::text)
and ($18::text is null or email = $18::text)
and ($3::text is null or ip = $3::text)
and ($19::text is null or fingerprint = $19::text)
and ($20::text is null or first6 = $20::text)
and ($21::text is null or right(last4, length($21::text)) = $21::text)
and ($22::text is null or payment_system = $22::text)
and ($23::text is null or rrn = $23::text)
and ($24::text is null or approval_code = $24::text)
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4
) as found_rows
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4
)
select payment.invoice_id, payment.payment_id, payment.party_id, payment.shop_id, payment.version, payment.status, payment.created_at, payment.amount_minor, payment.currency, payment.captured_minor, payment.refunded_minor, payment.terms, payment.state, payment.external_id from found join payment using (invoice_id, payment_id)
order by found.created_at desc, found.invoice_id desc, found.payment_id desc;

-- search_payments_by_last4
with found as materialized (
select created_at, invoice_id, payment_id from (
select * from search_payment
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and last4 = $3::text and created_at >= $4::timestamptz
and (created_at, invoice_id, payment_id) < ($5::timestamptz, $6::text, $7::text)
and ($8::text is null or invoice_id = any(string_to_array($8::text, E'\n')))
and ($9::text is null or invoice_id = $9::text)
and ($10::text is null or external_id = $10::text)
and ($11::int8 is null or amount_minor >= $11::int8)
and ($12::int8 is null or amount_minor <= $12::int8)
and ($13::text is null or payment_id = $13::text)
and ($14::text is null or $14::text <> '' and status = any(string_to_array($14::text, ',')))
and ($15::text is null or flow = $15::text)
and ($16::int8 is null or amount_minor = $16::int8)
and ($17::text is null or customer_id = $17::text)
and ($18::text is null or email = $18::text)
and ($19::text is null or ip = $19::text)
and ($20::text is null or fingerprint = $20::text)
and ($21::text is null or first6 = $21::text)
and ($3::text is null or right(last4, length($3::text)) = $3::text)
and ($22::text is null or payment_system = $22::text)
and ($23::text is null or rrn = $23::text)
and ($24::text is null or approval_code = $24::text)
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4
) as found_rows
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4
)
select payment.invoice_id, payment.payment_id, payment.party_id, payment.shop_id, payment.version, payment.status, payment.created_at, payment.amount_minor, payment.currency, payment.captured_minor, payment.refunded_minor, payment.terms, payment.state, payment.external_id from found join payment using (invoice_id, payment_id)
order by found.created_at desc, found.invoice_id desc, found.payment_id desc;

-- search_payments_by_payment_amount
with found as materialized (
select created_at, invoice_id, payment_id from (
select * from search_payment
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and amount_minor = $3::int8 and created_at >= $4::timestamptz
and (created_at, invoice_id, payment_id) < ($5::timestamptz, $6::text, $7::text)
and ($8::text is null or invoice_id = any(string_to_array($8::text, E'\n')))
and ($9::text is null or invoice_id = $9::text)
and ($10::text is null or external_id = $10::text)
and ($11::int8 is null or amount_minor >= $11::int8)
and ($12::int8 is null or amount_minor <= $12::int8)
and ($13::text is null or payment_id = $13::text)
and ($14::text is null or $14::text <> '' and status = any(string_to_array($14::text, ',')))
and ($15::text is null or flow = $15::text)
and ($3::int8 is null or amount_minor = $3::int8)
and ($16::text is null or customer_id = $16::text)
and ($17::text is null or email = $17::text)
and ($18::text is null or ip = $18::text)
and ($19::text is null or fingerprint = $19::text)
and ($20::text is null or first6 = $20::text)
and ($21::text is null or right(last4, length($21::text)) = $21::text)
and ($22::text is null or payment_system = $22::text)
and ($23::text is null or rrn = $23::text)
and ($24::text is null or approval_code = $24::text)
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4
) as found_rows
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4
)
select payment.invoice_id, payment.payment_id, payment.party_id, payment.shop_id, payment.version, payment.status, payment.created_at, payment.amount_minor, payment.currency, payment.captured_minor, payment.refunded_minor, payment.terms, payment.state, payment.external_id from found join payment using (invoice_id, payment_id)
order by found.created_at desc, found.invoice_id desc, found.payment_id desc;

-- search_payments_by_rrn
with found as materialized (
select created_at, invoice_id, payment_id from (
select * from search_payment
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and rrn = $3::text and created_at >= $4::timestamptz
and (created_at, invoice_id, payment_id) < ($5::timestamptz, $6::text, $7::text)
and ($8::text is null or invoice_id = any(string_to_array($8::text, E'\n')))
and ($9::text is null or invoice_id = $9::text)
and ($10::text is null or external_id = $10::text)
and ($11::int8 is null or amount_minor >= $11::int8)
and ($12::int8 is null or amount_minor <= $12::int8)
and ($13::text is null or payment_id = $13::text)
and ($14::text is null or $14::text <> '' and status = any(string_to_array($14::text, ',')))
and ($15::text is null or flow = $15::text)
and ($16::int8 is null or amount_minor = $16::int8)
and ($17::text is null or customer_id = $17::text)
and ($18::text is null or email = $18::text)
and ($19::text is null or ip = $19::text)
and ($20::text is null or fingerprint = $20::text)
and ($21::text is null or first6 = $21::text)
and ($22::text is null or right(last4, length($22::text)) = $22::text)
and ($23::text is null or payment_system = $23::text)
and ($3::text is null or rrn = $3::text)
and ($24::text is null or approval_code = $24::text)
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4
) as found_rows
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4
)
select payment.invoice_id, payment.payment_id, payment.party_id, payment.shop_id, payment.version, payment.status, payment.created_at, payment.amount_minor, payment.currency, payment.captured_minor, payment.refunded_minor, payment.terms, payment.state, payment.external_id from found join payment using (invoice_id, payment_id)
order by found.created_at desc, found.invoice_id desc, found.payment_id desc;

-- search_payments_by_time
with found as materialized (
select created_at, invoice_id, payment_id from unnest(string_to_array($1::text, E'\n')) as shop (id) cross join lateral (
select * from search_payment
where party_id = $2::text and shop_id = shop.id  and created_at >= $3::timestamptz
and (created_at, invoice_id, payment_id) < ($4::timestamptz, $5::text, $6::text)
and ($7::text is null or invoice_id = any(string_to_array($7::text, E'\n')))
and ($8::text is null or invoice_id = $8::text)
and ($9::text is null or external_id = $9::text)
and ($10::int8 is null or amount_minor >= $10::int8)
and ($11::int8 is null or amount_minor <= $11::int8)
and ($12::text is null or payment_id = $12::text)
and ($13::text is null or $13::text <> '' and status = any(string_to_array($13::text, ',')))
and ($14::text is null or flow = $14::text)
and ($15::int8 is null or amount_minor = $15::int8)
and ($16::text is null or customer_id = $16::text)
and ($17::text is null or email = $17::text)
and ($18::text is null or ip = $18::text)
and ($19::text is null or fingerprint = $19::text)
and ($20::text is null or first6 = $20::text)
and ($21::text is null or right(last4, length($21::text)) = $21::text)
and ($22::text is null or payment_system = $22::text)
and ($23::text is null or rrn = $23::text)
and ($24::text is null or approval_code = $24::text)
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4
) as found_rows
order by created_at desc, invoice_id desc, payment_id desc limit $25::int4
)
select payment.invoice_id, payment.payment_id, payment.party_id, payment.shop_id, payment.version, payment.status, payment.created_at, payment.amount_minor, payment.currency, payment.captured_minor, payment.refunded_minor, payment.terms, payment.state, payment.external_id from found join payment using (invoice_id, payment_id)
order by found.created_at desc, found.invoice_id desc, found.payment_id desc;

-- search_refunds_by_approval_code
with found as materialized (
select created_at, invoice_id, payment_id, refund_id from (
select * from search_refund as refund
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and created_at >= $3::timestamptz
and (invoice_id, payment_id) in (
select payment.invoice_id, payment.payment_id from search_payment as payment
where payment.party_id = $1::text and payment.approval_code = $4::text)
and ($5::text is null or invoice_id = $5::text)
and ($6::text is null or external_id = $6::text)
and ($7::text is null or payment_id = $7::text)
and ($8::text is null or refund_id = $8::text)
and ($9::text is null or status = $9::text)
and ($10::text is null or rrn = $10::text)
and (created_at, invoice_id, payment_id, refund_id) < ($11::timestamptz, $12::text, $13::text, $14::text)
order by created_at desc, invoice_id desc, payment_id desc, refund_id desc limit $15::int4 + $16::int4
) as found_rows
order by created_at desc, invoice_id desc, payment_id desc, refund_id desc limit $15::int4 offset $16::int4
)
select refund.invoice_id, refund.payment_id, refund.refund_id, refund.created_at, refund.status, refund.amount_minor, refund.currency, refund.fee_minor, refund.reason, refund.cart, refund.external_id, refund.failure, refund.waits_until, refund.rrn, refund.arn,
(select answer from exchange where exchange.aggregate_id = refund.invoice_id
and exchange.operation = refund.payment_id || '.' || refund.refund_id) as answer from found join refund using (invoice_id, payment_id, refund_id)
order by found.created_at desc, found.invoice_id desc, found.payment_id desc, found.refund_id desc;

-- search_refunds_by_external_id
with found as materialized (
select created_at, invoice_id, payment_id, refund_id from (
select * from search_refund as refund
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and created_at >= $3::timestamptz
and external_id = $4::text and ($5::text is null or (invoice_id, payment_id) in (
select payment.invoice_id, payment.payment_id from search_payment as payment
where payment.party_id = $1::text and payment.approval_code = $5::text))
and ($6::text is null or invoice_id = $6::text)
and ($4::text is null or external_id = $4::text)
and ($7::text is null or payment_id = $7::text)
and ($8::text is null or refund_id = $8::text)
and ($9::text is null or status = $9::text)
and ($10::text is null or rrn = $10::text)
and (created_at, invoice_id, payment_id, refund_id) < ($11::timestamptz, $12::text, $13::text, $14::text)
order by created_at desc, invoice_id desc, payment_id desc, refund_id desc limit $15::int4 + $16::int4
) as found_rows
order by created_at desc, invoice_id desc, payment_id desc, refund_id desc limit $15::int4 offset $16::int4
)
select refund.invoice_id, refund.payment_id, refund.refund_id, refund.created_at, refund.status, refund.amount_minor, refund.currency, refund.fee_minor, refund.reason, refund.cart, refund.external_id, refund.failure, refund.waits_until, refund.rrn, refund.arn,
(select answer from exchange where exchange.aggregate_id = refund.invoice_id
and exchange.operation = refund.payment_id || '.' || refund.refund_id) as answer from found join refund using (invoice_id, payment_id, refund_id)
order by found.created_at desc, found.invoice_id desc, found.payment_id desc, found.refund_id desc;

-- search_refunds_by_invoice_id
with found as materialized (
select created_at, invoice_id, payment_id, refund_id from (
select * from search_refund as refund
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and created_at >= $3::timestamptz
and invoice_id = $4::text and ($5::text is null or (invoice_id, payment_id) in (
select payment.invoice_id, payment.payment_id from search_payment as payment
where payment.party_id = $1::text and payment.approval_code = $5::text))
and ($4::text is null or invoice_id = $4::text)
and ($6::text is null or external_id = $6::text)
and ($7::text is null or payment_id = $7::text)
and ($8::text is null or refund_id = $8::text)
and ($9::text is null or status = $9::text)
and ($10::text is null or rrn = $10::text)
and (created_at, invoice_id, payment_id, refund_id) < ($11::timestamptz, $12::text, $13::text, $14::text)
order by created_at desc, invoice_id desc, payment_id desc, refund_id desc limit $15::int4 + $16::int4
) as found_rows
order by created_at desc, invoice_id desc, payment_id desc, refund_id desc limit $15::int4 offset $16::int4
)
select refund.invoice_id, refund.payment_id, refund.refund_id, refund.created_at, refund.status, refund.amount_minor, refund.currency, refund.fee_minor, refund.reason, refund.cart, refund.external_id, refund.failure, refund.waits_until, refund.rrn, refund.arn,
(select answer from exchange where exchange.aggregate_id = refund.invoice_id
and exchange.operation = refund.payment_id || '.' || refund.refund_id) as answer from found join refund using (invoice_id, payment_id, refund_id)
order by found.created_at desc, found.invoice_id desc, found.payment_id desc, found.refund_id desc;

-- search_refunds_by_rrn
with found as materialized (
select created_at, invoice_id, payment_id, refund_id from (
select * from search_refund as refund
where party_id = $1::text and shop_id = any(string_to_array($2::text, E'\n')) and created_at >= $3::timestamptz
and rrn = $4::text and ($5::text is null or (invoice_id, payment_id) in (
select payment.invoice_id, payment.payment_id from search_payment as payment
where payment.party_id = $1::text and payment.approval_code = $5::text))
and ($6::text is null or invoice_id = $6::text)
and ($7::text is null or external_id = $7::text)
and ($8::text is null or payment_id = $8::text)
and ($9::text is null or refund_id = $9::text)
and ($10::text is null or status = $10::text)
and ($4::text is null or rrn = $4::text)
and (created_at, invoice_id, payment_id, refund_id) < ($11::timestamptz, $12::text, $13::text, $14::text)
order by created_at desc, invoice_id desc, payment_id desc, refund_id desc limit $15::int4 + $16::int4
) as found_rows
order by created_at desc, invoice_id desc, payment_id desc, refund_id desc limit $15::int4 offset $16::int4
)
select refund.invoice_id, refund.payment_id, refund.refund_id, refund.created_at, refund.status, refund.amount_minor, refund.currency, refund.fee_minor, refund.reason, refund.cart, refund.external_id, refund.failure, refund.waits_until, refund.rrn, refund.arn,
(select answer from exchange where exchange.aggregate_id = refund.invoice_id
and exchange.operation = refund.payment_id || '.' || refund.refund_id) as answer from found join refund using (invoice_id, payment_id, refund_id)
order by found.created_at desc, found.invoice_id desc, found.payment_id desc, found.refund_id desc;

-- search_refunds_by_time
with found as materialized (
select created_at, invoice_id, payment_id, refund_id from unnest(string_to_array($1::text, E'\n')) as shop (id) cross join lateral (
select * from search_refund as refund
where party_id = $2::text and shop_id = shop.id and created_at >= $3::timestamptz
and ($4::text is null or (invoice_id, payment_id) in (
select payment.invoice_id, payment.payment_id from search_payment as payment
where payment.party_id = $2::text and payment.approval_code = $4::text))
and ($5::text is null or invoice_id = $5::text)
and ($6::text is null or external_id = $6::text)
and ($7::text is null or payment_id = $7::text)
and ($8::text is null or refund_id = $8::text)
and ($9::text is null or status = $9::text)
and ($10::text is null or rrn = $10::text)
and (created_at, invoice_id, payment_id, refund_id) < ($11::timestamptz, $12::text, $13::text, $14::text)
order by created_at desc, invoice_id desc, payment_id desc, refund_id desc limit $15::int4 + $16::int4
) as found_rows
order by created_at desc, invoice_id desc, payment_id desc, refund_id desc limit $15::int4 offset $16::int4
)
select refund.invoice_id, refund.payment_id, refund.refund_id, refund.created_at, refund.status, refund.amount_minor, refund.currency, refund.fee_minor, refund.reason, refund.cart, refund.external_id, refund.failure, refund.waits_until, refund.rrn, refund.arn,
(select answer from exchange where exchange.aggregate_id = refund.invoice_id
and exchange.operation = refund.payment_id || '.' || refund.refund_id) as answer from found join refund using (invoice_id, payment_id, refund_id)
order by found.created_at desc, found.invoice_id desc, found.payment_id desc, found.refund_id desc;

-- search_seldom_payments
with found as materialized (
select created_at, invoice_id, payment_id
from unnest(string_to_array($1::text, E'\n')) as shop (id) cross join lateral (
select one.created_at, invoice_id, payment_id
from (
select quarter from (
select quarter, sum(n) as here, sum(sum(n)) over newest as until_here, first_value(sum(n)) over newest as first
from (
select day from (
select day, sum(n) as here, sum(sum(n)) over newest as until_here, first_value(sum(n)) over newest as first
from search_day_sum
where party_id = $2::text and shop_id = shop.id and day > $3::timestamptz - interval '24 hours' and day <= $4::timestamptz
and what = 'payment' and ($5::text is null or status = $5::text)
and ($6::text is null or payment_system = $6::text)
group by day having sum(n) > 0
window newest as (order by day desc)
) as counted where until_here - here - first < $7::int4
) as days cross join lateral (
select quarter, n from search_sum
where party_id = $2::text and shop_id = shop.id and quarter >= day and quarter < day + interval '24 hours'
and quarter > $3::timestamptz - interval '15 minutes' and quarter <= $4::timestamptz
and what = 'payment' and ($5::text is null or status = $5::text)
and ($6::text is null or payment_system = $6::text) offset 0
) as sums
group by quarter having sum(n) > 0
window newest as (order by quarter desc)
) as counted where until_here - here - first < $7::int4
) as quarters cross join lateral (
select created_at, invoice_id, payment_id from search_payment
where party_id = $2::text and shop_id = shop.id
and created_at >= quarter and created_at < quarter + interval '15 minutes' and created_at >= $3::timestamptz
and (created_at, invoice_id, payment_id) < ($4::timestamptz, $8::text, $9::text)
and ($10::text is null or status = any(string_to_array($10::text, ',')))
and ($6::text is null or payment_system = $6::text) offset 0
) as one
order by created_at desc, invoice_id desc, payment_id desc limit $7::int4
) as of_shop
order by created_at desc, invoice_id desc, payment_id desc limit $7::int4
)
select payment.invoice_id, payment.payment_id, payment.party_id, payment.shop_id, payment.version, payment.status, payment.created_at, payment.amount_minor, payment.currency, payment.captured_minor, payment.refunded_minor, payment.terms, payment.state, payment.external_id from found join payment using (invoice_id, payment_id)
order by found.created_at desc, found.invoice_id desc, found.payment_id desc;

-- search_series
with found as materialized (
select created_at, series_id from search_series
where party_id = $1::text and created_at >= $2::timestamptz
and ($3::text is null or shop_id = $3::text) and ($4::text is null or shop_id = any(string_to_array($4::text, ','))) and ($5::text is null or status = any(string_to_array($5::text, ',')))
and (created_at, series_id) < ($6::timestamptz, $7::text)
and ($8::text is null or series_id = $8::text) and ($9::text is null or root_kind = $9::text) and ($10::text is null or root_of = $10::text) and ($11::text is null or root_id = $11::text)
and ($12::bool is null or $12::bool = (status = 'active' and ends_at > $13::timestamptz))
order by created_at desc, series_id desc limit $14::int4
)
select series.series_id, series.party_id, series.shop_id, series.version, series.status, series.card_key, series.card_token, series.chain, series.terms, series.state, series.changed_at,
(select settings from recurring_settings as wish
where wish.party_id = series.party_id and wish.shop_id = series.shop_id) as settings, found.created_at as started_at from found join series using (series_id)
order by found.created_at desc, found.series_id desc;

-- set_attempt_of_consent_link
update consent_link set customer_id = $1::text, binding_id = $2::text where consent_link_id = $3::text;

-- set_one_off_receipts
update shop set one_off_receipts = $1::bool
where party_id = $2::text and shop_id = $3::text returning shop_id;

-- set_party_flags
update party set is_blocked = coalesce($1::bool, is_blocked),
is_suspended = coalesce($2::bool, is_suspended)
where party_id = $3::text returning party_id;

-- set_shared_bank
update bank set is_shared = $1::bool where bank_id = $2::text returning bank_id;

-- set_shop_fees
update shop set fees = $1::json where party_id = $2::text and shop_id = $3::text returning shop_id;

-- set_shop_flags
update shop set is_blocked = coalesce($1::bool, is_blocked),
is_suspended = coalesce($2::bool, is_suspended)
where party_id = $3::text and shop_id = $4::text returning shop_id;

-- set_shop_origins
update shop set origins = $1::text where party_id = $2::text and shop_id = $3::text returning shop_id;

-- set_strict_ids
update shop set strict_ids = $1::bool where party_id = $2::text and shop_id = $3::text returning shop_id;

-- set_three_d_secure
update shop set three_d_secure = $1::text
where party_id = $2::text and shop_id = $3::text returning shop_id;

-- set_when_short
update shop set when_short = $1::text where party_id = $2::text and shop_id = $3::text returning shop_id;

-- settle_charge_undo
with moved as (
delete from charge_undo where invoice_id = $1::text and payment_id = $2::text and operation = $3::text and stuck_at is not null returning invoice_id
), changed as (
update invoice set version = invoice.version + 1, changed_at = greatest(invoice.changed_at, $4::timestamptz)
from moved where invoice.invoice_id = moved.invoice_id
returning invoice.invoice_id, invoice.party_id, invoice.version, invoice.changed_at
), logged as (
insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
select invoice_id, version, 'invoice', party_id, changed_at, $5::json from changed
), exchanged as (
insert into exchange (aggregate_id, operation, bank_id, terminal_id, kind, amount_minor, currency, digest, card_token, wire_keys, not_after, begun_at, state, answer, far_reference, heard_at)
select one.* from changed, json_to_recordset($6::json) as one (aggregate_id text, operation text, bank_id text, terminal_id text, kind text, amount_minor bigint, currency text, digest bytea, card_token text, wire_keys json, not_after timestamptz, begun_at timestamptz, state text, answer json, far_reference text, heard_at timestamptz)
on conflict (aggregate_id, operation) do update
set bank_id = excluded.bank_id, terminal_id = excluded.terminal_id, digest = excluded.digest, wire_keys = excluded.wire_keys, not_after = excluded.not_after, state = excluded.state, answer = excluded.answer, far_reference = excluded.far_reference, heard_at = excluded.heard_at
where exchange.state not in ('approved', 'declined', 'takenBack', 'settled')
)
select version, record_journal(changed.invoice_id, $7::text, changed.changed_at, $8::json) as journal from changed;

-- spread_ledger_account
with spread as (
update ledger_account set shards = $1::int4 where account_id = $2::text returning account_id
), freed as (
update ledger_balance set is_unsharded = false where account_id = $2::text and is_unsharded and $1::int4 > 0
), added as (
insert into ledger_balance (account_id, shard, is_unsharded)
select account_id, shard, false from spread, generate_series(0, $1::int4) as shard
on conflict do nothing
)
select account_id from spread;

-- start_charge
select asker from start_charges($1::json);

-- start_charge_undo
with moved as (
insert into charge_undo (invoice_id, payment_id, operation, party_id, amount_minor, wake_at)
select $1::text, $2::text, $3::text, $4::text, $5::int8, $6::timestamptz
-- One that has begun and ended since the log was read is not begun again.
where not exists (select from exchange where aggregate_id = $1::text and operation = $2::text || '.' || $3::text)
on conflict do nothing returning invoice_id
), changed as (
update invoice set version = invoice.version + 1, changed_at = greatest(invoice.changed_at, $6::timestamptz)
from moved where invoice.invoice_id = moved.invoice_id
returning invoice.invoice_id, invoice.party_id, invoice.version, invoice.changed_at
), logged as (
insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
select invoice_id, version, 'invoice', party_id, changed_at, $7::json from changed
), exchanged as (
insert into exchange (aggregate_id, operation, bank_id, terminal_id, kind, amount_minor, currency, digest, card_token, wire_keys, not_after, begun_at, state, answer, far_reference, heard_at)
select one.* from changed, json_to_recordset($8::json) as one (aggregate_id text, operation text, bank_id text, terminal_id text, kind text, amount_minor bigint, currency text, digest bytea, card_token text, wire_keys json, not_after timestamptz, begun_at timestamptz, state text, answer json, far_reference text, heard_at timestamptz)
on conflict (aggregate_id, operation) do update
set bank_id = excluded.bank_id, terminal_id = excluded.terminal_id, digest = excluded.digest, wire_keys = excluded.wire_keys, not_after = excluded.not_after, state = excluded.state, answer = excluded.answer, far_reference = excluded.far_reference, heard_at = excluded.heard_at
where exchange.state not in ('approved', 'declined', 'takenBack', 'settled')
)
select version, record_journal(changed.invoice_id, $9::text, changed.changed_at, $10::json) as journal from changed;

-- start_refund
with moved as (
update payment
set version = payment.version + 1, status = $1::text, captured_minor = $2::int8, refunded_minor = $3::int8,
state = $4::json, wake_at = $5::timestamptz, attempts = $6::int4, stuck_at = null, stuck_reason = null
where payment.invoice_id = $7::text and payment.payment_id = $8::text and payment.version = $9::int4
returning payment.invoice_id
), changed as (
update invoice
set version = invoice.version + json_array_length($10::json), changed_at = greatest(invoice.changed_at, $11::timestamptz),
status = case when $12::bool then 'paid' else status end,
payment_in_progress = $13::bool,
wake_at = case when $13::bool or $12::bool or status <> 'unpaid' then null else due_date end
from moved where invoice.invoice_id = moved.invoice_id
returning invoice.invoice_id, party_id, invoice.version, invoice.changed_at
), logged as (
insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
select invoice_id, version - json_array_length($10::json) + entry.ordinal::int, 'invoice', party_id,
changed_at, entry.facts
from changed, json_array_elements($10::json) with ordinality as entry (facts, ordinal)
), exchanged as (
insert into exchange (aggregate_id, operation, bank_id, terminal_id, kind, amount_minor, currency, digest, card_token, wire_keys, not_after, begun_at, state, answer, far_reference, heard_at)
select one.* from changed, json_to_recordset($14::json) as one (aggregate_id text, operation text, bank_id text, terminal_id text, kind text, amount_minor bigint, currency text, digest bytea, card_token text, wire_keys json, not_after timestamptz, begun_at timestamptz, state text, answer json, far_reference text, heard_at timestamptz)
on conflict (aggregate_id, operation) do update
set bank_id = excluded.bank_id, terminal_id = excluded.terminal_id, digest = excluded.digest, wire_keys = excluded.wire_keys, not_after = excluded.not_after, state = excluded.state, answer = excluded.answer, far_reference = excluded.far_reference, heard_at = excluded.heard_at
where exchange.state not in ('approved', 'declined', 'takenBack', 'settled')
), identified as (
insert into external_id (party_id, operation, external_id, entity_id, fingerprint)
select changed.party_id, 'createRefund', $15::text, $7::text || '.' || $8::text || '.' || $16::text, $17::bytea
from changed where $15::text is not null
), made as (
insert into refund (invoice_id, payment_id, refund_id, party_id, created_at, status, amount_minor, currency,
fee_minor, reason, cart, external_id, waits_until)
select $7::text, $8::text, $16::text, party_id, $18::timestamptz, 'pending', $19::int8, $20::text,
$21::int8, $22::text, $23::json, $15::text, $24::timestamptz
from changed
), queued as (
insert into waiting_refund (invoice_id, payment_id, refund_id, party_id, shop_id, created_at)
select $7::text, $8::text, $16::text, party_id, $25::text, $18::timestamptz
from changed where $24::timestamptz is not null
)
select version, record_journal(changed.invoice_id, $26::text, changed.changed_at, $27::json) as journal from changed;

-- step_up_payment
with moved as (
update payment
set version = version + 1, terms = $1::json, wake_at = $2::timestamptz, attempts = $3::int4, stuck_at = null, stuck_reason = null
where invoice_id = $4::text and payment_id = $5::text and version = $6::int4 and status = 'authorising'
returning invoice_id
), changed as (
update invoice set version = invoice.version + 1, changed_at = greatest(invoice.changed_at, $7::timestamptz)
from moved where invoice.invoice_id = moved.invoice_id
returning invoice.invoice_id, party_id, invoice.version, invoice.changed_at
)
select append_event('invoice', invoice_id, version, party_id, changed_at, $8::json) as version,
record_exchanges($9::json) as exchanges
from changed;

-- stop_bank
update bank set stopped_at = $1::timestamptz, stopped_because = $2::text
where bank_id = $3::text and stopped_at is null returning bank_id;

-- store_abilities
update bank set abilities = url || ' ' || $1::text
where bank_id = $2::text and url = $3::text and abilities is distinct from url || ' ' || $1::text
returning bank_id;

-- store_idempotent_answer
update idempotency_key
set status = $1::int4, body_ciphertext = $2::bytea, key_version = $3::int4, warnings = $4::text
where owner_id = $5::text and idempotency_key = $6::text;

-- stuck_binding
select json_build_array(customer_id, binding_id) as key, party_id, stuck_at, stuck_reason from binding
where stuck_at is not null order by stuck_at limit 1000;

-- stuck_card
select json_build_array(card_id) as key, party_id, stuck_at, stuck_reason from card
where stuck_at is not null order by stuck_at limit 1000;

-- stuck_charge_undo
select json_build_array(invoice_id, payment_id, operation) as key, party_id, stuck_at, stuck_reason from charge_undo
where stuck_at is not null order by stuck_at limit 1000;

-- stuck_destination
select json_build_array(destination_id) as key, party_id, stuck_at, stuck_reason from destination
where stuck_at is not null order by stuck_at limit 1000;

-- stuck_export
select json_build_array(party_id, export_id) as key, party_id, stuck_at, stuck_reason from export
where stuck_at is not null order by stuck_at limit 1000;

-- stuck_invoice
select json_build_array(invoice_id) as key, party_id, stuck_at, stuck_reason from invoice
where stuck_at is not null order by stuck_at limit 1000;

-- stuck_payer_email
select json_build_array(invoice_id, payment_id) as key, party_id, stuck_at, stuck_reason from payer_email
where stuck_at is not null order by stuck_at limit 1000;

-- stuck_payment
select json_build_array(invoice_id, payment_id) as key, party_id, stuck_at, stuck_reason from payment
where stuck_at is not null order by stuck_at limit 1000;

-- stuck_series
select json_build_array(series_id) as key, party_id, stuck_at, stuck_reason from series
where stuck_at is not null order by stuck_at limit 1000;

-- stuck_subscription
select json_build_array(subscription_id) as key, party_id, stuck_at, stuck_reason from subscription
where stuck_at is not null order by stuck_at limit 1000;

-- stuck_withdrawal
select json_build_array(withdrawal_id) as key, party_id, stuck_at, stuck_reason from withdrawal
where stuck_at is not null order by stuck_at limit 1000;

-- sum_day
insert into search_sum (party_id, shop_id, quarter, what, currency, status, attempt, payment_system, decline_class, failure, bank_code, amount_minor, n)
select party_id, shop_id, quarter, what, currency, status, attempt, payment_system, decline_class, failure, bank_code, sum(amount_minor), count(*)
from (
select party_id as party_id, shop_id as shop_id, date_bin('15 minutes', created_at, '2000-01-01T00:00:00Z') as quarter, 'payment' as what, currency as currency, case when status in ('authorising', 'challenged', 'reversing') then 'pending' when status in ('held', 'capturing', 'cancelling') then 'processed' when status in ('captured', 'refunding') then 'captured' when status in ('cancelled') then 'cancelled' when status in ('refunded') then 'refunded' when status in ('failed') then 'failed' end as status, attempt as attempt, coalesce(payment_system, '') as payment_system, coalesce(decline_class, '') as decline_class, coalesce(failure, '') as failure, coalesce(bank_code, '') as bank_code, amount_minor
from search_payment
where party_id = $1::text and shop_id = $2::text and created_at >= $3::timestamptz and created_at < $4::timestamptz
and currency is not null
union all
select party_id as party_id, shop_id as shop_id, date_bin('15 minutes', created_at, '2000-01-01T00:00:00Z') as quarter, 'refund' as what, currency as currency, status as status, 0 as attempt, '' as payment_system, '' as decline_class, '' as failure, '' as bank_code, amount_minor
from search_refund
where party_id = $1::text and shop_id = $2::text and created_at >= $3::timestamptz and created_at < $4::timestamptz
and currency is not null
union all
select party_id as party_id, shop_id as shop_id, date_bin('15 minutes', created_at, '2000-01-01T00:00:00Z') as quarter, 'payout' as what, currency as currency, status as status, 0 as attempt, '' as payment_system, '' as decline_class, '' as failure, '' as bank_code, amount_minor
from search_payout
where party_id = $1::text and shop_id = $2::text and created_at >= $3::timestamptz and created_at < $4::timestamptz
and currency is not null
) as summed
group by party_id, shop_id, quarter, what, currency, status, attempt, payment_system, decline_class, failure, bank_code;

-- sum_payments_by_attempt
select width_bucket(at, array(select start::timestamptz from json_array_elements_text($1::json) as start order by 1)) as part,
currency, attempt, status, decline_class, sum(n)::int8 as n, sum(amount_minor)::int8 as amount_minor
from (
select day as at, currency, attempt, status, decline_class, n, amount_minor from search_day_sum
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json)))
and day >= $4::timestamptz and day < $5::timestamptz and what = 'payment'
union all 
select quarter as at, currency, attempt, status, decline_class, n, amount_minor from search_sum
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json)))
and quarter >= $6::timestamptz and quarter < $4::timestamptz and what = 'payment'
union all 
select quarter as at, currency, attempt, status, decline_class, n, amount_minor from search_sum
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json)))
and quarter >= $5::timestamptz and quarter < $7::timestamptz and what = 'payment'
union all 
select created_at, currency as currency, attempt as attempt, case when status in ('authorising', 'challenged', 'reversing') then 'pending' when status in ('held', 'capturing', 'cancelling') then 'processed' when status in ('captured', 'refunding') then 'captured' when status in ('cancelled') then 'cancelled' when status in ('refunded') then 'refunded' when status in ('failed') then 'failed' end as status, coalesce(decline_class, '') as decline_class, 1, amount_minor from search_payment
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json))) and created_at >= $8::timestamptz and created_at < $6::timestamptz
and currency is not null
union all 
select created_at, currency as currency, attempt as attempt, case when status in ('authorising', 'challenged', 'reversing') then 'pending' when status in ('held', 'capturing', 'cancelling') then 'processed' when status in ('captured', 'refunding') then 'captured' when status in ('cancelled') then 'cancelled' when status in ('refunded') then 'refunded' when status in ('failed') then 'failed' end as status, coalesce(decline_class, '') as decline_class, 1, amount_minor from search_payment
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json))) and created_at >= $7::timestamptz and created_at < $9::timestamptz
and currency is not null
) as summed 
group by part, currency, attempt, status, decline_class having sum(n) <> 0
order by part, currency, attempt, status, decline_class;

-- sum_payments_by_failure
select width_bucket(at, array(select start::timestamptz from json_array_elements_text($1::json) as start order by 1)) as part,
currency, status, decline_class, failure, bank_code, sum(n)::int8 as n, sum(amount_minor)::int8 as amount_minor
from (
select day as at, currency, status, decline_class, failure, bank_code, n, amount_minor from search_day_sum
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json)))
and day >= $4::timestamptz and day < $5::timestamptz and what = 'payment'
union all 
select quarter as at, currency, status, decline_class, failure, bank_code, n, amount_minor from search_sum
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json)))
and quarter >= $6::timestamptz and quarter < $4::timestamptz and what = 'payment'
union all 
select quarter as at, currency, status, decline_class, failure, bank_code, n, amount_minor from search_sum
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json)))
and quarter >= $5::timestamptz and quarter < $7::timestamptz and what = 'payment'
union all 
select created_at, currency as currency, case when status in ('authorising', 'challenged', 'reversing') then 'pending' when status in ('held', 'capturing', 'cancelling') then 'processed' when status in ('captured', 'refunding') then 'captured' when status in ('cancelled') then 'cancelled' when status in ('refunded') then 'refunded' when status in ('failed') then 'failed' end as status, coalesce(decline_class, '') as decline_class, coalesce(failure, '') as failure, coalesce(bank_code, '') as bank_code, 1, amount_minor from search_payment
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json))) and created_at >= $8::timestamptz and created_at < $6::timestamptz
and currency is not null
union all 
select created_at, currency as currency, case when status in ('authorising', 'challenged', 'reversing') then 'pending' when status in ('held', 'capturing', 'cancelling') then 'processed' when status in ('captured', 'refunding') then 'captured' when status in ('cancelled') then 'cancelled' when status in ('refunded') then 'refunded' when status in ('failed') then 'failed' end as status, coalesce(decline_class, '') as decline_class, coalesce(failure, '') as failure, coalesce(bank_code, '') as bank_code, 1, amount_minor from search_payment
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json))) and created_at >= $7::timestamptz and created_at < $9::timestamptz
and currency is not null
) as summed where status = 'failed'
group by part, currency, status, decline_class, failure, bank_code having sum(n) <> 0
order by part, currency, status, decline_class, failure, bank_code;

-- sum_payments_by_status
select width_bucket(at, array(select start::timestamptz from json_array_elements_text($1::json) as start order by 1)) as part,
currency, status, decline_class, sum(n)::int8 as n, sum(amount_minor)::int8 as amount_minor
from (
select hour as at, currency, status, decline_class, n, amount_minor from search_hour_sum
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json)))
and hour >= $4::timestamptz and hour < $5::timestamptz and what = 'payment'
union all 
select quarter as at, currency, status, decline_class, n, amount_minor from search_sum
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json)))
and quarter >= $6::timestamptz and quarter < $4::timestamptz and what = 'payment'
union all 
select quarter as at, currency, status, decline_class, n, amount_minor from search_sum
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json)))
and quarter >= $5::timestamptz and quarter < $7::timestamptz and what = 'payment'
union all 
select created_at, currency as currency, case when status in ('authorising', 'challenged', 'reversing') then 'pending' when status in ('held', 'capturing', 'cancelling') then 'processed' when status in ('captured', 'refunding') then 'captured' when status in ('cancelled') then 'cancelled' when status in ('refunded') then 'refunded' when status in ('failed') then 'failed' end as status, coalesce(decline_class, '') as decline_class, 1, amount_minor from search_payment
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json))) and created_at >= $8::timestamptz and created_at < $6::timestamptz
and currency is not null
union all 
select created_at, currency as currency, case when status in ('authorising', 'challenged', 'reversing') then 'pending' when status in ('held', 'capturing', 'cancelling') then 'processed' when status in ('captured', 'refunding') then 'captured' when status in ('cancelled') then 'cancelled' when status in ('refunded') then 'refunded' when status in ('failed') then 'failed' end as status, coalesce(decline_class, '') as decline_class, 1, amount_minor from search_payment
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json))) and created_at >= $7::timestamptz and created_at < $9::timestamptz
and currency is not null
) as summed 
group by part, currency, status, decline_class having sum(n) <> 0
order by part, currency, status, decline_class;

-- sum_payments_by_system
select width_bucket(at, array(select start::timestamptz from json_array_elements_text($1::json) as start order by 1)) as part,
currency, payment_system, sum(n)::int8 as n, sum(amount_minor)::int8 as amount_minor
from (
select day as at, currency, payment_system, n, amount_minor from search_day_sum
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json)))
and day >= $4::timestamptz and day < $5::timestamptz and what = 'payment'
union all 
select quarter as at, currency, payment_system, n, amount_minor from search_sum
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json)))
and quarter >= $6::timestamptz and quarter < $4::timestamptz and what = 'payment'
union all 
select quarter as at, currency, payment_system, n, amount_minor from search_sum
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json)))
and quarter >= $5::timestamptz and quarter < $7::timestamptz and what = 'payment'
union all 
select created_at, currency as currency, coalesce(payment_system, '') as payment_system, 1, amount_minor from search_payment
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json))) and created_at >= $8::timestamptz and created_at < $6::timestamptz
and currency is not null
union all 
select created_at, currency as currency, coalesce(payment_system, '') as payment_system, 1, amount_minor from search_payment
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json))) and created_at >= $7::timestamptz and created_at < $9::timestamptz
and currency is not null
) as summed 
group by part, currency, payment_system having sum(n) <> 0
order by part, currency, payment_system;

-- sum_payouts_by_status
select width_bucket(at, array(select start::timestamptz from json_array_elements_text($1::json) as start order by 1)) as part,
currency, status, sum(n)::int8 as n, sum(amount_minor)::int8 as amount_minor
from (
select hour as at, currency, status, n, amount_minor from search_hour_sum
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json)))
and hour >= $4::timestamptz and hour < $5::timestamptz and what = 'payout'
union all 
select quarter as at, currency, status, n, amount_minor from search_sum
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json)))
and quarter >= $6::timestamptz and quarter < $4::timestamptz and what = 'payout'
union all 
select quarter as at, currency, status, n, amount_minor from search_sum
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json)))
and quarter >= $5::timestamptz and quarter < $7::timestamptz and what = 'payout'
union all 
select created_at, currency as currency, status as status, 1, amount_minor from search_payout
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json))) and created_at >= $8::timestamptz and created_at < $6::timestamptz
and currency is not null
union all 
select created_at, currency as currency, status as status, 1, amount_minor from search_payout
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json))) and created_at >= $7::timestamptz and created_at < $9::timestamptz
and currency is not null
) as summed 
group by part, currency, status having sum(n) <> 0
order by part, currency, status;

-- sum_refunds_by_status
select width_bucket(at, array(select start::timestamptz from json_array_elements_text($1::json) as start order by 1)) as part,
currency, status, sum(n)::int8 as n, sum(amount_minor)::int8 as amount_minor
from (
select hour as at, currency, status, n, amount_minor from search_hour_sum
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json)))
and hour >= $4::timestamptz and hour < $5::timestamptz and what = 'refund'
union all 
select quarter as at, currency, status, n, amount_minor from search_sum
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json)))
and quarter >= $6::timestamptz and quarter < $4::timestamptz and what = 'refund'
union all 
select quarter as at, currency, status, n, amount_minor from search_sum
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json)))
and quarter >= $5::timestamptz and quarter < $7::timestamptz and what = 'refund'
union all 
select created_at, currency as currency, status as status, 1, amount_minor from search_refund
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json))) and created_at >= $8::timestamptz and created_at < $6::timestamptz
and currency is not null
union all 
select created_at, currency as currency, status as status, 1, amount_minor from search_refund
where party_id = $2::text and shop_id = any(array(select json_array_elements_text($3::json))) and created_at >= $7::timestamptz and created_at < $9::timestamptz
and currency is not null
) as summed 
group by part, currency, status having sum(n) <> 0
order by part, currency, status;

-- take_card_and_security_code
with code as (
delete from security_code where session_id = $1::text and card_id = $2::text
returning session_id, half_hour, ciphertext, expires_at
), authentication as (
delete from security_code where session_id = $3::text and card_id = $2::text
returning session_id, half_hour, ciphertext, expires_at
), taken as (select * from code union all select * from authentication)
select party_id, purpose, retained_for, card.ciphertext, key_version,
case when card.session_id = $1::text then client_info -> 'browser' end as browser,
taken.session_id as taken_id, half_hour, wrapped as wrapped_key, taken.ciphertext as code_ciphertext, expires_at
from card left join (taken join security_code_key using (half_hour)) on true
where card_id = $2::text;

-- take_exchange_sum_position
select counted_until from exchange_sum_position
where counted_at is null or counted_until is null or counted_at < $1::timestamptz or counted_at > $2::timestamptz
for update skip locked;

-- take_stuck_withdrawal
update withdrawal set stuck_at = null, stuck_reason = null
where withdrawal_id = $1::text and stuck_at = coalesce($2::timestamptz, stuck_at)
returning withdrawal_id, party_id, wallet_id, destination_id, identity_id, version, status, created_at, amount_minor, fee_minor, currency, terms, result, external_id, sends, is_unsent;

-- take_time
select set_config('statement_timeout', $1::text, true);

-- update_invoice_template
update invoice_template
set name = coalesce($1::text, name), description = coalesce($2::text, description),
lifetime = coalesce($3::json, lifetime), details = coalesce($4::json, details),
metadata = coalesce($5::json, metadata)
where invoice_template_id = $6::text and deleted_at is null
returning invoice_template_id, party_id, shop_id, name, description, lifetime, details, metadata, external_id, created_at;

-- upsert_bank
insert into bank (bank_id, url, secret_ciphertext, key_version, created_at, report_cursor)
values ($1::text, $2::text, $3::bytea, $4::int4, $5::timestamptz, 0)
on conflict (bank_id) do update set url = excluded.url, secret_ciphertext = excluded.secret_ciphertext,
key_version = excluded.key_version;

-- upsert_payout_fee
insert into payout_fee (party_id, currency, basis_points, fixed_minor)
values ($1::text, $2::text, $3::int8, $4::int8)
on conflict (party_id, currency) do update
set basis_points = excluded.basis_points, fixed_minor = excluded.fixed_minor;

-- upsert_payout_limit
insert into payout_limit_rule (party_id, network, currency, level, min_minor, per_payout_minor, per_day_minor, per_month_minor, payouts_per_day, card_per_day_minor, card_per_month_minor, card_payouts_per_day, set_by, set_at, reason)
values ($1::text, $2::text, $3::text, $4::text, $5::int8, $6::int8, $7::int8, $8::int8, $9::int8, $10::int8, $11::int8, $12::int8, $13::text, $14::timestamptz, $15::text)
on conflict (party_id, currency, network, level) do update set min_minor = excluded.min_minor, per_payout_minor = excluded.per_payout_minor, per_day_minor = excluded.per_day_minor, per_month_minor = excluded.per_month_minor, payouts_per_day = excluded.payouts_per_day, card_per_day_minor = excluded.card_per_day_minor, card_per_month_minor = excluded.card_per_month_minor, card_payouts_per_day = excluded.card_payouts_per_day, set_by = excluded.set_by, set_at = excluded.set_at, reason = excluded.reason;

-- upsert_payout_terminal
insert into payout_terminal (party_id, terminal_id, bank_id, merchant_id, descriptor, merchant_facts, terms, priority, created_at)
values ($1::text, $2::text, $3::text, $4::text, $5::text, $6::json, $7::json, $8::int4, $9::timestamptz)
on conflict (party_id, terminal_id) do update
set merchant_id = excluded.merchant_id, descriptor = excluded.descriptor, merchant_facts = excluded.merchant_facts, priority = excluded.priority, terms = excluded.terms,
retired_at = null
where payout_terminal.bank_id = excluded.bank_id
returning terminal_id;

-- upsert_terminal
insert into terminal (party_id, shop_id, terminal_id, bank_id, merchant_id, descriptor, merchant_facts, priority, created_at)
values ($1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::json, $8::int4, $9::timestamptz)
on conflict (party_id, shop_id, terminal_id) do update
set merchant_id = excluded.merchant_id, descriptor = excluded.descriptor, merchant_facts = excluded.merchant_facts, priority = excluded.priority,
retired_at = null, paused_until = null, paused_because = null
where terminal.bank_id = excluded.bank_id
returning terminal_id;

-- upsert_terminal_hold
insert into terminal_hold (party_id, shop_id, terminal_id, network, initiation, days)
values ($1::text, $2::text, $3::text, $4::text, $5::text, $6::int4)
on conflict (party_id, shop_id, terminal_id, network, initiation) do update set days = excluded.days;

-- use_payout_grant
update payout_grant set used_by = $1::text where grant_id = $2::text and used_by is null
returning grant_id;

-- wake_first_waiting_refund
update payment set wake_at = least(wake_at, $1::timestamptz)
from (
select invoice_id, payment_id from waiting_refund
where party_id = $2::text and shop_id = $3::text
order by created_at, invoice_id, payment_id, refund_id limit 1
) as first
where payment.invoice_id = first.invoice_id and payment.payment_id = first.payment_id;

-- wake_subscription
select asker, is_claimed as may_run from wake_subscriptions($1::json);

-- want_cancel
update payment set version = version + 1, state = $1::json,
wake_at = case when status = 'challenged' then least(wake_at, $2::timestamptz) else wake_at end
where invoice_id = $3::text and payment_id = $4::text and version = $5::int4
returning version;

-- write_webhook_queues
with written as (
select * from json_to_recordset($1::json) as written (
number int, aggregate_id text, webhook_id text, lease_end timestamptz, rewinds int, next_position bigint, replay_until bigint,
resume_at bigint, outcome text, wake_at timestamptz, failure text, stuck_reason text, position bigint, attempt int,
event_type text, attempted_at timestamptz, duration_ms int, status int, attempt_failure text)
), ours as (
-- Every writer locks in this order, so that writers cannot deadlock.
select written.number, queue.rewinds <> written.rewinds as is_rewound
from webhook_queue as queue join written
on queue.aggregate_id = written.aggregate_id and queue.webhook_id = written.webhook_id
where queue.wake_at = written.lease_end and queue.leased_until = written.lease_end
order by queue.aggregate_id, queue.webhook_id for update of queue
), logged as (
insert into webhook_attempt
(webhook_id, attempted_at, aggregate_id, position, attempt, event_type, duration_ms, status, failure)
select webhook_id, attempted_at, aggregate_id, position, attempt, event_type, duration_ms, status, attempt_failure
from written where position is not null
on conflict do nothing
), advanced as (
update webhook_queue as queue
set next_position = written.next_position,
replay_until = written.replay_until,
resume_at = written.resume_at,
wake_at = case written.outcome
when 'idle' then case when queue.last_position >= written.next_position then $2::timestamptz end
else written.wake_at end,
leased_until = case written.outcome when 'continue' then written.wake_at end,
waiting_since = case when written.outcome = 'idle' and queue.last_position < written.next_position then null
else queue.waiting_since end,
attempts = case written.outcome when 'retry' then queue.attempts + 1 when 'park' then queue.attempts + 1
when 'unclaim' then queue.attempts else 0 end,
last_failure = case when written.outcome in ('retry', 'park') then written.failure
when written.outcome = 'unclaim' then queue.last_failure end,
stuck_at = case when written.outcome = 'park' then $2::timestamptz end,
stuck_reason = case when written.outcome = 'park' then written.stuck_reason end
from written join ours using (number)
where queue.aggregate_id = written.aggregate_id and queue.webhook_id = written.webhook_id and not is_rewound
returning number
), rewound as (
update webhook_queue as queue
set wake_at = $2::timestamptz, leased_until = null, attempts = 0, last_failure = coalesce(written.failure, queue.last_failure)
from written join ours using (number)
where queue.aggregate_id = written.aggregate_id and queue.webhook_id = written.webhook_id and is_rewound
)
select number from advanced;
