-- Charges that no bank has seen.

-- How many of the first attempts are proved to have sent nothing. Each attempt adds itself; one that cannot breaks the row for good,
-- as does an attempt of an older version.
alter table payment add column unsent_attempts integer not null default 0;
