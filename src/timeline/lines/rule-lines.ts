// What the retry rules said of a charge, and when the next attempt is possible.
import { latest, type Instant } from '../../clock.ts';
import type { Invoice } from '../../invoices/domain/invoice.ts';
import type { TradingRefusal } from '../../merchants/domain/party.ts';
import type { Payment } from '../../payments/domain/payment.ts';
import type { Evaluation } from '../../recurring/port.ts';
import type { TimelineItem, TimelineLine } from '../domain/item.ts';
import type { WholePhrase } from '../domain/phrases.ts';
import { named, say, timeOf, type Text } from '../domain/text.ts';
import type { ChargeOfSeries } from '../port.ts';

const effectWords: Readonly<Record<string, WholePhrase>> = {
  'stop charge': 'this invoice is not charged again',
  'stop series': 'the series ends',
  'stop cardInShop': 'every series of the card in this shop ends',
  'stop card': 'every series of the card ends',
};

/** What is stored of a rule's effect: what it stops, or the time until which to wait. */
export function stopWords(effect: string): Text {
  const known = effectWords[effect];
  const [, time] = /^wait until (\d{4}-\d\d-\d\dT\S+Z)$/.exec(effect) ?? [];
  if (time !== undefined) return say('wait until {time}', { time: timeOf(time as Instant) });
  return say(known ?? 'something that this version does not know');
}

export function ruleLines({ createdAt }: Payment, charge: ChargeOfSeries | undefined): TimelineLine[] {
  if (!charge?.decided) return [];
  const { seriesId: id, decided } = charge;
  const { isRetry, packs, effect, rule, pack, endedAt } = decided;
  return [
    {
      at: createdAt,
      kind: 'rules',
      text: say(isRetry ? 'Allowed as a retry by {packs}.' : 'Allowed as a new charge by {packs}.', {
        packs: packs.join(', '),
      }),
      id,
    },
    ...(effect === null || endedAt === null
      ? []
      : [
          {
            at: endedAt,
            kind: 'rules' as const,
            text: say('After the decline: {effect}, by rule {rule} of {pack}.', {
              effect: stopWords(effect),
              rule: String(rule),
              pack: String(pack),
            }),
            id,
            isResult: true as const,
          },
        ]),
  ];
}

type NextAttempt = {
  readonly invoice: Invoice;
  /** Why the shop takes no payments. */
  readonly refusal: TradingRefusal | undefined;
  readonly charge: ChargeOfSeries | undefined;
};

const ended: Readonly<Record<Exclude<Invoice['status'], 'unpaid'>, WholePhrase>> = {
  paid: 'No other attempt: the invoice is paid.',
  fulfilled: 'No other attempt: the invoice is fulfilled.',
  cancelled: 'No other attempt: the invoice is cancelled.',
};

/** Of a payment that failed. */
export function nextAttemptLines(
  failedAt: Instant,
  { invoice, refusal, charge }: NextAttempt,
  now: Instant,
): TimelineItem[] {
  const line = (text: Text, at = failedAt): TimelineItem[] => [{ at, kind: 'nextAttempt', text }];
  const due = timeOf(invoice.dueDate);
  if (invoice.status !== 'unpaid') return line(say(ended[invoice.status]));
  if (invoice.dueDate <= now)
    return line(say('No other attempt: the invoice was due at {time}.', { time: due }));
  if (refusal !== undefined)
    return line(say('No other attempt while {reason}.', { reason: say(tradingWords[refusal]) }));
  if (invoice.paymentInProgress) return line(say('Another attempt is in progress.'));
  if (!charge) return line(say('The payer can try again, until {time}.', { time: due }));
  const { decision } = charge.found;
  if (decision.may) return line(say('The rules allow another charge of this invoice now.'));
  const { retryAfter } = decision;
  const refused = refusedBy(decision);
  if (retryAfter === undefined)
    return line(say('No other charge by waiting: {refused}. The payer can pay the invoice.', { refused }));
  if (retryAfter >= invoice.dueDate)
    return line(
      say(
        'No other charge: the invoice is due at {due}, and until {time} {refused}. The payer can pay the invoice.',
        { due, time: timeOf(retryAfter), refused },
      ),
    );
  return line(
    say('The next charge is possible. Until then: {refused}.', { refused }),
    latest(failedAt, retryAfter),
  );
}

/** Of a series, on an invoice that is created then. */
export function nextChargeLine(
  since: Instant,
  { decision }: Evaluation,
  refusal: TradingRefusal | undefined,
): TimelineItem {
  const line = (text: Text, at = since): TimelineItem => ({ at, kind: 'nextAttempt', text });
  if (refusal !== undefined)
    return line(say('No charge while {reason}.', { reason: say(tradingWords[refusal]) }));
  if (decision.may) return line(say('The rules allow a charge now.'));
  const refused = refusedBy(decision);
  if (decision.retryAfter === undefined) return line(say('No charge by waiting: {refused}.', { refused }));
  return line(
    say('The next charge is possible. Until then: {refused}.', { refused }),
    latest(since, decision.retryAfter),
  );
}

export const tradingWords: Readonly<Record<TradingRefusal, WholePhrase>> = {
  invalidShopID: 'the shop does not exist',
  invalidPartyStatus: 'the merchant is blocked or suspended',
  invalidShopStatus: 'the shop is blocked or suspended',
};

function refusedBy({ code, rule, pack }: Evaluation['decision'] & { readonly may: false }): Text {
  return say('{code}, by rule {rule} of {pack}', { code: named(code), rule, pack });
}
