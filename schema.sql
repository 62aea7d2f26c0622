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

create table bank (
  bank_id id not null,
  url text not null,
  sealed_secret bytea not null,
  seal_generation integer not null,
  created_at timestamp with time zone not null,
  constraint bank_pkey primary key (bank_id)
);

create table card (
  card_id id not null,
  party_id id not null,
  session_id id not null,
  made_for_kind text,
  made_for_id id,
  stored_at timestamp with time zone not null,
  valid_until timestamp with time zone not null,
  is_kept boolean default false not null,
  payment_system text not null,
  mask text not null,
  client_info json not null,
  external_id text,
  sealed bytea not null,
  seal_generation integer not null,
  fingerprint bytea not null,
  fingerprint_generation integer not null,
  identity_hash bytea not null,
  constraint card_pkey primary key (card_id),
  constraint card_check check ((made_for_kind is null) = (made_for_id is null)),
  constraint card_made_for_kind_check check (made_for_kind = any (array['invoice'::text, 'customer'::text])),
  constraint card_mask_check check (mask ~ '^\d{6}\*{2,9}\d{4}$'::text)
);
create index card_by_generation on card using btree (seal_generation, card_id);
create index card_unkept on card using btree (stored_at) where not is_kept;

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
  payments_made integer default 0 not null,
  payment_in_progress boolean default false not null,
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

create table payment (
  invoice_id id not null,
  payment_id id not null,
  party_id id not null,
  shop_id id not null,
  version integer not null,
  status text not null,
  created_at timestamp with time zone not null,
  amount_minor bigint not null,
  currency text not null,
  captured_minor bigint,
  refunded_minor bigint default 0 not null,
  terms json not null,
  state json not null,
  external_id text,
  wake_at timestamp with time zone,
  attempts integer default 0 not null,
  stuck_at timestamp with time zone,
  stuck_reason text,
  constraint payment_pkey primary key (invoice_id, payment_id),
  constraint payment_amount_minor_check check (amount_minor >= 1 and amount_minor <= '999999999999'::bigint),
  constraint payment_check check (captured_minor >= 1 and captured_minor <= amount_minor),
  constraint payment_check1 check (refunded_minor >= 0 and refunded_minor <= captured_minor or refunded_minor = 0),
  constraint payment_check2 check ((captured_minor is not null) = (status = any (array['capturing'::text, 'captured'::text, 'refunded'::text]))),
  constraint payment_currency_check check (currency ~ '^[A-Z]{3}$'::text),
  constraint payment_status_check check (status = any (array['authorising'::text, 'challenged'::text, 'reversing'::text, 'held'::text, 'capturing'::text, 'cancelling'::text, 'captured'::text, 'cancelled'::text, 'refunded'::text, 'failed'::text]))
);
create index payment_due on payment using btree (wake_at) where wake_at is not null;
create index payment_stuck on payment using btree (stuck_at) where stuck_at is not null;

create table security_code (
  session_id id not null,
  card_id id not null,
  half_hour integer not null,
  sealed bytea not null,
  expires_at timestamp with time zone not null,
  constraint security_code_pkey primary key (session_id)
);
create index security_code_expiry on security_code using btree (expires_at);

create table security_code_key (
  half_hour integer not null,
  wrapped bytea not null,
  constraint security_code_key_pkey primary key (half_hour)
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

create table terminal (
  party_id id not null,
  shop_id id not null,
  terminal_id id not null,
  bank_id id not null,
  merchant_id text not null,
  descriptor text not null,
  priority integer default 1 not null,
  created_at timestamp with time zone not null,
  constraint terminal_pkey primary key (party_id, shop_id, terminal_id)
);

create table test_clock (
  party_id id not null,
  offset_ms bigint not null,
  constraint test_clock_pkey primary key (party_id),
  constraint test_clock_offset_ms_check check (offset_ms >= 0)
);
