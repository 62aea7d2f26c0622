-- First, because a node that counts locks this one before the exchanges. What an older node left open is counted again once.
update exchange_sum_position set counted_until = null, counted_at = null;
-- Exchanges that change an hour or more after they began, also when a bank reports a charge that was given up. Their hours are counted
-- again. A row is only inserted, so that no charge waits for the count.
create table exchange_late (
  aggregate_id id not null,
  operation    text collate "C" not null,
  written_in   xid8 not null default pg_current_xact_id(),
  begun_at     timestamptz not null,
  primary key (aggregate_id, operation, written_in)
);
create function note_late_exchange() returns trigger language plpgsql as $$
begin
  insert into exchange_late (aggregate_id, operation, begun_at) values (old.aggregate_id, old.operation, old.begun_at)
  on conflict do nothing;
  return null;
end $$;
create trigger exchange_is_late after update on exchange for each row
  when (new.heard_at is null or new.heard_at >= old.begun_at + interval '1 hour') execute function note_late_exchange();
drop index exchange_sum_open;
