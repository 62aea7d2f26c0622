-- Limits against card testing: hashes that no reader sees, attempts that are open at an address, and guards of a BIN. No released
-- version counts attempts, so what was counted before is forgotten.
drop table payer_attempt;

-- Times within the last day, by card or address.
create table payer_attempt (
  -- `card ` and the keyed hash of the number, or `address ` and the network.
  subject    bytea primary key,
  -- Begun, and not decided by the bank.
  open       timestamptz[] not null default '{}',
  declined   timestamptz[] not null default '{}',
  -- The declines in which the security code or the expiry was wrong.
  mismatched timestamptz[] not null default '{}',
  -- A full hour, at least a day after the last change: most changes touch no index.
  kept_until timestamptz not null
) with (fillfactor = 50);
create index payer_attempt_kept_until on payer_attempt (kept_until);

create index shop_outcome_minute on shop_outcome (minute);

drop table shop_guard;

-- What is under attack: the cards of one BIN in a shop, or the whole shop.
create table shop_guard (
  party_id id not null,
  shop_id  id not null,
  -- Empty for every card of the shop.
  bin      text collate "C" not null,
  mode     text not null check (mode in ('challenge', 'refuse')),
  since    timestamptz not null,
  until    timestamptz not null,
  approved bigint not null,
  declined bigint not null,
  primary key (party_id, shop_id, bin)
);

-- Null once the bank has decided.
alter table payment drop column attempted_card, drop column attempted_address;
alter table payment add column attempted_card bytea, add column attempted_address bytea;
alter table binding drop column attempted_card, drop column attempted_address;
alter table binding add column attempted_card bytea, add column attempted_address bytea;

-- How often a sandbox was asked to forget what payers have tried. Each node forgets what it has in memory once it sees another number.
create table limits_reset (
  only_row bool primary key default true check (only_row),
  resets   bigint not null
);
insert into limits_reset (resets) values (0);
