-- A terminal for payouts that was removed: new payouts leave by another, those that went through it are still asked about there.
alter table payout_terminal add column retired_at timestamptz;
