// The log of a series in words: its consent, each charge with the rules that allowed it, and what the rules decided after it.
import type { AdvanceNotice, Revocation, SeriesFact, SeriesTerms } from '../../recurring/domain/series.ts';
import { defined } from '../../defined.ts';
import { declineHelp } from '../domain/decline-help.ts';
import type { TimelineItem, TimelineLine } from '../domain/item.ts';
import type { SeriesFacts } from '../port.ts';
import { stopWords } from './rule-lines.ts';
import { sentences, shortTime, status, type UndatedLine as Line } from './words.ts';

type Fact<Type extends SeriesFact['type']> = Extract<SeriesFact, { readonly type: Type }>;
type Payment = { readonly invoiceId: string; readonly paymentId: string };

/** As the commands name a payment. */
const idOf = ({ invoiceId, paymentId }: Payment) => `${invoiceId}/${paymentId}`;
const charge = (payment: Payment, text: string, more: Partial<Line> = {}): Line => ({
  kind: 'charge',
  text,
  id: idOf(payment),
  ...more,
});

const revokers: Readonly<Record<Revocation['by'], string>> = {
  payer: 'The payer',
  merchant: 'The merchant',
  operator: 'The operator',
};

const notices: Readonly<Record<AdvanceNotice['kind'], string>> = {
  cardExpiring: 'the card expires',
  gapNearing: 'without a charge, the consent lapses',
  rareChargeNearing: 'a rare charge comes',
  trialEnding: 'the trial ends',
  consentEnding: 'the consent ends',
  consentEnded: 'the consent ended',
};

const lines: { readonly [Type in SeriesFact['type']]: (fact: Fact<Type>) => readonly Line[] } = {
  series_started: ({ terms }) => [{ kind: 'series', text: startOf(terms) }],
  recurring_charge_started: (fact) => [
    charge(fact, fact.isRetry ? 'A retry began.' : 'A charge began.', {
      isRequest: true,
      ...(fact.amount ? { amount: { ...fact.amount, minor: BigInt(fact.amount.minor) } } : {}),
    }),
    { kind: 'rules', text: `Allowed by ${fact.packs.join(', ')}.`, id: idOf(fact) },
    ...fact.warnings.map((warning): Line => ({
      kind: 'rules',
      text: `Allowed with a warning: ${warning}.`,
      id: idOf(fact),
    })),
  ],
  recurring_charge_succeeded: (fact) => [charge(fact, 'The charge is approved.')],
  recurring_charge_failed: (fact) => failureLines(fact),
  recurring_charge_unsent: (fact) => [charge(fact, 'The charge was not sent. It counts as no attempt.')],
  obligation_ended: ({ invoiceId }) => [
    {
      kind: 'rules',
      text: 'The invoice is not charged any more. Its failures do not count for other invoices.',
      id: invoiceId,
    },
  ],
  series_stopped: ({ scope, rule, pack, declineClass }) => [
    {
      kind: 'rules',
      text: `Stopped: ${stopWords(`stop ${scope}`)}, by rule ${rule} of ${pack}.`,
      ...defined({ declineClass }),
      isResult: true,
    },
  ],
  consent_withdrawn: ({ by, reason }) => [
    status(`${revokers[by]} ended the consent${reason === undefined ? '.' : `: ${reason}`}`),
  ],
  parent_added: (fact) => [charge(fact, 'The payment can be named as a parent.')],
  consent_renewed: ({ endsAt }) => [{ kind: 'series', text: `The payer agreed again${until(endsAt)}.` }],
  notice_due: ({ notice: { kind, about } }) => [
    { kind: 'series', text: `Advance notice for the merchant: ${notices[kind]}, ${shortTime(about)}.` },
  ],
};

export function seriesLines({ facts, isMore }: { facts: SeriesFacts; isMore: boolean }): TimelineLine[] {
  const [first] = facts;
  const omitted: TimelineItem[] =
    isMore && first ? [{ at: first.at, kind: 'series', text: 'Earlier events are not shown.' }] : [];
  return [...omitted, ...facts.flatMap(({ at, fact }) => linesOf(fact).map((line) => ({ at, ...line })))];
}

function linesOf<Type extends SeriesFact['type']>(fact: Fact<Type>): readonly Line[] {
  return (lines[fact.type as Type] as (fact: Fact<Type>) => readonly Line[])(fact);
}

function startOf({ imported, kind, endsAt }: SeriesTerms): string {
  const began = kind === 'customer' ? 'by saving a card' : 'with a payment';
  return imported ? 'Imported: the payer agreed elsewhere.' : `The payer agreed ${began}${until(endsAt)}.`;
}

function until(endsAt: SeriesTerms['endsAt']): string {
  return endsAt === undefined ? '' : `, until ${shortTime(endsAt)}`;
}

function failureLines(fact: Fact<'recurring_charge_failed'>): Line[] {
  const { network, code, advice } = fact.answer;
  const { declineClass, notBefore } = fact;
  const said =
    code === undefined
      ? 'The bank did not answer, and the charge was given up.'
      : `Declined with ${network} code ${code}${advice === undefined ? '' : `, advice ${advice}`}.`;
  const text = sentences(said, declineClass ? declineHelp[declineClass] : '');
  return [
    charge(fact, text, defined({ code, declineClass })),
    ...(notBefore
      ? [
          {
            kind: 'rules' as const,
            text: `No charge before ${shortTime(notBefore.at)}, by rule ${notBefore.rule} of ${notBefore.pack}.`,
            id: idOf(fact),
            isResult: true as const,
          },
        ]
      : []),
  ];
}
