// What merchants are told about a customer and the cards he binds. They are one log, so they are one queue: its facts are followed
// one by one, and each notice shows the state right after its own.
import type { CardDetails } from '../cards/card.ts';
import { filled, type Notice, type Topic } from '../events/topic.ts';
import { hasMembers } from '../invoices/invoice.notices.ts';
import { merchantError } from '../payments/payment-failure.ts';
import { bindingStatus, evolveBinding, type Binding, type BindingFact } from './binding.ts';
import { customerStateAfter, newCustomer, type Customer, type CustomerFact } from './customer.ts';
import { customerFactFromJson } from './customer-json.ts';

/** What a fact is told as; what is not here is internal. */
const toldAs: Partial<Record<(CustomerFact | BindingFact)['type'], string>> = {
  customer_created: 'CustomerCreated',
  customer_ready: 'CustomerReady',
  customer_deleted: 'CustomerDeleted',
  binding_started: 'CustomerBindingStarted',
  binding_succeeded: 'CustomerBindingSucceeded',
  binding_failed: 'CustomerBindingFailed',
};

/** The customer with his cards, after some of his facts. */
type Story = { readonly customer?: Customer; readonly bindings: Readonly<Record<string, Binding>> };

export const customersTopic: Topic = {
  name: 'CustomersTopic',
  nameInNotices: 'CustomersTopic',
  aggregate: 'customer',
  eventTypes: Object.values(toldAs),
  eventId: 'number',
  typesOf: (facts) => facts.flatMap((json) => toldAs[customerFactFromJson(json).fact.type] ?? []),
  ownersOf: ([first]) => {
    const { fact } = customerFactFromJson(first);
    if (fact.type !== 'customer_created')
      throw new Error('a log of a customer does not begin with his making');
    return [{ id: fact.terms.shopId }];
  },
  noticesOf(log) {
    const notices: Notice[] = [];
    let story: Story = { bindings: {} };
    for (const { sequence, createdAt: happenedAt, facts } of log) {
      let place = 0;
      for (const json of facts) {
        story = after(story, json);
        const type = toldAs[customerFactFromJson(json).fact.type];
        if (type === undefined) continue;
        const members = membersOf(story, json);
        notices.push({ sequence, place: place++, subscribedAs: type, eventType: type, happenedAt, members });
      }
    }
    return notices;
  },
};

function after({ customer, bindings }: Story, json: unknown): Story {
  const read = customerFactFromJson(json);
  if ('bindingId' in read) {
    const { bindingId, fact } = read;
    const binding = evolveBinding(bindings[bindingId], fact);
    return { ...(customer ? { customer } : {}), bindings: { ...bindings, [bindingId]: binding } };
  }
  if (read.fact.type === 'customer_created') return { customer: newCustomer(read.fact), bindings };
  if (!customer) throw new Error(`${read.fact.type} without a customer`);
  return { customer: { ...customer, state: customerStateAfter(customer.state, read.fact) }, bindings };
}

function membersOf({ customer, bindings }: Story, json: unknown): Record<string, unknown> {
  if (!customer) throw new Error('something is told of a customer who is not there');
  const read = customerFactFromJson(json);
  const binding = 'bindingId' in read ? bindings[read.bindingId] : undefined;
  return {
    customer: customerInNotice(customer),
    ...(binding ? { binding: bindingInNotice(binding) } : {}),
  };
}

function customerInNotice({ id, shopId, state, contactInfo, metadata }: Customer): Record<string, unknown> {
  return filled({
    id,
    shopID: shopId,
    status: state.name === 'ready' ? 'ready' : 'unready',
    contactInfo,
    metadata: hasMembers(metadata) ? metadata : undefined,
  });
}

/** Neither token nor session: nobody may charge a card with what a notice says. */
function bindingInNotice({ id, state, card }: Binding): Record<string, unknown> {
  const { ip, fingerprint } = card.clientInfo;
  return filled({
    id,
    status: bindingStatus[state.name],
    error: state.name === 'failed' ? errorInNotice(state.failure) : undefined,
    paymentResource: {
      paymentToolDetails: cardInNotice(card.details),
      clientInfo: filled({ ip, fingerprint }),
    },
  });
}

function errorInNotice(failure: Parameters<typeof merchantError>[0]): Record<string, unknown> {
  const [code, ...inner] = failure;
  return { code, message: inner.length === 0 ? code : inner.join(':') };
}

function cardInNotice({ bin, lastDigits, paymentSystem }: CardDetails): Record<string, unknown> {
  return {
    detailsType: 'PaymentToolDetailsBankCard',
    bin,
    lastDigits,
    // Six stars whatever the true length.
    cardNumberMask: `${bin}******${lastDigits}`,
    paymentSystem,
  };
}
