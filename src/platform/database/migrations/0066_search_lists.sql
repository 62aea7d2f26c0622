-- What lists of customers, bindings and series look through. A reader of the log copies them, as it copies payments, but with a position
-- of its own: an older node knows nothing of it, and so cannot pass over what it does not copy.
create table search_list_position (
  only_row      boolean primary key default true check (only_row),
  -- The PostgreSQL snapshot up to which the log is read.
  seen          text not null,
  -- The customer or series up to which a rebuild has come. Null: none is in progress.
  rebuild_after text collate "C",
  rebuilt       bigint not null default 0
);
-- What was written before is copied by a rebuild.
insert into search_list_position (seen, rebuild_after) values (pg_current_snapshot()::text, '');

create table search_customer (
  party_id    id not null,
  shop_id     id not null,
  customer_id id not null,
  created_at  timestamptz not null,
  status      text not null,
  external_id text collate "C",
  email       text collate "C",
  primary key (party_id, customer_id)
) with (fillfactor = 80);
create index search_customer_of_party on search_customer (party_id, created_at, customer_id);
create index search_customer_of_shop on search_customer (party_id, shop_id, created_at, customer_id);
create index search_customer_external_id on search_customer (party_id, external_id) where external_id is not null;
create index search_customer_of_email on search_customer (party_id, email, created_at, customer_id) where email is not null;

create table search_binding (
  party_id    id not null,
  shop_id     id not null,
  customer_id id not null,
  binding_id  id not null,
  created_at  timestamptz not null,
  status      text not null,
  external_id text collate "C",
  first6      text,
  last4       text,
  failure     text collate "C",
  primary key (party_id, customer_id, binding_id)
) with (fillfactor = 80);
create index search_binding_of_party on search_binding (party_id, created_at, customer_id, binding_id);
create index search_binding_of_shop on search_binding (party_id, shop_id, created_at, customer_id, binding_id);
create index search_binding_external_id on search_binding (party_id, external_id) where external_id is not null;
create index search_binding_of_last4 on search_binding (party_id, last4, created_at, customer_id, binding_id);

-- Its status alone changes, and no index has it.
create table search_series (
  party_id    id not null,
  shop_id     id not null,
  series_id   id not null,
  created_at  timestamptz not null,
  status      text not null,
  -- The first instant after its lifetime or its card.
  ends_at     timestamptz not null,
  -- Of a payment, its invoice and its number; of a binding, its customer and its ID.
  root_kind   text not null,
  root_of     id not null,
  root_id     id not null,
  primary key (party_id, series_id)
) with (fillfactor = 80);
create index search_series_of_party on search_series (party_id, created_at, series_id);
create index search_series_of_shop on search_series (party_id, shop_id, created_at, series_id);
create index search_series_of_root on search_series (party_id, root_of, created_at, series_id);
