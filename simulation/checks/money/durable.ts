// No request leaves for a bank before its cause is committed, so that a crash cannot undo the cause.
// The log is read as of the moment the request left.
import type { Fact } from '../rows.ts';
import type { Problem } from '../check.ts';
import type { Asked, CheckWorld } from '../world.ts';

/** The facts that may cause an operation, by the end of its ID. A refund's operation ID ends with the refund's ID. */
const followsFrom: Readonly<Record<string, readonly string[]>> = {
  a: ['payment_started'],
  s: ['payment_stepped_up'],
  f: ['payment_undo_started'],
  l: ['payment_approved_late'],
  c: ['payment_capture_started'],
  r: ['payment_reversal_started', 'payment_cancel_started'],
  u: ['payment_reversal_refused'],
  charge: ['binding_started'],
  reverse: ['binding_reversal_started', 'binding_charged'],
  refund: ['binding_refund_started'],
  p: ['withdrawal_started'],
};
const readLogsThen = `
  select place::int4, coalesce(json_agg(fact) filter (where fact is not null), '[]')::text as facts
  from json_to_recordset($1) as asked (place int, aggregate_id text, snapshot text)
  left join event on event.aggregate_id = asked.aggregate_id
    and pg_visible_in_snapshot(event.written_in, asked.snapshot::pg_snapshot)
  left join lateral json_array_elements(event.facts) as fact on true
  group by place order by place`;

export async function tooEarly(query: CheckWorld['query'], asked: readonly Asked[]): Promise<Problem[]> {
  if (asked.length === 0) return [];
  const wished = asked.map(({ operationId, snapshot }, place) => {
    const [aggregateId] = operationId.split('.');
    return { place, aggregate_id: aggregateId, snapshot };
  });
  const logs = await query(readLogsThen, [JSON.stringify(wished)]);
  return asked.flatMap(({ operationId }, place): Problem[] => {
    const facts = JSON.parse(String(logs[place]?.['facts'])) as Fact[];
    return facts.some((fact) => isReasonFor(operationId, fact))
      ? []
      : [[operationId, 'it was sent to the bank before its cause was committed']];
  });
}

function isReasonFor(operationId: string, fact: Fact): boolean {
  const [, ...names] = operationId.split('.');
  const end = names.at(-1) ?? '';
  // The operation ID of a destination check ends with the version.
  if (fact.type === 'destination_created') return true;
  const isOfPart = names.length === 1 || names[0] === (fact['paymentId'] ?? fact['bindingId']);
  const refund = fact['refund'] as { readonly id: string } | undefined;
  const isRefund = fact.type === 'refund_started' && refund?.id === end;
  return isOfPart && (isRefund || (followsFrom[end]?.includes(fact.type) ?? false));
}
