-- The schema after all migrations, printed from PostgreSQL's catalogue by `npm run schema`. For reading and reviewing
-- alone: what makes the database is src/database/migrations.

create domain id as text collate "C" check (length(value) >= 1 and length(value) <= 40);

create or replace function public.refuse_change()
 returns trigger
 language plpgsql
as $$
begin
  raise exception 'rows of % are never changed or deleted', tg_table_name;
end $$;

create table api_key (
  key_id id not null,
  party_id id not null,
  name text not null,
  realm text not null,
  scopes text not null,
  secret_hash bytea not null,
  hash_generation integer not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  constraint api_key_pkey primary key (key_id),
  constraint api_key_realm_check check (realm = any (array['test'::text, 'live'::text]))
);
create index api_key_of_party on api_key using btree (party_id);

create table category (
  category_id integer not null,
  name text not null,
  description text,
  constraint category_pkey primary key (category_id)
);

create table data_key (
  purpose text not null,
  generation integer not null,
  wrapped bytea not null,
  master_key_id text not null,
  created_at timestamp with time zone not null,
  constraint data_key_pkey primary key (purpose, generation)
);

create table event (
  aggregate_id id not null,
  sequence integer not null,
  aggregate text not null,
  party_id id not null,
  created_at timestamp with time zone not null,
  facts json not null,
  constraint event_pkey primary key (aggregate_id, sequence),
  constraint event_sequence_check check (sequence >= 1)
);
create trigger event_is_append_only before delete or update on event for each row execute function refuse_change();

create table external_id (
  party_id id not null,
  operation text not null,
  external_id text collate "C" not null,
  entity_id id not null,
  fingerprint bytea not null,
  constraint external_id_pkey primary key (party_id, operation, external_id)
);

create table idempotency_key (
  owner_id id not null,
  idempotency_key text collate "C" not null,
  request_hash bytea not null,
  status integer,
  sealed_body bytea,
  seal_generation integer,
  created_at timestamp with time zone not null,
  constraint idempotency_key_pkey primary key (owner_id, idempotency_key)
);
create index idempotency_key_age on idempotency_key using btree (created_at);

create table invoice (
  invoice_id id not null,
  party_id id not null,
  shop_id id not null,
  version integer not null,
  status text not null,
  reason text,
  created_at timestamp with time zone not null,
  due_date timestamp with time zone not null,
  amount_minor bigint not null,
  currency text not null,
  product text not null,
  description text,
  cart json,
  bank_account json,
  client_info json,
  metadata json not null,
  external_id text,
  wake_at timestamp with time zone,
  attempts integer default 0 not null,
  stuck_at timestamp with time zone,
  stuck_reason text,
  constraint invoice_pkey primary key (invoice_id),
  constraint invoice_amount_minor_check check (amount_minor >= 1 and amount_minor <= '999999999999'::bigint),
  constraint invoice_check check ((reason is not null) = (status = any (array['fulfilled'::text, 'cancelled'::text]))),
  constraint invoice_currency_check check (currency ~ '^[A-Z]{3}$'::text),
  constraint invoice_status_check check (status = any (array['unpaid'::text, 'paid'::text, 'fulfilled'::text, 'cancelled'::text]))
);
create index invoice_due on invoice using btree (wake_at) where wake_at is not null;
create index invoice_stuck on invoice using btree (stuck_at) where stuck_at is not null;

create table migration (
  number integer not null,
  name text not null,
  sha256 text not null,
  applied_at timestamp with time zone default now() not null,
  constraint migration_pkey primary key (number)
);

create table party (
  party_id id not null,
  name text not null,
  is_blocked boolean default false not null,
  is_suspended boolean default false not null,
  created_at timestamp with time zone not null,
  constraint party_pkey primary key (party_id)
);

create table shop (
  party_id id not null,
  shop_id id not null,
  realm text not null,
  name text not null,
  description text,
  url text not null,
  category_id integer not null,
  currency text not null,
  is_blocked boolean default false not null,
  is_suspended boolean default false not null,
  created_at timestamp with time zone not null,
  constraint shop_pkey primary key (party_id, shop_id),
  constraint shop_category_id_fkey foreign key (category_id) references category(category_id),
  constraint shop_currency_check check (currency ~ '^[A-Z]{3}$'::text),
  constraint shop_realm_check check (realm = any (array['test'::text, 'live'::text]))
);

create table test_clock (
  party_id id not null,
  offset_ms bigint not null,
  constraint test_clock_pkey primary key (party_id),
  constraint test_clock_offset_ms_check check (offset_ms >= 0)
);
