-- Charges without the payer: the series they belong to, every attempt, and what the networks hold against a card. Which
-- rules read them is in src/recurring/.

-- What a shop wants of recurring charges where it wants anything else than the rules say.
create table recurring_settings (
  party_id id not null,
  shop_id  id not null,
  settings json not null,
  primary key (party_id, shop_id)
);

create table series (
  -- Of a parent payment: its invoice and its number there.
  series_id    id primary key,
  party_id     id not null,
  shop_id      id not null,
  version      int not null,
  state        text not null check (state in ('active', 'stopped', 'withdrawn')),
  -- The same for every token of the same number: a keyed hash under the first key.
  card_key     bytea not null,
  card_token   id not null,
  -- Binds every entry of its log to all before it (src/recurring/consent-bundle.ts).
  chain        text not null,
  -- What is fixed when it starts, and what its charges change.
  terms        json not null,
  standing     json not null,
  wake_at      timestamptz,
  attempts     int not null default 0,
  stuck_at     timestamptz,
  stuck_reason text
);
create index series_due on series (wake_at) where wake_at is not null;
create index series_stuck on series (stuck_at) where stuck_at is not null;
create index series_of_card on series (card_key) where state = 'active';

create table series_attempt (
  series_id    id not null,
  invoice_id   id not null,
  payment_id   id not null,
  created_at   timestamptz not null,
  amount_minor bigint not null,
  currency     text not null,
  -- Made while charges of the series were failing.
  is_retry     boolean not null,
  outcome      text not null check (outcome in ('pending', 'approved', 'declined', 'lost', 'unsent')),
  -- The rule packs it was allowed under.
  packs        text not null,
  ended_at     timestamptz,
  network      text,
  code         text,
  advice       text,
  -- What follows from the answer, by which rule of which pack.
  effect       text,
  rule         text,
  pack         text,
  primary key (series_id, invoice_id, payment_id),
  check ((ended_at is null) = (outcome = 'pending'))
);
create index series_attempt_age on series_attempt (series_id, created_at);
create index series_attempt_pending on series_attempt (series_id) where outcome = 'pending';

-- Declines of a card, whoever started the charge: the networks count them.
create table card_decline (
  card_key     bytea not null,
  invoice_id   id not null,
  payment_id   id not null,
  party_id     id not null,
  shop_id      id not null,
  amount_minor bigint not null,
  currency     text not null,
  by_merchant  boolean not null,
  attempted_at timestamptz not null,
  primary key (card_key, invoice_id, payment_id)
);
create index card_decline_age on card_decline (card_key, attempted_at);

-- What ended all charges of a card without the payer. A consent he gives later is not concerned.
create table card_stop (
  card_key   bytea not null,
  invoice_id id not null,
  payment_id id not null,
  party_id   id not null,
  shop_id    id not null,
  -- In one shop, or wherever.
  everywhere boolean not null,
  stopped_at timestamptz not null,
  rule       text not null,
  pack       text not null,
  primary key (card_key, invoice_id, payment_id)
);
