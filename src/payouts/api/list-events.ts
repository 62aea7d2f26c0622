// Lists the events of withdrawals and destinations from their logs, for polling.
import { Type } from 'typebox';
import { endpoint } from '../../platform/http/endpoint.ts';
import { DateTime } from '../../platform/http/schemas.ts';
import type { LoggedEvent } from '../../platform/events/domain/topic.ts';
import { accept, refuse } from '../../refusal.ts';
import { DestinationPath } from './destination-schema.ts';
import type { BankWords } from '../../acquiring/domain/bank-words.ts';
import type { PayoutFailure } from '../../wallets/domain/failure-path.ts';
import { AnyID } from '../../identities/api/shared-schema.ts';
import type { DestinationLogFact, WithdrawalLogFact } from '../store/codec.ts';
import { readDestinationLog, readWithdrawalLog } from '../store/payout-logs.ts';
import type { Returned } from '../domain/withdrawal.ts';
import { failureBody, FailureOfBank, returnedBody, ReturnedSchema, WithdrawalPath } from './schema.ts';
import type { Database } from '../../platform/database/database.ts';

const EventQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 1_000 }),
  eventCursor: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 2_147_483_647,
      description: 'The last eventID you have. Only later events are returned.',
    }),
  ),
});

const eventSchema = (title: string, changes: readonly string[], statuses: readonly string[]) =>
  Type.Object(
    {
      eventID: Type.Integer(),
      occuredAt: DateTime,
      changes: Type.Array(
        Type.Object({
          type: Type.Enum([...changes]),
          status: Type.Enum([...new Set(statuses)]),
          failure: Type.Optional(FailureOfBank),
          returned: Type.Optional(ReturnedSchema),
        }),
      ),
    },
    { title },
  );

const withdrawalStatuses = {
  withdrawal_started: 'Pending',
  withdrawal_succeeded: 'Succeeded',
  withdrawal_failed: 'Failed',
  withdrawal_returned: 'Succeeded',
} as const satisfies Record<WithdrawalLogFact['type'], string>;
const WithdrawalEvent = eventSchema(
  'WithdrawalEvent',
  ['WithdrawalStatusChanged', 'WithdrawalReturned'],
  Object.values(withdrawalStatuses),
);
/** An inconclusive check has no status. If no check ever succeeds, the stuck-jobs list says why. */
const destinationStatuses = {
  destination_created: 'Unauthorized',
  destination_authorized: 'Authorized',
  destination_refused: 'Unauthorized',
} as const satisfies Partial<Record<DestinationLogFact['type'], string>>;
const DestinationEvent = eventSchema(
  'DestinationEvent',
  ['DestinationStatusChanged'],
  ['Unauthorized', 'Authorized'],
);

export const listWithdrawalEvents = endpoint({
  operation: 'listWithdrawalEvents',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/wallet/v0/withdrawals/{withdrawalID}/events',
  tag: 'Withdrawals',
  summary: 'List the events of a withdrawal, oldest first',
  params: WithdrawalPath,
  query: EventQuery,
  status: 200,
  response: Type.Array(WithdrawalEvent),
  errors: ['withdrawalNotFound'],
  handle: async ({ caller, params, query }, { db }: { db: Database }) => {
    const name = { partyId: caller.partyId, id: params.withdrawalID };
    const page = { after: query.eventCursor ?? 0, limit: query.limit };
    const events = await readWithdrawalLog(db, name, page);
    return events ? accept(events.map(withdrawalEventBody)) : refuse('withdrawalNotFound');
  },
});

export const getWithdrawalEvent = endpoint({
  operation: 'getWithdrawalEvent',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/wallet/v0/withdrawals/{withdrawalID}/events/{eventID}',
  tag: 'Withdrawals',
  summary: 'Get an event of a withdrawal',
  params: Type.Object({ withdrawalID: AnyID, eventID: AnyID }),
  status: 200,
  response: WithdrawalEvent,
  errors: ['withdrawalNotFound'],
  handle: async ({ caller, params }, { db }: { db: Database }) => {
    const eventId = /^[1-9]\d{0,8}$/.test(params.eventID) ? Number(params.eventID) : undefined;
    if (eventId === undefined) return refuse('withdrawalNotFound');
    const name = { partyId: caller.partyId, id: params.withdrawalID };
    const [event] = (await readWithdrawalLog(db, name, { after: eventId - 1, limit: 1 })) ?? [];
    return event ? accept(withdrawalEventBody(event)) : refuse('withdrawalNotFound');
  },
});

export const listDestinationEvents = endpoint({
  operation: 'listDestinationEvents',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/wallet/v0/destinations/{destinationID}/events',
  tag: 'Destinations',
  summary: 'List the events of a destination, oldest first',
  description:
    'An event without changes is an inconclusive check: the status stays, and the bank is asked again.',
  params: DestinationPath,
  query: EventQuery,
  status: 200,
  response: Type.Array(DestinationEvent),
  errors: ['destinationNotFound'],
  handle: async ({ caller, params, query }, { db }: { db: Database }) => {
    const name = { partyId: caller.partyId, id: params.destinationID };
    const page = { after: query.eventCursor ?? 0, limit: query.limit };
    const events = await readDestinationLog(db, name, page);
    return events ? accept(events.map(destinationEventBody)) : refuse('destinationNotFound');
  },
});

function withdrawalEventBody(event: LoggedEvent<WithdrawalLogFact>) {
  return eventBody('WithdrawalStatusChanged', withdrawalStatuses, event);
}

function destinationEventBody(event: LoggedEvent<DestinationLogFact>) {
  return eventBody('DestinationStatusChanged', destinationStatuses, event);
}

function eventBody(
  type: string,
  statuses: Partial<Readonly<Record<string, string>>>,
  event: LoggedEvent<{
    readonly type: string;
    readonly failure?: PayoutFailure;
    readonly bank?: BankWords;
    readonly returned?: Returned;
  }>,
) {
  const changes = event.facts.flatMap((fact) => {
    const status = statuses[fact.type];
    if (status === undefined) return [];
    return [
      {
        type: fact.returned ? 'WithdrawalReturned' : type,
        status,
        ...(fact.failure ? { failure: failureBody({ ...fact, failure: fact.failure }) } : {}),
        ...(fact.returned ? { returned: returnedBody(fact.returned) } : {}),
      },
    ];
  });
  return { eventID: event.sequence, occuredAt: event.createdAt, changes };
}
