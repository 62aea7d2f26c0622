-- The outbox: receipts on their way to payers by mail, one for each recurring payment and for the one that began them. Which
-- step sends them is in src/recurring/receipt-worker.ts.
create table letter (
  invoice_id    id not null,
  payment_id    id not null,
  party_id      id not null,
  series_id     id not null,
  -- To be sent; with nobody to send it, so that it stays here; with the mail server; refused there for good.
  status        text not null check (status in ('waiting', 'kept', 'sent', 'refused')),
  created_at    timestamptz not null,
  recipient     text not null,
  -- What the receipt says of the payment. The rest it takes from the series and the shop.
  paid_at       timestamptz not null,
  amount_minor  bigint not null,
  currency      text not null,
  reference     text not null,
  approval_code text,
  -- What was written to the payer in the end, letter by letter, and when.
  ended_at      timestamptz,
  subject       text,
  text_body     text,
  html_body     text,
  refusal       text,
  wake_at       timestamptz,
  attempts      int not null default 0,
  stuck_at      timestamptz,
  stuck_reason  text,
  primary key (invoice_id, payment_id),
  check ((status = 'waiting') = (ended_at is null)),
  check ((status = 'waiting') or text_body is not null)
);
create index letter_due on letter (wake_at) where wake_at is not null;
create index letter_stuck on letter (stuck_at) where stuck_at is not null;
create index letter_of_party on letter (party_id, created_at);
