-- What support people type most often after an email: the digits of a card, and what tells a payer or a bank apart. Without an index
-- a search for a rare value looks through its whole range of time.
create index search_payment_of_last4 on search_payment (party_id, last4, created_at, invoice_id, payment_id)
  where last4 is not null;
create index search_payment_of_ip on search_payment (party_id, ip, created_at, invoice_id, payment_id)
  where ip is not null;
create index search_payment_of_approval_code on search_payment (party_id, approval_code) where approval_code is not null;
-- A fingerprint may be too long for an index.
create index search_payment_of_fingerprint on search_payment (party_id, md5(fingerprint)) where fingerprint is not null;
