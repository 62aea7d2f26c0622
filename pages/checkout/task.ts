// The two tasks of the page: paying an invoice and saving a card for a customer. Both send a tokenised card and
// are followed by events; this file holds what differs.
import type { CheckoutFacts } from '../../src/checkout/domain/checkout-page.ts';
import { termsBody } from '../../src/receipts/domain/terms-body.ts';
import type { Agreement } from './agreement.ts';
import type { Answer, Api } from './api.ts';
import type { FeedEvent } from './progress.ts';
import type { Session } from './session.ts';

export type Resource = { readonly paymentToolToken: string; readonly paymentSession: string };
/** A saved card of an invoice's payer, as the API takes it. */
export type SavedPayer = { readonly payerType: 'CustomerPayer' } & Readonly<Record<string, unknown>>;

/** What the payer entered besides the card. */
export type Entered = { readonly email?: string; readonly consentTickedAt?: string };
type Agreed = Entered & { readonly agreement: Agreement | undefined };

export type Task = {
  events(after: number): Promise<Answer<FeedEvent[]>>;
  begin(
    card: Resource | SavedPayer,
    agreed: Agreed,
    idempotencyKey: string,
  ): Promise<Answer<{ readonly id: string }>>;
};

const eventsAtOnce = 1_000;

export function taskOf(facts: CheckoutFacts, session: Session, api: Api): Task {
  const path = `${facts.kind}s/${encodeURIComponent(facts.id)}`;
  return {
    events: (after) =>
      api.get(`${path}/events?limit=${eventsAtOnce}${after === 0 ? '' : `&eventID=${after}`}`),
    begin: (card, agreed, key) =>
      facts.kind === 'invoice'
        ? api.post(`${path}/payments`, paymentBody(facts, session, card, agreed), key)
        : api.post(`${path}/bindings`, bindingBody(facts, session, card, agreed), key),
  };
}

function paymentBody(
  facts: CheckoutFacts,
  session: Session,
  card: Resource | SavedPayer,
  agreed: Agreed,
): object {
  const { email, agreement } = agreed;
  return {
    flow: facts.hold
      ? { type: 'PaymentFlowHold', onHoldExpiration: facts.hold }
      : { type: 'PaymentFlowInstant' },
    payer: {
      ...('payerType' in card
        ? card
        : {
            payerType: 'PaymentResourcePayer',
            ...card,
            contactInfo: email === undefined ? {} : { email },
          }),
      sessionInfo: { redirectUrl: session.returnUrl },
    },
    makeRecurrent: agreement !== undefined,
    ...termsOf(facts, agreed),
    ...(session.metadata === undefined ? {} : { metadata: session.metadata }),
  };
}

function bindingBody(facts: CheckoutFacts, session: Session, card: object, agreed: Agreed): object {
  return {
    paymentResource: card,
    sessionInfo: { redirectUrl: session.returnUrl },
    ...termsOf(facts, agreed),
  };
}

/** The terms the payer agreed to, with the evidence: the exact text they saw and when they ticked the box. */
function termsOf({ locale }: CheckoutFacts, { agreement, consentTickedAt: tickedAt }: Agreed): object {
  if (!agreement || tickedAt === undefined) return {};
  const { terms, consent } = agreement;
  const text = `${consent.text}\n${consent.howToStop}`;
  return { recurrentTerms: { ...termsBody(terms), consent: { ticked: true, tickedAt, text, locale } } };
}
