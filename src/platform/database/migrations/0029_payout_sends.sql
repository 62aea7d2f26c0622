-- How often a node has claimed to send a payout, and whether each of these sends is proved to have done nothing.
-- A payout of an older node may have been sent.
alter table withdrawal add column sends integer not null default 0, add column is_unsent boolean not null default false;
