-- Sums of hours and of days, so that a quarter of a year is read in thousands of rows. They follow the sums of quarters of an hour by
-- triggers, so they also hold when an older node or a rebuild writes those.
create table search_hour_sum (
  party_id      id not null,
  shop_id       id not null,
  hour          timestamptz not null,
  what          text not null,
  currency      text not null,
  status        text not null,
  decline_class text not null,
  amount_minor  bigint not null,
  n             bigint not null,
  primary key (party_id, shop_id, hour, what, currency, status, decline_class)
) with (fillfactor = 80);
create table search_day_sum (
  party_id       id not null,
  shop_id        id not null,
  day            timestamptz not null,
  what           text not null,
  currency       text not null,
  status         text not null,
  attempt        int not null,
  payment_system text not null,
  decline_class  text not null,
  failure        text not null,
  bank_code      text not null,
  amount_minor   bigint not null,
  n              bigint not null,
  primary key (party_id, shop_id, day, what, currency, status, attempt, payment_system, decline_class, failure, bank_code)
) with (fillfactor = 80);

create function remake_coarse_sums() returns void language sql as $$
  delete from search_hour_sum;
  insert into search_hour_sum
  select party_id, shop_id, date_trunc('hour', quarter, 'UTC') as hour, what, currency, status, decline_class, sum(amount_minor), sum(n)
  from search_sum group by party_id, shop_id, hour, what, currency, status, decline_class;
  delete from search_day_sum;
  insert into search_day_sum
  select party_id, shop_id, date_trunc('day', quarter, 'UTC') as day, what, currency, status, attempt, payment_system, decline_class,
    failure, bank_code, sum(amount_minor), sum(n)
  from search_sum
  group by party_id, shop_id, day, what, currency, status, attempt, payment_system, decline_class, failure, bank_code;
$$;
-- The lock keeps a reader of the log from moving sums before the triggers are there.
lock table search_sum in share row exclusive mode;
select remake_coarse_sums();

create function move_coarse_sums(moved search_sum[]) returns void language sql as $$
  insert into search_hour_sum as kept
  select party_id, shop_id, date_trunc('hour', quarter, 'UTC') as hour, what, currency, status, decline_class, sum(amount_minor), sum(n)
  from unnest(moved)
  group by party_id, shop_id, hour, what, currency, status, decline_class
  having sum(n) <> 0 or sum(amount_minor) <> 0
  on conflict (party_id, shop_id, hour, what, currency, status, decline_class) do update
  set amount_minor = kept.amount_minor + excluded.amount_minor, n = kept.n + excluded.n;
  insert into search_day_sum as kept
  select party_id, shop_id, date_trunc('day', quarter, 'UTC') as day, what, currency, status, attempt, payment_system, decline_class,
    failure, bank_code, sum(amount_minor), sum(n)
  from unnest(moved)
  group by party_id, shop_id, day, what, currency, status, attempt, payment_system, decline_class, failure, bank_code
  having sum(n) <> 0 or sum(amount_minor) <> 0
  on conflict (party_id, shop_id, day, what, currency, status, attempt, payment_system, decline_class, failure, bank_code) do update
  set amount_minor = kept.amount_minor + excluded.amount_minor, n = kept.n + excluded.n;
$$;
create function follow_sums() returns trigger language plpgsql as $$
declare
  moved search_sum[];
begin
  if tg_op <> 'DELETE' then
    select array_agg(row(party_id, shop_id, quarter, what, currency, status, attempt, payment_system, decline_class, failure, bank_code,
      amount_minor, n)::search_sum) into moved from added;
  end if;
  if tg_op <> 'INSERT' then
    select coalesce(moved, '{}') || array_agg(row(party_id, shop_id, quarter, what, currency, status, attempt, payment_system,
      decline_class, failure, bank_code, -amount_minor, -n)::search_sum) into moved from taken;
  end if;
  if moved is not null then
    perform move_coarse_sums(moved);
  end if;
  return null;
end $$;
create trigger search_sum_added after insert on search_sum
  referencing new table as added for each statement execute function follow_sums();
create trigger search_sum_changed after update on search_sum
  referencing old table as taken new table as added for each statement execute function follow_sums();
create trigger search_sum_taken after delete on search_sum
  referencing old table as taken for each statement execute function follow_sums();
