// GET …/events: everything that has happened to the cards of a customer, in order.
import { anything } from '../../platform/database/codec.ts';
import { Type, type Static } from 'typebox';
import type { LoggedEvent } from '../../platform/events/domain/topic.ts';
import { logReader, readVisible } from '../../platform/events/read-log.ts';
import type { Caller } from '../../caller.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { EventPage } from '../../platform/http/schemas.ts';
import { accept, refuse } from '../../refusal.ts';
import { bindingChangeBody, CustomerEvent, type CustomerChange } from './binding-schema.ts';
import { customerFactFromJson } from '../store/codec.ts';
import { CustomerPath } from './schema.ts';
import type { Database } from '../../platform/database/database.ts';

type EventBody = Static<typeof CustomerEvent>;

const readLog = logReader('customer', anything, `status <> 'deleted'`);

export const listCustomerEvents = endpoint({
  operation: 'listCustomerEvents',
  access: {
    scope: 'customers:read',
    tokens: ['customer'],
    entity: 'customerID',
    maskedAs: 'customerNotFound',
  },
  method: 'GET',
  path: '/v2/processing/customers/{customerID}/events',
  tag: 'Customers',
  summary: 'Read the events of a customer',
  description:
    'Oldest first. To follow a customer, ask again with the id of the last event you have; an empty page means that ' +
    'nothing has happened since. Skip change types you do not know.',
  params: CustomerPath,
  query: EventPage,
  status: 200,
  response: Type.Array(CustomerEvent),
  errors: ['customerNotFound'],
  handle: async ({ caller, params, query }, { db }: { db: Database }) => {
    const name = { partyId: caller.partyId, id: params.customerID };
    const events = await readVisible(
      (page) => readLog(db, name, page),
      query,
      (event) => eventBody(event, caller),
    );
    return events ? accept(events) : refuse('customerNotFound');
  },
});

function eventBody(event: LoggedEvent<unknown>, caller: Caller): EventBody {
  return {
    id: event.sequence,
    createdAt: event.createdAt,
    changes: event.facts.flatMap((fact) => changeBody(fact, caller) ?? []),
  };
}

function changeBody(json: unknown, caller: Caller): CustomerChange | undefined {
  const read = customerFactFromJson(json);
  return 'bindingId' in read ? bindingChangeBody(read.fact, read.bindingId, caller) : undefined;
}
