// Writes what has happened to a subscription, and what follows from it outside its rows: the invoices of its periods.
import { latest, laterBy, type Instant } from '../clock.ts';
import { productOf } from '../invoices/domain/invoice.ts';
import { createInvoice, rescindInvoice } from '../invoices/port.ts';
import type { Merchants } from '../merchants/merchants.ts';
import type { Database } from '../platform/database/database.ts';
import {
  evolveAll,
  nextAction,
  type Period,
  type Subscription,
  type SubscriptionFact,
} from './domain/subscription.ts';
import { storeFacts, type StoredSubscription } from './store/subscriptions.ts';

/** Longer than a retry schedule, so that a payer can still pay what is unpaid. */
const invoiceLifeMs = 400 * 24 * 3_600_000;
/** The end of a payment wakes the subscription. If a crash prevents that, it looks after this time. */
const looksMs = { charging: 3_600_000, unpaid: 7 * 24 * 3_600_000 };

export function wakeTimeOf(subscription: Subscription, now: Instant): Instant | undefined {
  const next = nextAction(subscription)?.at;
  const [oldest] = subscription.open;
  if (!oldest) return next;
  const look = laterBy(now, oldest.charging === undefined ? looksMs.unpaid : looksMs.charging);
  return next === undefined || (oldest.charging !== undefined && look < next) ? look : next;
}

type Written = StoredSubscription & {
  /** The payer's own payment may take, or has taken, the money of a period that these facts close. */
  readonly isPaying?: true;
};

/** Within a transaction. Undefined on a version conflict: the caller starts again. */
export async function writeFacts(
  tx: Database,
  before: StoredSubscription,
  facts: readonly SubscriptionFact[],
  at: Instant,
  merchants: Merchants,
): Promise<Written | undefined> {
  if (facts.length === 0) return before;
  const now = latest(at, before.changedAt);
  const after = evolveAll(before.subscription, facts, now);
  const written = await storeFacts(tx, before, facts, { after, wakeAt: wakeTimeOf(after, now), now });
  if (!written) return undefined;
  let isPaying = false;
  const periods = [...before.subscription.open, ...before.subscription.missed];
  for (const fact of facts) {
    if (fact.type === 'period_created') {
      periods.push(fact.period);
      const { outcome, invoiceId } = fact.period;
      if (outcome === 'open' && invoiceId !== undefined)
        await invoicePeriod(tx, after, { ...fact.period, invoiceId }, now, merchants);
    }
    if (fact.type === 'period_closed') {
      const invoiceId = periods.find(({ number }) => number === fact.number)?.invoiceId;
      const { partyId } = after.terms;
      if (invoiceId !== undefined && !(await rescindInvoice(tx, { partyId, invoiceId }, fact.outcome, now)))
        isPaying = true;
    }
  }
  return isPaying ? { ...written, isPaying } : written;
}

/** Its lines, unless credit has paid a part of them. */
async function invoicePeriod(
  tx: Database,
  { terms }: Subscription,
  { invoiceId: id, lines, amountMinor, creditMinor }: Period & { readonly invoiceId: string },
  now: Instant,
  merchants: Merchants,
): Promise<void> {
  const product = productOf(lines);
  const dueDate = laterBy(now, invoiceLifeMs);
  const cart = creditMinor === 0n ? { cart: lines } : {};
  const of = { subscriptionId: terms.id, currency: terms.currency };
  const invoice = { id, product, dueDate, amountMinor, ...of, ...cart };
  await createInvoice(tx, terms, invoice, now, merchants);
}
