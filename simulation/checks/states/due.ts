// Every object that is not final has a due time or waits for an operator.
import type { Check, Problem } from '../check.ts';

/** States in which no job is left to run. */
const ended: Readonly<Record<string, readonly string[]>> = {
  payment: ['captured', 'cancelled', 'refunded', 'failed'],
  binding: ['succeeded', 'withdrawn', 'failed'],
  withdrawal: ['succeeded', 'failed'],
  destination: ['authorized', 'refused'],
  payer_email: ['kept', 'sent', 'refused'],
};

type Row = {
  readonly status: string;
  readonly wake_at: string | null;
  readonly stuck_at: string | null;
};

export const due: Check = {
  name: 'due',
  says: 'every object that is not final has a due time or waits for an operator',
  find({ books }) {
    const problems: Problem[] = [];
    const look = (kind: string, name: string, { status, wake_at: wakeAt, stuck_at: stuckAt }: Row) => {
      if (wakeAt === null && stuckAt === null && !ended[kind]?.includes(status))
        problems.push([`${kind} ${name}`, `it is ${status}, and no job will run on it`]);
    };
    for (const row of books.payments) look('payment', `${row.invoice_id}.${row.payment_id}`, row);
    for (const row of books.payerEmails) look('payer_email', `${row.invoice_id}.${row.payment_id}`, row);
    for (const row of books.bindings) look('binding', `${row.customer_id}.${row.binding_id}`, row);
    for (const row of books.withdrawals) look('withdrawal', row.withdrawal_id, row);
    for (const row of books.destinations) look('destination', row.destination_id, row);
    for (const { invoice_id: id, status, payment_in_progress: isPaying, ...row } of books.invoices)
      if (status === 'unpaid' && !isPaying) look('invoice', id, { status, ...row });
    return problems;
  },
};
