-- Invoices that are searched by what a payment has are read in the order of their own time, until the page is full. Without it every
-- payment from an address is looked up. What was copied before is copied again, with that time; a node locks this row first.
update search_position set rebuild_after = '', resum_from = null, rebuilt = 0;
alter table search_payment add column invoice_created_at timestamptz;
create index search_payment_invoices_of_ip on search_payment (party_id, ip, invoice_created_at, invoice_id)
  where ip is not null;
create index search_payment_invoices_of_last4 on search_payment (party_id, last4, invoice_created_at, invoice_id)
  where last4 is not null;
create index search_payment_invoices_of_amount on search_payment (party_id, amount_minor, invoice_created_at, invoice_id);

-- A rebuild sums hours and days again with each day of a shop, in statements of its own: one over all of them took too long.
drop function remake_coarse_sums();
