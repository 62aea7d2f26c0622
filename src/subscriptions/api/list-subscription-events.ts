// GET …/events: what happened to a subscription, in order, with the state right after each change.
import { Type, type Static } from 'typebox';
import { declineClasses } from '../../acquiring/domain/decline-class.ts';
import { CartSchema } from '../../invoices/api/schema.ts';
import type { Database } from '../../platform/database/database.ts';
import type { LoggedEvent } from '../../platform/events/domain/topic.ts';
import { readVisible } from '../../platform/events/read-log.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { Amount, DateTime, EntityID, EventPage } from '../../platform/http/schemas.ts';
import { accept, refuse } from '../../refusal.ts';
import { evolve, type Subscription, type SubscriptionFact } from '../domain/subscription.ts';
import { readSubscriptionLog } from '../store/subscription-log.ts';
import { changesBy, subscriptionChangeTypes } from '../webhook-events.ts';
import { LocalDate, PeriodSchema, SubscriptionPath, SubscriptionSchema, UpcomingSchema } from './schema.ts';

const ChangeOfItems = Type.Object(
  {
    ofPeriod: Type.Integer(),
    charge: { ...Amount, minimum: 0 },
    credit: { ...Amount, minimum: 0 },
    fromBalance: { ...Amount, minimum: 0 },
    amount: { ...Amount, minimum: 0 },
    invoiceID: Type.Optional(EntityID),
    payableUntil: Type.Optional(DateTime),
    startsOn: Type.Optional(LocalDate),
  },
  { title: 'ChangeOfItems' },
);

/** The members of the webhook events, so that who polls knows as much. */
const SubscriptionChange = Type.Object(
  {
    changeType: Type.Enum(subscriptionChangeTypes, {
      description: 'As the type of the webhook event. Skip those that you do not know.',
    }),
    subscription: SubscriptionSchema,
    period: Type.Optional(PeriodSchema),
    upcoming: Type.Optional(UpcomingSchema),
    changed: Type.Optional(Type.Array(Type.String())),
    by: Type.Optional(Type.String()),
    reason: Type.Optional(Type.String()),
    payment: Type.Optional(Type.Object({ invoiceID: EntityID, paymentID: EntityID })),
    invoiceID: Type.Optional(EntityID),
    amount: Type.Optional({ ...Amount, minimum: 0 }),
    isUnannounced: Type.Optional(Type.Boolean()),
    declineClass: Type.Optional(Type.Enum([...declineClasses])),
    nextTryAt: Type.Optional(DateTime),
    triesLeft: Type.Optional(Type.Integer()),
    graceUntil: Type.Optional(DateTime),
    anchorOn: Type.Optional(LocalDate),
    items: Type.Optional(CartSchema),
    change: Type.Optional(ChangeOfItems),
    announcement: Type.Optional(Type.Enum(['accepted', 'refused'])),
  },
  { title: 'SubscriptionChange' },
);
type SubscriptionChange = Static<typeof SubscriptionChange>;

const SubscriptionEvent = Type.Object(
  { id: Type.Integer({ minimum: 1 }), createdAt: DateTime, changes: Type.Array(SubscriptionChange) },
  { title: 'SubscriptionEvent' },
);

export const listSubscriptionEvents = endpoint({
  operation: 'listSubscriptionEvents',
  access: { scope: 'subscriptions:read', maskedAs: 'subscriptionNotFound' },
  method: 'GET',
  path: '/v2/processing/subscriptions/{subscriptionID}/events',
  tag: 'Subscriptions',
  summary: 'List the events of a subscription',
  description:
    'Oldest first. To follow a subscription, request events after the last ID you have. The changes say what the webhook events say.',
  params: SubscriptionPath,
  query: EventPage,
  status: 200,
  response: Type.Array(SubscriptionEvent),
  errors: ['subscriptionNotFound'],
  handle: async ({ caller, params, query }, { db }: { readonly db: Database }) => {
    const name = { partyId: caller.partyId, id: params.subscriptionID };
    const { eventID: seen = 0, limit } = query;
    const events = await eventsAfter((page) => readSubscriptionLog(db, name, page), { seen, limit });
    return events ? accept(events) : refuse('subscriptionNotFound');
  },
});

type Read = (page: { after: number; limit: number }) => Promise<LoggedEvent<SubscriptionFact>[] | undefined>;

/** The state follows from the whole log. What the page does not show is not built, and without news the log is not read. */
export async function eventsAfter(
  read: Read,
  { seen, limit }: { readonly seen: number; readonly limit: number },
  report = changesBy,
): Promise<Static<typeof SubscriptionEvent>[] | undefined> {
  if (seen > 0) {
    const news = await read({ after: seen, limit: 1 });
    if (!news || news.length === 0) return news && [];
  }
  let subscription: Subscription | undefined;
  let shown = 0;
  return readVisible(read, { limit, from: 'start' }, ({ sequence: id, createdAt, facts }) => {
    const changes: SubscriptionChange[] = [];
    if (id <= seen) for (const fact of facts) subscription = evolve(subscription, fact, createdAt);
    else if (shown < limit) {
      const reported = report(subscription, facts, createdAt);
      subscription = reported.after;
      for (const { changeType, members } of reported.changes)
        changes.push({ changeType, ...members } as SubscriptionChange);
      shown += Math.min(changes.length, 1);
    }
    return { id, createdAt, changes };
  });
}
