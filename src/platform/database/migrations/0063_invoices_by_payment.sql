-- Invoices of a shop by what a payment has that very many have: read in their own order from the payments, until the page is full. Only
-- what asks for that time can use it.
create index search_payment_invoices_of_shop on search_payment (party_id, shop_id, invoice_created_at, invoice_id)
  where invoice_created_at is not null;
