-- What the statements of several modules have in common, each as a function, so that a statement reads as a whole. Each is called in
-- the statement that changes the aggregate's row, and fails it as the INSERT in its place would.

-- Appends one event to the log of an aggregate. Its sequence is the version that the change led to, which the function returns.
create function append_event(kind text, for_aggregate text, version int, for_party text, happened timestamptz, facts json)
returns int language plpgsql as $$
begin
  insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
  values (for_aggregate, version, kind, for_party, happened, facts);
  return version;
end $$;

-- The same for several events, each a list of facts. The last one led to the version.
create function append_events(kind text, for_aggregate text, version int, for_party text, happened timestamptz, events json)
returns int language plpgsql as $$
begin
  insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
  select for_aggregate, version - json_array_length(events) + entry.ordinal::int, kind, for_party, happened, entry.facts
  from json_array_elements(events) with ordinality as entry (facts, ordinal);
  return version;
end $$;

-- Claims a merchant's own ID for what a request creates. False if it is taken; true if the request has none.
create function claim_external_id(for_party text, for_operation text, external text, entity text, request_fingerprint bytea)
returns boolean language plpgsql as $$
begin
  if external is null then return true; end if;
  insert into external_id (party_id, operation, external_id, entity_id, fingerprint)
  values (for_party, for_operation, external, entity, request_fingerprint)
  on conflict do nothing;
  return found;
end $$;

-- Writes the operations at banks that a change begins or ends, and returns how many. What is proved stays, and an operation that an
-- older node has begun gets its row.
create function record_exchanges(exchanges json) returns int language plpgsql as $$
declare
  written int;
begin
  insert into exchange (aggregate_id, operation, bank_id, terminal_id, kind, amount_minor, currency, digest, card_token, wire_keys,
    not_after, begun_at, state, answer, far_reference, heard_at)
  select one.*
  from json_to_recordset(exchanges) as one (aggregate_id text, operation text, bank_id text, terminal_id text, kind text,
    amount_minor bigint, currency text, digest bytea, card_token text, wire_keys json, not_after timestamptz, begun_at timestamptz,
    state text, answer json, far_reference text, heard_at timestamptz)
  on conflict (aggregate_id, operation) do update
  set bank_id = excluded.bank_id, terminal_id = excluded.terminal_id, digest = excluded.digest, wire_keys = excluded.wire_keys,
    not_after = excluded.not_after, state = excluded.state, answer = excluded.answer, far_reference = excluded.far_reference,
    heard_at = excluded.heard_at
  where exchange.state not in ('approved', 'declined', 'takenBack', 'settled');
  get diagnostics written = row_count;
  return written;
end $$;

-- An instant in JSON, as the program reads it.
create function instant_text(at timestamptz) returns text language sql stable as $$
  select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
$$;

-- Adds a movement of money to the turnover of its identity and card, and returns how many these are. Fails with PL001 if one passes a
-- limit. The rows are locked in one order, so that no two transactions wait for each other.
create function count_turnover(counters json, of_currency text, minor bigint, of_day text, of_month text)
returns int language plpgsql as $$
declare
  exceeded json;
begin
  with counted as (
    insert into payout_usage as usage (subject, currency, period, amount_minor, payouts)
    select subject, of_currency, period, minor, 1
    from json_to_recordset(counters) as counter (subject text), unnest(array[of_month, of_day]) as period
    order by subject collate "C", period collate "C"
    on conflict (subject, currency, period) do update
      set amount_minor = usage.amount_minor + excluded.amount_minor, payouts = usage.payouts + 1
    returning subject, period, amount_minor, payouts
  )
  select json_agg(turnover)
  into exceeded
  from (
    select subject, max(amount_minor) filter (where period = of_day) as day_minor,
      max(payouts) filter (where period = of_day) as day_payouts,
      max(amount_minor) filter (where period = of_month) as month_minor
    from counted group by subject
  ) as turnover
  join json_to_recordset(counters) as counter (subject text, day_minor_most int8, day_payouts_most int8, month_minor_most int8)
    using (subject)
  where day_minor > day_minor_most or day_payouts > day_payouts_most or month_minor > month_minor_most;
  if exceeded is not null then perform reject_over_limit(exceeded); end if;
  return json_array_length(counters);
end $$;
