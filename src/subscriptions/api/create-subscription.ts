// POST /v2/processing/subscriptions: charges that the service makes automatically, of a saved card or after a payment of the payer.
import type { Instant } from '../../clock.ts';
import type { Customers } from '../../customers/port.ts';
import { defined } from '../../defined.ts';
import type { Ids } from '../../ids.ts';
import { wrongCart } from '../../invoices/domain/invoice.ts';
import { cartIdentity } from '../../invoices/api/schema.ts';
import { tradingRefusals, type Shop } from '../../merchants/domain/party.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import { noSavedCard, type ChargeableCustomer } from '../../payments/domain/payer/chargeable-customer.ts';
import { allOrNothing } from '../../platform/database/all-or-nothing.ts';
import type { Database } from '../../platform/database/database.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { createIdempotently, requestFingerprint } from '../../platform/http/idempotent-create.ts';
import { metadataProblem } from '../../platform/http/schemas.ts';
import type { JobRunner } from '../../platform/jobs/job-runner.ts';
import type { Charging, Consents } from '../../recurring/port.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import { chargeRefusals, type ChargeRefusal } from '../../retry-rules/domain/may-charge.ts';
import { everyOf } from '../../retry-rules/domain/periods.ts';
import { allowedBySeries } from '../charged-series.ts';
import { decideCreate } from '../domain/commands.ts';
import { usualPolicy, type DunningPolicy } from '../domain/dunning/dunning.ts';
import { costOfFirst } from '../domain/first-payment.ts';
import { checkSchedule } from '../domain/schedule.ts';
import { evolve, evolveAll, type SubscriptionTerms } from '../domain/subscription.ts';
import { dutiesOf } from '../duty-steps.ts';
import type { PayerEmails } from '../payer-emails.ts';
import { findPolicyFor } from '../store/dunning-policies.ts';
import { findSubscriptionByExternalId, storeNewSubscription } from '../store/subscriptions.ts';
import { claimUniqueKey } from '../store/unique-keys.ts';
import { wakeTimeOf } from '../domain/wake-time.ts';
import { invoiceFirst } from '../write-facts.ts';
import {
  itemsOf,
  subscriptionBody,
  subscriptionExample,
  SubscriptionParams,
  SubscriptionSchema,
} from './schema.ts';

export type ConsentDeps = {
  readonly db: Database;
  readonly customers: Customers;
  readonly charging: Charging;
  readonly consents: Consents;
};
type Deps = ConsentDeps & {
  readonly ids: Ids;
  readonly merchants: Merchants;
  readonly payerEmails: Pick<PayerEmails, 'write'>;
  readonly jobs: Pick<JobRunner, 'wake'>;
};

/** The policy of a shop that its subscriptions have which name none. */
const defaultPolicy = 'default';

export const createSubscription = endpoint({
  operation: 'createSubscription',
  access: { scope: 'subscriptions:write' },
  method: 'POST',
  path: '/v2/processing/subscriptions',
  tag: 'Subscriptions',
  summary: 'Create a subscription',
  description:
    'Mandate charges a card for each period, and retries within the rules of recurring charges what fails. With `customerID`, it is the ' +
    'saved card, at once or after the trial. With `shopID`, it is the card with which the payer pays `firstInvoiceID`.',
  body: SubscriptionParams,
  bodyExample: subscriptionExample,
  validateBody: ({ metadata }) => metadataProblem(metadata ?? {}),
  status: 201,
  response: SubscriptionSchema,
  errors: [
    'customerNotFound',
    'customerNotReady',
    'invalidInvoiceCart',
    'dunningPolicyNotFound',
    'invalidDunningPolicy',
    ...chargeRefusals,
    ...tradingRefusals,
    'subscriptionKeyTaken',
    'externalIDConflict',
  ],
  handle: async ({ caller, body, now }, deps: Deps) => {
    const { db } = deps;
    const { partyId } = caller;
    const { externalID, metadata: _, items, ...asked } = body;
    const fingerprint = requestFingerprint([asked, cartIdentity(items)]);
    return createIdempotently({
      externalId: externalID,
      fingerprint,
      order: 'findFirst',
      find: (externalId) => findSubscriptionByExternalId(db, partyId, externalId),
      respond: async ({ subscription }) => {
        const trading = await deps.merchants.trading(subscription.terms);
        return trading.ok ? accept(subscriptionBody(subscription)) : trading;
      },
      make: () => allOrNothing(db, (tx) => make(body, fingerprint, { partyId, now }, { ...deps, db: tx })),
    });
  },
});

async function make(
  body: SubscriptionParams,
  fingerprint: Buffer,
  { partyId, now }: { readonly partyId: string; readonly now: Instant },
  deps: Deps,
) {
  const { db, merchants, ids, jobs } = deps;
  const payer = await payerOf(body, partyId, deps);
  if (!payer.ok) return payer;
  const { customer, shopId } = payer.value;
  const shop = await merchants.trading({ partyId, shopId });
  if (!shop.ok) return shop;
  const id = ids.next();
  const named = await namedPolicy(body, { partyId, shopId }, id, deps);
  if (!named.ok) return named;
  const agreed = termsOf(body, shop.value, { id, ...named.value }, now);
  if (!agreed.ok) return agreed;
  const terms = customer ? accept(agreed.value) : startedByPayment(agreed.value, body, ids.next(), now);
  if (!terms.ok) return terms;
  const decision = decideCreate(terms.value, now);
  if (!decision.ok) {
    const { code, hint } = decision.refusal;
    return code === 'invalidRequest' ? refuse(code, defined({ message: hint })) : decision;
  }
  const allowed = customer && (await allowedByConsent(customer, terms.value, now, deps));
  if (allowed && !allowed.ok) return allowed;
  const [created, ...started] = decision.value;
  if (!created) throw new Error('A subscription is created by a fact.');
  const before = evolve(undefined, created, now);
  const others = [...started, ...(await dutiesOf(deps, evolveAll(before, started, now)))];
  const subscription = evolveAll(before, others, now);
  const wakeAt = wakeTimeOf(subscription, now);
  if (!(await storeNewSubscription(db, subscription, [created, ...others], wakeAt, fingerprint)))
    return 'versionConflict';
  const key = await claimUniqueKey(db, terms.value);
  if (key === 'versionConflict') return key;
  if (key !== 'claimed') return refuse('subscriptionKeyTaken', { details: { id: key.takenBy } });
  await invoiceFirst(db, subscription, now, merchants);
  await deps.payerEmails.write(db, { subscription: before, version: 0 }, others, now);
  db.afterCommit(() => jobs.wake());
  return accept(subscriptionBody(subscription));
}

/** The customer whose card is charged. Without one, the payer starts it with a payment to a shop. */
async function payerOf(
  { customerID, shopID: shopId, firstAmount }: SubscriptionParams,
  partyId: string,
  { db, customers }: Pick<Deps, 'db' | 'customers'>,
): Promise<
  Outcome<
    { readonly shopId: string; readonly customer?: ChargeableCustomer },
    'invalidRequest' | 'customerNotFound'
  >
> {
  if ((customerID === undefined) === (shopId === undefined))
    return refuse('invalidRequest', { message: 'Send either `customerID` or `shopID`.' });
  if (customerID === undefined) return accept({ shopId: shopId ?? '' });
  if (firstAmount !== undefined)
    return refuse('invalidRequest', { message: '`firstAmount` needs `shopID` instead of `customerID`.' });
  const customer = await customers.chargeable(db, partyId, customerID);
  return customer ? accept({ shopId: customer.shopId, customer }) : refuse('customerNotFound');
}

function startedByPayment(
  terms: SubscriptionTerms,
  { firstAmount }: SubscriptionParams,
  invoiceId: string,
  now: Instant,
): Outcome<SubscriptionTerms, 'invalidRequest'> {
  // Without an unknown zone, the first period has dates.
  const checked = checkSchedule(terms.schedule);
  if (!checked.ok) return refuse('invalidRequest', defined({ message: checked.refusal.hint }));
  const amountMinor = firstAmount === undefined ? costOfFirst(terms, now) : BigInt(firstAmount);
  if (amountMinor === 0n)
    return refuse('invalidRequest', {
      message: 'The first period is free. Send `firstAmount`, or save a card first and send `customerID`.',
    });
  return accept({ ...terms, startsWith: 'firstPayment', firstInvoice: { id: invoiceId, amountMinor } });
}

type Named = { readonly dunningPolicy?: string; readonly dunning?: DunningPolicy };

/** The policy of the shop. Nothing: the built-in one. */
async function namedPolicy(
  { dunningPolicy: asked, ifUnpaid }: SubscriptionParams,
  of: { readonly partyId: string; readonly shopId: string },
  id: string,
  { db }: Deps,
): Promise<Outcome<Named, 'invalidRequest' | 'dunningPolicyNotFound'>> {
  if (asked !== undefined && ifUnpaid !== undefined)
    return refuse('invalidRequest', {
      message: '`ifUnpaid` is a part of `dunningPolicy`. Send one of them.',
    });
  if (ifUnpaid !== undefined) return accept({});
  const dunningPolicy = asked ?? defaultPolicy;
  const dunning = await findPolicyFor(db, of, dunningPolicy, id);
  if (dunning) return accept({ dunningPolicy, dunning });
  return asked === undefined ? accept({}) : refuse('dunningPolicyNotFound');
}

/** What means nothing without another member. */
function whatLacks(body: SubscriptionParams): string | undefined {
  const { anchorDay, anchorMonth, firstPeriod, trialDays, trialWithoutCard, periods, endsOn } = body;
  if (periods !== undefined && endsOn !== undefined)
    return '`periods` and `endsOn` are both an end. Send one of them.';
  if (anchorDay === undefined && (anchorMonth !== undefined || firstPeriod !== undefined))
    return '`anchorMonth` and `firstPeriod` need `anchorDay`.';
  return trialDays === undefined && trialWithoutCard !== undefined
    ? '`trialWithoutCard` needs `trialDays`.'
    : undefined;
}

function endsOf({ periods, endsOn }: SubscriptionParams): SubscriptionTerms['schedule']['ends'] {
  if (periods !== undefined) return { periods };
  return endsOn === undefined ? undefined : { before: endsOn };
}

function termsOf(
  body: SubscriptionParams,
  { partyId, id: shopId, currency }: Shop,
  { id, dunningPolicy, dunning: named }: Named & { readonly id: string },
  now: Instant,
): Outcome<SubscriptionTerms, 'invalidRequest' | 'invalidInvoiceCart'> {
  const every = everyOf(body.every);
  if (!every) return refuse('invalidRequest', { message: '`every` must not be zero.' });
  const { anchorDay: day, anchorMonth: month, firstPeriod = 'free', trialDays } = body;
  const { ifUnpaid = 'unpaid', chargeFrom = '06:00', chargeUntil = '10:00' } = body;
  const lacking = whatLacks(body);
  if (lacking !== undefined) return refuse('invalidRequest', { message: lacking });
  const dunning = named ?? usualPolicy(every, ifUnpaid);
  if (!dunning)
    return refuse('invalidRequest', {
      message: '`every` must be three days or more, so that a failed charge can be retried.',
    });
  const items = itemsOf(body.items);
  const cart = wrongCart(items);
  if (cart) return cart;
  const chargeAt = { from: chargeFrom, until: chargeUntil };
  return accept({
    id,
    partyId,
    shopId,
    createdAt: now,
    currency,
    startsWith: 'savedCard',
    items,
    schedule: {
      every,
      zone: body.timeZone,
      chargeAt,
      anchor: day === undefined ? 'atStart' : { day, firstPeriod, ...defined({ month }) },
      ...defined({ trialDays, ends: endsOf(body) }),
    },
    catchUp: body.catchUp ?? 'current',
    dunning,
    trialWithoutCard: body.trialWithoutCard ?? dunning.finally,
    ...defined({
      customerId: body.customerID,
      firstPeriod: body.continuesWith,
      dunningPolicy,
      externalId: body.externalID,
      uniqueKey: body.uniqueKey,
      metadata: body.metadata,
    }),
  });
}

export async function allowedByConsent(
  { id: customerId, card }: ChargeableCustomer,
  terms: SubscriptionTerms,
  now: Instant,
  deps: ConsentDeps,
): Promise<Outcome<undefined, ChargeRefusal['code'] | 'customerNotReady'>> {
  if (!card) return noSavedCard();
  const { token, livemode, seriesId: named } = card;
  const of = { named, customerId, partyId: terms.partyId, livemode, token };
  return allowedBySeries(await deps.consents.seriesOfCustomer(deps.db, of), terms, now, deps);
}
