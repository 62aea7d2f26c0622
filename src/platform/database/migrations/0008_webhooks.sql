-- Webhooks: who wants to be told, what he is told, how far each of his queues has come. Every event says in which
-- transaction it was written, so that whoever reads the whole log can tell what is new, also when transactions commit in
-- another order than they began.

-- What is there already was written before anybody asked: its number is below every transaction's.
alter table event add column written_in xid8 not null default '0';
alter table event alter column written_in set default pg_current_xact_id();
create index event_written_in on event (written_in);
-- For replays by time. Rows lie in the order they were written, so a page of this index covers thousands of them.
create index event_time on event using brin (created_at) with (pages_per_range = 32);

create table webhook (
  webhook_id  id primary key,
  party_id    id not null,
  topic       text not null check (topic in ('InvoicesTopic', 'CustomersTopic', 'WithdrawalsTopic', 'DestinationsTopic')),
  -- The shop, or the identity; and one wallet of that, or all.
  owner_id    id not null,
  part_id     id,
  -- As they are subscribed, separated by spaces.
  event_types text not null,
  url         text not null check (length(url) <= 1000),
  created_at  timestamptz not null,
  -- Only what is written later is told.
  written_in  xid8 not null default pg_current_xact_id()
);
create index webhook_of_party on webhook (party_id);

-- The keys a webhook signs with, by generation. The next one is shown before it is used.
create table webhook_key (
  webhook_id         id not null,
  generation         int not null,
  public_key         text not null,
  signing_public_key text not null,
  -- The private halves and the shared secret, sealed together.
  sealed             bytea not null,
  seal_generation    int not null,
  signs_from         timestamptz not null,
  primary key (webhook_id, generation)
);

-- One for each aggregate and webhook: what waits is sent in order, one after the other.
create table webhook_queue (
  aggregate_id  id not null,
  webhook_id    id not null,
  -- Of the first notice that is not acknowledged, and of the last one there is. A position is eight times the sequence of
  -- the event and the place of the notice in it.
  next_position bigint not null,
  last_position bigint not null,
  -- While something is sent again: where that ends, and where the queue goes on afterwards.
  replay_until  bigint,
  resume_at     bigint,
  -- Since when something has been waiting.
  waiting_since timestamptz,
  -- Why the latest attempt failed, if it did.
  last_failure  text,
  -- As in every table with due work, on real time; stuck here means parked.
  wake_at       timestamptz,
  attempts      int not null default 0,
  stuck_at      timestamptz,
  stuck_reason  text,
  primary key (aggregate_id, webhook_id),
  check ((replay_until is null) = (resume_at is null))
);
create index webhook_queue_due on webhook_queue (webhook_id, wake_at) where wake_at is not null;
create index webhook_queue_stuck on webhook_queue (webhook_id, stuck_at) where stuck_at is not null;

-- The body of a notice as it was first sent: every other attempt, to whichever webhook, sends these very bytes.
create table webhook_message (
  aggregate_id id not null,
  position     bigint not null,
  body         text not null,
  created_at   timestamptz not null,
  primary key (aggregate_id, position)
);
create index webhook_message_age on webhook_message (created_at);

-- Where the numbers of an aggregate's notices begin, for each 64 of its events. Kept for ever: a number is given once.
create table webhook_series (
  aggregate_id id not null,
  chunk        int not null,
  base         bigint not null unique,
  primary key (aggregate_id, chunk)
);
create table webhook_series_counter (
  only_row  boolean primary key default true check (only_row),
  last_base bigint not null
);
insert into webhook_series_counter (last_base) values (0);

create table webhook_attempt (
  webhook_id   id not null,
  attempted_at timestamptz not null,
  aggregate_id id not null,
  position     bigint not null,
  attempt      int not null,
  event_type   text not null,
  duration_ms  int not null,
  status       int,
  failure      text,
  primary key (webhook_id, attempted_at, aggregate_id, position, attempt)
);
create index webhook_attempt_age on webhook_attempt (attempted_at);

-- How far the log has been looked through: every transaction this snapshot shows as finished.
create table webhook_feed (
  only_row boolean primary key default true check (only_row),
  seen     text not null
);
insert into webhook_feed (seen) values (pg_current_snapshot()::text);
