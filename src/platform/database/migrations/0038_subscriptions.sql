-- Subscriptions that the service charges automatically. The state says what is next; the periods are rows that are written once.
create table subscription (
  subscription_id id primary key,
  party_id        id not null,
  shop_id         id not null,
  customer_id     id not null,
  version         int not null,
  phase           text not null check (phase in ('incomplete', 'running', 'paused', 'unpaid', 'ended')),
  terms           json not null,
  state           json not null,
  external_id     text,
  created_at      timestamptz not null,
  changed_at      timestamptz not null,
  wake_at         timestamptz,
  attempts        int not null default 0,
  stuck_at        timestamptz,
  stuck_reason    text
);
create index subscription_due on subscription (wake_at) where wake_at is not null;
create index subscription_stuck on subscription (stuck_at) where stuck_at is not null;
create index subscription_of_customer on subscription (customer_id, created_at, subscription_id);

-- What was due, and what its invoice is. A second row of a number or of a first day is a bug, and fails.
create table subscription_period (
  subscription_id id,
  number          int check (number >= 1),
  kind            text not null check (kind in ('regular', 'trial', 'first')),
  starts_on       text not null check (starts_on ~ '^\d{4}-\d{2}-\d{2}$'),
  ends_on         text not null check (ends_on ~ '^\d{4}-\d{2}-\d{2}$'),
  starts_at       timestamptz not null,
  ends_at         timestamptz not null,
  due_at          timestamptz not null,
  lines           json not null,
  amount_minor    bigint not null check (amount_minor >= 0),
  credit_minor    bigint not null check (credit_minor >= 0),
  outcome         text not null check (outcome in ('open', 'paid', 'unpaid', 'forgiven', 'skipped', 'missed')),
  invoice_id      id,
  primary key (subscription_id, number),
  unique (subscription_id, starts_on),
  check (invoice_id is not null or outcome <> 'open')
);

-- By invoice, so that no invoice is of two periods.
create table subscription_invoice (
  invoice_id      id primary key,
  subscription_id id not null,
  number          int not null
);

-- A payment of it makes the subscription due.
alter table invoice add column subscription_id id;

alter table webhook drop constraint webhook_topic_check;
alter table webhook add constraint webhook_topic_check check (topic in ('InvoicesTopic', 'CustomersTopic', 'RecurringTopic',
  'SubscriptionsTopic', 'WithdrawalsTopic', 'DestinationsTopic'));
