-- Payments and what they need: the banks that move the money, the terminals through which a shop uses them, and on the
-- invoice whether a payment of it is under way.

create table bank (
  bank_id         id primary key,
  url             text not null,
  sealed_secret   bytea not null,
  seal_generation int not null,
  created_at      timestamptz not null
);

create table terminal (
  party_id    id not null,
  shop_id     id not null,
  terminal_id id not null,
  bank_id     id not null,
  -- The merchant's name with that bank, and what payers read on their statements.
  merchant_id text not null,
  descriptor  text not null,
  -- The lowest that answers is used.
  priority    int not null default 1,
  created_at  timestamptz not null,
  primary key (party_id, shop_id, terminal_id)
);

alter table invoice
  add column payments_made int not null default 0,
  add column payment_in_progress boolean not null default false;

create table payment (
  invoice_id     id not null,
  payment_id     id not null,
  party_id       id not null,
  shop_id        id not null,
  version        int not null,
  status         text not null check (status in (
    'authorising', 'challenged', 'reversing', 'held', 'capturing', 'cancelling', 'captured', 'cancelled', 'refunded',
    'failed')),
  created_at     timestamptz not null,
  amount_minor   bigint not null check (amount_minor between 1 and 999999999999),
  currency       text not null check (currency ~ '^[A-Z]{3}$'),
  captured_minor bigint check (captured_minor between 1 and amount_minor),
  refunded_minor bigint not null default 0 check (refunded_minor between 0 and captured_minor or refunded_minor = 0),
  -- What is fixed when it is made, and what belongs to its present state; neither holds money.
  terms          json not null,
  state          json not null,
  external_id    text,
  wake_at        timestamptz,
  attempts       int not null default 0,
  stuck_at       timestamptz,
  stuck_reason   text,
  primary key (invoice_id, payment_id),
  check ((captured_minor is not null) = (status in ('capturing', 'captured', 'refunded')))
);
create index payment_due on payment (wake_at) where wake_at is not null;
create index payment_stuck on payment (stuck_at) where stuck_at is not null;
