// Ledger checks on bindings, and the check that a customer is ready exactly while it has an active binding.
import { invariant, type Invariant } from '../../platform/ledger/store/invariants.ts';

export const bindingInvariants: readonly Invariant[] = [
  invariant(
    'B1',
    'the charged, refunded and pending amounts of every binding in the ledger match its row',
    `
    select customer_id, binding_id, status, amount_minor, booked.*,
      case
        when terms -> 'imported' is not null then (charged_minor, returned_minor, refundable_minor) = (0, 0, 0)
        when status in ('returning', 'refunding')
          then (charged_minor, returned_minor, refundable_minor) = (amount_minor, 0, amount_minor)
        when status in ('succeeded', 'withdrawn')
          then (charged_minor, returned_minor, refundable_minor) = (amount_minor, amount_minor, 0)
        when status = 'failed'
          then charged_minor = returned_minor and charged_minor in (0, amount_minor) and refundable_minor = 0
        else (charged_minor, returned_minor, refundable_minor) = (0, 0, 0)
      end as holds
    from (select binding.* from changed join binding on customer_id = aggregate_id) as binding
    full join (
      select aggregate_id as customer_id, split_part(operation_id, '/', 2) as binding_id
      from changed join ledger_transfer using (aggregate_id)
      where operation_id like 'binding/%' group by 1, 2
    ) as named using (customer_id, binding_id)
    cross join lateral (
      select coalesce(sum(posted_minor) filter (where step = 'charge'), 0) as charged_minor,
        coalesce(sum(posted_minor) filter (where step = 'return'), 0) as returned_minor,
        coalesce(sum(pending_minor), 0) as refundable_minor
      from ledger_transfer
      where aggregate_id = customer_id and operation_id = 'binding/' || binding_id
    ) as booked`,
    'customer',
  ),
  invariant(
    'B2',
    'a customer is ready while it has a bound card, and the card bound last is the active one',
    `
    select customer.customer_id, customer.status, active_binding_id, latest.binding_id,
      case customer.status
        when 'deleted' then active_binding_id is null
        else active_binding_id is not distinct from latest.binding_id
      end as holds
    from changed join customer on customer_id = aggregate_id
    left join lateral (
      select binding_id from binding
      where binding.customer_id = customer.customer_id and bound_at_version is not null
      order by bound_at_version desc limit 1
    ) as latest on true`,
    'customer',
  ),
];
