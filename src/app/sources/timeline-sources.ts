// The readers of timelines: each reads the rows of a module by their keys. For a payment they are at most eleven statements, and one
// more for each further thousand events.
import { exchangesOf, findExchanges } from '../../acquiring/exchange-log/store/exchange-rows.ts';
import type { Banks } from '../../acquiring/banks.ts';
import { seriesOf } from '../../customers/card-consents.ts';
import { activeBindingOf } from '../../customers/domain/customer.ts';
import { findBinding, findBindings, type StoredBinding } from '../../customers/store/bindings.ts';
import { readBindingFacts } from '../../customers/store/customer-log.ts';
import { loadInvoice } from '../../invoices/store/invoices.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import { operationIdOf } from '../../payments/domain/payment.ts';
import { readPaymentFacts } from '../../payments/store/invoice-log.ts';
import { findPayment } from '../../payments/store/payments.ts';
import { findWaitOfWithdrawal, readWithdrawalFacts } from '../../payouts/store/payout-logs.ts';
import { findWithdrawal } from '../../payouts/store/withdrawals.ts';
import { maxEvents } from '../../platform/events/log.ts';
import { positionOf } from '../../platform/events/domain/topic.ts';
import { transfersOf } from '../../platform/ledger/store/transfers.ts';
import { findPayerEmail, findPayerEmails } from '../../emails/store/payer-emails.ts';
import { emailKeyOf } from '../../receipts/domain/receipt-email.ts';
import { seriesIdOf } from '../../recurring/domain/series.ts';
import type { Charging, Consents } from '../../recurring/port.ts';
import { findChargeOfSeries } from '../../recurring/store/attempts.ts';
import { accept, refuse } from '../../refusal.ts';
import { unlessPaused } from '../../retry-rules/domain/may-charge.ts';
import type { TimelineSources } from '../../timeline/port.ts';
import { deliveriesOf } from '../../webhooks/inspection/deliveries.store.ts';

type Deps = {
  readonly charging: Charging;
  readonly consents: Consents;
  readonly banks: Banks;
  readonly merchants: Merchants;
};

export function timelineSources(deps: Deps): TimelineSources {
  return {
    ...commonSources(deps),
    ...paymentSources(deps),
    ...seriesSources(deps),
    async withdrawal(db, partyId, withdrawalId) {
      return (await findWithdrawal(db, partyId, withdrawalId))?.withdrawal;
    },
    withdrawalFacts: readWithdrawalFacts,
    waitOfWithdrawal: findWaitOfWithdrawal,
    async binding(db, name) {
      const found = await findBinding(db, name);
      if (!found) return refuse('customerNotFound');
      return found.stored ? accept(found.stored) : refuse('bindingNotFound');
    },
    bindingFacts: readBindingFacts,
  };
}

function paymentSources({ charging, banks }: Deps) {
  return {
    payment: findPayment,
    invoice: loadInvoice,
    facts: readPaymentFacts,
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
    email: (db, name) => findPayerEmail(db, emailKeyOf(name)),
  } satisfies Partial<TimelineSources>;
}

function commonSources({ merchants }: Deps) {
  return {
    async exchanges(db, aggregateId, prefix) {
      const all = await exchangesOf(db, aggregateId);
      return all.filter(({ operationId }) => operationId.startsWith(prefix));
    },
    transfers: transfersOf,
    async deliveries(db, aggregateId, events) {
      const from = positionOf({ sequence: events[0]?.sequence ?? 0, index: 0 });
      const to = positionOf({ sequence: (events.at(-1)?.sequence ?? 0) + 1, index: 0 }) - 1;
      return deliveriesOf(db, aggregateId, { from, to });
    },
    async refusal(shop) {
      const trading = await merchants.trading(shop);
      return trading.ok ? undefined : trading.refusal.code;
    },
  } satisfies Partial<TimelineSources>;
}

function seriesSources({ charging, consents, banks }: Deps) {
  return {
    async seriesOfPayment(db, { partyId, invoiceId, paymentId }) {
      const found = await findPayment(db, { partyId, invoiceId, paymentId });
      if (!found.ok) return found;
      const { payer, makeRecurrent } = found.value.payment;
      if ('seriesId' in payer) return accept(payer.seriesId);
      return makeRecurrent ? accept(seriesIdOf({ invoiceId, paymentId })) : refuse('recurringNotFound');
    },
    async seriesOfCustomer(db, name) {
      const bindings = await findBindings(db, name, { after: 0, limit: 2_147_483_647 });
      if (!bindings) return refuse('customerNotFound');
      const saved = bindings.filter(({ binding }) => ['succeeded', 'withdrawn'].includes(binding.state.name));
      const isActive = ({ binding, customer }: StoredBinding) => binding.id === activeBindingOf(customer);
      const bound = saved.find(isActive) ?? saved.at(-1);
      return bound ? accept(await seriesOf(db, consents, bound)) : refuse('recurringNotFound');
    },
    async series(db, seriesId, now) {
      const found = await charging.preview(db, seriesId, { invoiceCreatedAt: 'then' }, now);
      if (!found) return undefined;
      const decision = unlessPaused(found.decision, await banks.pausedUntil(found.series, now));
      const after = Math.max(0, found.stored.version - maxEvents);
      const events = await consents.events(db, seriesId, after, maxEvents);
      const facts = events.flatMap(({ createdAt: at, sequence, facts: written }) =>
        written.map((fact) => ({ at, sequence, fact })),
      );
      return { found: { ...found, decision }, facts, isMore: after > 0 };
    },
    async charges(db, payments) {
      const ids = payments.map(({ invoiceId, paymentId: id }) =>
        operationIdOf({ invoiceId, id }, 'authorise'),
      );
      return {
        exchanges: await findExchanges(db, ids),
        emails: await findPayerEmails(db, payments.map(emailKeyOf)),
      };
    },
  } satisfies Partial<TimelineSources>;
}
