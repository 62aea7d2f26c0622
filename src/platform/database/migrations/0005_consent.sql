-- When a charge without the payer took its money: the schedule's period is then charged. Charges from before, and those an older
-- node makes, have none and do not count.
alter table series_attempt add column captured_at timestamptz;

-- How many days a terminal's bank keeps a hold, where it is not the usual time.
create table terminal_hold (
  party_id id not null,
  shop_id id not null,
  terminal_id id not null,
  network text not null,
  initiation text not null check (initiation in ('payerPresent', 'withoutPayer')),
  days integer not null check (days between 1 and 30),
  primary key (party_id, shop_id, terminal_id, network, initiation)
);
