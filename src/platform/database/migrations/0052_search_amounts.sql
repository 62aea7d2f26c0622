-- What a payer remembers is the amount. Without an index a search for one looks through its whole range of time. As many may have the
-- same one, it is in the order of time.
create index search_payment_of_amount on search_payment (party_id, amount_minor, created_at, invoice_id, payment_id);
create index search_invoice_of_amount on search_invoice (party_id, amount_minor, created_at, invoice_id);
