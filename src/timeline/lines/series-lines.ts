// The log of a series in words: its consent, each charge with the rules that allowed it, and what the rules decided after it.
import type { AdvanceNotice, Revocation, SeriesFact, SeriesTerms } from '../../recurring/domain/series.ts';
import { defined } from '../../defined.ts';
import { declineHelp } from '../domain/decline-help.ts';
import type { TimelineItem, TimelineLine } from '../domain/item.ts';
import type { Phrase, WholePhrase } from '../domain/phrases.ts';
import { named, nothing, say, sentences, timeOf, type Text } from '../domain/text.ts';
import type { SeriesFacts } from '../port.ts';
import { stopWords } from './rule-lines.ts';
import { adviceText, status, type UndatedLine as Line } from './words.ts';

type Fact<Type extends SeriesFact['type']> = Extract<SeriesFact, { readonly type: Type }>;
type Payment = { readonly invoiceId: string; readonly paymentId: string };

/** As the commands name a payment. */
const idOf = ({ invoiceId, paymentId }: Payment) => `${invoiceId}/${paymentId}`;
const charge = (payment: Payment, text: Text, more: Partial<Line> = {}): Line => ({
  kind: 'charge',
  text,
  id: idOf(payment),
  ...more,
});

const revoked = {
  payer: ['The payer ended the consent.', 'The payer ended the consent: {reason}'],
  merchant: ['The merchant ended the consent.', 'The merchant ended the consent: {reason}'],
  operator: ['The operator ended the consent.', 'The operator ended the consent: {reason}'],
} as const satisfies Readonly<Record<Revocation['by'], readonly [Phrase, Phrase]>>;

const notices = {
  cardExpiring: 'Advance notice for the merchant: the card expires, {time}.',
  gapNearing: 'Advance notice for the merchant: without a charge, the consent lapses, {time}.',
  rareChargeNearing: 'Advance notice for the merchant: a rare charge comes, {time}.',
  trialEnding: 'Advance notice for the merchant: the trial ends, {time}.',
  consentEnding: 'Advance notice for the merchant: the consent ends, {time}.',
  consentEnded: 'Advance notice for the merchant: the consent ended, {time}.',
} as const satisfies Readonly<Record<AdvanceNotice['kind'], Phrase>>;

const lines: { readonly [Type in SeriesFact['type']]: (fact: Fact<Type>) => readonly Line[] } = {
  series_started: ({ terms }) => [{ kind: 'series', text: startOf(terms) }],
  recurring_charge_started: (fact) => [
    charge(fact, say(fact.isRetry ? 'A retry began.' : 'A charge began.'), {
      isRequest: true,
      ...(fact.amount ? { amount: { ...fact.amount, minor: BigInt(fact.amount.minor) } } : {}),
    }),
    { kind: 'rules', text: say('Allowed by {packs}.', { packs: fact.packs.join(', ') }), id: idOf(fact) },
    ...fact.warnings.map((warning): Line => ({
      kind: 'rules',
      text: say('Allowed with a warning: {warning}.', { warning: named(warning) }),
      id: idOf(fact),
    })),
  ],
  recurring_charge_succeeded: (fact) => [charge(fact, say('The charge is approved.'))],
  recurring_charge_failed: (fact) => failureLines(fact),
  recurring_charge_unsent: (fact) => [charge(fact, say('The charge was not sent. It counts as no attempt.'))],
  obligation_ended: ({ invoiceId }) => [
    {
      kind: 'rules',
      text: say('The invoice is not charged any more. Its failures do not count for other invoices.'),
      id: invoiceId,
    },
  ],
  series_stopped: ({ scope, rule, pack, declineClass }) => [
    {
      kind: 'rules',
      text: say('Stopped: {effect}, by rule {rule} of {pack}.', {
        effect: stopWords(`stop ${scope}`),
        rule,
        pack,
      }),
      ...defined({ declineClass }),
      isResult: true,
    },
  ],
  consent_withdrawn: ({ by, reason }) => {
    const [alone, because] = revoked[by];
    return [status(reason === undefined ? say(alone) : say(because, { reason }))];
  },
  parent_added: (fact) => [charge(fact, say('The payment can be named as a parent.'))],
  consent_renewed: ({ endsAt }) => [
    {
      kind: 'series',
      text: agreed(endsAt, 'The payer agreed again.', 'The payer agreed again, until {time}.'),
    },
  ],
  notice_due: ({ notice: { kind, about } }) => [
    { kind: 'series', text: say(notices[kind], { time: timeOf(about) }) },
  ],
};

export function seriesLines({ facts, isMore }: { facts: SeriesFacts; isMore: boolean }): TimelineLine[] {
  const [first] = facts;
  const omitted: TimelineItem[] =
    isMore && first ? [{ at: first.at, kind: 'series', text: say('Earlier events are not shown.') }] : [];
  return [...omitted, ...facts.flatMap(({ at, fact }) => linesOf(fact).map((line) => ({ at, ...line })))];
}

function linesOf<Type extends SeriesFact['type']>(fact: Fact<Type>): readonly Line[] {
  return (lines[fact.type as Type] as (fact: Fact<Type>) => readonly Line[])(fact);
}

function startOf({ imported, kind, endsAt }: SeriesTerms): Text {
  if (imported) return say('Imported: the payer agreed elsewhere.');
  return kind === 'customer'
    ? agreed(endsAt, 'The payer agreed by saving a card.', 'The payer agreed by saving a card, until {time}.')
    : agreed(endsAt, 'The payer agreed with a payment.', 'The payer agreed with a payment, until {time}.');
}

function agreed(
  endsAt: SeriesTerms['endsAt'],
  alone: WholePhrase,
  until: Extract<Phrase, `${string}, until {time}.`>,
): Text {
  return endsAt === undefined ? say(alone) : say(until, { time: timeOf(endsAt) });
}

function failureLines(fact: Fact<'recurring_charge_failed'>): Line[] {
  const { network, code, advice } = fact.answer;
  const { declineClass, notBefore } = fact;
  const said =
    code === undefined
      ? say('The bank did not answer, and the charge was given up.')
      : say('Declined with {network} code {code}{advice}.', {
          network: network ?? '',
          code,
          advice: adviceText(advice),
        });
  const text = sentences(said, declineClass ? say(declineHelp[declineClass]) : nothing);
  return [
    charge(fact, text, defined({ code, declineClass })),
    ...(notBefore
      ? [
          {
            kind: 'rules' as const,
            text: say('No charge before {time}, by rule {rule} of {pack}.', {
              time: timeOf(notBefore.at),
              rule: notBefore.rule,
              pack: notBefore.pack,
            }),
            id: idOf(fact),
            isResult: true as const,
          },
        ]
      : []),
  ];
}
