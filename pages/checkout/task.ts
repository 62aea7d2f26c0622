// The two tasks of the page: paying an invoice and saving a card for a customer. Both send a tokenised card and
// are followed by events; this file holds what differs.
import type { CheckoutFacts } from '../../src/checkout/domain/checkout-page.ts';
import type { Answer, Api } from './api.ts';
import type { FeedEvent } from './progress.ts';
import type { Session } from './session.ts';

export type Resource = { readonly paymentToolToken: string; readonly paymentSession: string };

/** What the payer entered besides the card. */
export type Entered = { readonly email?: string; readonly consentTickedAt?: string };

export type Task = {
  events(after: number): Promise<Answer<FeedEvent[]>>;
  begin(
    resource: Resource,
    entered: Entered,
    idempotencyKey: string,
  ): Promise<Answer<{ readonly id: string }>>;
};

const eventsAtOnce = 1_000;

export function taskOf(facts: CheckoutFacts, session: Session, api: Api): Task {
  const path = `${facts.kind}s/${encodeURIComponent(facts.id)}`;
  return {
    events: (after) =>
      api.get(`${path}/events?limit=${eventsAtOnce}${after === 0 ? '' : `&eventID=${after}`}`),
    begin: (resource, entered, key) =>
      facts.kind === 'invoice'
        ? api.post(`${path}/payments`, paymentBody(facts, session, resource, entered), key)
        : api.post(`${path}/bindings`, bindingBody(facts, session, resource, entered), key),
  };
}

function paymentBody(facts: CheckoutFacts, session: Session, resource: Resource, entered: Entered): object {
  const { email } = entered;
  return {
    flow: facts.hold
      ? { type: 'PaymentFlowHold', onHoldExpiration: facts.hold }
      : { type: 'PaymentFlowInstant' },
    payer: {
      payerType: 'PaymentResourcePayer',
      ...resource,
      contactInfo: email === undefined ? {} : { email },
      sessionInfo: { redirectUrl: session.returnUrl },
    },
    makeRecurrent: facts.recurring,
    ...termsOf(facts, entered),
    ...(session.metadata === undefined ? {} : { metadata: session.metadata }),
  };
}

function bindingBody(facts: CheckoutFacts, session: Session, resource: Resource, entered: Entered): object {
  return {
    paymentResource: resource,
    sessionInfo: { redirectUrl: session.returnUrl },
    ...termsOf(facts, entered),
  };
}

/** The terms the payer agreed to, with the evidence: the exact text they saw and when they ticked the box. */
function termsOf({ consent, schedule, until, locale }: CheckoutFacts, { consentTickedAt }: Entered): object {
  if (!consent || consentTickedAt === undefined) return {};
  return {
    recurrentTerms: {
      ...(schedule === undefined ? {} : { schedule }),
      ...(until === undefined ? {} : { validUntil: until }),
      consent: {
        ticked: true,
        tickedAt: consentTickedAt,
        text: `${consent.text}\n${consent.howToStop}`,
        locale,
      },
    },
  };
}
