// POST /v2/processing/subscriptions: charges of a saved card that the service makes automatically.
import type { Instant } from '../../clock.ts';
import type { Customers } from '../../customers/port.ts';
import { defined } from '../../defined.ts';
import type { Ids } from '../../ids.ts';
import { wrongCart } from '../../invoices/domain/invoice.ts';
import { cartIdentity } from '../../invoices/api/schema.ts';
import { tradingRefusals, type Shop } from '../../merchants/domain/party.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import { noSavedCard, type ChargeableCustomer } from '../../payments/domain/payer/chargeable-customer.ts';
import type { Database } from '../../platform/database/database.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { createIdempotently, requestFingerprint } from '../../platform/http/idempotent-create.ts';
import { metadataProblem } from '../../platform/http/schemas.ts';
import type { JobRunner } from '../../platform/jobs/job-runner.ts';
import type { Charging, Consents } from '../../recurring/port.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import { chargeRefusals, type ChargeRefusal } from '../../retry-rules/domain/may-charge.ts';
import { everyOf } from '../../retry-rules/domain/periods.ts';
import { decideCreate } from '../domain/commands.ts';
import { usualPolicy } from '../domain/dunning.ts';
import { sumOf } from '../domain/proration.ts';
import { evolve, evolveAll, nextAction, type SubscriptionTerms } from '../domain/subscription.ts';
import type { PayerEmails } from '../payer-emails.ts';
import { findSubscriptionByExternalId, storeNewSubscription } from '../store/subscriptions.ts';
import {
  itemsOf,
  subscriptionBody,
  subscriptionExample,
  SubscriptionParams,
  SubscriptionSchema,
} from './schema.ts';

type Deps = {
  readonly db: Database;
  readonly ids: Ids;
  readonly merchants: Merchants;
  readonly customers: Customers;
  readonly charging: Charging;
  readonly consents: Consents;
  readonly payerEmails: PayerEmails;
  readonly jobs: Pick<JobRunner, 'wake'>;
};

export const createSubscription = endpoint({
  operation: 'createSubscription',
  access: { scope: 'subscriptions:write' },
  method: 'POST',
  path: '/v2/processing/subscriptions',
  tag: 'Subscriptions',
  summary: 'Create a subscription',
  description:
    'Mandate charges the saved card of the customer for each period, the first one at once or after the trial. A failed charge is ' +
    'retried within the rules of recurring charges. The payer must have agreed to the terms.',
  body: SubscriptionParams,
  bodyExample: subscriptionExample,
  validateBody: ({ metadata }) => metadataProblem(metadata ?? {}),
  status: 201,
  response: SubscriptionSchema,
  errors: [
    'customerNotFound',
    'customerNotReady',
    'invalidInvoiceCart',
    ...chargeRefusals,
    ...tradingRefusals,
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
      make: () => make(body, fingerprint, partyId, now, deps),
    });
  },
});

async function make(
  body: SubscriptionParams,
  fingerprint: Buffer,
  partyId: string,
  now: Instant,
  deps: Deps,
) {
  const { db, customers, merchants, ids, jobs } = deps;
  const customer = await customers.chargeable(db, partyId, body.customerID);
  if (!customer) return refuse('customerNotFound');
  const shop = await merchants.trading({ partyId, shopId: customer.shopId });
  if (!shop.ok) return shop;
  const terms = termsOf(body, shop.value, ids.next(), now);
  if (!terms.ok) return terms;
  const decision = decideCreate(terms.value, now);
  if (!decision.ok) return refuse('invalidRequest', defined({ message: decision.refusal.hint }));
  const agreed = await allowedByConsent(customer, terms.value, now, deps);
  if (!agreed.ok) return agreed;
  const [created, ...others] = decision.value;
  if (!created) throw new Error('A subscription is created by a fact.');
  const before = evolve(undefined, created, now);
  const subscription = evolveAll(before, others, now);
  const wakeAt = nextAction(subscription)?.at;
  const isStored = await db.transaction(async (tx) => {
    if (!(await storeNewSubscription(tx, subscription, decision.value, wakeAt, fingerprint))) return false;
    await deps.payerEmails.write(tx, { subscription: before, version: 0 }, others, now);
    return true;
  });
  if (!isStored) return 'externalIdTaken';
  db.afterCommit(() => jobs.wake());
  return accept(subscriptionBody(subscription));
}

function termsOf(
  body: SubscriptionParams,
  { partyId, id: shopId, currency }: Shop,
  id: string,
  now: Instant,
): Outcome<SubscriptionTerms, 'invalidRequest' | 'invalidInvoiceCart'> {
  const every = everyOf(body.every);
  if (!every) return refuse('invalidRequest', { message: '`every` must not be zero.' });
  const { anchorDay: day, anchorMonth: month, firstPeriod = 'free', periods, trialDays } = body;
  const { ifUnpaid = 'unpaid', chargeFrom = '06:00', chargeUntil = '10:00' } = body;
  if (day === undefined && (month !== undefined || body.firstPeriod !== undefined))
    return refuse('invalidRequest', { message: '`anchorMonth` and `firstPeriod` need `anchorDay`.' });
  const dunning = usualPolicy(every, ifUnpaid);
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
    customerId: body.customerID,
    createdAt: now,
    currency,
    startsWith: 'savedCard',
    items,
    schedule: {
      every,
      zone: body.timeZone,
      chargeAt,
      anchor: day === undefined ? 'atStart' : { day, firstPeriod, ...defined({ month }) },
      ...defined({ trialDays, ends: periods === undefined ? undefined : { periods } }),
    },
    catchUp: body.catchUp ?? 'current',
    dunning,
    trialWithoutCard: ifUnpaid,
    ...defined({ externalId: body.externalID, metadata: body.metadata }),
  });
}

/** What only a new consent or card would change. A wait is no reason: the first charge waits too. */
async function allowedByConsent(
  { id: customerId, card }: ChargeableCustomer,
  { partyId, items, currency }: SubscriptionTerms,
  now: Instant,
  { db, charging, consents }: Deps,
): Promise<Outcome<undefined, ChargeRefusal['code'] | 'customerNotReady'>> {
  if (!card) return noSavedCard();
  const { token, livemode, seriesId: named } = card;
  const seriesId = await consents.seriesOfCustomer(db, { named, customerId, partyId, livemode, token });
  const amount = { minor: sumOf(items), currency };
  const found = await charging.preview(db, seriesId, { invoiceCreatedAt: 'then', amount }, now);
  if (!found) throw new Error(`Customer ${customerId} is ready but has no series.`);
  const { decision } = found;
  if (decision.may || decision.retryAfter !== undefined || decision.rule === 'attemptPending')
    return accept(undefined);
  return refuse(decision.code, { details: { rule: decision.rule, rulePack: decision.pack } });
}
