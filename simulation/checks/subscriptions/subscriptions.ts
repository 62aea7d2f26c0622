// Subscriptions by their logs: every period comes once, with the dates that were agreed, and is charged only while it may be.
// Their rows say the same, and once nothing is due they sleep no longer than until the next period.
import { groupedBy, type EventRow, type PeriodRow, type RefundRow, type SubscriptionRow } from '../rows.ts';
import type { Check, Problem } from '../check.ts';
import { dateIn } from '../states/local-days.ts';
import { startOfDate } from './dates.ts';
import { instantOf, Life } from './life.ts';

const dayMs = 24 * 3_600_000;
/** A node with a late clock hears of a consent before its time. */
const clocksDifferMs = 4_000;

export const subscriptions: Check = {
  name: 'subscriptions',
  says: 'no period is lost, early, doubled or charged while the subscription is paused, unpaid or over, and the rows say so',
  find({ books, isSettled }) {
    const logs = groupedBy(
      books.events.filter(({ aggregate }) => aggregate === 'subscription'),
      ({ aggregate_id: id }) => id,
    );
    const consents = consentsIn(books.events);
    const periods = groupedBy(books.periods, ({ subscription_id: id }) => id);
    return books.subscriptions.flatMap((row): Problem[] => {
      const life = new Life(logs.get(row.subscription_id) ?? []);
      const all = [
        ...life.problems,
        ...differences(life, row, periods.get(row.subscription_id) ?? []),
        ...unexplained(life, consents),
        ...(isSettled ? [...oversleeps(life, row), ...unheard(life, books.refunds)] : []),
      ];
      return all.map((problem) => [`subscription ${row.subscription_id}`, problem]);
    });
  },
};

/** When payers have agreed, by whose they are: a customer, or the invoice of a first payment. */
function consentsIn(events: readonly EventRow[]): ReadonlyMap<string, readonly string[]> {
  const given = events.filter(
    ({ aggregate, facts }) =>
      aggregate === 'series' &&
      facts.some(({ type }) => type === 'consent_renewed' || type === 'series_started'),
  );
  const owned = groupedBy(given, ({ aggregate_id: id }) => id.split('.')[0] ?? '');
  return new Map([...owned].map(([owner, all]) => [owner, all.map(({ created_at: at }) => instantOf(at))]));
}

/** A consent starts a try only if it is newer than the failure. */
function unexplained(
  { consented, invoices, terms }: Life,
  consents: ReadonlyMap<string, readonly string[]>,
): string[] {
  if (consented.length === 0) return [];
  const owners = [...invoices, (terms.customerId ?? '').slice(0, 23)];
  const given = owners.flatMap((owner) => consents.get(owner) ?? []);
  return consented
    .filter(({ failedAt, at }) => !given.some((one) => one > failedAt && one <= withDifference(at)))
    .map(({ what, failedAt }) => `${what} is tried again, and its payer agreed to nothing since ${failedAt}`);
}

function withDifference(at: string): string {
  return instantOf(new Date(Date.parse(at) + clocksDifferMs).toISOString());
}

function differences(
  life: Life,
  { phase, state, invoices }: SubscriptionRow,
  rows: readonly PeriodRow[],
): string[] {
  const told = [...life.periods.values()].map(({ number, outcome }) => `${number} ${outcome}`).join(', ');
  const kept = rows
    .toSorted((one, other) => one.number - other.number)
    .map(({ number, outcome }) => `${number} ${outcome}`)
    .join(', ');
  const strange = invoices.filter((id) => !life.invoices.has(id));
  return [
    ...strange.map((id) => `invoice ${id} is of none of its periods`),
    ...(phase === life.phase ? [] : [`it is ${phase}, and by its log ${life.phase}`]),
    ...(state.creditMinor === undefined || !life.changes.isKnown || state.creditMinor === life.changes.balance
      ? []
      : [`its credit is ${state.creditMinor}, and by its log ${life.changes.balance}`]),
    ...(kept === told ? [] : [`its periods are ${kept}, and by its log ${told}`]),
    ...(state.paidThrough === life.paidThrough
      ? []
      : [`it is paid through ${state.paidThrough}, and by its log ${life.paidThrough}`]),
  ];
}

/** A refund of an end that has failed is a fact of its subscription: by its wake-ups, or by what the bank reports later. */
function unheard({ refunding }: Life, refunds: readonly RefundRow[]): string[] {
  if (refunding.size === 0) return [];
  return refunds
    .filter(({ status }) => status === 'failed')
    .map(({ invoice_id, payment_id, refund_id }) => `${invoice_id}.${payment_id}.${refund_id}`)
    .filter((id) => refunding.has(id))
    .map((id) => `refund ${id} of its end has failed, and by its log it has not`);
}

/** Without faults, and with nothing due. */
function oversleeps(life: Life, { wake_at: wakeAt, stuck_at: stuckAt }: SubscriptionRow): string[] {
  if (stuckAt !== null) return ['it waits for an operator'];
  if (life.phase === 'ended' || life.isParked) return [];
  const wakesAt = wakeAt === null ? Infinity : Date.parse(instantOf(wakeAt));
  const waits = earliest(waitsFor(life), waitsForChange(life));
  return waits === undefined || wakesAt <= waits.at
    ? []
    : [`it sleeps until ${wakeAt}, and ${waits.what} at ${new Date(waits.at).toISOString()}`];
}

type Waits = { readonly what: string; readonly at: number } | undefined;

function earliest(one: Waits, other: Waits): Waits {
  return one && other ? (one.at <= other.at ? one : other) : (one ?? other);
}

/** It looks again while a payment delays that. */
function waitsForChange(life: Life): Waits {
  const { pending } = life.changes;
  if (!pending) return undefined;
  const { payment, isOver, invoiceId, retryAt, payableUntil = '' } = pending;
  if (payment !== undefined && isOver !== true)
    return { what: `charge ${payment} of its change is over`, at: 0 };
  const dropped = { what: `change ${invoiceId} is dropped`, at: Date.parse(payableUntil) + dayMs };
  if (retryAt === undefined || life.phase !== 'running') return dropped;
  return earliest(dropped, { what: `change ${invoiceId} is tried again`, at: afterLastMoney(life, retryAt) });
}

/** What it has to wake up for, and when at the latest. */
function waitsFor(life: Life): Waits {
  if (life.phase === 'incomplete')
    return { what: 'the wait for its first payment ends', at: Date.parse(life.terms.createdAt) + dayMs };
  const [oldest] = life.unsettled;
  if (oldest?.charging !== undefined) return { what: `charge ${oldest.charging} is over`, at: 0 };
  const until = oldest?.nextTryAt ?? oldest?.endsTriesAt;
  if (oldest && until !== undefined) {
    const isOfOther = life.lastMoney?.number !== oldest.number;
    const at = isOfOther && oldest.nextTryAt !== undefined ? afterLastMoney(life, until) : Date.parse(until);
    return { what: `period ${oldest.number} is tried again or given up`, at };
  }
  if (oldest || life.phase === 'unpaid') return undefined;
  const { latest, resumesAt } = life;
  const due = life.surelyDue();
  const end = latest && { what: 'the last period ends', at: Date.parse(latest.endsAt) };
  if (life.phase === 'paused') {
    if (life.lastNumber <= (latest?.number ?? 0)) return end;
    return resumesAt === undefined ? undefined : { what: 'the pause ends', at: Date.parse(resumesAt) };
  }
  if (due === undefined) return end;
  return { what: `period ${(latest?.number ?? 0) + 1} is due`, at: afterLastMoney(life, due) };
}

/** Periods are charged one a day: by the end of the local day after the last. */
function afterLastMoney({ lastMoney, zone }: Life, due: string | number): number {
  const at = new Date(due).getTime();
  if (!lastMoney) return at;
  const day = Date.parse(dateIn(zone, Date.parse(lastMoney.at)));
  return Math.max(at, startOfDate(zone, dateIn('UTC', day + 2 * dayMs)));
}
