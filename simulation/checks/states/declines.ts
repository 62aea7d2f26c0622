// Who can help after a decline, checked on the codes that the bank sent and not on the classes that the service stored.
import { groupedBy, type AttemptRow, type Fact } from '../rows.ts';
import type { Check, Problem, Seen } from '../check.ts';
import { mayJump } from './test-clock.ts';

const minuteMs = 60_000;
const pauseMs = 15 * minuteMs;
/**
 * The clocks of two nodes differ by four seconds at most. The transaction that writes a decline may take ten, and a node may be a
 * second late to know of a pause.
 */
const tolerancesMs = 15_000;

export const declines: Check = {
  name: 'declines',
  says: 'no charge follows a decline that only the payer, another card or a correct set-up can heal, and a wrong set-up is no failure',
  find: (seen) => [...ofSeries(seen), ...pauses(seen), ...withPayer(seen)],
};

/** Codes after which only another card or the payer helps, on every network that a world uses. One is a word of the acquirer. */
const payerNeeded = new Set(
  '04 07 14 15 33 38 39 41 43 46 52 53 54 55 56 75 86 93 1A 6P N7 R1 R3 authentication_required'.split(' '),
);
/** 79, 82 and 83 follow their advice on Mastercard, and no world sends them. */
const onMastercard = new Set(['57', '65', '78']);
const onVisaAndMir = new Set(['70', '82']);
const wrongSetUp = new Set('03 13 30 31 40 58 76 77'.split(' '));

function needsPayer({ outcome, network, code, advice }: AttemptRow): boolean {
  if (outcome !== 'declined' || network === 'bank' || network === null || code === null) return false;
  if (advice === '01' || advice === '03' || advice === '21') return true;
  const isMastercard = network === 'mastercard' || network === 'maestro';
  return payerNeeded.has(code) || (isMastercard ? onMastercard : onVisaAndMir).has(code);
}

export function isWrongSetUp({ outcome, code }: Pick<AttemptRow, 'outcome' | 'code'>): boolean {
  return outcome === 'declined' && code !== null && wrongSetUp.has(code);
}

type Facts = readonly (Fact & { readonly at: string })[];

const isAbout = (fact: Fact, { invoice_id, payment_id }: { invoice_id: string; payment_id: string }) =>
  fact['invoiceId'] === invoice_id && fact['paymentId'] === payment_id;
const isEnd = ({ type }: Fact) =>
  ['recurring_charge_succeeded', 'recurring_charge_failed', 'recurring_charge_unsent'].includes(type);

/** In the order of the log of the series. */
function ofSeries({ books, histories }: Seen): Problem[] {
  const all = groupedBy(books.attempts, ({ series_id }) => series_id);
  return books.series.flatMap(({ series_id, failing_since }): Problem[] => {
    const attempts = all.get(series_id) ?? [];
    const facts = histories.get(series_id)?.facts ?? [];
    let endedBy: string | undefined;
    let isFailing = false;
    const problems: Problem[] = [];
    for (const fact of facts) {
      if (fact.type === 'consent_renewed') endedBy = undefined;
      const attempt = attempts.find((one) => isAbout(fact, one));
      if (!attempt) continue;
      if (fact.type === 'recurring_charge_started' && endedBy !== undefined)
        problems.push([`payment ${attempt.invoice_id}.${attempt.payment_id}`, `it follows on ${endedBy}`]);
      if (!isEnd(fact)) continue;
      if (needsPayer(attempt)) endedBy = `code ${attempt.code}, advice ${attempt.advice}`;
      if (attempt.outcome === 'approved') isFailing = false;
      else if (attempt.outcome !== 'unsent' && !isWrongSetUp(attempt)) isFailing = true;
    }
    if (failing_since !== null && !isFailing)
      problems.push([
        `series ${series_id}`,
        `it counts as failing since ${failing_since}, and no charge failed`,
      ]);
    return problems;
  });
}

/**
 * No charge is made through a terminal that was called wrong a moment ago. A node may be a second late to know, in which a test
 * clock may have jumped by hours.
 */
function pauses({ books, clockMoves }: Seen): Problem[] {
  const ofTerminal = groupedBy(books.attempts, ({ shop, terminal }) => `${shop} ${terminal}`);
  return [...ofTerminal.values()].flatMap((rows) =>
    rows.filter(isWrongSetUp).flatMap(({ ended_at, code }): Problem[] => {
      const from = Date.parse(String(ended_at));
      const paused = rows.filter(({ created_at }) => {
        const at = Date.parse(created_at);
        const isMeanwhile = at > from + tolerancesMs && at < from + pauseMs - tolerancesMs;
        return isMeanwhile && !mayJump(clockMoves, from, at);
      });
      return paused.map(({ invoice_id, payment_id, terminal }) => [
        `payment ${invoice_id}.${payment_id}`,
        `it was made while ${terminal} was paused because of code ${code}`,
      ]);
    }),
  );
}

/** The one amount of a world that the bank answers with R1, and what a payment then says. */
const stoppedAmount = 199_909;

/** A payer who is present and stops a merchant stops its charges without them as well. */
function withPayer({ books, histories }: Seen): Problem[] {
  const ofCard = groupedBy(books.attempts, ({ card_key, shop }) => `${card_key} ${shop}`);
  return books.payerDeclines.flatMap(
    ({ card_key, shop, invoice_id, payment_id, amount_minor }): Problem[] => {
      const failed = histories
        .get(invoice_id)
        ?.facts.find((fact) => fact.type === 'payment_failed' && fact['paymentId'] === payment_id);
      const isStop =
        amount_minor === stoppedAmount && String(failed?.['failure']).includes('operation_blocked');
      if (!failed || !isStop) return [];
      const from = Date.parse(failed.at);
      return (ofCard.get(`${card_key} ${shop}`) ?? [])
        .filter(({ created_at }) => Date.parse(created_at) > from + tolerancesMs)
        .filter((attempt) => {
          const consent = consentBefore(histories.get(attempt.series_id)?.facts ?? [], attempt);
          return consent !== undefined && Date.parse(consent) < from - tolerancesMs;
        })
        .map((attempt) => [
          `payment ${attempt.invoice_id}.${attempt.payment_id}`,
          `it was made after payment ${invoice_id}.${payment_id} stopped the card`,
        ]);
    },
  );
}

/** When the payer last consented, by the log up to the attempt. */
function consentBefore(facts: Facts, attempt: AttemptRow): string | undefined {
  const began = facts.findIndex((fact) => fact.type === 'recurring_charge_started' && isAbout(fact, attempt));
  return facts
    .slice(0, Math.max(began, 0))
    .findLast(({ type }) => type === 'series_started' || type === 'consent_renewed')?.at;
}
