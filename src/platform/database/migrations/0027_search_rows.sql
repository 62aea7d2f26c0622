-- What lists and searches look through, so that the tables of payments need no index for them. A reader of the log copies each
-- changed invoice with its payments and refunds, and `mandate search rebuild` copies all of them.
create table search_position (
  only_row      boolean primary key default true check (only_row),
  -- The PostgreSQL snapshot up to which the log is read.
  seen          text not null,
  -- The invoice up to which a rebuild has come. Null: none is in progress.
  rebuild_after text collate "C",
  rebuilt       bigint not null default 0
);
-- What was written before is copied by a rebuild.
insert into search_position (seen, rebuild_after) values (pg_current_snapshot()::text, '');

create table search_invoice (
  party_id     id not null,
  shop_id      id not null,
  invoice_id   id not null,
  created_at   timestamptz not null,
  status       text not null,
  amount_minor bigint not null,
  external_id  text collate "C",
  primary key (party_id, invoice_id)
) with (fillfactor = 80);
create index search_invoice_of_shop on search_invoice (party_id, shop_id, created_at, invoice_id);
create index search_invoice_external_id on search_invoice (party_id, external_id) where external_id is not null;

create table search_payment (
  party_id       id not null,
  shop_id        id not null,
  invoice_id     id not null,
  payment_id     id not null,
  created_at     timestamptz not null,
  status         text not null,
  flow           text not null,
  amount_minor   bigint not null,
  external_id    text collate "C",
  customer_id    id,
  email          text collate "C",
  ip             text,
  fingerprint    text,
  first6         text,
  last4          text,
  payment_system text,
  rrn            text collate "C",
  approval_code  text,
  primary key (party_id, invoice_id, payment_id)
) with (fillfactor = 80);
create index search_payment_of_shop on search_payment (party_id, shop_id, created_at, invoice_id, payment_id);
create index search_payment_external_id on search_payment (party_id, external_id) where external_id is not null;
create index search_payment_rrn on search_payment (party_id, rrn) where rrn is not null;
create index search_payment_of_customer on search_payment (party_id, customer_id, created_at, invoice_id, payment_id)
  where customer_id is not null;
create index search_payment_of_email on search_payment (party_id, email, created_at, invoice_id, payment_id)
  where email is not null;

create table search_refund (
  party_id      id not null,
  shop_id       id not null,
  invoice_id    id not null,
  payment_id    id not null,
  refund_id     id not null,
  created_at    timestamptz not null,
  status        text not null,
  external_id   text collate "C",
  rrn           text collate "C",
  primary key (party_id, invoice_id, payment_id, refund_id)
) with (fillfactor = 80);
create index search_refund_of_shop on search_refund (party_id, shop_id, created_at, invoice_id, payment_id, refund_id);
create index search_refund_external_id on search_refund (party_id, external_id) where external_id is not null;
create index search_refund_rrn on search_refund (party_id, rrn) where rrn is not null;
