// Reroutes a payment to another terminal, in SQL. Only its first attempt may do so: another attempt may have sent the
// charge.
import { exchangeParameters, recordExchanges } from '../../../acquiring/exchange-log/store/exchange-rows.ts';
import type { Instant } from '../../../clock.ts';
import type { Database } from '../../../platform/database/database.ts';
import { statement, stored } from '../../../platform/database/statement.ts';
import { initialClaim } from '../../../platform/jobs/job-runner.ts';
import { appendEvent, changedAt, changedWith } from '../../../platform/events/log.ts';
import { terminal } from '../../../acquiring/store/codec.ts';
import { invoiceLogFact } from '../codec.ts';
import type { StoredPayment } from '../rows.ts';
import { isFirstAttempt, reroutedTerms } from '../../../acquiring/domain/routing/reroute.ts';
import { exchangesOfReroute } from '../../domain/exchanges/exchanges.ts';
import { evolve, type PaymentFact } from '../../domain/payment.ts';

const reroutePayment = statement({
  name: 'reroute_payment',
  parameters: {
    ...changedWith(invoiceLogFact),
    invoice_id: 'text',
    payment_id: 'text',
    version: 'int4',
    terminal: stored('json', terminal),
    wake_at: 'timestamptz',
    ...exchangeParameters,
  },
  row: { version: 'int4' },
  // The claim stays: at the next terminal too, a later attempt must query first.
  text: `
    with moved as (
      update payment
      set version = version + 1, wake_at = :wake_at,
          terms = ${reroutedTerms}
      where invoice_id = :invoice_id and payment_id = :payment_id and version = :version and ${isFirstAttempt}
      returning invoice_id
    ), changed as (
      update invoice set version = invoice.version + 1, ${changedAt('invoice')}
      from moved where invoice.invoice_id = moved.invoice_id
      returning invoice.invoice_id, party_id, invoice.version, invoice.changed_at
    ), logged as (
      ${appendEvent('invoice', 'invoice_id')}
    ), exchanged as (
      ${recordExchanges('changed')}
    )
    select version from changed`,
});

/** Undefined if another node has claimed the payment. */
export async function storeReroute(
  db: Database,
  { payment, version }: StoredPayment,
  fact: PaymentFact & { type: 'payment_rerouted' },
  now: Instant,
): Promise<StoredPayment | undefined> {
  const rerouted = evolve(payment, fact);
  const rows = await db.run(reroutePayment, {
    invoice_id: payment.invoiceId,
    payment_id: payment.id,
    version,
    terminal: fact.terminal,
    wake_at: initialClaim(now).wake_at,
    facts: [{ ...fact, paymentId: payment.id }],
    happened_at: now,
    exchanges: exchangesOfReroute(rerouted, now),
  });
  return rows.length > 0 ? { payment: rerouted, version: version + 1 } : undefined;
}
