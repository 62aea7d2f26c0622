// Reads of subscriptions: one, those of a shop or a customer, what was due, and what will be.
import { Type } from 'typebox';
import type { Merchants } from '../../merchants/merchants.ts';
import type { Database } from '../../platform/database/database.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { EntityID, externalIDToFind } from '../../platform/http/schemas.ts';
import { listedInParts, PageQuery, pageSchema } from '../../platform/lists/pages.ts';
import { accept, refuse } from '../../refusal.ts';
import { upcoming } from '../domain/period-rows.ts';
import { listSubscriptions as readList } from '../store/subscription-lists.ts';
import {
  findPeriods,
  findSubscription,
  findSubscriptionByExternalId,
  findSubscriptionsOfCustomer,
} from '../store/subscriptions.ts';
import {
  periodBody,
  PeriodSchema,
  subscriptionBody,
  SubscriptionPath,
  SubscriptionSchema,
  SubscriptionStatus,
  upcomingBody,
  UpcomingSchema,
} from './schema.ts';

type Deps = { readonly db: Database };
const mayRead = { scope: 'subscriptions:read', maskedAs: 'subscriptionNotFound' } as const;

export const getSubscription = endpoint({
  operation: 'getSubscription',
  access: mayRead,
  method: 'GET',
  path: '/v2/processing/subscriptions/{subscriptionID}',
  tag: 'Subscriptions',
  summary: 'Get a subscription',
  params: SubscriptionPath,
  status: 200,
  response: SubscriptionSchema,
  errors: ['subscriptionNotFound'],
  handle: async ({ caller, params }, { db }: Deps) => {
    const found = await findSubscription(db, caller.partyId, params.subscriptionID);
    return found ? accept(subscriptionBody(found.subscription)) : refuse('subscriptionNotFound');
  },
});

export const findSubscriptionByExternalID = endpoint({
  operation: 'findSubscription',
  access: mayRead,
  method: 'GET',
  path: '/v2/processing/subscriptions',
  tag: 'Subscriptions',
  summary: 'Find a subscription by externalID',
  query: Type.Object({ externalID: externalIDToFind('list those of the customer') }),
  status: 200,
  response: SubscriptionSchema,
  errors: ['subscriptionNotFound'],
  handle: async ({ caller, query }, { db }: Deps) => {
    const found = await findSubscriptionByExternalId(db, caller.partyId, query.externalID);
    return found ? accept(subscriptionBody(found.value.subscription)) : refuse('subscriptionNotFound');
  },
});

export const listSubscriptions = endpoint({
  operation: 'listSubscriptions',
  access: { scope: 'subscriptions:read' },
  method: 'GET',
  path: '/v2/processing/shops/{shopID}/subscriptions',
  tag: 'Subscriptions',
  summary: 'List the subscriptions of a shop, newest first',
  description:
    'With a filter a page may be short or empty. It is the last one if it has no `continuationToken`.',
  params: Type.Object({ shopID: EntityID }),
  query: Type.Object({
    ...PageQuery,
    status: Type.Optional(SubscriptionStatus),
    parked: Type.Optional(Type.Enum(['true', 'false'], { description: 'With or without `parkedFor`.' })),
  }),
  status: 200,
  response: pageSchema('SubscriptionPage', SubscriptionSchema),
  errors: ['shopNotFound', 'invalidContinuationToken'],
  handle: async ({ caller, params, query }, { db, merchants }: Deps & { readonly merchants: Merchants }) => {
    const { partyId } = caller;
    const { shopID: shopId } = params;
    if (!(await merchants.shop(partyId, shopId))) return refuse('shopNotFound');
    const { status, parked } = query;
    const of = { partyId, shopId, status, isParked: parked && parked === 'true' };
    return listedInParts(
      { ...query, ...params },
      (page) => readList(db, { ...of, ...page }),
      ({ subscription }) => subscriptionBody(subscription),
    );
  },
});

export const listCustomerSubscriptions = endpoint({
  operation: 'listCustomerSubscriptions',
  access: { scope: 'subscriptions:read' },
  method: 'GET',
  path: '/v2/processing/customers/{customerID}/subscriptions',
  tag: 'Subscriptions',
  summary: 'List the subscriptions of a customer',
  description: 'The newest first, at most 100. Empty for an unknown customer.',
  params: Type.Object({ customerID: EntityID }),
  status: 200,
  response: Type.Array(SubscriptionSchema),
  errors: [],
  handle: async ({ caller, params }, { db }: Deps) => {
    const found = await findSubscriptionsOfCustomer(db, caller.partyId, params.customerID);
    return accept(found.map(({ subscription }) => subscriptionBody(subscription)));
  },
});

export const listSubscriptionPeriods = endpoint({
  operation: 'listSubscriptionPeriods',
  access: mayRead,
  method: 'GET',
  path: '/v2/processing/subscriptions/{subscriptionID}/periods',
  tag: 'Subscriptions',
  summary: 'List the periods of a subscription',
  description: 'Those that were due, from the newest one back.',
  params: SubscriptionPath,
  query: Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 100 })),
    before: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'The number of the last period you have.',
      }),
    ),
  }),
  status: 200,
  response: Type.Array(PeriodSchema),
  errors: ['subscriptionNotFound'],
  handle: async ({ caller, params, query }, { db }: Deps) => {
    const found = await findSubscription(db, caller.partyId, params.subscriptionID);
    if (!found) return refuse('subscriptionNotFound');
    const { limit = 100, before = 1_000_001 } = query;
    return accept((await findPeriods(db, params.subscriptionID, { before, limit })).map(periodBody));
  },
});

export const listUpcomingPeriods = endpoint({
  operation: 'listUpcomingPeriods',
  access: mayRead,
  method: 'GET',
  path: '/v2/processing/subscriptions/{subscriptionID}/upcoming',
  tag: 'Subscriptions',
  summary: 'List the periods to come',
  description:
    'As they are if nothing else happens. Empty once no period follows, or while only a person can continue it.',
  params: SubscriptionPath,
  query: Type.Object({ count: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 12 })) }),
  status: 200,
  response: Type.Array(UpcomingSchema),
  errors: ['subscriptionNotFound'],
  handle: async ({ caller, params, query }, { db }: Deps) => {
    const found = await findSubscription(db, caller.partyId, params.subscriptionID);
    if (!found) return refuse('subscriptionNotFound');
    return accept(upcoming(found.subscription, query.count ?? 12).map(upcomingBody));
  },
});
