-- Whether a payout is of real money. One that failed for lack of money has no transfer that says so.
alter table withdrawal add column livemode boolean;
