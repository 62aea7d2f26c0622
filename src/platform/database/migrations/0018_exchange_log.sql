-- The exchange log: one row for each operation of a bank, written in the statement that begins it, before anything is sent. What a
-- bank proved never changes. Rows of operations that an older node begins are added when their outcome is known.
create table exchange (
  aggregate_id  id not null,
  -- The rest of the operation's ID, after the first dot.
  operation     text collate "C" not null,
  bank_id       id not null,
  terminal_id   text not null,
  kind          text not null,
  amount_minor  bigint,
  currency      text,
  -- Of what is done under the ID: a repeat must be the same.
  digest        bytea not null,
  -- The token of the vault, never a number.
  card_token    text,
  -- What the far side knows the operation by.
  wire_keys     json not null,
  -- It is not sent later.
  not_after     timestamptz,
  begun_at      timestamptz not null,
  state         text not null check (state in ('begun', 'challenged', 'approved', 'declined', 'givenUp', 'takenBack', 'settled')),
  answer        json,
  far_reference text,
  heard_at      timestamptz,
  primary key (aggregate_id, operation)
) with (fillfactor = 75);

-- Not unique: a bank that gives one reference twice must not keep an approval from being recorded.
create index exchange_far_reference on exchange (bank_id, far_reference) where far_reference is not null;

create trigger exchange_keeps_what_is_proved before update on exchange for each row
  when (old.state in ('approved', 'declined', 'takenBack', 'settled')) execute function forbid_change();
create trigger exchange_is_kept before delete on exchange for each row
  when (old.begun_at > now() - interval '540 days') execute function forbid_change();

-- What a bank reported on its own about an operation, each once, and what it meant. Only the members that the protocol names are kept.
create table exchange_note (
  bank_id      id not null,
  note_key     text collate "C" not null,
  operation_id text not null,
  what         text not null,
  heard        json not null,
  meaning      text not null check (meaning in ('nothing', 'waits', 'applied', 'contradiction')),
  noted_at     timestamptz not null,
  primary key (bank_id, note_key)
);
create index exchange_note_open on exchange_note (noted_at) where meaning in ('waits', 'contradiction');

-- How far the bank's updates and its transaction report are read. A restored database goes back with them, so the report then has
-- operations that are unknown here. Null: a bank of before, whose report is not read from its beginning.
alter table bank add column updates_cursor bigint not null default 0;
alter table bank add column report_cursor bigint;
alter table bank add column checked_at timestamptz;
-- Why the report cannot be read.
alter table bank add column check_problem text;
-- Nothing is sent to it until an operator confirms.
alter table bank add column stopped_at timestamptz;
alter table bank add column stopped_because text;
-- Who lifted the latest stop, and why.
alter table bank add column confirmed_because text;
-- Another installation uses the same account, so its report has operations of others.
alter table bank add column is_shared boolean not null default false;
