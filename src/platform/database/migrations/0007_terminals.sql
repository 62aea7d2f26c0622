-- A terminal that takes no new payments stays: what was paid through it is captured, asked about and given back through it.

alter table terminal add column retired_at timestamptz;

-- The simulated bank had one name for all data folders; now each folder's has its own.
update terminal set retired_at = now() where bank_id = 'SIMULATED';
