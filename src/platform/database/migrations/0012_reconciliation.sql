-- A bank's book while it is compared with ours: filled at the start of a run, emptied at its end. Scratch, so that it is not
-- worth a log: after a crash of the database it is empty.

create unlogged table bank_line (
  run_id       id not null,
  -- What the operation's id begins with, up to its first dot: the id of the aggregate it belongs to, if it is one of ours.
  aggregate_id text collate "C" not null,
  operation_id text collate "C" not null,
  sequence     bigint not null,
  kind         text not null,
  original_id  text collate "C",
  amount_minor bigint not null,
  currency     text not null,
  sign         int not null,
  booked_at    timestamptz not null,
  card_mask    text,
  primary key (run_id, aggregate_id, operation_id, sequence)
);
