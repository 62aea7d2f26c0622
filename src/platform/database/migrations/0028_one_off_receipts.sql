-- Receipts of payments without a series, on the wish of the shop.
alter table shop add column one_off_receipts boolean not null default false;
-- Null: of a payment without a series.
alter table payer_email alter column series_id drop not null;
