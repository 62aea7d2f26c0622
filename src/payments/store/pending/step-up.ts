// Begins the second authorisation of a payment, in SQL: the row is claimed for it as if it were new.
import type { BankResponse } from '../../../acquiring/domain/bank-port.ts';
import { exchangeParameters } from '../../../acquiring/exchange-log/store/exchange-rows.ts';
import type { Instant } from '../../../clock.ts';
import type { Database } from '../../../platform/database/database.ts';
import { guardedWrite } from '../../../platform/database/guarded-write.ts';
import { statement } from '../../../platform/database/statement.ts';
import { initialClaim } from '../../../platform/jobs/job-runner.ts';
import { changedWith } from '../../../platform/events/log.ts';
import { exchangesOfChange } from '../../domain/exchanges/exchanges.ts';
import { evolve, type PaymentFact } from '../../domain/payment.ts';
import { invoiceLogFact } from '../codec.ts';
import { paymentColumns, rowOf, type StoredPayment } from '../rows.ts';

const stepUp = statement({
  name: 'step_up_payment',
  parameters: {
    ...changedWith(invoiceLogFact),
    invoice_id: 'text',
    payment_id: 'text',
    version: 'int4',
    terms: paymentColumns.terms,
    wake_at: 'timestamptz',
    attempts: 'int4',
    ...exchangeParameters,
  },
  row: { version: 'int4', exchanges: 'int4' },
  text: `
    with moved as (
      update payment
      set version = version + 1, terms = :terms, wake_at = :wake_at, attempts = :attempts, stuck_at = null, stuck_reason = null
      where invoice_id = :invoice_id and payment_id = :payment_id and version = :version and status = 'authorising'
      returning invoice_id
    ), changed as (
      update invoice set version = invoice.version + 1, changed_at = greatest(invoice.changed_at, :happened_at)
      from moved where invoice.invoice_id = moved.invoice_id
      returning invoice.invoice_id, party_id, invoice.version, invoice.changed_at
    )
    select append_event('invoice', invoice_id, version, party_id, changed_at, :facts) as version,
      record_exchanges(:exchanges) as exchanges
    from changed`,
});

/** Undefined after a version conflict; then `alsoWrite` has written nothing either. */
export async function storeStepUp(
  db: Database,
  { payment, version }: StoredPayment,
  fact: PaymentFact & { type: 'payment_stepped_up' },
  now: Instant,
  alsoWrite: ((tx: Database) => Promise<void>) | undefined,
  answer: BankResponse | undefined,
): Promise<StoredPayment | undefined> {
  const after = evolve(payment, fact);
  const values = {
    invoice_id: payment.invoiceId,
    payment_id: payment.id,
    version,
    terms: rowOf(after, version).terms,
    ...initialClaim(now),
    facts: [{ ...fact, paymentId: payment.id }],
    happened_at: now,
    exchanges: exchangesOfChange(payment, after, [fact], now, answer),
  };
  const rows = await guardedWrite(db, (on) => on.run(stepUp, values), alsoWrite);
  return rows.length > 0 ? { payment: after, version: version + 1 } : undefined;
}
