// Schemas of bindings and of customer events. A customer's creation, readiness and deletion take a sequence in the log,
// but the events do not show them.
import { Type, type Static } from 'typebox';
import { BankWordsSchema } from '../../acquiring/api/bank-words-schema.ts';
import type { BankWords } from '../../acquiring/domain/bank-words.ts';
import { ClientInfo, PaymentToolDetails, paymentToolDetailsBody } from '../../cards/api/schema.ts';
import type { Caller } from '../../caller.ts';
import { DateTime, EntityID, ExternalID } from '../../platform/http/schemas.ts';
import { payerError, type PaymentFailure } from '../../acquiring/authorisation/domain/payment-failure.ts';
import { RecurrentTerms } from '../../recurring/api/schema.ts';
import { SessionInfo, UserInteraction, userInteractionBody } from '../../payments/api/schema.ts';
import { bindingStatus, type Binding, type BindingFact, type BindingStatus } from '../domain/binding.ts';
import { activeBindingOf, type Customer } from '../domain/customer.ts';
import { defined } from '../../defined.ts';

export const BindingParams = Type.Object(
  {
    externalID: Type.Optional(ExternalID),
    paymentResource: Type.Object(
      {
        paymentToolToken: Type.String({ maxLength: 2_000 }),
        paymentSession: Type.String({ maxLength: 1_000 }),
      },
      { title: 'BindingPaymentResourceParams' },
    ),
    sessionInfo: Type.Optional(SessionInfo),
    recurrentTerms: Type.Optional(RecurrentTerms),
  },
  { title: 'CustomerBindingParams' },
);
export type BindingParams = Static<typeof BindingParams>;

const BindingError = Type.Object(
  {
    code: Type.String(),
    message: Type.String({ description: 'For people. Do not parse it.' }),
    bank: Type.Optional(BankWordsSchema),
  },
  { title: 'CustomerBindingError' },
);

export const BindingSchema = Type.Object(
  {
    id: EntityID,
    externalID: Type.Optional(ExternalID),
    paymentResource: Type.Object(
      {
        paymentToolToken: Type.String(),
        paymentSession: Type.String(),
        paymentToolDetails: PaymentToolDetails,
        clientInfo: ClientInfo,
      },
      { title: 'BindingPaymentResource' },
    ),
    status: Type.Enum(['pending', 'succeeded', 'failed']),
    isActive: Type.Boolean({ description: 'Whether the customer is charged with this card.' }),
    withdrawnAt: Type.Optional({
      ...DateTime,
      description: 'When the binding was revoked. It is not charged after that.',
    }),
    error: Type.Optional(BindingError),
    consentLinkID: Type.Optional({
      ...EntityID,
      description:
        'The consent link the payer confirmed with it. Such a binding saves no card: it ends with `withdrawnAt`.',
    }),
  },
  { title: 'CustomerBinding' },
);
export type BindingBody = Static<typeof BindingSchema>;

export const BindingPath = Type.Object({ customerID: EntityID, customerBindingID: EntityID });

/** Without parameters, the whole list. */
export const BindingPage = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 2_147_483_647,
      description: 'The maximum number of bindings to return, oldest first. Without it, all.',
    }),
  ),
  bindingID: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 40,
      description: 'The last ID you have. Only bindings created later are returned.',
    }),
  ),
});

const CustomerChange = Type.Union(
  [
    Type.Object(
      { changeType: Type.Literal('CustomerBindingStarted'), customerBinding: BindingSchema },
      { title: 'CustomerBindingStarted' },
    ),
    Type.Object(
      {
        changeType: Type.Literal('CustomerBindingInteractionRequested'),
        customerBindingID: EntityID,
        userInteraction: UserInteraction,
      },
      { title: 'CustomerBindingInteractionRequested' },
    ),
    Type.Object(
      { changeType: Type.Literal('CustomerBindingInteractionCompleted'), customerBindingID: EntityID },
      { title: 'CustomerBindingInteractionCompleted' },
    ),
    Type.Object(
      {
        changeType: Type.Literal('CustomerBindingStatusChanged'),
        customerBindingID: EntityID,
        status: Type.Enum(['succeeded', 'failed']),
        error: Type.Optional(BindingError),
      },
      { title: 'CustomerBindingStatusChanged' },
    ),
    Type.Object(
      { changeType: Type.Literal('CustomerBindingWithdrawn'), customerBindingID: EntityID },
      { title: 'CustomerBindingWithdrawn' },
    ),
  ],
  { title: 'CustomerChange' },
);
export type CustomerChange = Static<typeof CustomerChange>;

export const CustomerEvent = Type.Object(
  { id: Type.Integer({ minimum: 1 }), createdAt: DateTime, changes: Type.Array(CustomerChange) },
  { title: 'CustomerEvent' },
);

export const bindingExample = {
  paymentResource: { paymentToolToken: 'v1.…', paymentSession: 's1.…' },
} satisfies BindingParams;

export function bindingBody(
  binding: Binding,
  customer: Pick<Customer, 'state'>,
  caller: Pick<Caller, 'kind'>,
): BindingBody {
  const { card, state } = binding;
  return {
    id: binding.id,
    paymentResource: {
      paymentToolToken: card.token,
      paymentSession: card.session,
      paymentToolDetails: paymentToolDetailsBody(card.details),
      clientInfo: card.clientInfo,
    },
    status: bindingStatus[state.name],
    isActive: activeBindingOf(customer) === binding.id,
    ...defined({ externalID: binding.externalId, consentLinkID: binding.renews?.linkId }),
    ...(state.name === 'withdrawn' ? { withdrawnAt: state.at } : {}),
    ...(state.name === 'failed' ? { error: bindingError(state, caller) } : {}),
  };
}

/** A payer gets no more detail than for a payment, because a card tester could use it. */
export function bindingError(
  { failure, bank }: { readonly failure: PaymentFailure; readonly bank?: BankWords },
  { kind }: Pick<Caller, 'kind'>,
): Static<typeof BindingError> {
  const [code, ...inner] = failure;
  const why = inner.length === 0 ? code : inner.join(':');
  if (kind !== 'apiKey') return { code, message: payerError(failure).code };
  return { code, message: why, ...defined({ bank }) };
}

/** Undefined for internal facts, which the events do not show. */
export function bindingChangeBody(
  fact: BindingFact,
  bindingId: string,
  caller: Pick<Caller, 'kind'>,
): CustomerChange | undefined {
  const changed = (status: Exclude<BindingStatus, 'pending'>) =>
    ({ changeType: 'CustomerBindingStatusChanged', customerBindingID: bindingId, status }) as const;
  switch (fact.type) {
    case 'binding_started': {
      const started: Binding = { ...fact.terms, state: { name: 'authorising' } };
      const customerBinding = bindingBody(started, { state: { name: 'unready' } }, caller);
      return { changeType: 'CustomerBindingStarted', customerBinding };
    }
    case 'binding_interaction_requested':
      return {
        changeType: 'CustomerBindingInteractionRequested',
        customerBindingID: bindingId,
        userInteraction: userInteractionBody(fact.interaction),
      };
    case 'binding_interaction_completed':
      return { changeType: 'CustomerBindingInteractionCompleted', customerBindingID: bindingId };
    case 'binding_succeeded':
      return changed('succeeded');
    case 'binding_failed':
      return { ...changed('failed'), error: bindingError(fact, caller) };
    case 'binding_withdrawn':
      return { changeType: 'CustomerBindingWithdrawn', customerBindingID: bindingId };
    default:
      return undefined;
  }
}
