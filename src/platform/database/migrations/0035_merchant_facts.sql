-- Facts of the merchant for card networks, such as its category code, which an acquirer may not have.
alter table terminal add column merchant_facts json;
alter table payout_terminal add column merchant_facts json;
