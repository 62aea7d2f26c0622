// GET …/events lists what happened to the bindings of a customer, in order.
import { Type, type Static } from 'typebox';
import type { LoggedEvent } from '../../platform/events/domain/topic.ts';
import { readVisible } from '../../platform/events/read-log.ts';
import type { Caller } from '../../caller.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { EventPage } from '../../platform/http/schemas.ts';
import { accept, refuse } from '../../refusal.ts';
import { bindingChangeBody, CustomerEvent, type CustomerChange } from './binding-schema.ts';
import { isBindingFact, type CustomerLogFact } from '../store/codec.ts';
import { readCustomerLog } from '../store/customer-log.ts';
import { CustomerPath, payerMayRead } from './schema.ts';
import type { Database } from '../../platform/database/database.ts';

type EventBody = Static<typeof CustomerEvent>;

export const listCustomerEvents = endpoint({
  operation: 'listCustomerEvents',
  access: payerMayRead,
  method: 'GET',
  path: '/v2/processing/customers/{customerID}/events',
  tag: 'Customers',
  summary: 'List the events of a customer',
  description:
    'Oldest first. To follow a customer, request events after the last ID you have. Skip change types you do not know.',
  params: CustomerPath,
  query: EventPage,
  status: 200,
  response: Type.Array(CustomerEvent),
  errors: ['customerNotFound'],
  handle: async ({ caller, params, query }, { db }: { db: Database }) => {
    const name = { partyId: caller.partyId, id: params.customerID };
    const events = await readVisible(
      (page) => readCustomerLog(db, name, page),
      query,
      (event) => eventBody(event, caller),
    );
    return events ? accept(events) : refuse('customerNotFound');
  },
});

function eventBody(event: LoggedEvent<CustomerLogFact>, caller: Caller): EventBody {
  return {
    id: event.sequence,
    createdAt: event.createdAt,
    changes: event.facts.flatMap((fact) => changeBody(fact, caller) ?? []),
  };
}

function changeBody(fact: CustomerLogFact, caller: Caller): CustomerChange | undefined {
  return isBindingFact(fact) ? bindingChangeBody(fact, fact.bindingId, caller) : undefined;
}
