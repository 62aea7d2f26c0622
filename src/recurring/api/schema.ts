// The shapes of a series in the API: whether it may be charged, and its events.
import { isDeepStrictEqual } from 'node:util';
import { Type, type Static } from 'typebox';
import { Amount, DateTime, EntityID } from '../../platform/http/schemas.ts';
import type { LoggedEvent } from '../../platform/events/domain/topic.ts';
import { givesAnyNumberAway } from '../../cards/domain/card.ts';
import { isDate } from '../../retry-rules/domain/calendar.ts';
import type { Bundle } from '../consent-bundle.ts';
import { scheduleProblem, type MandateGiven } from '../domain/mandate.ts';
import { chargeWarnings } from '../../retry-rules/domain/may-charge.ts';
import { declineClasses } from '../../acquiring/domain/decline-class.ts';
import { chargeReasons } from '../../acquiring/domain/initiation.ts';
import type { Evaluation } from '../port.ts';
import { beginningOf, seriesChangeOf, seriesChangeTypes } from '../webhook-events.ts';
import type { Series, SeriesFact } from '../domain/series.ts';
import type { RecurringSettings } from '../domain/settings.ts';
import { parseInstant, type Instant } from '../../clock.ts';
import { validationMessage } from '../../platform/http/errors/validate.ts';
import { termsBody, termsIn, type TermsBody } from '../../receipts/domain/terms-body.ts';
import { defined } from '../../defined.ts';

const LocalDate = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: 'A day, `2030-12-31`.' });

const AmountRuleSchema = Type.Union(
  [
    Type.Object({ kind: Type.Enum(['fixed', 'upTo']), amount: Amount }, { title: 'AmountAgreed' }),
    Type.Object(
      { kind: Type.Literal('variable'), text: Type.String({ maxLength: 500 }) },
      { title: 'AmountByRule' },
    ),
  ],
  {
    title: 'AmountRule',
    description:
      'How much a charge may be. Without a rule, amounts are as agreed with the shop, and none is refused.',
  },
);

const Schedule = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'How often: an ISO 8601 period such as `P1M`, or words. Shown on receipts.',
});
const otherTerms = {
  chargeReason: Type.Optional(
    Type.Enum([...chargeReasons], {
      description:
        'What later charges are to card networks: `recurring` at regular times, `instalment` of one purchase, or `unscheduled`. ' +
        'Absent: `recurring`.',
    }),
  ),
  validUntil: Type.Optional({
    ...LocalDate,
    description: 'The last day of the consent. Absent: until the payer cancels.',
  }),
  trialEnd: Type.Optional({
    ...LocalDate,
    description:
      'The last day of a trial or of a first price. You get an advance notice seven days before it ends.',
  }),
  amountAfterTrial: Type.Optional({
    ...Amount,
    description: 'The amount after the trial, in minor units.',
  }),
};

/** Terms that a payer can compare with others: how often, and how much. */
export const NewTerms = Type.Object(
  { schedule: Schedule, amountRule: AmountRuleSchema, ...otherTerms },
  { title: 'NewTerms', description: 'What the payer is asked to agree to.' },
);
export type NewTerms = Static<typeof NewTerms>;

/** Without what only the other terms below have. */
export function newTermsIn(terms: NewTerms): NewTerms {
  const { schedule, amountRule, chargeReason, validUntil, trialEnd, amountAfterTrial } = terms;
  return { schedule, amountRule, ...defined({ chargeReason, validUntil, trialEnd, amountAfterTrial }) };
}

const termsMembers = {
  schedule: Type.Optional(Schedule),
  amountRule: Type.Optional(AmountRuleSchema),
  ...otherTerms,
  firstChargeOn: Type.Optional({
    ...LocalDate,
    description: 'The day of the next charge. The payer sees it. It delays no charge.',
  }),
  charges: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 9_999,
      description: 'How many charges follow. The payer sees it. It refuses none.',
    }),
  ),
};

/** Of an invoice: no payer has agreed to them yet. */
export const InvoiceRecurrentTerms = Type.Object(termsMembers, {
  title: 'InvoiceRecurrentTerms',
  description:
    'What the payer is asked to agree to. Requires `makeRecurrent`. Without them, the terms of the payment request apply, then ' +
    'those of the shop.',
});

export const RecurrentTerms = Type.Object(
  {
    ...termsMembers,
    consent: Type.Optional(
      Type.Object(
        {
          ticked: Type.Literal(true, { description: 'The payer ticked the box.' }),
          tickedAt: DateTime,
          text: Type.Optional(
            Type.String({ maxLength: 10_000, description: 'The exact text next to the box.' }),
          ),
          textHash: Type.Optional(
            Type.String({
              pattern: '^[0-9a-f]{64}$',
              description: 'The SHA-256 hash of the text, if you keep the text yourself.',
            }),
          ),
          checkbox: Type.Optional(Type.String({ maxLength: 200 })),
          locale: Type.Optional(Type.String({ maxLength: 35 })),
          version: Type.Optional(Type.String({ maxLength: 100 })),
        },
        { title: 'RecurrentConsent' },
      ),
    ),
  },
  {
    title: 'RecurrentTerms',
    description:
      'What the payer agreed to, with the evidence. Requires `makeRecurrent`, here or in the invoice. With an access token, the terms ' +
      'of the invoice replace these, except `consent`.',
  },
);
export type RecurrentTerms = Static<typeof RecurrentTerms>;

/** Checks that the schema cannot express. It reads no member that only other terms have. */
export function termsProblem(terms: TermsBody, name = 'recurrentTerms'): string | undefined {
  const says = saysOf(name);
  const { validUntil, trialEnd, firstChargeOn, amountAfterTrial, schedule, amountRule } = terms;
  if (validUntil !== undefined && !isDate(validUntil)) return says('validUntil', 'is not a calendar day');
  if (trialEnd !== undefined && !isDate(trialEnd)) return says('trialEnd', 'is not a calendar day');
  if (firstChargeOn !== undefined && !isDate(firstChargeOn))
    return says('firstChargeOn', 'is not a calendar day');
  if (amountAfterTrial !== undefined && trialEnd === undefined) {
    return says('amountAfterTrial', 'requires trialEnd');
  }
  const ofSchedule = schedule === undefined ? undefined : scheduleProblem(schedule);
  if (ofSchedule !== undefined) return says('schedule', ofSchedule);
  // The words are stored permanently.
  if (amountRule?.kind === 'variable' && givesAnyNumberAway(amountRule.text)) {
    return says('amountRule.text', 'must not contain a card number');
  }
  return undefined;
}

export function recurrentTermsProblem(
  { consent, ...terms }: RecurrentTerms,
  name = 'recurrentTerms',
): string | undefined {
  const says = saysOf(name);
  const ofTerms = termsProblem(terms, name);
  if (ofTerms !== undefined || !consent) return ofTerms;
  const words = [consent.text, consent.checkbox, consent.version, consent.locale];
  if (words.some((text) => text !== undefined && givesAnyNumberAway(text))) {
    return says('consent', 'must not contain a card number');
  }
  const isProved = consent.text !== undefined || consent.textHash !== undefined;
  return isProved ? undefined : says('consent', 'requires the text or its hash');
}

function saysOf(name: string) {
  return (where: string, description: string) =>
    validationMessage(`${name}.${where}`, 'no_match', description);
}

export function mandateGiven(
  { consent, ...terms }: RecurrentTerms,
  hashOf: (text: string) => string,
): MandateGiven {
  return {
    ...termsIn(terms),
    ...(consent === undefined
      ? {}
      : {
          consent: {
            ...consent,
            tickedAt: parseInstant(consent.tickedAt) as Instant,
            textHash: consent.text === undefined ? (consent.textHash ?? '') : hashOf(consent.text),
          },
        }),
  };
}

/** Not part of a request's fingerprint: stored requests have fingerprints without terms, but the terms themselves. */
export function areSameTerms(stored: MandateGiven | undefined, sent: MandateGiven | undefined): boolean {
  return isDeepStrictEqual(stored, sent);
}

const PaymentName = Type.Object({ invoiceID: EntityID, paymentID: EntityID });

export const DeclineClassSchema = Type.Enum([...declineClasses]);

/** What a series is, whether it may be charged or not. */
export const seriesMembers = {
  status: Type.Enum(['active', 'stopped', 'withdrawn']),
  rootPayment: Type.Optional(PaymentName),
  rootBinding: Type.Optional(
    Type.Object(
      { customerID: EntityID, customerBindingID: EntityID },
      {
        title: 'BindingName',
        description: 'Instead of invoiceID and paymentID, if the card was saved for a customer.',
      },
    ),
  ),
  latestParent: Type.Optional({
    ...PaymentName,
    description: 'The best parent of the next charge.',
  }),
  card: Type.Object({
    paymentSystem: Type.String(),
    lastDigits: Type.String(),
    goodUntil: { ...DateTime, description: 'When the card expires, in the last time zone.' },
  }),
  terms: Type.Object({
    schedule: Type.String(),
    validUntil: Type.Optional(LocalDate),
    amountRule: Type.Optional(AmountRuleSchema),
    trialEnd: Type.Optional(LocalDate),
    amountAfterTrial: Type.Optional(Amount),
    firstChargeOn: Type.Optional(LocalDate),
    charges: Type.Optional(Type.Integer()),
  }),
  seriesID: { ...EntityID, description: 'What a consent link names.' },
  consentEvidence: Type.Enum(['attestedByMerchant', 'missing']),
  amountBinds: Type.Boolean({
    description: 'Whether the amounts of `terms` limit charges. Series of before 0.3.0 only get a warning.',
  }),
  consentedAt: DateTime,
  lastSuccessAt: DateTime,
  failingSince: Type.Optional(DateTime),
  declineClass: Type.Optional({
    ...DeclineClassSchema,
    description: 'Who can help, if the latest charge failed.',
  }),
  chargesMade: Type.Integer(),
};

export const RecurringSchema = Type.Object(
  {
    mayCharge: Type.Boolean({ description: 'Whether a charge of a new invoice is allowed now.' }),
    refusal: Type.Optional(
      Type.Object(
        {
          code: Type.String(),
          rule: Type.String(),
          rulePack: Type.String(),
          declineClass: Type.Optional({
            ...DeclineClassSchema,
            description: "Who can help, if a bank's response is the reason.",
          }),
          retryAfter: Type.Optional({
            ...DateTime,
            description: 'The earliest time at which a charge is allowed, if nothing else changes.',
          }),
        },
        { title: 'RecurringRefusal' },
      ),
    ),
    warnings: Type.Array(Type.Enum([...chargeWarnings]), {
      description: 'A charge would be accepted with these warnings.',
    }),
    ...seriesMembers,
  },
  { title: 'Recurring' },
);

export function recurringBody({
  series,
  decision,
  stored: { settings },
}: Pick<Evaluation, 'series' | 'decision' | 'stored'>): Static<typeof RecurringSchema> {
  return {
    mayCharge: decision.may,
    ...(decision.may
      ? {}
      : {
          refusal: {
            code: decision.code,
            rule: decision.rule,
            rulePack: decision.pack,
            ...defined({ declineClass: decision.declineClass, retryAfter: decision.retryAfter }),
          },
        }),
    warnings: decision.may ? [...decision.warnings] : [],
    ...seriesBody(series, settings),
  };
}

export function seriesBody(series: Series, settings: RecurringSettings) {
  const { card, mandate, failingSince, declineClass } = series;
  return {
    status: series.state.name,
    ...beginningOf(series),
    card: { paymentSystem: card.paymentSystem, lastDigits: card.lastDigits, goodUntil: card.endsAt },
    terms: { schedule: mandate.schedule, ...termsBody(mandate) },
    seriesID: series.id,
    consentEvidence: mandate.evidence,
    amountBinds: series.bindsAmount ?? settings.enforceAmount ?? false,
    consentedAt: series.consentedAt,
    lastSuccessAt: series.lastSuccessAt,
    ...defined({ failingSince, declineClass }),
    chargesMade: series.chargesMade,
  };
}

export const RecurringEvent = Type.Object(
  {
    id: Type.Integer({ minimum: 1 }),
    createdAt: DateTime,
    changes: Type.Array(
      Type.Object(
        {
          changeType: Type.Enum([...seriesChangeTypes]),
          payment: Type.Optional(PaymentName),
          invoiceID: Type.Optional(EntityID),
          declineClass: Type.Optional(DeclineClassSchema),
          notBefore: Type.Optional(DateTime),
          rule: Type.Optional(Type.String()),
          rulePack: Type.Optional(Type.String()),
          warnings: Type.Optional(Type.Array(Type.String())),
          by: Type.Optional(Type.String()),
          reason: Type.Optional(Type.String()),
          notice: Type.Optional(Type.String()),
          about: Type.Optional(DateTime),
          consentLinkID: Type.Optional({
            ...EntityID,
            description: 'The consent link by which the payer agreed to the new terms.',
          }),
        },
        { title: 'RecurringChange' },
      ),
    ),
  },
  { title: 'RecurringEvent' },
);
export function recurringEventBody(event: LoggedEvent<SeriesFact>): Static<typeof RecurringEvent> {
  return { id: event.sequence, createdAt: event.createdAt, changes: event.facts.map(seriesChangeOf) };
}

const Unknown = Type.Unknown();
/** In the order in which it is sealed. */
export const ConsentBundle = Type.Object(
  {
    format: Type.String(),
    seriesId: Type.String(),
    partyId: Type.String(),
    shopId: Type.String(),
    sealedAt: DateTime,
    entries: Type.Array(
      Type.Object({
        sequence: Type.Integer(),
        at: DateTime,
        facts: Type.Array(Unknown),
        hash: Type.String(),
      }),
    ),
    publicKey: Type.String(),
    signature: Type.String(),
  },
  { title: 'ConsentBundle' },
);

/** As it was sealed, member by member. */
export function bundleBody(bundle: Bundle): Static<typeof ConsentBundle> {
  return { ...bundle, entries: bundle.entries.map((entry) => ({ ...entry, facts: [...entry.facts] })) };
}
