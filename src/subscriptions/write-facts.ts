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
import { effectsOf, type Effect, type InvoicedPeriod } from './domain/effects.ts';
import { chargesAfterFirst, consentTermsOf } from './domain/first-payment.ts';
import {
  evolveAll,
  nextAction,
  type Change,
  type Subscription,
  type SubscriptionFact,
} from './domain/subscription.ts';
import { wakeTimeAfter } from './domain/wake-time.ts';
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
  const wakeAt = wakeTimeAfter(facts, after, now, before.leasedUntil);
  const written = await storeFacts(tx, before, facts, { after, wakeAt, now });
  if (!written) return undefined;
  if (after.phase === 'ended' && before.subscription.phase !== 'ended')
    await releaseUniqueKey(tx, after.terms);
  await payerEmails.write(tx, before, facts, now);
  let isPaying = false;
  for (const effect of effectsOf(before.subscription, facts, after))
    if (!(await perform(tx, after, effect, now, { merchants, charging }))) isPaying = true;
  return isPaying ? { ...written, isPaying } : written;
}

/** False if the payer pays just now what they should pay no more. */
async function perform(
  tx: Database,
  after: Subscription,
  effect: Effect,
  now: Instant,
  { merchants, charging }: Pick<WriteDeps, 'merchants' | 'charging'>,
): Promise<boolean> {
  const { partyId } = after.terms;
  switch (effect.do) {
    case 'endObligation':
      await endObligation(tx, { partyId, invoiceId: effect.invoiceId }, charging, now);
      return true;
    case 'rescindInvoice':
      return rescindInvoice(tx, { partyId, invoiceId: effect.invoiceId }, effect.because, now);
    case 'invoicePeriod':
      await invoicePeriod(tx, after, effect.period, now, merchants);
      return true;
    case 'invoiceChange':
      await invoiceChange(tx, after, effect.change, now, merchants);
      return true;
  }
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
  const recurring = { ...consentTermsOf(terms, { items }, now), ...chargesAfterFirst(terms, now) };
  const of = { subscriptionId: terms.id, currency: terms.currency, recurring };
  const invoice = { ...terms.firstInvoice, product: productOf(items), dueDate, ...of };
  await createInvoice(tx, terms, invoice, now, merchants);
}

/** Its lines, unless it costs another amount: credit has paid a part of them, or the first payment was one of its own. */
async function invoicePeriod(
  tx: Database,
  { terms, items, scheduledItems = items }: Subscription,
  { invoiceId: id, lines, amountMinor }: InvoicedPeriod,
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
