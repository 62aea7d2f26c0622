-- What a payer remembers is the amount. Without an index a search for one looks through its whole range of time.
create index search_payment_of_amount on search_payment (party_id, shop_id, amount_minor, created_at, invoice_id, payment_id);
create index search_invoice_of_amount on search_invoice (party_id, shop_id, amount_minor, created_at, invoice_id);
