-- Which banks get nothing new, for operators: each node knows it in memory, and a command is no node.

-- Written by the nodes for which the bank is away, every ten seconds. Who asks passes over what is older than two minutes.
alter table bank
  add column away_since timestamptz,
  add column away_seen_at timestamptz,
  add column away_because text;
