-- Payments post to the ledger, for fees a shop may have, and are given back in refunds.

-- What we take of this shop's payments; what is not named is free.
alter table shop add column fees json not null default '{}';

alter table payment
  drop constraint payment_status_check,
  drop constraint payment_check2,
  add constraint payment_status_check check (status in (
    'authorising', 'challenged', 'reversing', 'held', 'capturing', 'cancelling', 'captured', 'refunding', 'cancelled',
    'refunded', 'failed')),
  add constraint payment_check2 check (
    (captured_minor is not null) = (status in ('capturing', 'captured', 'refunding', 'refunded')));

-- How each refund stands. What is under way is in the state of its payment, so that at most one is.
create table refund (
  invoice_id   id not null,
  payment_id   id not null,
  refund_id    id not null,
  party_id     id not null,
  created_at   timestamptz not null,
  status       text not null check (status in ('pending', 'succeeded', 'failed')),
  amount_minor bigint not null check (amount_minor between 1 and 999999999999),
  currency     text not null check (currency ~ '^[A-Z]{3}$'),
  fee_minor    bigint not null check (fee_minor >= 0),
  reason       text,
  cart         json,
  external_id  text,
  failure      json,
  primary key (invoice_id, payment_id, refund_id),
  check ((failure is not null) = (status = 'failed'))
);

-- Writes a journal as a part of the statement that changes its aggregate, which then takes one round trip, holds the busy
-- balances for no longer than itself, and fails as a whole where the journal cannot be written:
--   LE002  an account is not open yet
--   LE003  an account with a floor lacks the money
create function record_journal(for_aggregate text, for_operation text, happened timestamptz, entries json)
returns text language plpgsql as $$
declare
  outcome text;
begin
  if entries is null then return null; end if;
  outcome := post_journal(for_aggregate, for_operation, happened, entries);
  if outcome = 'unopened' then
    raise exception using errcode = 'LE002', message = 'ledger: an account is not open yet';
  elsif outcome = 'insufficient' then
    raise exception using errcode = 'LE003', message = 'ledger: an account lacks the money';
  end if;
  return outcome;
end $$;
