// What must be equal in payments and the ledger.
import { invariant, type Invariant } from '../../platform/ledger/store/invariants.ts';

export const paymentInvariants: readonly Invariant[] = [
  invariant(
    'P1',
    'the ledger holds, has captured and has refunded for each payment what its row says',
    `
    select invoice_id, payment_id, status, said.held_minor, said.taken_minor, said.returned_minor, said.returning_minor,
      booked.held_minor as booked_held, booked.taken_minor as booked_taken, booked.returned_minor as booked_returned,
      booked.returning_minor as booked_returning,
      (coalesce(said.held_minor, 0), coalesce(said.taken_minor, 0), coalesce(said.returned_minor, 0),
       coalesce(said.returning_minor, 0))
      = (coalesce(booked.held_minor, 0), coalesce(booked.taken_minor, 0), coalesce(booked.returned_minor, 0),
         coalesce(booked.returning_minor, 0)) as holds
    from (
      select invoice_id, payment_id, status,
        case when status in ('held', 'capturing', 'cancelling') then amount_minor else 0 end as held_minor,
        case when status in ('captured', 'refunding', 'refunded') then captured_minor else 0 end as taken_minor,
        refunded_minor as returned_minor,
        coalesce((state -> 'refund' ->> 'minor')::bigint, 0) as returning_minor
      from changed join payment on invoice_id = aggregate_id
    ) as said
    full join (
      select aggregate_id as invoice_id, split_part(operation_id, '/', 2) as payment_id,
        sum(pending_minor) filter (where step = 'hold') as held_minor,
        sum(case step when 'uncaptured' then - posted_minor else posted_minor end)
          filter (where step in ('hold', 'sale', 'uncaptured')) as taken_minor,
        sum(case step when 'returned' then - posted_minor else posted_minor end)
          filter (where step in ('refund', 'returned')) as returned_minor,
        sum(pending_minor) filter (where step = 'refund') as returning_minor
      from changed join ledger_transfer using (aggregate_id)
      where operation_id like 'payment/%'
      group by 1, 2
    ) as booked using (invoice_id, payment_id)`,
    'invoice',
  ),
  invariant(
    'P2',
    'a refund is pending in the ledger while its row is pending, and has ended as its row says; none that waits for money is',
    `
    select invoice_id, payment_id, refund_id, status, amount_minor, fee_minor, waits_until, booked.*,
      case
        when waits_until is not null then status = 'pending' and booked.open_minor is null
        when status = 'pending' then (booked.open_minor, booked.posted_minor) = (amount_minor + fee_minor, 0)
        when status = 'succeeded' then (booked.open_minor, booked.posted_minor) = (0, amount_minor + fee_minor)
        else (coalesce(booked.open_minor, 0), coalesce(booked.posted_minor, 0)) = (0, 0)
      end as holds
    from changed join refund on invoice_id = aggregate_id
    left join lateral (
      select sum(pending_minor) as open_minor,
        sum(case when step in ('returned', 'returned_fee') then - posted_minor else posted_minor end) as posted_minor
      from ledger_transfer
      where aggregate_id = invoice_id and operation_id = 'payment/' || payment_id || '/refund/' || refund_id
    ) as booked on true`,
    'invoice',
  ),
  invariant(
    'P3',
    'the queue of refunds that wait for money has each of them, and no other',
    `
    select invoice_id, payment_id, refund_id, waiting.refund_id is not null and waits_until is not null as holds
    from changed join refund on invoice_id = aggregate_id
    full join waiting_refund as waiting using (invoice_id, payment_id, refund_id)
    where waits_until is not null or waiting.refund_id is not null and invoice_id in (select aggregate_id from changed)`,
    'invoice',
  ),
];
