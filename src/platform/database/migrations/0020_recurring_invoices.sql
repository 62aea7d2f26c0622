-- The merchant says with the invoice that its payment saves the card, and on which terms. Null: the payment's request says it.
alter table invoice add column recurring json;
