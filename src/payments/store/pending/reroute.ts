// Reroutes a payment to another terminal, in SQL.
import { rerouteParameters, rerouteValues } from '../../../acquiring/authorisation/store/reroute.ts';
import type { Instant } from '../../../clock.ts';
import type { Database } from '../../../platform/database/database.ts';
import { statement } from '../../../platform/database/statement.ts';
import { changedWith } from '../../../platform/events/log.ts';
import { invoiceLogFact } from '../codec.ts';
import type { StoredPayment } from '../rows.ts';
import { exchangesOfReroute } from '../../domain/exchanges/exchanges.ts';
import { evolve, type PaymentFact } from '../../domain/payment.ts';

const reroutePayment = statement({
  name: 'reroute_payment',
  parameters: {
    ...changedWith(invoiceLogFact),
    invoice_id: 'text',
    payment_id: 'text',
    ...rerouteParameters,
  },
  row: { version: 'int4', exchanges: 'int4' },
  text: `
    with moved as (
      update payment
      set version = version + 1, wake_at = :wake_at, terms = (
          select json_object_agg(key, case key when 'terminal' then :terminal else value end order by place)
          from json_each(terms) with ordinality as term (key, value, place)
        )
      where invoice_id = :invoice_id and payment_id = :payment_id and version = :version
        and attempts = 1 and status = 'authorising'
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
    facts: [{ ...fact, paymentId: payment.id }],
    happened_at: now,
    ...rerouteValues(fact.terminal, now, exchangesOfReroute(rerouted, now)),
  });
  return rows.length > 0 ? { payment: rerouted, version: version + 1 } : undefined;
}
