-- Customers and the cards they have bound.

create table customer (
  customer_id       id primary key,
  party_id          id not null,
  shop_id           id not null,
  version           int not null,
  status            text not null check (status in ('unready', 'ready', 'deleted')),
  -- The card that is charged: the one bound last and not withdrawn.
  active_binding_id id,
  created_at        timestamptz not null,
  contact_info      json not null,
  metadata          json not null,
  external_id       text,
  bindings_made     int not null default 0,
  check ((status = 'ready') = (active_binding_id is not null))
);

create table binding (
  customer_id      id not null,
  binding_id       id not null,
  party_id         id not null,
  shop_id          id not null,
  -- The version of the customer that its latest change led to.
  version          int not null,
  -- Counts the bindings of the customer, from 1.
  number           int not null,
  status           text not null check (status in (
    'authorising', 'challenged', 'reversing', 'returning', 'refunding', 'succeeded', 'withdrawn', 'failed')),
  created_at       timestamptz not null,
  amount_minor     bigint not null check (amount_minor between 1 and 999999999999),
  currency         text not null check (currency ~ '^[A-Z]{3}$'),
  -- By which one card is counted, whoever binds it; a keyed hash, as in the vault.
  card_fingerprint bytea not null,
  -- What is fixed when it is made, and what belongs to its present state; neither holds money.
  terms            json not null,
  state            json not null,
  external_id      text,
  -- While the card may be charged: the version of the customer with which it was bound. The highest is the active one.
  bound_at_version int,
  -- While the payer may not have his money back: by when he should.
  return_by        timestamptz,
  wake_at          timestamptz,
  attempts         int not null default 0,
  stuck_at         timestamptz,
  stuck_reason     text,
  primary key (customer_id, binding_id),
  unique (customer_id, number),
  check ((status = 'succeeded') = (bound_at_version is not null)),
  check ((status in ('reversing', 'returning', 'refunding')) = (return_by is not null))
);
create index binding_due on binding (wake_at) where wake_at is not null;
create index binding_stuck on binding (stuck_at) where stuck_at is not null;
create index binding_bound on binding (customer_id, bound_at_version) where bound_at_version is not null;
create index binding_owed on binding (return_by) where return_by is not null;
create index binding_of_card on binding (card_fingerprint, created_at);
