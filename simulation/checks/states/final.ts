// Once faults have stopped and nothing is due, every object is in a state it may stay in.
import { groupedBy } from '../rows.ts';
import { isKept } from '../money/bank.ts';
import type { Check, Problem } from '../check.ts';

/** A hold may stay until it expires, and an invoice until its due date. */
const restful: Readonly<Record<string, readonly string[]>> = {
  payment: ['held', 'captured', 'cancelled', 'refunded', 'failed'],
  refund: ['succeeded', 'failed'],
  binding: ['succeeded', 'withdrawn', 'failed'],
  withdrawal: ['succeeded', 'failed'],
  destination: ['authorized', 'refused'],
  payer_email: ['kept', 'sent', 'refused'],
  transfer: ['succeeded', 'failed'],
};

type Row = { readonly status: string; readonly stuck_at?: string | null };

export const final: Check = {
  name: 'final',
  says: 'every object reaches a final state once faults stop, and nothing waits for an operator',
  find({ books, isSettled }) {
    if (!isSettled) return [];
    const problems: Problem[] = [];
    const look = <R extends Row>(kind: string, rows: readonly R[], nameOf: (row: R) => string) => {
      for (const row of rows) {
        const about = `${kind} ${nameOf(row)}`;
        if (restful[kind] && !restful[kind].includes(row.status))
          problems.push([about, `it is still ${row.status}`]);
        if (row.stuck_at) problems.push([about, `it is ${row.status} and waits for an operator`]);
      }
    };
    look('invoice', books.invoices, (row) => row.invoice_id);
    look('payment', books.payments, (row) => `${row.invoice_id}.${row.payment_id}`);
    look('refund', books.refunds, (row) => `${row.invoice_id}.${row.payment_id}.${row.refund_id}`);
    look('binding', books.bindings, (row) => `${row.customer_id}.${row.binding_id}`);
    look('payer_email', books.payerEmails, (row) => `${row.invoice_id}.${row.payment_id}`);
    look('withdrawal', books.withdrawals, (row) => row.withdrawal_id);
    look('destination', books.destinations, (row) => row.destination_id);
    look('transfer', books.transfers, (row) => row.transfer_id);
    const refunds = groupedBy(books.refunds, (row) => `${row.invoice_id}.${row.payment_id}`);
    for (const { operation_id: id, what, meaning } of books.bankUpdates) {
      const of = refunds.get(id.split('.').slice(0, 2).join('.')) ?? [];
      if (meaning === 'waits') problems.push([id, `${what} still waits`]);
      else if (what !== 'captureFailed' || !isKept(of)) problems.push([id, `${what} waits for an operator`]);
    }
    return problems;
  },
};
