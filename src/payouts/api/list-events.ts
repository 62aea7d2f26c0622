// Polling: what happened to a withdrawal, and to a destination, from the log.
import { anything } from '../../platform/database/codec.ts';
import { Type, type Static } from 'typebox';
import { endpoint } from '../../platform/http/endpoint.ts';
import { DateTime } from '../../platform/http/schemas.ts';
import type { LoggedEvent } from '../../platform/events/domain/topic.ts';
import { logReader } from '../../platform/events/read-log.ts';
import { accept, refuse } from '../../refusal.ts';
import type { DestinationFact } from '../domain/destination.ts';
import { DestinationPath } from './destination-schema.ts';
import { Failure, failureBody } from '../../wallets/api/failure-schema.ts';
import { AnyID } from '../../identities/api/shared-schema.ts';
import type { WithdrawalFact } from '../domain/withdrawal.ts';
import { WithdrawalPath } from './schema.ts';
import type { Database } from '../../platform/database/database.ts';

const readWithdrawalLog = logReader('withdrawal', anything);
const readDestinationLog = logReader('destination', anything);

const EventQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 1_000 }),
  eventCursor: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 2_147_483_647,
      description: 'The last eventID you have; only later events are given.',
    }),
  ),
});

const eventSchema = (title: string, change: string, statuses: readonly string[]) =>
  Type.Object(
    {
      eventID: Type.Integer(),
      occuredAt: DateTime,
      changes: Type.Array(
        Type.Object({
          type: Type.Enum([change]),
          status: Type.Enum([...statuses]),
          failure: Type.Optional(Failure),
        }),
      ),
    },
    { title },
  );

const WithdrawalEvent = eventSchema('WithdrawalEvent', 'WithdrawalStatusChanged', [
  'Pending',
  'Succeeded',
  'Failed',
]);
const DestinationEvent = eventSchema('DestinationEvent', 'DestinationStatusChanged', [
  'Unauthorized',
  'Authorized',
]);

export const listWithdrawalEvents = endpoint({
  operation: 'listWithdrawalEvents',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/wallet/v0/withdrawals/{withdrawalID}/events',
  tag: 'Withdrawals',
  summary: 'What happened to a withdrawal, oldest first',
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
  summary: 'One event of a withdrawal',
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
  summary: 'What happened to a destination, oldest first',
  description:
    'An event without changes is a check that told nothing, as when the issuer of the card was away: the status is what it was, ' +
    'and the bank is asked again.',
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

function withdrawalEventBody({
  sequence,
  createdAt,
  facts,
}: LoggedEvent<unknown>): Static<typeof WithdrawalEvent> {
  const changes = (facts as WithdrawalFact[]).map((fact) => {
    const type = 'WithdrawalStatusChanged';
    switch (fact.type) {
      case 'withdrawal_started':
        return { type, status: 'Pending' };
      case 'withdrawal_succeeded':
        return { type, status: 'Succeeded' };
      case 'withdrawal_failed':
        return { type, status: 'Failed', failure: failureBody(fact.failure) };
    }
  });
  return { eventID: sequence, occuredAt: createdAt, changes };
}

function destinationEventBody({
  sequence,
  createdAt,
  facts,
}: LoggedEvent<unknown>): Static<typeof DestinationEvent> {
  const changes = (facts as DestinationFact[]).flatMap((fact) => {
    const type = 'DestinationStatusChanged';
    switch (fact.type) {
      case 'destination_created':
        return { type, status: 'Unauthorized' };
      case 'destination_authorized':
        return { type, status: 'Authorized' };
      case 'destination_refused':
        return { type, status: 'Unauthorized', failure: failureBody(fact.failure) };
      // Whether a card takes payouts is not known by it; the operator reads why in his list, should it never be.
      case 'destination_check_failed':
        return [];
    }
  });
  return { eventID: sequence, occuredAt: createdAt, changes };
}
