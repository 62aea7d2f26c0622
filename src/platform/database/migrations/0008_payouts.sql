-- Payout limits by network, currency and level, turnover of identities and cards, what a payout terminal serves and demands,
-- senders, returned payouts and reversed deposits.

-- What may be paid out, in minor units of one currency. '*' stands for every party, network or level; the most specific row
-- applies. Replaces payout_limit, which old nodes still read.
create table payout_limit_rule (
  party_id              id not null,
  network               text not null,
  currency              text not null check (currency ~ '^[A-Z]{3}$'),
  level                 text not null check (level in ('*', 'anonymous', 'partial', 'identified')),
  min_minor             bigint check (min_minor >= 1),
  per_payout_minor      bigint check (per_payout_minor >= 0),
  per_day_minor         bigint check (per_day_minor >= 0),
  per_month_minor       bigint check (per_month_minor >= 0),
  payouts_per_day       bigint check (payouts_per_day >= 0),
  -- For one card, where they differ from those of one identity.
  card_per_day_minor    bigint check (card_per_day_minor >= 0),
  card_per_month_minor  bigint check (card_per_month_minor >= 0),
  card_payouts_per_day  bigint check (card_payouts_per_day >= 0),
  set_by                text not null,
  set_at                timestamptz not null,
  reason                text not null,
  primary key (party_id, currency, network, level)
);

insert into payout_limit_rule (party_id, network, currency, level, min_minor, per_payout_minor, per_day_minor, per_month_minor,
  payouts_per_day, set_by, set_at, reason)
select party_id, '*', currency, level, 100, per_payout_minor, per_day_minor, per_month_minor, payouts_per_day, 'migration', now(),
  'set before this version'
from payout_limit;

-- What an identity or a card has paid out or received in a day or month, over all wallets. Replaces payout_turnover.
create table payout_usage (
  subject      text collate "C" not null,
  currency     text collate "C" not null,
  period       text collate "C" not null,
  amount_minor bigint not null,
  payouts      bigint not null,
  primary key (subject, currency, period)
) with (fillfactor = 50);

insert into payout_usage (subject, currency, period, amount_minor, payouts)
select 'identity:' || identity_id, currency, period, sum(turnover.amount_minor), sum(payouts)
from payout_turnover as turnover join wallet using (wallet_id)
where period >= to_char(now() at time zone 'UTC' - interval '2 days', 'YYYY-MM')
group by 1, 2, 3;

-- The fingerprints of version 1 of the key are those that counters use.
insert into payout_usage (subject, currency, period, amount_minor, payouts)
select 'card:' || encode(card.fingerprint, 'hex'), withdrawal.currency, period, sum(withdrawal.amount_minor), count(*)
from withdrawal
join destination using (destination_id)
join card on card.card_id = split_part(destination.card_token, '.', 2) and card.fingerprint_key_version = 1
cross join lateral unnest(array[
  to_char(withdrawal.created_at at time zone 'UTC', 'YYYY-MM'), to_char(withdrawal.created_at at time zone 'UTC', 'YYYY-MM-DD')]) as period
where withdrawal.status <> 'failed' and withdrawal.terms ->> 'isCounted' = 'true'
  and withdrawal.created_at >= date_trunc('month', now() at time zone 'UTC' - interval '2 days') at time zone 'UTC'
group by 1, 2, 3;

-- Currencies with their largest amount, source of funds, purposes, and what the terminal demands of a sender. Empty: every
-- currency, and no demand.
alter table payout_terminal add column terms json not null default '{}';

-- The hash of the card's number, the same for every destination with that card. Null for destinations from before.
alter table destination add column card_hash bytea;
-- How many payouts came back from it.
alter table destination add column returns int not null default 0;

-- The sender that card networks ask for. Personal data: it is in no event.
alter table identity add column sender json;

alter table deposit add column reversed_at timestamptz;
alter table deposit add column changed_at timestamptz not null default now();
