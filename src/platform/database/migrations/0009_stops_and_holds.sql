-- Until when a charge that was approved as a hold can be captured. Empty once it is captured or released, and for charges from before.
alter table series_attempt add column held_until timestamptz;

-- A decline that stops one invoice, by its payment. Older nodes read no such rows, and so do not take them for a stop of the card.
-- Earlier stops are in series_attempt and, with the payer present, in card_stop.
create table invoice_stop (
  invoice_id    id not null,
  payment_id    id not null,
  stopped_at    timestamptz not null,
  rule          text not null,
  pack          text not null,
  decline_class text,
  primary key (invoice_id, payment_id)
);

-- How many stops of its card have reached the series. A charge that was decided before the latest one is not made.
alter table series add column card_stops integer not null default 0;
