// Webhook events about a customer and its bindings. They share one log, hence one queue; each event shows the state right
// after its fact.
import { filled, type WebhookEvent, type Topic } from '../platform/events/domain/topic.ts';
import { bindingError } from './api/binding-schema.ts';
import { cardPayload, contactPayload } from '../payments/webhook-events.ts';
import { bindingStatus, evolveBinding, type Binding } from './domain/binding.ts';
import { customerLogFact, isBindingFact, type CustomerLogFact } from './store/codec.ts';
import { customerStateAfter, newCustomer, type Customer } from './domain/customer.ts';

/** Facts that are not here are internal and not sent. */
const registeredTypes: Partial<Record<CustomerLogFact['type'], string>> = {
  customer_created: 'CustomerCreated',
  customer_ready: 'CustomerReady',
  customer_deleted: 'CustomerDeleted',
  binding_started: 'CustomerBindingStarted',
  binding_succeeded: 'CustomerBindingSucceeded',
  binding_failed: 'CustomerBindingFailed',
};

/** The customer with its bindings, after some of the facts. */
type Story = { readonly customer?: Customer; readonly bindings: Readonly<Record<string, Binding>> };

export const customersTopic: Topic = {
  name: 'CustomersTopic',
  payloadTopic: 'CustomersTopic',
  aggregate: 'customer',
  eventTypes: Object.values(registeredTypes),
  eventId: 'number',
  typesOf(facts) {
    const known = customerLogFact.known(facts);
    return known.some(isImport) ? [] : known.flatMap(({ type }) => registeredTypes[type] ?? []);
  },
  ownersOf: ([first]) => {
    const fact = customerLogFact.read(first);
    if (fact.type !== 'customer_created')
      throw new Error('the log of a customer does not begin with customer_created');
    return [{ id: fact.terms.shopId }];
  },
  webhookEventsOf(log) {
    const webhookEvents: WebhookEvent[] = [];
    let story: Story = { bindings: {} };
    for (const { sequence, createdAt: happenedAt, facts } of log) {
      let index = 0;
      const read = facts.map(customerLogFact.read);
      const isSent = !read.some(isImport);
      for (const fact of read) {
        const before = story.customer;
        story = after(story, fact);
        const registeredType = registeredTypes[fact.type];
        if (registeredType === undefined || !isSent) continue;
        // A deletion shows the customer as it was before.
        const customer = registeredType === 'CustomerDeleted' ? before : story.customer;
        const members = membersOf({ ...story, ...(customer ? { customer } : {}) }, fact);
        webhookEvents.push({
          sequence,
          index: index++,
          registeredType,
          eventType: registeredType,
          happenedAt,
          members,
        });
      }
    }
    return webhookEvents;
  },
};

/** The whole event with it is silent: a merchant knows the customers that it brings. */
function isImport(fact: CustomerLogFact): boolean {
  return fact.type === 'binding_started' && fact.terms.imported !== undefined;
}

function after(story: Story, fact: CustomerLogFact): Story {
  const { customer, bindings } = story;
  if (isBindingFact(fact)) {
    const binding = evolveBinding(bindings[fact.bindingId], fact);
    return { ...story, bindings: { ...bindings, [fact.bindingId]: binding } };
  }
  if (fact.type === 'customer_created') return { customer: newCustomer(fact), bindings };
  if (!customer) throw new Error(`${fact.type} without a customer`);
  return { customer: { ...customer, state: customerStateAfter(customer.state, fact) }, bindings };
}

function membersOf({ customer, bindings }: Story, fact: CustomerLogFact): Record<string, unknown> {
  if (!customer) throw new Error('a webhook event has no customer');
  const binding = isBindingFact(fact) ? bindings[fact.bindingId] : undefined;
  return {
    customer: customerPayload(customer),
    ...(binding ? { binding: bindingPayload(binding) } : {}),
  };
}

function customerPayload({ id, shopId, state, contactInfo, metadata }: Customer): Record<string, unknown> {
  return {
    id,
    shopID: shopId,
    status: state.name === 'ready' ? 'ready' : 'unready',
    contactInfo: contactPayload(contactInfo),
    metadata,
  };
}

/** Neither token nor session: a webhook event must not be enough to charge the card. */
function bindingPayload({ id, card, state }: Binding): Record<string, unknown> {
  const { fingerprint, ip } = card.clientInfo;
  return filled({
    id,
    status: bindingStatus[state.name],
    error: state.name === 'failed' ? bindingError(state, { kind: 'apiKey' }) : undefined,
    paymentResource: {
      paymentToolDetails: cardPayload(card.details),
      clientInfo: filled({ fingerprint, ip }),
    },
  });
}
