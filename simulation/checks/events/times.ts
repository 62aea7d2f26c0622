// Within an aggregate time never decreases, in its log and in the ledger, although the nodes' clocks differ.
import { groupedBy, type EventRow, type LedgerRow } from '../rows.ts';
import type { Check, Problem } from '../check.ts';

export const times: Check = {
  name: 'times',
  says: 'no event of an aggregate is earlier than the one before it, and the ledger says the same of its transfers',
  find({ books }) {
    const events = groupedBy(books.events, ({ aggregate_id: id }) => id);
    return [
      ...[...events.values()].flatMap(backwards),
      ...books.ledger.flatMap((transfer) => ofNoEvent(transfer, events.get(transfer.aggregate_id) ?? [])),
      ...resolvedEarly(books.ledger),
    ];
  },
};

function backwards(log: readonly EventRow[]): Problem[] {
  return log.flatMap((event, place) => {
    const before = log[place - 1];
    if (!before || before.created_at <= event.created_at) return [];
    const { aggregate, aggregate_id: id, sequence, created_at: at } = event;
    return [
      [`${aggregate} ${id}`, `its event ${sequence} is of ${at}, the one before of ${before.created_at}`],
    ];
  });
}

/** A transfer is written with an event and has its time. */
function ofNoEvent(transfer: LedgerRow, log: readonly EventRow[]): Problem[] {
  const { happened_at: at } = transfer;
  return log.some(({ created_at }) => created_at === at)
    ? []
    : [[nameOf(transfer), `its time is ${at}, and no event of its aggregate has that time`]];
}

function resolvedEarly(ledger: readonly LedgerRow[]): Problem[] {
  return [...groupedBy(ledger, nameOf)].flatMap(([name, legs]) => {
    const pending = legs.find(({ phase }) => phase === 'pending');
    return legs.flatMap(({ phase, happened_at: at }): Problem[] =>
      pending && at < pending.happened_at
        ? [[name, `${phase} at ${at}, pending since ${pending.happened_at}`]]
        : [],
    );
  });
}

function nameOf({ aggregate_id: id, operation_id: operation, step }: LedgerRow): string {
  return `${id} ${operation} ${step}`;
}
