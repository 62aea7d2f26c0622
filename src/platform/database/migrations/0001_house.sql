-- The house: who calls (parties, shops, keys), what they sell (invoices), what happened (the event log), and what
-- makes a repeated request harmless. Every primary key begins with its aggregate's id, so that the schema can be
-- distributed by it; what is unique across aggregates has a small table of its own.
-- Identifiers compare byte by byte (collate "C"): cheaper, and the same on every host.

create domain id as text collate "C" check (length(value) between 1 and 40);

create table party (
  party_id     id primary key,
  name         text not null,
  is_blocked   boolean not null default false,
  is_suspended boolean not null default false,
  created_at   timestamptz not null
);

-- How far a party's time has been moved forward. Rows exist in a sandbox alone.
create table test_clock (
  party_id  id primary key,
  offset_ms bigint not null check (offset_ms >= 0)
);

create table category (
  category_id int primary key,
  name        text not null,
  description text
);

create table shop (
  party_id     id not null,
  shop_id      id not null,
  realm        text not null check (realm in ('test', 'live')),
  name         text not null,
  description  text,
  url          text not null,
  category_id  int not null references category,
  currency     text not null check (currency ~ '^[A-Z]{3}$'),
  is_blocked   boolean not null default false,
  is_suspended boolean not null default false,
  created_at   timestamptz not null,
  primary key (party_id, shop_id)
);

-- The secret itself is never stored, only its hash under a data key.
create table api_key (
  key_id          id primary key,
  party_id        id not null,
  name            text not null,
  realm           text not null check (realm in ('test', 'live')),
  -- Names from platform/http/access.ts, separated by spaces; * for all there are.
  scopes          text not null,
  secret_hash     bytea not null,
  hash_generation int not null,
  created_at      timestamptz not null,
  expires_at      timestamptz,
  revoked_at      timestamptz
);
create index api_key_of_party on api_key (party_id);

-- Data keys, wrapped by the master key. A new generation signs and seals from its birth; older ones still verify.
create table data_key (
  purpose       text not null,
  generation    int not null,
  wrapped       bytea not null,
  master_key_id text not null,
  created_at    timestamptz not null,
  primary key (purpose, generation)
);

create table invoice (
  invoice_id   id primary key,
  party_id     id not null,
  shop_id      id not null,
  -- The sequence of the latest event: every change writes exactly one.
  version      int not null,
  status       text not null check (status in ('unpaid', 'paid', 'fulfilled', 'cancelled')),
  reason       text,
  created_at   timestamptz not null,
  due_date     timestamptz not null,
  amount_minor bigint not null check (amount_minor between 1 and 999999999999),
  currency     text not null check (currency ~ '^[A-Z]{3}$'),
  product      text not null,
  description  text,
  cart         json,
  bank_account json,
  client_info  json,
  metadata     json not null,
  external_id  text,
  -- Due work (engine/): when a node must next look at this row, how often it tried, and why it gave up.
  wake_at      timestamptz,
  attempts     int not null default 0,
  stuck_at     timestamptz,
  stuck_reason text,
  check ((reason is not null) = (status in ('fulfilled', 'cancelled')))
);
create index invoice_due on invoice (wake_at) where wake_at is not null;
create index invoice_stuck on invoice (stuck_at) where stuck_at is not null;

-- The log: what happened to an aggregate, in order, without gaps, never changed.
create table event (
  aggregate_id id not null,
  sequence     int not null check (sequence >= 1),
  aggregate    text not null,
  party_id     id not null,
  created_at   timestamptz not null,
  facts        json not null,
  primary key (aggregate_id, sequence)
);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are never changed or deleted', tg_table_name;
end $$;
create trigger event_is_append_only before update or delete on event
  for each row execute function refuse_change();

-- A merchant's own names for what he created: one entity for each (operation, name), for ever.
create table external_id (
  party_id    id not null,
  operation   text not null,
  external_id text collate "C" not null,
  entity_id   id not null,
  -- Hash of the fields that make two requests the same request.
  fingerprint bytea not null,
  primary key (party_id, operation, external_id)
);

-- The first answer to each Idempotency-Key, sealed, for seven days.
create table idempotency_key (
  -- Whose key: a party's, or that of one invoice where a payer's token called.
  owner_id         id not null,
  idempotency_key  text collate "C" not null,
  request_hash     bytea not null,
  status           int,
  sealed_body      bytea,
  seal_generation  int,
  created_at       timestamptz not null,
  primary key (owner_id, idempotency_key)
);
create index idempotency_key_age on idempotency_key (created_at);

insert into category (category_id, name, description)
values (1, 'Goods and services', 'Everything that has no category of its own');
