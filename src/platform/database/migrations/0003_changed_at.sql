-- The time of an aggregate's latest event. The next event is not earlier, whatever the clock of a node says. Rows from before,
-- and rows an older node makes, get the database's time.
alter table invoice add column changed_at timestamptz not null default now();
alter table customer add column changed_at timestamptz not null default now();
alter table series add column changed_at timestamptz not null default now();
alter table identity add column changed_at timestamptz not null default now();
alter table destination add column changed_at timestamptz not null default now();
alter table withdrawal add column changed_at timestamptz not null default now();
