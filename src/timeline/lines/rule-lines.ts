// What the retry rules said of a charge, and when the next attempt is possible.
import { latest, type Instant } from '../../clock.ts';
import type { Invoice } from '../../invoices/domain/invoice.ts';
import type { TradingRefusal } from '../../merchants/domain/party.ts';
import type { Payment } from '../../payments/domain/payment.ts';
import type { Evaluation } from '../../recurring/port.ts';
import type { TimelineItem, TimelineLine } from '../domain/item.ts';
import type { ChargeOfSeries } from '../port.ts';
import { shortTime } from './words.ts';

const effectWords: Readonly<Record<string, string>> = {
  'stop charge': 'this invoice is not charged again',
  'stop series': 'the series ends',
  'stop cardInShop': 'every series of the card in this shop ends',
  'stop card': 'every series of the card ends',
};

/** What else is stored is "wait until" a time. */
export function stopWords(effect: string): string {
  return effectWords[effect] ?? effect;
}

export function ruleLines({ createdAt }: Payment, charge: ChargeOfSeries | undefined): TimelineLine[] {
  if (!charge?.decided) return [];
  const { seriesId: id, decided } = charge;
  const { isRetry, packs, effect, rule, pack, endedAt } = decided;
  return [
    {
      at: createdAt,
      kind: 'rules',
      text: `Allowed as ${isRetry ? 'a retry' : 'a new charge'} by ${packs.join(', ')}.`,
      id,
    },
    ...(effect === null || endedAt === null
      ? []
      : [
          {
            at: endedAt,
            kind: 'rules' as const,
            text: `After the decline: ${stopWords(effect)}, by rule ${rule} of ${pack}.`,
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

/** Of a payment that failed. */
export function nextAttemptLines(
  failedAt: Instant,
  { invoice, refusal, charge }: NextAttempt,
  now: Instant,
): TimelineItem[] {
  const line = (text: string, at = failedAt): TimelineItem[] => [{ at, kind: 'nextAttempt', text }];
  const due = shortTime(invoice.dueDate);
  if (invoice.status !== 'unpaid') return line(`No other attempt: the invoice is ${invoice.status}.`);
  if (invoice.dueDate <= now) return line(`No other attempt: the invoice was due at ${due}.`);
  if (refusal !== undefined) return line(`No other attempt while ${tradingWords[refusal]}.`);
  if (invoice.paymentInProgress) return line('Another attempt is in progress.');
  if (!charge) return line(`The payer can try again, until ${due}.`);
  const { decision } = charge.found;
  if (decision.may) return line('The rules allow another charge of this invoice now.');
  const { retryAfter } = decision;
  const refused = refusedBy(decision);
  if (retryAfter === undefined)
    return line(`No other charge by waiting: ${refused}. The payer can pay the invoice.`);
  if (retryAfter >= invoice.dueDate)
    return line(
      `No other charge: the invoice is due at ${due}, and until ${shortTime(retryAfter)} ${refused}. The payer can pay the invoice.`,
    );
  return line(`The next charge is possible. Until then: ${refused}.`, latest(failedAt, retryAfter));
}

/** Of a series, on an invoice that is created then. */
export function nextChargeLine(
  since: Instant,
  { decision }: Evaluation,
  refusal: TradingRefusal | undefined,
): TimelineItem {
  const line = (text: string, at = since): TimelineItem => ({ at, kind: 'nextAttempt', text });
  if (refusal !== undefined) return line(`No charge while ${tradingWords[refusal]}.`);
  if (decision.may) return line('The rules allow a charge now.');
  const refused = refusedBy(decision);
  if (decision.retryAfter === undefined) return line(`No charge by waiting: ${refused}.`);
  return line(`The next charge is possible. Until then: ${refused}.`, latest(since, decision.retryAfter));
}

export const tradingWords: Readonly<Record<TradingRefusal, string>> = {
  invalidShopID: 'the shop does not exist',
  invalidPartyStatus: 'the merchant is blocked or suspended',
  invalidShopStatus: 'the shop is blocked or suspended',
};

function refusedBy({ code, rule, pack }: Evaluation['decision'] & { readonly may: false }): string {
  return `${code}, by rule ${rule} of ${pack}`;
}
