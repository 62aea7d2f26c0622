// Each email about a subscription follows from one step of it, is written once, and goes to its customer.
import { groupedBy, type EventRow, type Fact } from '../rows.ts';
import type { Problem, Seen } from '../check.ts';

/** What a step may lead to. `must`: it has to, unless the subscription ends with it. */
const emailsOf: Readonly<Record<string, { readonly may: readonly string[]; readonly must?: true }>> = {
  subscription_started: { may: ['started'], must: true },
  charge_announced: { may: ['announced'] },
  charge_failed: { may: ['declined'] },
  payer_reminded: { may: ['reminder', 'lastWarning'], must: true },
  period_paid: { may: ['recovered'] },
  period_closed: { may: ['notCollected'] },
  subscription_unpaid: { may: ['notCollected'], must: true },
  anchor_shifted: { may: ['newDates'], must: true },
  subscription_ended: { may: ['ended'] },
};

/** An email is named by the version before the write it follows from. A transaction may write twice. */
type Step = { readonly before: number; readonly entries: readonly EventRow[] };

export function emailsOfSubscriptions({ books }: Pick<Seen, 'books'>): Problem[] {
  const logs = groupedBy(
    books.events.filter(({ aggregate }) => aggregate === 'subscription'),
    ({ aggregate_id: id }) => id,
  );
  const emails = groupedBy(
    books.payerEmails.filter(({ about }) => about === 'subscription'),
    ({ invoice_id: id }) => id,
  );
  const customers = new Map(books.customers.map((row) => [row.customer_id, row]));
  return books.subscriptions.flatMap(({ subscription_id: id, customer_id: customerId }): Problem[] => {
    const steps = stepsIn(logs.get(id) ?? []);
    const written = emails.get(id) ?? [];
    const customer = customers.get(customerId ?? '');
    const isReachable = customer !== undefined && customer.status !== 'deleted';
    // The payer of one that continues another knows it.
    const expected = steps.some((step) => factsIn(step).some(continuesAnother)) ? steps.slice(1) : steps;
    const all = [
      ...written.flatMap(({ payment_id: emailId, recipient }) => [
        ...(isCaused(steps, emailId) ? [] : [`email ${emailId} follows from none of its steps`]),
        ...(customer && recipient !== customer.email ? [`email ${emailId} went to ${recipient}`] : []),
      ]),
      ...(isReachable ? expected.flatMap((step) => wrongIn(step, written)) : []),
    ];
    return all.map((problem) => [`subscription ${id}`, problem]);
  });
}

function continuesAnother(fact: Fact): boolean {
  const { firstPeriod } = (fact['terms'] ?? {}) as { readonly firstPeriod?: unknown };
  return fact.type === 'subscription_created' && firstPeriod !== undefined;
}

/** The entries of one transaction, and the version before them. */
function stepsIn(log: readonly EventRow[]): Step[] {
  const ordered = log.toSorted((one, other) => one.sequence - other.sequence);
  const steps = groupedBy(ordered, ({ transaction, part }) => `${transaction} ${part}`);
  return [...steps.values()].map((entries) => ({
    before: (entries[0]?.sequence ?? 1) - 1,
    entries,
  }));
}

function factsIn({ before, entries }: Step, after = before): Fact[] {
  return entries.filter(({ sequence }) => sequence > after).flatMap(({ facts }) => facts);
}

/** It was written by this transaction. */
function isOf({ before, entries }: Step, emailId: string): boolean {
  const version = Number(emailId.split('.')[0]);
  return version >= before && version < before + entries.length;
}

function isCaused(steps: readonly Step[], emailId: string): boolean {
  const [after, kind = ''] = emailId.split('.');
  const step = steps.find((one) => isOf(one, emailId));
  return step ? factsIn(step, Number(after)).some(({ type }) => emailsOf[type]?.may.includes(kind)) : false;
}

function wrongIn(step: Step, written: readonly { readonly payment_id: string }[]): string[] {
  const { before } = step;
  const facts = factsIn(step);
  if (facts.some(({ type }) => type === 'subscription_ended')) return [];
  // Another period is settled, and the payer knows of the unpaid one.
  const isKnown = facts.some(({ type }) => type === 'period_paid' || type === 'period_closed');
  return facts.flatMap(({ type }) => {
    const { may = [], must: mustOnce = false } = emailsOf[type] ?? {};
    const must = mustOnce && !(type === 'subscription_unpaid' && isKnown);
    const own = written.filter(
      ({ payment_id: id }) => isOf(step, id) && may.includes(id.split('.')[1] ?? ''),
    );
    const names = own.map(({ payment_id: id }) => id).join(' and ');
    return [
      ...(must && own.length === 0 ? [`no email says ${may.join(' or ')} after version ${before}`] : []),
      ...(own.length > 1 ? [`${names} are of one step`] : []),
    ];
  });
}
