-- A terminal that takes no new payments stays: what was paid through it is captured, asked about and given back through it.

alter table terminal add column retired_at timestamptz;
