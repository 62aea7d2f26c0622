// Other items or another time zone of a subscription: what they would cost, the change itself, and how it is taken back.
import { Type, type Static } from 'typebox';
import type { Instant } from '../../clock.ts';
import { latest } from '../../clock.ts';
import { defined } from '../../defined.ts';
import { wrongCart } from '../../invoices/domain/invoice.ts';
import { cartBody, CartParams, CartSchema } from '../../invoices/api/schema.ts';
import { tradingRefusals } from '../../merchants/domain/party.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { Amount, DateTime, instantOf } from '../../platform/http/schemas.ts';
import { seriesIdOf } from '../../recurring/domain/series.ts';
import { accept, refuse } from '../../refusal.ts';
import { allowedBySeries } from '../charged-series.ts';
import {
  decideChange,
  decideTakeBackChange,
  dueOf,
  previewChange,
  type Preview,
  type WantedChange,
} from '../domain/changes/change.ts';
import type { Subscription } from '../domain/subscription.ts';
import { findSubscription } from '../store/subscriptions.ts';
import { change, changeErrors, writing, type ChangeDeps } from './change-subscription.ts';
import { allowedByConsent, type ConsentDeps } from './create-subscription.ts';
import { itemsOf, SubscriptionPath, upcomingBody, UpcomingSchema } from './schema.ts';

const ChangeParams = Type.Object(
  {
    items: Type.Optional(CartParams),
    when: Type.Optional(
      Type.Enum(['nextPeriod', 'now', 'auto', 'anchorNow'], {
        default: 'nextPeriod',
        description: '`auto`: now if the items are dearer. `anchorNow`: a whole new period starts today.',
      }),
    ),
    credit: Type.Optional(Type.Enum(['unused', 'none'], { default: 'unused' })),
    timeZone: Type.Optional(Type.String({ maxLength: 64, description: 'From the next period.' })),
    asOf: Type.Optional({ ...DateTime, description: 'Of a preview.' }),
  },
  { title: 'ChangeSubscription' },
);
type ChangeParams = Static<typeof ChangeParams>;
const bodyExample = { items: [{ product: 'Two teas', price: 79900 }], when: 'auto' };

const Money = { ...Amount, minimum: 0 };
const PreviewSchema = Type.Object(
  {
    asOf: DateTime,
    takesEffect: Type.Enum(['now', 'nextPeriod']),
    items: CartSchema,
    amount: { ...Money, description: 'What the payer pays now.' },
    charge: Type.Optional(Money),
    credit: Type.Optional(Money),
    fromBalance: Type.Optional(Money),
    creditBalance: Money,
    next: Type.Optional(UpcomingSchema),
    refusal: Type.Optional(Type.String({ description: 'Of the saved card.' })),
  },
  { title: 'ChangePreview' },
);

const refusals = ['subscriptionPastDue', 'subscriptionChangePending', 'subscriptionChangedToday'] as const;

function wantedOf({ items, when = 'nextPeriod', credit = 'unused', timeZone, asOf }: ChangeParams) {
  return {
    when,
    credit,
    ...defined({
      items: items && itemsOf(items),
      timeZone,
      asOf: asOf === undefined ? undefined : instantOf(asOf),
    }),
  } satisfies WantedChange;
}

export const previewSubscriptionChange = endpoint({
  operation: 'previewSubscriptionChange',
  access: { scope: 'subscriptions:read', maskedAs: 'subscriptionNotFound' },
  method: 'POST',
  path: '/v2/processing/subscriptions/{subscriptionID}/preview',
  tag: 'Subscriptions',
  summary: 'Preview a change of a subscription',
  description: 'Nothing changes. Send the same body with `asOf` for these amounts.',
  params: SubscriptionPath,
  body: ChangeParams,
  bodyExample,
  status: 200,
  response: PreviewSchema,
  errors: ['subscriptionNotFound', 'invalidSubscriptionStatus', 'invalidInvoiceCart', ...refusals],
  handle: async ({ caller, params, body, now }, deps: ConsentDeps) => {
    const wanted = wantedOf(body);
    const wrong = wanted.items && wrongCart(wanted.items);
    if (wrong) return wrong;
    const stored = await findSubscription(deps.db, caller.partyId, params.subscriptionID);
    if (!stored) return refuse('subscriptionNotFound');
    const { subscription, changedAt } = stored;
    const preview = previewChange(subscription, wanted, latest(now, changedAt));
    if (!preview.ok) return preview;
    const refusal = await refusalOf(preview.value.after, now, deps);
    return accept({ ...previewBody(preview.value), ...defined({ refusal }) });
  },
});

/** The card is charged for these items only if the payer has agreed to them. */
async function refusalOf(
  { terms, parent, items, scheduledItems }: Subscription,
  now: Instant,
  deps: ConsentDeps,
) {
  const wanted = { ...terms, items: scheduledItems ?? items };
  const { partyId, customerId } = terms;
  if (customerId === undefined) {
    if (!parent) return 'customerNotReady';
    const allowed = await allowedBySeries(seriesIdOf(parent), wanted, now, deps);
    return allowed.ok ? undefined : allowed.refusal.code;
  }
  const customer = await deps.customers.chargeable(deps.db, partyId, customerId);
  if (!customer) return 'customerNotReady';
  const allowed = await allowedByConsent(customer, wanted, now, deps);
  return allowed.ok ? undefined : allowed.refusal.code;
}

function previewBody({ asOf, change: reckoned, after, next }: Preview): Static<typeof PreviewSchema> {
  const { items, scheduledItems, creditMinor } = after;
  return {
    asOf,
    takesEffect: reckoned ? 'now' : 'nextPeriod',
    items: cartBody(scheduledItems ?? items),
    amount: reckoned ? Number(dueOf(reckoned)) : 0,
    creditBalance: Number(creditMinor),
    ...(reckoned
      ? {
          charge: Number(reckoned.chargeMinor),
          credit: Number(reckoned.creditMinor),
          fromBalance: Number(reckoned.fromBalanceMinor),
        }
      : {}),
    ...defined({ next: next && upcomingBody(next) }),
  };
}

export const changeSubscription = endpoint({
  ...writing,
  operation: 'changeSubscription',
  path: '/v2/processing/subscriptions/{subscriptionID}/change',
  summary: 'Change the items or the time zone',
  description:
    'What is dearer now has an invoice, which the saved card or the payer pays. What is cheaper gives credit.',
  body: ChangeParams,
  bodyExample,
  errors: [...changeErrors, ...refusals, 'invalidInvoiceCart', ...tradingRefusals],
  handle: async (request, deps: ChangeDeps) => {
    const wanted = wantedOf(request.body);
    const wrong = wanted.items && wrongCart(wanted.items);
    if (wrong) return wrong;
    const invoiceId = deps.ids.next();
    return change(
      request,
      deps,
      (subscription, now) => decideChange(subscription, wanted, invoiceId, now),
      'a shop that trades',
    );
  },
});

export const takeBackSubscriptionChange = endpoint({
  ...writing,
  operation: 'takeBackSubscriptionChange',
  path: '/v2/processing/subscriptions/{subscriptionID}/unchange',
  summary: 'Take back a change that waits',
  errors: changeErrors,
  handle: (request, deps: ChangeDeps) => change(request, deps, decideTakeBackChange),
});
