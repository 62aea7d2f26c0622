-- The amount that the merchant sent, where the invoice is for another by chance.
alter table invoice add column original_minor bigint;
