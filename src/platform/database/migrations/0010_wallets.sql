-- Wallets and payouts: who is paid out for (identities), from what (wallets), to which cards (destinations), and each payout
-- (withdrawals). The money itself is in the ledger, a wallet's account under the wallet's id.

-- A card that was stored to be paid out to is never charged, and the other way round.
alter table card add column purpose text not null default 'payment' check (purpose in ('payment', 'payout'));

create table identity (
  identity_id         id primary key,
  party_id            id not null,
  version             int not null,
  name                text not null,
  provider            text not null,
  class               text not null,
  level               text not null check (level in ('anonymous', 'partial', 'identified')),
  is_blocked          boolean not null default false,
  created_at          timestamptz not null,
  metadata            json,
  external_id         text,
  -- The passed identification whose result is in force.
  effective_challenge id
);
create index identity_of_party on identity (party_id, created_at, identity_id);

-- Identifications of an identity; at most one is under way.
create table identity_challenge (
  identity_id    id not null,
  challenge_id   id not null,
  type           text not null,
  proofs         json not null,
  status         text not null check (status in ('pending', 'completed', 'failed')),
  created_at     timestamptz not null,
  failure_reason text,
  primary key (identity_id, challenge_id),
  check ((failure_reason is not null) = (status = 'failed'))
);
create unique index identity_challenge_under_way on identity_challenge (identity_id) where status = 'pending';

create table wallet (
  wallet_id   id primary key,
  party_id    id not null,
  identity_id id not null,
  name        text not null,
  currency    text not null check (currency ~ '^[A-Z]{3}$'),
  created_at  timestamptz not null,
  metadata    json,
  external_id text
);
create index wallet_of_party on wallet (party_id, created_at, wallet_id);

-- Money that came into a wallet from outside, or from a shop's balance.
create table deposit (
  deposit_id   id primary key,
  party_id     id not null,
  wallet_id    id not null,
  identity_id  id not null,
  -- The bank account or the shop it came from.
  source_id    id not null,
  created_at   timestamptz not null,
  amount_minor bigint not null check (amount_minor between 1 and 999999999999),
  currency     text not null check (currency ~ '^[A-Z]{3}$'),
  description  text
);
create index deposit_of_party on deposit (party_id, created_at, deposit_id);

create table destination (
  destination_id id primary key,
  party_id       id not null,
  identity_id    id not null,
  version        int not null,
  name           text not null,
  currency       text not null check (currency ~ '^[A-Z]{3}$'),
  status         text not null check (status in ('checking', 'authorized', 'refused')),
  created_at     timestamptz not null,
  -- The vault's token of the card, and what may be shown of it.
  card_token     text not null,
  card           json not null,
  failure        json,
  metadata       json,
  external_id    text,
  wake_at        timestamptz,
  attempts       int not null default 0,
  stuck_at       timestamptz,
  stuck_reason   text,
  check ((failure is not null) = (status = 'refused'))
);
create index destination_of_party on destination (party_id, created_at, destination_id);
create index destination_due on destination (wake_at) where wake_at is not null;
create index destination_stuck on destination (stuck_at) where stuck_at is not null;

create table withdrawal (
  withdrawal_id  id primary key,
  -- Who asked for it; the wallet may be another's, by a grant.
  party_id       id not null,
  wallet_id      id not null,
  destination_id id not null,
  -- Of the wallet.
  identity_id    id not null,
  version        int not null,
  status         text not null check (status in ('sending', 'succeeded', 'failed')),
  created_at     timestamptz not null,
  amount_minor   bigint not null check (amount_minor between 1 and 999999999999),
  fee_minor      bigint not null check (fee_minor >= 0),
  currency       text not null check (currency ~ '^[A-Z]{3}$'),
  -- What is fixed when it is made and is no money: the card, the way to the bank, the merchant's own data.
  terms          json not null,
  -- The bank's reference of a payout that succeeded, the failure of one that did not.
  result         json,
  external_id    text,
  wake_at        timestamptz,
  attempts       int not null default 0,
  stuck_at       timestamptz,
  stuck_reason   text,
  check ((result is not null) = (status <> 'sending'))
);
create index withdrawal_of_party on withdrawal (party_id, created_at, withdrawal_id);
create index withdrawal_due on withdrawal (wake_at) where wake_at is not null;
create index withdrawal_stuck on withdrawal (stuck_at) where stuck_at is not null;

create table wallet_transfer (
  transfer_id  id primary key,
  party_id     id not null,
  sender_id    id not null,
  receiver_id  id not null,
  created_at   timestamptz not null,
  amount_minor bigint not null check (amount_minor between 1 and 999999999999),
  currency     text not null check (currency ~ '^[A-Z]{3}$'),
  status       text not null check (status in ('succeeded', 'failed')),
  external_id  text
);

-- Leave to use another's wallet, once, or to pay out to another's destination. The token itself is not kept.
create table payout_grant (
  grant_id     id primary key,
  token_hash   bytea not null,
  kind         text not null check (kind in ('wallet', 'destination')),
  -- The wallet or the destination.
  entity_id    id not null,
  amount_minor bigint,
  currency     text,
  valid_until  timestamptz not null,
  -- The withdrawal that used up the grant of a wallet.
  used_by      id,
  check ((kind = 'wallet') = (amount_minor is not null) and (amount_minor is null) = (currency is null))
);

-- What was paid out of a wallet in a day (2026-01-19) and in a month (2026-01), where there is a limit to it.
create table payout_turnover (
  wallet_id    id not null,
  period       text collate "C" not null,
  amount_minor bigint not null,
  payouts      bigint not null,
  primary key (wallet_id, period)
) with (fillfactor = 50);

-- What an operator has agreed with a party, in place of the usual limits. Null: no limit.
create table payout_limit (
  party_id         id not null,
  level            text not null check (level in ('anonymous', 'partial', 'identified')),
  currency         text not null check (currency ~ '^[A-Z]{3}$'),
  per_payout_minor bigint check (per_payout_minor >= 0),
  per_day_minor    bigint check (per_day_minor >= 0),
  per_month_minor  bigint check (per_month_minor >= 0),
  payouts_per_day  bigint check (payouts_per_day >= 0),
  primary key (party_id, level, currency)
);

-- What we take for a payout, on top of it.
create table payout_fee (
  party_id     id not null,
  currency     text not null check (currency ~ '^[A-Z]{3}$'),
  basis_points bigint not null check (basis_points between 0 and 10000),
  fixed_minor  bigint not null check (fixed_minor >= 0),
  primary key (party_id, currency)
);

-- Through which bank, and under which name there, a party pays out.
create table payout_terminal (
  party_id    id not null,
  terminal_id id not null,
  bank_id     id not null,
  merchant_id text not null,
  descriptor  text not null,
  priority    int not null default 1,
  created_at  timestamptz not null,
  primary key (party_id, terminal_id)
);
