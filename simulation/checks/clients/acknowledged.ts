// What a response assured stays true: created objects exist with their amounts, and accepted requests have started.
// A state that a client saw is still the state, or a later one has followed.
import type { Check, Problem, Seen } from '../check.ts';
import type { Assurance } from './assurances.ts';

/** States as the API shows them, each with those that may follow. */
const later: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  invoice: {
    unpaid: ['paid', 'fulfilled', 'cancelled'],
    paid: ['fulfilled'],
  },
  payment: {
    pending: ['processed', 'captured', 'cancelled', 'refunded', 'failed'],
    processed: ['captured', 'cancelled', 'refunded'],
    captured: ['refunded'],
  },
  refund: { pending: ['succeeded', 'failed'] },
  binding: { pending: ['succeeded', 'failed'] },
  withdrawal: { Pending: ['Succeeded', 'Failed'] },
  destination: { Unauthorized: ['Authorized'] },
  transfer: { Pending: ['Succeeded', 'Failed'] },
};

/** What a bank takes back days later, by the fact that says so. */
const takenBackBy: Readonly<Record<string, string>> = {
  'payment captured cancelled': 'payment_capture_failed',
  'payment refunded captured': 'refund_returned',
  'refund succeeded failed': 'refund_returned',
};

const shownAs: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  payment: {
    authorising: 'pending',
    challenged: 'pending',
    reversing: 'pending',
    held: 'processed',
    capturing: 'processed',
    cancelling: 'processed',
    refunding: 'captured',
  },
  binding: {
    authorising: 'pending',
    challenged: 'pending',
    reversing: 'pending',
    returning: 'pending',
    refunding: 'pending',
    withdrawn: 'succeeded',
  },
  withdrawal: { sending: 'Pending', succeeded: 'Succeeded', failed: 'Failed' },
  destination: { checking: 'Unauthorized', authorized: 'Authorized', refused: 'Unauthorized' },
  transfer: { succeeded: 'Succeeded', failed: 'Failed' },
};

const unwanted = ['authorising', 'challenged', 'reversing', 'cancelling', 'cancelled', 'failed'];

type Row = { readonly status?: string; readonly amount_minor?: number };

export const acknowledged: Check = {
  name: 'acknowledged',
  says: 'what a response assured is never lost, and what was final never changes',
  find(seen) {
    const rows = rowsOf(seen);
    return seen.assurances.flatMap((assurance) => breachOf(seen, assurance, rows.get(assurance.about)));
  },
};

function breachOf({ histories }: Seen, assurance: Assurance, row: Row | undefined): Problem[] {
  const { about, status, amount, fact, isCancelled } = assurance;
  const [kind = '', name = ''] = about.split(' ');
  if (!row) return [[about, 'a response named it, and it does not exist']];
  if (amount !== undefined && row.amount_minor !== undefined && row.amount_minor !== amount)
    return [[about, `a response had the amount ${amount}, and it has ${row.amount_minor}`]];
  if (status !== undefined && row.status !== undefined) {
    const now = shownAs[kind]?.[row.status] ?? row.status;
    const because = takenBackBy[`${kind} ${status} ${now}`];
    const isTakenBack = because !== undefined && hasHappened(histories, name, because);
    const canBe =
      now === status || later[kind] === undefined || later[kind][status]?.includes(now) || isTakenBack;
    if (!canBe) return [[about, `a response had the status ${status}, and it is ${now}`]];
  }
  if (isCancelled && !unwanted.includes(row.status ?? ''))
    return [[about, `a response said that it is cancelled, and it is ${row.status}`]];
  if (fact === undefined) return [];
  return hasHappened(histories, name, fact)
    ? []
    : [[about, `a response assured ${fact}, and its log does not have it`]];
}

/** To that object, or to that part of it. */
function hasHappened(histories: Seen['histories'], name: string, fact: string): boolean {
  const [aggregate = '', part, refund] = name.split('.');
  const facts = histories.get(aggregate)?.facts ?? [];
  return facts.some((one) => {
    const isOfPart = part === undefined || one['paymentId'] === part || one['bindingId'] === part;
    return one.type === fact && isOfPart && (refund === undefined || one['refundId'] === refund);
  });
}

function rowsOf({ books }: Seen): Map<string, Row> {
  const rows = new Map<string, Row>();
  for (const one of books.invoices) rows.set(`invoice ${one.invoice_id}`, one);
  for (const { status, ...one } of books.payments)
    rows.set(`payment ${one.invoice_id}.${one.payment_id}`, { status });
  for (const one of books.refunds)
    rows.set(`refund ${one.invoice_id}.${one.payment_id}.${one.refund_id}`, one);
  for (const one of books.customers) rows.set(`customer ${one.customer_id}`, {});
  for (const { status, ...one } of books.bindings)
    rows.set(`binding ${one.customer_id}.${one.binding_id}`, { status });
  for (const one of books.withdrawals) rows.set(`withdrawal ${one.withdrawal_id}`, one);
  for (const one of books.destinations) rows.set(`destination ${one.destination_id}`, one);
  for (const one of books.others) rows.set(`${one.kind} ${one.id}`, {});
  for (const one of books.deposits) rows.set(`deposit ${one.deposit_id}`, { amount_minor: one.amount_minor });
  for (const one of books.transfers) rows.set(`transfer ${one.transfer_id}`, one);
  return rows;
}
