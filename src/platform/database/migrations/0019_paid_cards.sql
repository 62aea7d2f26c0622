-- An address where many cards pay is that of many payers: its limit grows with them.

-- Of each card the first payment in an hour, by the card and by the address it came from.
alter table payer_attempt add column paid timestamptz[] not null default '{}';
