// The readers of timelines: each reads the rows of a module by their keys. For a payment they are at most eleven statements, and one
// more for each further thousand events. What is read of merchants and terminals is kept for a second.
import { exchangesOf } from '../../acquiring/exchange-log/store/exchange-rows.ts';
import type { Banks } from '../../acquiring/banks.ts';
import { loadInvoice } from '../../invoices/store/invoices.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import { readPaymentFacts } from '../../payments/store/invoice-log.ts';
import { findPayment } from '../../payments/store/payments.ts';
import { positionOf } from '../../platform/events/domain/topic.ts';
import { transfersOf } from '../../platform/ledger/store/transfers.ts';
import { findPayerEmail } from '../../receipts/store/payer-emails.ts';
import { seriesIdOf } from '../../recurring/domain/series.ts';
import type { Charging } from '../../recurring/port.ts';
import { findChargeOfSeries } from '../../recurring/store/attempts.ts';
import { unlessPaused } from '../../retry-rules/domain/may-charge.ts';
import type { TimelineSources } from '../../timeline/port.ts';
import { deliveriesOf } from '../../webhooks/inspection/deliveries.store.ts';

type Deps = { readonly charging: Charging; readonly banks: Banks; readonly merchants: Merchants };

export function timelineSources({ charging, banks, merchants }: Deps): TimelineSources {
  return {
    payment: findPayment,
    invoice: loadInvoice,
    facts: readPaymentFacts,
    async exchanges(db, aggregateId, prefix) {
      const all = await exchangesOf(db, aggregateId);
      return all.filter(({ operationId }) => operationId.startsWith(prefix));
    },
    async charge(db, payment, invoiceCreatedAt, now) {
      const { payer, makeRecurrent, amount, state, invoiceId, id: paymentId } = payment;
      const name = { invoiceId, paymentId };
      const seriesId = 'seriesId' in payer ? payer.seriesId : makeRecurrent ? seriesIdOf(name) : undefined;
      if (seriesId === undefined) return undefined;
      // After a failure the same invoice can be charged again; otherwise the next charge has an invoice of its own.
      const charge =
        state.name === 'failed' ? { invoiceId, invoiceCreatedAt } : ({ invoiceCreatedAt: 'then' } as const);
      const found = await charging.preview(db, seriesId, { ...charge, amount }, now);
      if (!found) return undefined;
      const decided = await findChargeOfSeries(db, seriesId, name);
      const verdict = unlessPaused(found.verdict, await banks.pausedUntil(payment, now));
      return { seriesId, decided, found: { ...found, verdict } };
    },
    transfers: transfersOf,
    email: findPayerEmail,
    async deliveries(db, aggregateId, events) {
      const from = positionOf({ sequence: events[0]?.sequence ?? 0, index: 0 });
      const to = positionOf({ sequence: (events.at(-1)?.sequence ?? 0) + 1, index: 0 }) - 1;
      return deliveriesOf(db, aggregateId, { from, to });
    },
    async refusal(shop) {
      const trading = await merchants.trading(shop);
      return trading.ok ? undefined : trading.refusal.code;
    },
  };
}
