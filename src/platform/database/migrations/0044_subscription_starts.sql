-- The payer starts a subscription with a payment, and need not be a customer.
alter table subscription alter column customer_id drop not null;
