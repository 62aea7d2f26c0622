-- Who has a queue in hand is written down, instead of guessed from the time it is due; a queue that was put back for a replay
-- shows it to whoever has it in hand; and a log that comes from another PostgreSQL stays known as one.

alter table webhook_queue
  -- A node has the queue in hand for as long as this is when it is due. A node of the version before leaves it as it is.
  add column leased_until timestamptz,
  -- How often its place was changed under whoever had it in hand.
  add column rewinds int not null default 0;
-- What has waited longest, of one webhook.
create index webhook_queue_waiting on webhook_queue (webhook_id, waiting_since) where wake_at is not null;

-- What was finished when the webhook was made: the rest is told. Made before there was this column, it is told what was
-- written in later transactions than its own.
alter table webhook add column made_after text;
alter table webhook alter column made_after set default pg_current_snapshot()::text;

-- Since when nothing is told because the log is another server's; `mandate webhooks rebase` ends it.
alter table webhook_feed add column foreign_since timestamptz;
