// What the retry rules said of a charge, and when the next attempt is possible.
import { latest, type Instant } from '../../clock.ts';
import type { Invoice } from '../../invoices/domain/invoice.ts';
import type { Payment } from '../../payments/domain/payment.ts';
import type { TimelineItem } from '../domain/item.ts';
import type { ChargeOfSeries } from '../port.ts';

/** What else is stored is "wait until" a time. */
const effectWords: Readonly<Record<string, string>> = {
  'stop charge': 'this invoice is not charged again',
  'stop series': 'the series ends',
  'stop cardInShop': 'every series of the card in this shop ends',
  'stop card': 'every series of the card ends',
};

export function ruleLines({ createdAt }: Payment, charge: ChargeOfSeries | undefined): TimelineItem[] {
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
            text: `After the decline: ${effectWords[effect] ?? effect}, by rule ${rule} of ${pack}.`,
            id,
          },
        ]),
  ];
}

/** Of a payment that failed. */
export function nextAttemptLines(
  failedAt: Instant,
  invoice: Invoice,
  charge: ChargeOfSeries | undefined,
): TimelineItem[] {
  const line = (at: Instant, text: string): TimelineItem => ({ at, kind: 'nextAttempt', text });
  if (invoice.status !== 'unpaid')
    return [line(failedAt, `No other attempt: the invoice is ${invoice.status}.`)];
  if (invoice.paymentInProgress) return [line(failedAt, 'Another attempt is in progress.')];
  if (!charge) return [line(failedAt, `The payer can try again, until ${invoice.dueDate.slice(0, 19)}Z.`)];
  const { decision } = charge.found;
  if (decision.may) return [line(failedAt, 'The rules allow another charge of this invoice now.')];
  const refused = `${decision.code}, by rule ${decision.rule} of ${decision.pack}`;
  if (decision.retryAfter === undefined)
    return [line(failedAt, `No other charge by waiting: ${refused}. The payer can pay the invoice.`)];
  return [
    line(latest(failedAt, decision.retryAfter), `The next charge is possible. Until then: ${refused}.`),
  ];
}
