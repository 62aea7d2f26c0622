// Charges that are undone although they do not decide their payment, in SQL. A row stays until the bank has undone its charge; the events
// are in the invoice's log.
import { exchangeParameters, recordExchanges } from '../../acquiring/exchange-log/store/exchange-rows.ts';
import type { BankResponse } from '../../acquiring/domain/bank-port.ts';
import type { Instant } from '../../clock.ts';
import { defined } from '../../defined.ts';
import { oneOf } from '../../platform/database/codec.ts';
import type { Database } from '../../platform/database/database.ts';
import { statement, stored } from '../../platform/database/statement.ts';
import { appendEvent, changedAt, changedWith } from '../../platform/events/log.ts';
import {
  journalParameters,
  journalValues,
  recording,
  recordJournal,
} from '../../platform/ledger/store/journals.ts';
import type { Money } from '../../money.ts';
import { exchangesOfUndo } from '../domain/exchanges/exchanges.ts';
import { undoNames, type Payment, type UndoFact, type UndoName } from '../domain/payment.ts';
import { journalOfUndo } from '../domain/payment-postings.ts';
import { invoiceLogFact } from './codec.ts';

export type ChargeUndo = {
  readonly operation: UndoName;
  /** Without one a hold is released. */
  readonly amount?: Money;
  /** The bank has declined it for good. */
  readonly isRefused: boolean;
};

/** Its jobs wait for this bank. */
export const bankOfUndo = `(select terms -> 'terminal' ->> 'bankId' from payment
          where payment.invoice_id = charge_undo.invoice_id and payment.payment_id = charge_undo.payment_id)`;

const key = {
  invoice_id: 'text',
  payment_id: 'text',
  operation: stored('text', oneOf(...undoNames)),
} as const;
const isTheRow = 'invoice_id = :invoice_id and payment_id = :payment_id and operation = :operation';

/** `change` returns the invoice's ID if the row was as expected. Without it nothing is written. */
function textOf(change: string): string {
  return `
    with moved as (
      ${change}
    ), changed as (
      update invoice set version = invoice.version + 1, ${changedAt('invoice')}
      from moved where invoice.invoice_id = moved.invoice_id
      returning invoice.invoice_id, invoice.party_id, invoice.version, invoice.changed_at
    ), logged as (
      ${appendEvent('invoice', 'invoice_id')}
    ), exchanged as (
      ${recordExchanges('changed')}
    )
    select version, ${recordJournal('invoice_id')} as journal from changed`;
}

const parameters = {
  ...key,
  ...changedWith(invoiceLogFact),
  ...exchangeParameters,
  ...journalParameters,
} as const;
const row = { version: 'int4', journal: 'text?' } as const;

const startUndo = statement({
  name: 'start_charge_undo',
  parameters: { ...parameters, party_id: 'text', amount_minor: 'int8?' },
  row,
  text: textOf(`insert into charge_undo (invoice_id, payment_id, operation, party_id, amount_minor, wake_at)
      select :invoice_id, :payment_id, :operation, :party_id, :amount_minor, :happened_at
      -- One that has begun and ended since the log was read is not begun again.
      where not exists (select from exchange where aggregate_id = :invoice_id and operation = :payment_id || '.' || :operation)
      on conflict do nothing returning invoice_id`),
});

const endUndo = statement({
  name: 'end_charge_undo',
  parameters,
  row,
  text: textOf(`delete from charge_undo where ${isTheRow} returning invoice_id`),
});

/** By an operator. A retry that has begun meanwhile sends it, and its own answer ends it. */
const settleUndo = statement({
  name: 'settle_charge_undo',
  parameters,
  row,
  text: textOf(`delete from charge_undo where ${isTheRow} and stuck_at is not null returning invoice_id`),
});

const refuseUndo = statement({
  name: 'refuse_charge_undo',
  parameters: { ...parameters, reason: 'text' },
  row,
  text: textOf(`update charge_undo set is_refused = true, wake_at = null, stuck_at = :happened_at, stuck_reason = :reason
      where ${isTheRow} and not is_refused returning invoice_id`),
});

const findUndo = statement({
  name: 'find_charge_undo',
  parameters: key,
  row: { amount_minor: 'int8?', is_refused: 'bool', stuck_at: 'timestamptz?' },
  text: `select amount_minor, is_refused, stuck_at from charge_undo where ${isTheRow}`,
});

const postponeUndo = statement({
  name: 'reschedule_charge_undo',
  parameters: { ...key, wake_at: 'timestamptz' },
  row: {},
  text: `update charge_undo set wake_at = :wake_at, stuck_reason = null, attempts = least(attempts, 2)
         where ${isTheRow} and stuck_at is null`,
});

const keyOf = ({ invoiceId, id }: Payment, operation: UndoName) => ({
  invoice_id: invoiceId,
  payment_id: id,
  operation,
});

/** Undefined once the charge is undone. */
export async function findChargeUndo(
  db: Database,
  payment: Payment,
  operation: UndoName,
): Promise<(ChargeUndo & { readonly isStuck: boolean }) | undefined> {
  const [found] = await db.run(findUndo, keyOf(payment, operation));
  if (!found) return undefined;
  const { amount_minor: minor, is_refused: isRefused, stuck_at } = found;
  const amount = minor === null ? undefined : { minor, currency: payment.amount.currency };
  return { operation, isRefused, isStuck: stuck_at !== null, ...defined({ amount }) };
}

/** One that waits for an operator. */
export async function findStuckUndo(db: Database, payment: Payment): Promise<ChargeUndo | undefined> {
  for (const name of undoNames) {
    const undo = await findChargeUndo(db, payment, name);
    if (undo?.isStuck) return undo;
  }
  return undefined;
}

/** In the transaction that records the late approval. The event and the row of its exchange are written once. */
export async function storeUndoStart(
  db: Database,
  payment: Payment,
  fact: UndoFact & { type: 'payment_undo_started' },
  now: Instant,
): Promise<void> {
  await db.run(startUndo, {
    ...valuesOf(payment, fact, fact, now),
    party_id: payment.partyId,
    amount_minor: fact.amount?.minor ?? null,
  });
}

/** False if another writer was first. An operator ends only one that is stuck. */
export async function storeUndoEnd(
  db: Database,
  payment: Payment,
  undo: ChargeUndo,
  fact: UndoFact & { type: 'payment_undone' },
  now: Instant,
  answer?: BankResponse,
): Promise<boolean> {
  const values = valuesOf(payment, undo, fact, now, answer);
  const end = fact.settledBecause === undefined ? endUndo : settleUndo;
  const rows = await recording(db, journalOfUndo(payment, fact), () => db.run(end, values));
  return rows.length > 0;
}

/** The job is stuck at once: the bank gives one answer per ID. */
export async function storeUndoRefusal(
  db: Database,
  payment: Payment,
  undo: ChargeUndo,
  fact: UndoFact & { type: 'payment_undo_refused' },
  now: Instant,
  answer: BankResponse,
): Promise<void> {
  const reason = `the bank declined with code ${fact.code}`;
  await db.run(refuseUndo, { ...valuesOf(payment, undo, fact, now, answer), reason });
}

export async function rescheduleUndo(
  db: Database,
  payment: Payment,
  { operation }: ChargeUndo,
  wakeAt: Instant,
): Promise<void> {
  await db.run(postponeUndo, { ...keyOf(payment, operation), wake_at: wakeAt });
}

function valuesOf(
  payment: Payment,
  undo: Pick<ChargeUndo, 'operation' | 'amount'>,
  fact: UndoFact,
  now: Instant,
  answer?: BankResponse,
) {
  return {
    ...keyOf(payment, undo.operation),
    facts: [{ ...fact, paymentId: payment.id }],
    happened_at: now,
    exchanges: exchangesOfUndo(payment, undo, fact, now, answer),
    ...journalValues(journalOfUndo(payment, fact)),
  };
}
