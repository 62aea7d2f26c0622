// The log has no gaps, and its facts give the rows.
import type { Check, Problem, Seen } from '../check.ts';
import { groupedBy } from '../rows.ts';
import type { ObjectState } from './history.ts';

export const events: Check = {
  name: 'events',
  says: 'the events of an aggregate are numbered from 1 to its version, and their facts lead to its rows',
  find: (seen) => [...gaps(seen), ...strangers(seen), ...differences(seen)],
};

function gaps({ books }: Seen): Problem[] {
  return [...groupedBy(books.events, (event) => event.aggregate_id)].flatMap(([id, all]) =>
    all.every(({ sequence }, place) => sequence === place + 1)
      ? []
      : [[`${all[0]!.aggregate} ${id}`, `its events are ${all.map(({ sequence }) => sequence).join(', ')}`]],
  );
}

/** Rows without a log, logs without a row, and versions that are not the last event's number. */
function strangers({ books, histories }: Seen): Problem[] {
  const versions = new Map<string, readonly [kind: string, version: number]>();
  for (const one of books.invoices) versions.set(one.invoice_id, ['invoice', one.version]);
  for (const one of books.customers) versions.set(one.customer_id, ['customer', one.version]);
  for (const one of books.withdrawals) versions.set(one.withdrawal_id, ['withdrawal', one.version]);
  for (const one of books.destinations) versions.set(one.destination_id, ['destination', one.version]);
  for (const one of books.others) versions.set(one.id, [one.kind, one.version]);
  return [
    ...[...versions].flatMap(([id, [kind, version]]): Problem[] => {
      const last = histories.get(id)?.last ?? 0;
      return last === version ? [] : [[`${kind} ${id}`, `its version is ${version}, its last event ${last}`]];
    }),
    ...[...histories].flatMap(([id, { aggregate }]): Problem[] =>
      versions.has(id) ? [] : [[`${aggregate} ${id}`, 'it has events and no row']],
    ),
  ];
}

type Stated = Readonly<Record<string, unknown>>;

function differences({ books, histories }: Seen): Problem[] {
  const problems: Problem[] = [];
  const counted = new Map<string, number>();
  const compare = (
    kind: ObjectState['kind'],
    name: string,
    row: Stated,
    stated: (of: ObjectState) => Stated,
  ) => {
    const aggregate = name.split('.')[0] ?? '';
    counted.set(aggregate, (counted.get(aggregate) ?? 0) + 1);
    const object = histories.get(aggregate)?.objects.get(`${kind} ${name}`);
    if (!object) return void problems.push([`${kind} ${name}`, 'it is in no event']);
    for (const [what, says] of Object.entries(stated(object))) {
      if (row[what] !== says)
        problems.push([
          `${kind} ${name}`,
          `${what} is ${String(row[what])} in its row, ${String(says)} by its events`,
        ]);
    }
  };
  for (const one of books.invoices)
    compare('invoice', one.invoice_id, one, ({ status, amount }) => ({
      status,
      amount_minor: amount,
    }));
  for (const row of books.payments) {
    const name = `${row.invoice_id}.${row.payment_id}`;
    compare('payment', name, row, ({ status, amount, captured, refunded }) => ({
      status,
      amount_minor: amount,
      captured_minor: captured ?? null,
      refunded_minor: refunded,
    }));
  }
  for (const one of books.refunds)
    compare('refund', `${one.invoice_id}.${one.payment_id}.${one.refund_id}`, one, ({ status, amount }) => ({
      status,
      amount_minor: amount,
    }));
  for (const one of books.customers)
    compare('customer', one.customer_id, one, ({ status, active }) => ({
      status,
      active_binding_id: active || null,
    }));
  for (const one of books.bindings)
    compare('binding', `${one.customer_id}.${one.binding_id}`, one, ({ status, amount }) => ({
      status,
      amount_minor: amount,
    }));
  for (const one of books.withdrawals)
    compare('withdrawal', one.withdrawal_id, one, ({ status, amount }) => ({ status, amount_minor: amount }));
  for (const one of books.destinations)
    compare('destination', one.destination_id, one, ({ status }) => ({ status }));
  for (const [id, { objects, aggregate }] of histories) {
    const rows = counted.get(id) ?? 0;
    if (objects.size > rows)
      problems.push([`${aggregate} ${id}`, `its events have ${objects.size} objects, ${rows} have rows`]);
  }
  return problems;
}
