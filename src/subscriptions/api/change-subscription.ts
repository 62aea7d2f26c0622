// What a merchant does with a subscription: ends, pauses and resumes it. What they do with one period is in change-period.ts.
import { Type } from 'typebox';
import type { Instant } from '../../clock.ts';
import { latest } from '../../clock.ts';
import { defined } from '../../defined.ts';
import type { Ids } from '../../ids.ts';
import { tradingRefusals } from '../../merchants/domain/party.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import { retryOnConflict, type Database } from '../../platform/database/database.ts';
import { allOrNothing } from '../../platform/database/all-or-nothing.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { DateTime, instantOf } from '../../platform/http/schemas.ts';
import type { JobRunner } from '../../platform/jobs/job-runner.ts';
import type { Charging } from '../../recurring/port.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import { decideCancel, decidePause, decideResume, decideUncancel } from '../domain/commands.ts';
import { decideResumeShifted } from '../domain/changes/shift-anchor.ts';
import type { Subscription, SubscriptionFact } from '../domain/subscription.ts';
import { findSubscription } from '../store/subscriptions.ts';
import type { PayerEmails } from '../payer-emails.ts';
import { writeFacts } from '../write-facts.ts';
import { subscriptionBody, SubscriptionPath, SubscriptionSchema } from './schema.ts';

export type ChangeDeps = {
  readonly db: Database;
  readonly ids: Ids;
  readonly merchants: Merchants;
  readonly charging: Pick<Charging, 'obligationEnded'>;
  readonly payerEmails: PayerEmails;
  readonly jobs: Pick<JobRunner, 'wake'>;
};

export const writing = {
  access: { scope: 'subscriptions:write' },
  method: 'POST',
  tag: 'Subscriptions',
  params: SubscriptionPath,
  status: 200,
  response: SubscriptionSchema,
} as const;

const changeTries = 10;

export async function change<Code extends string>(
  { caller, params, now }: { caller: { partyId: string }; params: { subscriptionID: string }; now: Instant },
  { db, merchants, charging, payerEmails, jobs }: ChangeDeps,
  decide: (subscription: Subscription, now: Instant) => Outcome<readonly SubscriptionFact[], Code>,
  needs: 'a shop that trades' | 'nothing' = 'nothing',
) {
  const attempt = () =>
    allOrNothing(db, async (tx) => {
      const stored = await findSubscription(tx, caller.partyId, params.subscriptionID);
      if (!stored) return refuse('subscriptionNotFound');
      const shop = await merchants.trading(stored.subscription.terms);
      if (needs === 'a shop that trades' && !shop.ok) return shop;
      const decision = decide(stored.subscription, latest(now, stored.changedAt));
      if (!decision.ok) return decision;
      const written = await writeFacts(tx, stored, decision.value, now, {
        merchants,
        charging,
        payerEmails,
      });
      if (!written) return 'versionConflict';
      return written.isPaying
        ? refuse('subscriptionChargePending')
        : accept(subscriptionBody(written.subscription));
    });
  const outcome = await retryOnConflict(`subscription ${params.subscriptionID}`, attempt, changeTries);
  if (outcome.ok) db.afterCommit(() => jobs.wake());
  return outcome;
}

export const changeErrors = [
  'subscriptionNotFound',
  'invalidSubscriptionStatus',
  'subscriptionChargePending',
] as const;

export const cancelSubscription = endpoint({
  ...writing,
  operation: 'cancelSubscription',
  path: '/v2/processing/subscriptions/{subscriptionID}/cancel',
  summary: 'Cancel a subscription',
  description:
    'At the end of its period, or now. A charge at the bank is finished. What is unpaid is not tried again.',
  body: Type.Object(
    {
      when: Type.Enum(['periodEnd', 'now']),
      by: Type.Optional(Type.Enum(['payer', 'merchant'], { default: 'merchant' })),
      refund: Type.Optional(
        Type.Enum(['none', 'unused', 'last'], {
          default: 'none',
          description:
            'With `now`: of what was paid for the time that is left, or for the last paid period. Needs the scope `payments:write` too.',
        }),
      ),
    },
    { title: 'CancelSubscription' },
  ),
  bodyExample: { when: 'periodEnd' },
  // Who may not refund a payment may not do it by an end.
  extraScopes: [
    {
      scope: 'payments:write',
      when: 'for a refund',
      isNeeded: ({ body: { refund = 'none' } }) => refund !== 'none',
    },
  ],
  errors: changeErrors,
  handle: (request, deps: ChangeDeps) => {
    const { when, by = 'merchant', refund = 'none' } = request.body;
    const wish = { when, by, ...(refund === 'none' ? {} : { refund }) };
    return change(request, deps, (subscription) => decideCancel(subscription, wish));
  },
});

export const uncancelSubscription = endpoint({
  ...writing,
  operation: 'uncancelSubscription',
  path: '/v2/processing/subscriptions/{subscriptionID}/uncancel',
  summary: 'Take back the end of a subscription',
  description: 'Until its last period is over.',
  errors: changeErrors,
  handle: (request, deps: ChangeDeps) => change(request, deps, decideUncancel),
});

export const pauseSubscription = endpoint({
  ...writing,
  operation: 'pauseSubscription',
  path: '/v2/processing/subscriptions/{subscriptionID}/pause',
  summary: 'Pause a subscription',
  description:
    'Periods that the pause covers whole are `skipped`. Numbers and dates of later ones stay as they were.',
  body: Type.Object(
    {
      resumesAt: Type.Optional({
        ...DateTime,
        description: 'Within 731 days. Without it, until you resume it.',
      }),
      openPeriods: Type.Optional(
        Type.Enum(['keepTrying', 'forgive'], { default: 'keepTrying', description: 'What is not paid yet.' }),
      ),
      by: Type.Optional(Type.Enum(['payer', 'merchant'], { default: 'merchant' })),
    },
    { title: 'PauseSubscription' },
  ),
  bodyExample: {},
  errors: changeErrors,
  handle: (request, deps: ChangeDeps) => {
    const { resumesAt, openPeriods = 'keepTrying', by = 'merchant' } = request.body;
    const until = resumesAt === undefined ? undefined : instantOf(resumesAt);
    const invoiceId = deps.ids.next();
    return change(request, deps, (subscription, now) =>
      decidePause(subscription, { by, openPeriods, invoiceId, ...defined({ resumesAt: until }) }, now),
    );
  },
});

export const resumeSubscription = endpoint({
  ...writing,
  operation: 'resumeSubscription',
  path: '/v2/processing/subscriptions/{subscriptionID}/resume',
  summary: 'Resume a subscription',
  description:
    'The time of the pause is not charged, and the rest of a period that continues is. One with `parkedFor` is charged again.',
  query: Type.Object({
    shiftAnchor: Type.Optional(
      Type.Enum(['true', 'false'], {
        description: 'A new period starts on the day of the request, and later ones are counted from it.',
      }),
    ),
  }),
  errors: [...changeErrors, 'subscriptionPastDue', ...tradingRefusals],
  handle: (request, deps: ChangeDeps) => {
    const ids = { invoiceId: deps.ids.next() };
    const isShifted = request.query.shiftAnchor === 'true';
    return change(
      request,
      deps,
      (subscription, now) =>
        isShifted ? decideResumeShifted(subscription, now) : decideResume(subscription, ids, now),
      'a shop that trades',
    );
  },
});
