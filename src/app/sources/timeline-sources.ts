// The readers of a timeline: each reads the rows of a module by their keys. Together they are at most eleven statements, and one more
// for each further thousand events.
import { exchangesOf } from '../../acquiring/exchange-log/store/exchange-rows.ts';
import type { Banks } from '../../acquiring/banks.ts';
import { epochMsOf, laterBy, type Clock } from '../../clock.ts';
import { loadInvoice } from '../../invoices/store/invoices.ts';
import { readPaymentFacts } from '../../payments/store/invoice-log.ts';
import { findPayment } from '../../payments/store/payments.ts';
import { transfersOf } from '../../platform/ledger/store/transfers.ts';
import { findPayerEmail } from '../../receipts/store/payer-emails.ts';
import { seriesIdOf } from '../../recurring/domain/series.ts';
import type { Charging } from '../../recurring/port.ts';
import { findChargeOfSeries } from '../../recurring/store/attempts.ts';
import { unlessPaused } from '../../retry-rules/domain/may-charge.ts';
import type { TimelineSources } from '../../timeline/port.ts';
import { deliveriesOf } from '../../webhooks/inspection/deliveries.store.ts';

export function timelineSources({
  clock,
  charging,
  banks,
}: {
  readonly clock: Clock;
  readonly charging: Charging;
  readonly banks: Banks;
}): TimelineSources {
  return {
    payment: findPayment,
    invoice: loadInvoice,
    facts: readPaymentFacts,
    async exchanges(db, { invoiceId, id }) {
      const ofInvoice = await exchangesOf(db, invoiceId);
      return ofInvoice.filter(({ operationId }) => operationId.startsWith(`${invoiceId}.${id}.`));
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
      const decision = unlessPaused(found.decision, await banks.pausedUntil(payment, now));
      return { seriesId, decided, found: { ...found, decision } };
    },
    transfers: (db, { invoiceId, id }) => transfersOf(db, invoiceId, `payment/${id}`),
    email: findPayerEmail,
    deliveries(db, invoiceId, events, now) {
      // Deliveries have the time of the service, which the test clock of a party may be ahead of.
      const aheadMs = Math.max(0, epochMsOf(now) - epochMsOf(clock.now()));
      return deliveriesOf(
        db,
        invoiceId,
        events.map(({ at }) => laterBy(at, -aheadMs)),
      );
    },
  };
}
