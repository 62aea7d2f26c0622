-- How long banks take to answer, and what they never answer, by the hour. Exchanges are counted again while they may change. An index
-- of blocks costs a charge nothing, as begun_at never changes.
create index exchange_time on exchange using brin (begun_at) with (pages_per_range = 32);
create table exchange_sum (
  bank_id   id not null,
  hour      timestamptz not null,
  kind      text not null,
  state     text not null,
  within_ms int not null,
  n         bigint not null,
  primary key (bank_id, hour, kind, state, within_ms)
);
create index exchange_sum_open on exchange_sum (hour) where state in ('begun', 'challenged');
create table exchange_sum_position (
  only_row      boolean primary key check (only_row),
  -- Hours before it are counted. Null: begin again.
  counted_until timestamptz,
  counted_at    timestamptz
);
insert into exchange_sum_position values (true);
