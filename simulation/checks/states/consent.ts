// What payers agreed to, compared with the charges that were made without them: amounts, currencies and periods.
import { groupedBy, type AttemptRow, type Fact } from '../rows.ts';
import type { Check, Problem, Seen } from '../check.ts';
import { dateIn, periodStart } from './local-days.ts';
import { mayJump } from './test-clock.ts';

/** The largest difference between the clocks of two nodes. */
const clocksDifferMs = 4_000;
/** How long after a hold its outcome may stay unknown. */
const undecidedMs = 7 * 24 * 3_600_000;

export const consent: Check = {
  name: 'consent',
  says: 'no charge without the payer is above what they agreed to, or a second one in a period where the shop refuses it',
  find: (seen) => [...amounts(seen), ...periods(seen)],
};

type Mandate = {
  readonly schedule: string;
  readonly amountRule?: { readonly kind: string; readonly amountMinor?: number };
  readonly trialEnd?: string;
  readonly amountAfterTrialMinor?: number;
  readonly payment: { readonly currency: string };
};
type Terms = { readonly mandate: Mandate; readonly at: string };

/** The facts of the series, and the terms that were in force when the attempt began. */
function grounds({ series_id, invoice_id, payment_id }: AttemptRow, { histories }: Seen) {
  const facts = histories.get(series_id)?.facts ?? [];
  const placeOf = (types: readonly string[]) => {
    const found = facts.findIndex(
      (fact) =>
        types.includes(fact.type) && fact['invoiceId'] === invoice_id && fact['paymentId'] === payment_id,
    );
    return found < 0 ? Infinity : found;
  };
  const began = placeOf(['recurring_charge_started']);
  const ended = placeOf(['recurring_charge_succeeded', 'recurring_charge_failed', 'recurring_charge_unsent']);
  let terms: Terms | undefined;
  for (const fact of facts.slice(0, began)) {
    const mandate = mandateIn(fact);
    if (mandate) terms = { mandate, at: fact.at };
  }
  return { began, ended, terms };
}

function mandateIn(fact: Fact): Mandate | undefined {
  const of = fact.type === 'series_started' ? fact['terms'] : fact;
  return (of as { mandate?: Mandate }).mandate;
}

function amounts(seen: Seen): Problem[] {
  return seen.books.attempts.flatMap((row): Problem[] => {
    const { terms } = grounds(row, seen);
    if (!terms) return [];
    const about = `payment ${row.invoice_id}.${row.payment_id}`;
    const { mandate } = terms;
    if (row.currency !== mandate.payment.currency) return [[about, `it is in ${row.currency}`]];
    const [early, late] = [-clocksDifferMs, clocksDifferMs].map((ms) =>
      mostOf(mandate, dateIn(row.time_zone, Date.parse(row.created_at) + ms)),
    ) as [number, number];
    const most = Math.max(early, late);
    return row.amount_minor > most
      ? [[about, `it charges ${row.amount_minor} and the payer agreed to ${most}`]]
      : [];
  });
}

function mostOf({ amountRule, trialEnd, amountAfterTrialMinor }: Mandate, date: string): number {
  if (trialEnd !== undefined && date > trialEnd && amountAfterTrialMinor !== undefined)
    return amountAfterTrialMinor;
  return amountRule?.amountMinor ?? Infinity;
}

function periods(seen: Seen): Problem[] {
  const strict = seen.books.attempts.filter(({ period_rule }) => period_rule === 'refuse');
  return [...groupedBy(strict, (row) => row.series_id).values()].flatMap((rows) => {
    const all = rows.map((row) => ({ row, ...grounds(row, seen) }));
    return all.flatMap(({ row, began, terms }) =>
      all.flatMap((other): Problem[] => {
        if (!terms || other.began >= began || other.row.invoice_id === row.invoice_id) return [];
        const periodOf = (text: string) => periodStartsNear(terms, row.time_zone, Date.parse(text));
        const own = periodOf(row.created_at);
        if (own === undefined) return [];
        const about = `payment ${row.invoice_id}.${row.payment_id}`;
        const first = `${other.row.invoice_id}.${other.row.payment_id}`;
        if (other.ended > began) return [[about, `it was made while ${first} was pending`]];
        const capturedAt = capturedBefore(row, other.row, seen.clockMoves);
        if (capturedAt === 'held') return [[about, `it was made while ${first} could be captured`]];
        if (capturedAt === undefined) return [];
        const isSame = Date.parse(capturedAt) >= Date.parse(terms.at) && periodOf(capturedAt) === own;
        return isSame ? [[about, `it is in the same period as ${first}`]] : [];
      }),
    );
  });
}

/** When an earlier charge was captured, or that it was a hold that could still be. Undefined if neither. */
function capturedBefore(
  { created_at: createdAt }: AttemptRow,
  { outcome, ended_at, held_until, captured_at, cancelled_at }: AttemptRow,
  clockMoves: Seen['clockMoves'],
): string | undefined {
  if (outcome !== 'approved' || ended_at === null) return undefined;
  if (held_until === null) return ended_at;
  const at = Date.parse(createdAt);
  const endedAt = Date.parse(captured_at ?? cancelled_at ?? '');
  // A node is a second late to know that a test clock moved, and then dates a charge before what happened before it.
  if (endedAt <= at + clocksDifferMs || mayJump(clockMoves, at, endedAt)) return captured_at ?? undefined;
  return at < Date.parse(held_until) + undecidedMs - clocksDifferMs ? 'held' : undefined;
}

/** Undefined without periods, and where the clocks of two nodes may see different ones. */
function periodStartsNear({ mandate, at }: Terms, timeZone: string, epochMs: number): string | undefined {
  const { schedule, trialEnd } = mandate;
  const anchor = dateIn(timeZone, Date.parse(at));
  const starts = [-clocksDifferMs, clocksDifferMs].map((ms) =>
    periodStart(
      { schedule, anchor, ...(trialEnd === undefined ? {} : { trialEnd }) },
      dateIn(timeZone, epochMs + ms),
    ),
  );
  return starts[0] === starts[1] ? starts[0] : undefined;
}
