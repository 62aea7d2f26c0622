-- How much was paid out in each quarter of an hour, summed as payments are. The reader of the log copies each changed withdrawal.
-- First, because a node that copies rows locks this one before them. What was written before is copied by a rebuild.
update search_position set rebuild_after = '', resum_from = null, rebuilt = 0;
create table search_payout (
  party_id      id not null,
  shop_id       id not null,
  withdrawal_id id not null,
  created_at    timestamptz not null,
  status        text not null,
  amount_minor  bigint not null,
  currency      text not null,
  primary key (party_id, withdrawal_id)
) with (fillfactor = 80);
create index search_payout_of_party on search_payout (party_id, shop_id, created_at);
-- A payout is of a party and of no shop. In its place is the mode of its money: '-live', '-test', or '-' if it reserved none.
alter table search_sum
  drop constraint search_sum_what_check,
  add constraint search_sum_what_check check (what in ('payment', 'refund', 'payout'));
