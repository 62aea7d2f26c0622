-- First, because a node that counts locks this one before the exchanges. What an older node left open is counted again once.
update exchange_sum_position set counted_until = null, counted_at = null;
-- Exchanges that end 55 minutes or more after they began, also when a bank reports a charge that was given up. Their hours are counted
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
-- An hour is counted for an hour after it ends: five minutes remain for the commit and for clocks that differ. A change to another bank
-- has no `heard_at`, and needs no row: the end that follows is later still.
create trigger exchange_is_late after update on exchange for each row
  when (new.heard_at >= old.begun_at + interval '55 minutes') execute function note_late_exchange();
drop index exchange_sum_open;
