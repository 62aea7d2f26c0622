-- Limits against card testing: what payers who are present tried with one card or from one address, and how a shop's cards fare.

-- Times within the last day, by card or address. A row is deleted a day after its last change.
create table payer_attempt (
  -- `card <fingerprint>` or `address <network>`
  subject    text collate "C" primary key,
  -- Begun, and not decided by the bank.
  open       timestamptz[] not null default '{}',
  declined   timestamptz[] not null default '{}',
  -- The declines in which the security code or the expiry was wrong.
  mismatched timestamptz[] not null default '{}',
  changed_at timestamptz not null
) with (fillfactor = 50);

-- Outcomes by the minute, for the usual rate. Several rows of a minute, so that the payments of a shop do not wait for each other.
create table shop_outcome (
  party_id id not null,
  shop_id  id not null,
  bin      text collate "C" not null,
  minute   timestamptz not null,
  shard    int not null,
  approved int not null,
  declined int not null,
  primary key (party_id, shop_id, bin, minute, shard)
) with (fillfactor = 50);

-- Shops under attack.
create table shop_guard (
  party_id id not null,
  shop_id  id not null,
  mode     text not null check (mode in ('challenge', 'refuse')),
  since    timestamptz not null,
  until    timestamptz not null,
  -- The BIN whose declines were counted; null for all cards of the shop.
  bin      text,
  approved bigint not null,
  declined bigint not null,
  primary key (party_id, shop_id)
);

create function times_since(times timestamptz[], since timestamptz) returns timestamptz[]
language sql immutable as $$ select array(select at from unnest(times) as at where at > since order by at desc limit 20) $$;

-- Attempts may begin in the same instant: one of them is removed.
create function times_without(times timestamptz[], at timestamptz) returns timestamptz[]
language sql immutable as $$
  select coalesce(times[:array_position(times, at) - 1] || times[array_position(times, at) + 1:], times)
$$;

alter table invoice add column payer_attempts int not null default 0;
-- What the attempt counts for, until the bank has decided. Null for charges without the payer.
alter table payment add column attempted_card text, add column attempted_address text, add column attempted_bin text,
  add column attempted_at timestamptz;
alter table binding add column attempted_card text, add column attempted_address text, add column attempted_bin text,
  add column attempted_at timestamptz;

-- Whether a card number in an externalID or Idempotency-Key is refused.
alter table shop add column strict_ids boolean not null default false;
