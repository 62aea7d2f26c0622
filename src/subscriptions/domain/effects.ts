// What follows from the facts of a subscription outside its rows: invoices that are made, and those that are to be paid no more.
import type { Change, Period, Subscription, SubscriptionFact } from './subscription.ts';

export type InvoicedPeriod = Period & { readonly invoiceId: string };

export type Effect =
  | { readonly do: 'endObligation'; readonly invoiceId: string }
  | { readonly do: 'rescindInvoice'; readonly invoiceId: string; readonly because: string }
  | { readonly do: 'invoicePeriod'; readonly period: InvoicedPeriod }
  | { readonly do: 'invoiceChange'; readonly change: Change };

/** In this order, because a payment locks the series of its card first, and then its invoice. */
export function effectsOf(
  before: Subscription,
  facts: readonly SubscriptionFact[],
  after: Subscription,
): readonly Effect[] {
  const created = facts.flatMap((fact) => (fact.type === 'period_created' ? [fact.period] : []));
  const periods = [...before.open, ...before.missed, ...created];
  // The payer can no longer start it with a payment.
  const isGivenUp = before.phase === 'incomplete' && after.phase === 'ended';
  return [
    ...endedObligations(before, facts).map((invoiceId) => ({ do: 'endObligation', invoiceId }) as const),
    ...(isGivenUp ? rescind(after.terms.firstInvoice?.id, 'subscription ended') : []),
    ...facts.flatMap((fact) => effectsOfFact(fact, before, periods)),
  ];
}

function effectsOfFact(
  fact: SubscriptionFact,
  { change }: Subscription,
  periods: readonly Period[],
): readonly Effect[] {
  const concerned = 'number' in fact ? periods.find(({ number }) => number === fact.number) : undefined;
  switch (fact.type) {
    case 'change_started':
      return [{ do: 'invoiceChange', change: fact.change }];
    case 'change_dropped':
      return rescind(change?.invoiceId, 'change dropped');
    case 'period_created':
      return fact.period.outcome === 'open' ? invoice(fact.period, fact.period.invoiceId) : [];
    case 'missed_period_charged':
      return invoice(concerned, fact.invoiceId);
    case 'period_closed':
      return rescindPeriod(concerned, fact.outcome);
    case 'period_paid':
      return fact.by === 'elsewhere' ? rescindPeriod(concerned, 'paid elsewhere') : [];
    default:
      return [];
  }
}

function invoice(period: Period | undefined, invoiceId: string | undefined): readonly Effect[] {
  return period && invoiceId !== undefined ? [{ do: 'invoicePeriod', period: { ...period, invoiceId } }] : [];
}

/** The invoice of a missed one was paid, and the bank has taken that back. */
function rescindPeriod(period: Period | undefined, because: string): readonly Effect[] {
  return period?.outcome === 'missed' ? [] : rescind(period?.invoiceId, because);
}

function rescind(invoiceId: string | undefined, because: string): readonly Effect[] {
  return invoiceId === undefined ? [] : [{ do: 'rescindInvoice', invoiceId, because }];
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
