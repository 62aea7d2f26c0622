-- How much was paid, declined and refunded in each quarter of an hour. Every zone of today begins its days and hours with such a quarter.
-- The reader that copies payments to search_payment moves them from sum to sum in the same statement.
-- First, because a node that copies rows locks this one before them.
-- Where a rebuild that has copied every invoice has come with the sums. Null: it is not there.
alter table search_position add column resum_from json;
-- What was copied before is copied again, with its sums.
update search_position set rebuild_after = '', rebuilt = 0;
alter table search_payment
  add column currency      text,
  add column attempt       int,
  add column decline_class text,
  add column failure       text,
  add column bank_code     text;
alter table search_refund
  add column amount_minor bigint,
  add column currency     text;
create table search_sum (
  party_id       id not null,
  shop_id        id not null,
  quarter        timestamptz not null,
  what           text not null check (what in ('payment', 'refund')),
  currency       text not null,
  status         text not null,
  -- 0: the payer is present. 1: the first charge of a period. From 2 on: a retry.
  attempt        int not null,
  payment_system text not null,
  decline_class  text not null,
  failure        text not null,
  bank_code      text not null,
  amount_minor   bigint not null,
  n              bigint not null,
  primary key (party_id, shop_id, quarter, what, currency, status, attempt, payment_system, decline_class, failure, bank_code)
) with (fillfactor = 80);
