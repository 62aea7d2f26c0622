-- Charges that a bank approved although they did not decide their payment, while they are undone. Each is undone under an ID of its own,
-- by a job of its own, whatever the payment does meanwhile.
create table charge_undo (
  invoice_id   id not null,
  payment_id   id not null,
  -- The end of the ID at the bank.
  operation    text collate "C" not null,
  party_id     id not null,
  -- Null: a hold is released.
  amount_minor bigint check (amount_minor > 0),
  -- The bank has declined it for good.
  is_refused   boolean not null default false,
  wake_at      timestamptz,
  attempts     int not null default 0,
  stuck_at     timestamptz,
  stuck_reason text,
  primary key (invoice_id, payment_id, operation)
);
create index charge_undo_due on charge_undo (wake_at) where wake_at is not null;
create index charge_undo_stuck on charge_undo (stuck_at) where stuck_at is not null;
