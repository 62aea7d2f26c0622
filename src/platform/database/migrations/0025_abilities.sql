-- What the bank last said it can do, in its own words, for a node that has not heard it. Null: it was never heard at this address.
alter table bank add column abilities text;
