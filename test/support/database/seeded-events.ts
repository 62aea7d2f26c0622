// Event logs of invoices that were not created over the API: many events quickly, each in its own transaction, as the modules write them.
import { instantAt, type Instant } from '../../../src/clock.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { statement } from '../../../src/platform/database/statement.ts';
import { written } from '../../../src/platform/database/codec.ts';
import { randomIds } from '../../../src/ids.ts';
import type { Currency } from '../../../src/money.ts';
import { invoiceLogFact, type InvoiceLogFact } from '../../../src/payments/store/codec.ts';
import type { PaymentTerms } from '../../../src/payments/domain/payment.ts';

const appendToldEvent = statement({
  name: 'test_append_told_event',
  parameters: {
    aggregate_id: 'text',
    sequence: 'int4',
    party_id: 'text',
    happened_at: 'timestamptz',
    facts: 'json',
  },
  row: {},
  text: `insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
         values (:aggregate_id, :sequence, 'invoice', :party_id, :happened_at, :facts)`,
});

const amount = { minor: 6_000n, currency: 'RUB' as Currency };

/** The events, as they are stored, of an invoice with many failed payments that was cancelled in the end. */
export function factsOfInvoice(
  name: { partyId: string; shopId: string; invoiceId: string },
  events: number,
  at: Instant,
): unknown[][] {
  const { partyId, shopId, invoiceId } = name;
  const terms = {
    id: invoiceId,
    partyId,
    shopId,
    createdAt: at,
    dueDate: at,
    amount,
    product: 'Order',
    metadata: {},
  };
  const payments = Array.from({ length: Math.floor((events - 2) / 2) }, (_, index): InvoiceLogFact[][] => {
    const id = String(index + 1);
    return [
      [{ type: 'payment_started', terms: paymentTerms(name, id, at), paymentId: id }],
      [{ type: 'payment_failed', failure: ['authorization_failed', 'insufficient_funds'], paymentId: id }],
    ];
  });
  const log: InvoiceLogFact[][] = [
    [{ type: 'invoice_created', terms }],
    ...payments.flat(),
    [{ type: 'invoice_cancelled', reason: 'overdue' }],
  ];
  return log.map((facts) => facts.map((fact) => written(invoiceLogFact, fact)));
}

function paymentTerms(
  { partyId, shopId, invoiceId }: { partyId: string; shopId: string; invoiceId: string },
  id: string,
  createdAt: Instant,
): PaymentTerms {
  return {
    invoiceId,
    id,
    partyId,
    shopId,
    createdAt,
    amount,
    flow: { type: 'instant' },
    payer: {
      type: 'resource',
      token: 'token',
      session: 'session',
      card: { bin: '424242', lastDigits: '4242', mask: '424242******4242', paymentSystem: 'visa' },
      clientInfo: { fingerprint: 'browser', ip: '203.0.113.7' },
      contactInfo: { email: 'payer@example.com' },
    },
    makeRecurrent: false,
    deadline: createdAt,
    terminal: { id: 'T1', bankId: 'BANK', merchantId: 'M', descriptor: 'SHOP' },
    livemode: false,
    fees: {},
  };
}

/** Several writers write them; returns the IDs. Events of one invoice come in order, mixed with those of others. */
export async function writeInvoices(
  db: Database,
  owner: { partyId: string; shopId: string },
  options: { invoices: number; eventsEach: number; writers: number; pauseMs?: number },
): Promise<string[]> {
  const ids = Array.from({ length: options.invoices }, () => randomIds.next());
  const shares = Array.from({ length: options.writers }, (_, writer) =>
    ids.filter((_id, index) => index % options.writers === writer),
  );
  await Promise.all(
    shares.map(async (share) => {
      const logs = share.map((invoiceId) =>
        factsOfInvoice({ ...owner, invoiceId }, options.eventsEach, instantAt(Date.now())),
      );
      for (let sequence = 1; sequence <= options.eventsEach; sequence++) {
        for (const [index, invoiceId] of share.entries()) {
          await db.run(appendToldEvent, {
            aggregate_id: invoiceId,
            sequence,
            party_id: owner.partyId,
            happened_at: instantAt(Date.now()),
            facts: logs[index]?.[sequence - 1] ?? [],
          });
        }
        if (options.pauseMs) await new Promise((resolve) => setTimeout(resolve, options.pauseMs));
      }
    }),
  );
  return ids;
}
