-- What the response warned about, for its repeats. Null: about nothing, or an older node stored it.
alter table idempotency_key add column warnings text;
