-- Which retries of subscriptions were approved, and what they followed. The reader of the log copies them as it copies payments.
create table search_retry (
  party_id       id not null,
  shop_id        id not null,
  invoice_id     id not null,
  payment_id     id not null,
  created_at     timestamptz not null,
  outcome        text not null,
  payment_system text not null,
  decline_class  text not null,
  bank_code      text not null,
  number         int not null,
  days           int not null,
  local_hour     int not null,
  policy         text not null,
  primary key (party_id, invoice_id, payment_id)
) with (fillfactor = 80);
create index search_retry_of_shop on search_retry (party_id, shop_id, created_at);
