// Writes what has happened to a subscription, and what follows from it outside its rows: the invoices of its periods.
import { latest, laterBy, type Instant } from '../clock.ts';
import { defined } from '../defined.ts';
import { productOf } from '../invoices/domain/invoice.ts';
import { createInvoice, rescindInvoice } from '../invoices/port.ts';
import type { Merchants } from '../merchants/merchants.ts';
import { endObligation } from '../payments/port.ts';
import type { Database } from '../platform/database/database.ts';
import type { Charging } from '../recurring/port.ts';
import { dueOf } from './domain/changes/change.ts';
import { sumOf } from './domain/changes/proration.ts';
import { consentTermsOf } from './domain/first-payment.ts';
import {
  evolveAll,
  nextAction,
  type Change,
  type Period,
  type Subscription,
  type SubscriptionFact,
} from './domain/subscription.ts';
import { wakeTimeOf } from './domain/wake-time.ts';
import type { PayerEmails } from './payer-emails.ts';
import { storeFacts, type StoredSubscription } from './store/subscriptions.ts';
import { releaseUniqueKey } from './store/unique-keys.ts';

/** Longer than a retry schedule, so that a payer can still pay what is unpaid. */
const invoiceLifeMs = 400 * 24 * 3_600_000;

type Written = StoredSubscription & {
  /** The payer's own payment may take, or has taken, the money of a period that these facts close. */
  readonly isPaying?: true;
};

export type WriteDeps = {
  readonly merchants: Merchants;
  readonly charging: Pick<Charging, 'obligationEnded'>;
  readonly payerEmails: Pick<PayerEmails, 'write'>;
};

/** Within a transaction. Undefined on a version conflict: the caller starts again. */
export async function writeFacts(
  tx: Database,
  before: StoredSubscription,
  facts: readonly SubscriptionFact[],
  at: Instant,
  { merchants, charging, payerEmails }: WriteDeps,
): Promise<Written | undefined> {
  if (facts.length === 0) return before;
  const now = latest(at, before.changedAt);
  const after = evolveAll(before.subscription, facts, now);
  const written = await storeFacts(tx, before, facts, { after, wakeAt: wakeTimeOf(after, now), now });
  if (!written) return undefined;
  if (after.phase === 'ended' && before.subscription.phase !== 'ended')
    await releaseUniqueKey(tx, after.terms);
  await payerEmails.write(tx, before, facts, now);
  // A payment locks the series of its card first, and then its invoice.
  for (const invoiceId of endedObligations(before.subscription, facts))
    await endObligation(tx, { partyId: after.terms.partyId, invoiceId }, charging, now);
  let isPaying = await isStarting(tx, before.subscription, after, now);
  const { change, open, missed } = before.subscription;
  const periods = [...open, ...missed];
  for (const fact of facts) {
    if (fact.type === 'change_started') await invoiceChange(tx, after, fact.change, now, merchants);
    if (fact.type === 'change_dropped' && change?.invoiceId !== undefined) {
      const invoice = { partyId: after.terms.partyId, invoiceId: change.invoiceId };
      if (!(await rescindInvoice(tx, invoice, 'change dropped', now))) isPaying = true;
    }
    if (fact.type === 'period_created') {
      periods.push(fact.period);
      const { outcome, invoiceId } = fact.period;
      if (outcome === 'open' && invoiceId !== undefined)
        await invoicePeriod(tx, after, { ...fact.period, invoiceId }, now, merchants);
    }
    const concerned = 'number' in fact ? periods.find(({ number }) => number === fact.number) : undefined;
    if (fact.type === 'missed_period_charged' && concerned)
      await invoicePeriod(tx, after, { ...concerned, invoiceId: fact.invoiceId }, now, merchants);
    const reason = reasonToRescind(fact);
    // The invoice of a missed one was paid, and the bank has taken that back.
    if (reason !== undefined && concerned?.invoiceId !== undefined && concerned.outcome !== 'missed') {
      const invoice = { partyId: after.terms.partyId, invoiceId: concerned.invoiceId };
      if (!(await rescindInvoice(tx, invoice, reason, now))) isPaying = true;
    }
  }
  return isPaying ? { ...written, isPaying } : written;
}

/** The payer can no longer start it with a payment, unless they pay just now. */
async function isStarting(
  tx: Database,
  before: Subscription,
  { terms: { partyId, firstInvoice }, phase }: Subscription,
  now: Instant,
): Promise<boolean> {
  if (!firstInvoice || before.phase !== 'incomplete' || phase !== 'ended') return false;
  const invoice = { partyId, invoiceId: firstInvoice.id };
  return !(await rescindInvoice(tx, invoice, 'subscription ended', now));
}

/** Why the invoice of a period is to be paid no more. */
function reasonToRescind(fact: SubscriptionFact): string | undefined {
  if (fact.type === 'period_closed') return fact.outcome;
  return fact.type === 'period_paid' && fact.by === 'elsewhere' ? 'paid elsewhere' : undefined;
}

/** The invoices that no charge is to collect any more. A failed charge of one would otherwise count for the next period. */
function endedObligations({ open, change }: Subscription, facts: readonly SubscriptionFact[]): string[] {
  const failed = new Set(facts.flatMap((fact) => (fact.type === 'charge_failed' ? [fact.number] : [])));
  const hasChangeFailed =
    change?.failedFor !== undefined || facts.some(({ type }) => type === 'change_charge_failed');
  return facts.flatMap((fact) => {
    if (fact.type === 'change_dropped' || fact.type === 'items_changed')
      return hasChangeFailed && change?.invoiceId !== undefined ? [change.invoiceId] : [];
    if (fact.type !== 'period_closed' && fact.type !== 'period_paid' && fact.type !== 'subscription_unpaid')
      return [];
    const period = open.find(({ number }) => number === fact.number);
    const hasFailed = period?.declineClass !== undefined || failed.has(fact.number);
    return hasFailed && period?.invoiceId !== undefined ? [period.invoiceId] : [];
  });
}

/** The invoice with which the payer starts it. It is due when the wait for it is over. */
export async function invoiceFirst(
  tx: Database,
  subscription: Subscription,
  now: Instant,
  merchants: Merchants,
): Promise<void> {
  const { terms, items } = subscription;
  const dueDate = nextAction(subscription)?.at;
  if (!terms.firstInvoice || dueDate === undefined) return;
  const recurring = consentTermsOf(terms, { items }, now);
  const of = { subscriptionId: terms.id, currency: terms.currency, recurring };
  const invoice = { ...terms.firstInvoice, product: productOf(items), dueDate, ...of };
  await createInvoice(tx, terms, invoice, now, merchants);
}

/** Its lines, unless it costs another amount: credit has paid a part of them, or the first payment was one of its own. */
async function invoicePeriod(
  tx: Database,
  { terms, items, scheduledItems = items }: Subscription,
  { invoiceId: id, lines, amountMinor }: Period & { readonly invoiceId: string },
  now: Instant,
  merchants: Merchants,
): Promise<void> {
  const product = productOf(lines.length > 0 ? lines : items);
  const dueDate = laterBy(now, invoiceLifeMs);
  const cart = sumOf(lines) === amountMinor ? { cart: lines } : {};
  const asked = { items: scheduledItems, atLeastMinor: amountMinor };
  const recurring = terms.firstInvoice ? consentTermsOf(terms, asked, now) : undefined;
  const of = { subscriptionId: terms.id, currency: terms.currency, ...defined({ recurring }) };
  const invoice = { id, product, dueDate, amountMinor, ...of, ...cart };
  await createInvoice(tx, terms, invoice, now, merchants);
}

/** The difference. It has no lines: those of the period are paid already. */
async function invoiceChange(
  tx: Database,
  { terms }: Subscription,
  change: Change,
  now: Instant,
  merchants: Merchants,
): Promise<void> {
  const { invoiceId: id, payableUntil: dueDate, items } = change;
  if (id === undefined || dueDate === undefined) throw new Error('A change that is charged has an invoice.');
  const recurring = terms.firstInvoice ? consentTermsOf(terms, { items }, now) : undefined;
  const of = { subscriptionId: terms.id, currency: terms.currency, ...defined({ recurring }) };
  const invoice = { id, product: productOf(items), dueDate, amountMinor: dueOf(change), ...of };
  await createInvoice(tx, terms, invoice, now, merchants);
}
