// The shapes of payments in the API. A merchant sees the whole tree of an error, a payer one flat code.
import { Type, type Static } from 'typebox';
import type { Interaction } from '../../acquiring/domain/bank-port.ts';
import { ClientInfo, PaymentToolDetails, paymentToolDetailsBody } from '../../cards/api/schema.ts';
import type { Instant } from '../../clock.ts';
import type { Caller } from '../../caller.ts';
import {
  Amount,
  CurrencyCode,
  DateTime,
  EntityID,
  ExternalID,
  Metadata,
} from '../../platform/http/schemas.ts';
import { RecurrentTerms } from '../../recurring/api/schema.ts';
import {
  amountOf,
  publicStatus,
  type Payment,
  type PaymentFact,
  type PaymentState,
} from '../domain/payment.ts';
import { merchantError, payerError, type PaymentFailure } from '../domain/payment-failure.ts';
import { defined } from '../../defined.ts';

const optionalText = (maxLength: number) => Type.Optional(Type.String({ maxLength }));

export const ContactInfo = Type.Object(
  {
    email: Type.Optional(Type.String({ format: 'email', maxLength: 100 })),
    phoneNumber: Type.Optional(Type.String({ pattern: '^\\+?\\d{4,15}$' })),
    firstName: optionalText(100),
    lastName: optionalText(100),
    country: Type.Optional(Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 3166-1 alpha-3' })),
    state: optionalText(40),
    city: optionalText(40),
    address: optionalText(1_000),
    postalCode: optionalText(40),
  },
  { title: 'ContactInfo' },
);

export const SessionInfo = Type.Object(
  {
    redirectUrl: Type.Optional(
      Type.String({
        maxLength: 2_000,
        description: "Where the payer's browser goes after 3-D Secure, whatever its result.",
      }),
    ),
  },
  { title: 'SessionInfo' },
);

const FlowParams = Type.Union(
  [
    Type.Object({ type: Type.Literal('PaymentFlowInstant') }, { title: 'PaymentFlowInstant' }),
    Type.Object(
      {
        type: Type.Literal('PaymentFlowHold'),
        onHoldExpiration: Type.Optional(Type.Enum(['cancel', 'capture'], { default: 'cancel' })),
      },
      { title: 'PaymentFlowHoldParams' },
    ),
  ],
  { title: 'PaymentFlowParams' },
);

const PaymentResourcePayerParams = Type.Object(
  {
    payerType: Type.Literal('PaymentResourcePayer'),
    paymentToolToken: Type.String({ maxLength: 2_000 }),
    paymentSession: Type.Optional(Type.String({ maxLength: 1_000 })),
    contactInfo: ContactInfo,
    sessionInfo: Type.Optional(SessionInfo),
  },
  { title: 'PaymentResourcePayerParams' },
);

const ParentPayment = Type.Object(
  { invoiceID: EntityID, paymentID: EntityID },
  { title: 'PaymentRecurrentParent', description: 'A captured payment created with makeRecurrent.' },
);

const RecurrentPayerParams = Type.Object(
  {
    payerType: Type.Literal('RecurrentPayer'),
    recurrentParentPayment: ParentPayment,
    contactInfo: ContactInfo,
    sessionInfo: Type.Optional(SessionInfo),
  },
  { title: 'RecurrentPayerParams' },
);

const CustomerPayerParams = Type.Object(
  {
    payerType: Type.Literal('CustomerPayer'),
    customerID: { ...EntityID, description: 'A customer of the same shop who is `ready`.' },
    sessionInfo: Type.Optional(SessionInfo),
  },
  { title: 'CustomerPayerParams' },
);

export const PaymentParams = Type.Object(
  {
    externalID: Type.Optional(ExternalID),
    flow: Type.Optional(FlowParams),
    payer: Type.Union([PaymentResourcePayerParams, RecurrentPayerParams, CustomerPayerParams], {
      title: 'PayerParams',
    }),
    makeRecurrent: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Once captured, the payment can be the parent of recurring payments.',
      }),
    ),
    recurrentTerms: Type.Optional(RecurrentTerms),
    processingDeadline: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 40,
        description: 'Until when the payment must be authorised: `30m`, or a date-time.',
      }),
    ),
    metadata: Type.Optional(Metadata),
  },
  { title: 'PaymentParams' },
);
export type PaymentParams = Static<typeof PaymentParams>;

const PaymentError: ReturnType<typeof Type.Object> = Type.Object(
  {
    code: Type.String(),
    subError: Type.Optional(
      Type.Object(
        {
          code: Type.String(),
          subError: Type.Optional(
            Type.Object({
              code: Type.String(),
              subError: Type.Optional(Type.Object({ code: Type.String() })),
            }),
          ),
        },
        { description: 'A more specific reason. Only for merchants.' },
      ),
    ),
  },
  { title: 'PaymentError' },
);

const PaymentStatusSchema = Type.Enum([
  'pending',
  'processed',
  'captured',
  'cancelled',
  'refunded',
  'failed',
]);

export const PaymentSchema = Type.Object(
  {
    id: Type.String({ description: 'Unique within its invoice.' }),
    invoiceID: EntityID,
    externalID: Type.Optional(ExternalID),
    createdAt: DateTime,
    amount: Amount,
    currency: CurrencyCode,
    flow: Type.Object(
      {
        type: Type.Enum(['PaymentFlowInstant', 'PaymentFlowHold']),
        onHoldExpiration: Type.Optional(Type.Enum(['cancel', 'capture'])),
        heldUntil: Type.Optional(DateTime),
      },
      { title: 'PaymentFlow' },
    ),
    payer: Type.Union(
      [
        Type.Object(
          {
            payerType: Type.Literal('PaymentResourcePayer'),
            paymentToolToken: Type.String(),
            paymentSession: Type.String(),
            paymentToolDetails: PaymentToolDetails,
            clientInfo: ClientInfo,
            contactInfo: ContactInfo,
            sessionInfo: Type.Optional(SessionInfo),
          },
          { title: 'PaymentResourcePayer' },
        ),
        Type.Object(
          {
            payerType: Type.Literal('RecurrentPayer'),
            recurrentParentPayment: ParentPayment,
            contactInfo: ContactInfo,
            sessionInfo: Type.Optional(SessionInfo),
          },
          { title: 'RecurrentPayer' },
        ),
        Type.Object(
          {
            payerType: Type.Literal('CustomerPayer'),
            customerID: EntityID,
            paymentToolDetails: PaymentToolDetails,
            sessionInfo: Type.Optional(SessionInfo),
          },
          { title: 'CustomerPayer' },
        ),
      ],
      { title: 'Payer' },
    ),
    warnings: Type.Optional(
      Type.Array(Type.Enum(['recurrentGapExceeded', 'recurrentParentNotLatest']), {
        description:
          'Only for recurring payments. The charge is accepted but goes against card-network guidance.',
      }),
    ),
    makeRecurrent: Type.Boolean(),
    metadata: Type.Optional(Metadata),
    transactionInfo: Type.Optional(
      Type.Object(
        { rrn: Type.String(), approvalCode: Type.Optional(Type.String()) },
        { title: 'TransactionInfo', description: 'Present once the bank has approved the payment.' },
      ),
    ),
    status: PaymentStatusSchema,
    error: Type.Optional(PaymentError),
  },
  { title: 'Payment' },
);
export type PaymentBody = Static<typeof PaymentSchema>;

export const PaymentPath = Type.Object({ invoiceID: EntityID, paymentID: EntityID });

const BrowserRequest = Type.Object(
  {
    requestType: Type.Enum(['BrowserGetRequest', 'BrowserPostRequest']),
    uriTemplate: Type.String({
      description: 'An RFC 6570 template. Expand it and redirect the browser to it.',
    }),
    form: Type.Optional(
      Type.Array(Type.Object({ key: Type.String(), template: Type.String() }), {
        description: 'For a POST. Expand every template and submit them as a form.',
      }),
    ),
  },
  { title: 'BrowserRequest' },
);

export const UserInteraction = Type.Object(
  { interactionType: Type.Enum(['Redirect']), request: BrowserRequest },
  { title: 'UserInteraction' },
);

export const paymentChanges = [
  Type.Object(
    { changeType: Type.Literal('PaymentStarted'), payment: PaymentSchema },
    { title: 'PaymentStarted' },
  ),
  Type.Object(
    {
      changeType: Type.Literal('PaymentInteractionRequested'),
      paymentID: EntityID,
      userInteraction: UserInteraction,
    },
    { title: 'PaymentInteractionRequested' },
  ),
  Type.Object(
    {
      changeType: Type.Literal('PaymentStatusChanged'),
      paymentID: EntityID,
      status: PaymentStatusSchema,
      error: Type.Optional(PaymentError),
      reason: Type.Optional(
        Type.String({
          description: 'Only for merchants. Why the operator released a hold that you asked to capture.',
        }),
      ),
    },
    { title: 'PaymentStatusChanged' },
  ),
];

export function paymentBody(payment: Payment, caller: Caller): PaymentBody {
  const { payer, flow, state } = payment;
  return {
    id: payment.id,
    invoiceID: payment.invoiceId,
    createdAt: payment.createdAt,
    amount: Number(amountOf(payment).minor),
    currency: payment.amount.currency,
    flow:
      flow.type === 'instant'
        ? { type: 'PaymentFlowInstant' }
        : {
            type: 'PaymentFlowHold',
            onHoldExpiration: flow.onExpiration,
            heldUntil: shortInstant(flow.heldUntil),
          },
    payer: payerBody(payer),
    makeRecurrent: payment.makeRecurrent,
    status: publicStatus[state.name],
    // Last, as in payments/store/rows.ts: a member after a spread is slow to define.
    ...('warnings' in payer && payer.warnings.length > 0
      ? { warnings: payer.warnings as NonNullable<PaymentBody['warnings']> }
      : {}),
    ...defined({ externalID: payment.externalId }),
    ...(payment.metadata === undefined
      ? {}
      : { metadata: payment.metadata as NonNullable<PaymentBody['metadata']> }),
    ...transactionInfo(state),
    ...(state.name === 'failed' ? { error: errorBody(state.failure, caller) } : {}),
  };
}

function payerBody(payer: Payment['payer']): PaymentBody['payer'] {
  const { contactInfo, redirectUrl } = payer;
  const session = redirectUrl === undefined ? {} : { sessionInfo: { redirectUrl } };
  if (payer.type === 'customer') {
    const paymentToolDetails = paymentToolDetailsBody(payer.card);
    return { payerType: 'CustomerPayer', customerID: payer.customerId, paymentToolDetails, ...session };
  }
  const contact = { contactInfo, ...session };
  if (payer.type === 'recurrent') {
    const { invoiceId: invoiceID, paymentId: paymentID } = payer.parent;
    return { payerType: 'RecurrentPayer', recurrentParentPayment: { invoiceID, paymentID }, ...contact };
  }
  return {
    payerType: 'PaymentResourcePayer',
    paymentToolToken: payer.token,
    paymentSession: payer.session,
    paymentToolDetails: paymentToolDetailsBody(payer.card),
    clientInfo: payer.clientInfo,
    ...contact,
  };
}

function transactionInfo(state: PaymentState): Pick<PaymentBody, 'transactionInfo'> {
  if (!('approval' in state)) return {};
  const { reference, approvalCode } = state.approval;
  return { transactionInfo: { rrn: reference, ...defined({ approvalCode }) } };
}

function errorBody(failure: PaymentFailure, caller: Caller): Static<typeof PaymentError> {
  return caller.kind === 'apiKey' ? merchantError(failure) : payerError(failure);
}

/** What the event feed shows of a fact. Internal facts show nothing. */
export function paymentChangeBody(fact: PaymentFact, paymentId: string, caller: Caller): object | undefined {
  const changed = (status: PaymentBody['status']) => ({
    changeType: 'PaymentStatusChanged',
    paymentID: paymentId,
    status,
  });
  switch (fact.type) {
    case 'payment_started':
      return {
        changeType: 'PaymentStarted',
        payment: paymentBody({ ...fact.terms, state: { name: 'authorising' } }, caller),
      };
    case 'payment_interaction_requested':
      return {
        changeType: 'PaymentInteractionRequested',
        paymentID: paymentId,
        userInteraction: userInteractionBody(fact.interaction),
      };
    case 'payment_processed':
      return changed('processed');
    case 'payment_captured':
      return changed('captured');
    case 'payment_cancelled': {
      const reason = caller.kind === 'apiKey' ? fact.reason : undefined;
      return { ...changed('cancelled'), ...defined({ reason }) };
    }
    case 'payment_refunded':
      return changed('refunded');
    case 'payment_failed':
      return { ...changed('failed'), error: errorBody(fact.failure, caller) };
    default:
      return undefined;
  }
}

export function userInteractionBody(interaction: Interaction): Static<typeof UserInteraction> {
  return { interactionType: 'Redirect', request: browserRequest(interaction) };
}

function browserRequest(interaction: Interaction): Static<typeof BrowserRequest> {
  if (interaction.method === 'GET')
    return { requestType: 'BrowserGetRequest', uriTemplate: literal(interaction.url) };
  return {
    requestType: 'BrowserPostRequest',
    uriTemplate: literal(interaction.url),
    form: interaction.form.map(({ name, value }) => ({ key: name, template: literal(value) })),
  };
}

/** A client that expands the template would read braces as variables. */
function literal(text: string): string {
  return text.replace(/[{}]/g, (brace) => (brace === '{' ? '%7B' : '%7D'));
}

function shortInstant(instant: Instant): string {
  return `${instant.slice(0, 19)}Z`;
}

/** Works in the sandbox with a token from the previous operation. */
export const paymentExample = {
  flow: { type: 'PaymentFlowInstant' },
  payer: {
    payerType: 'PaymentResourcePayer',
    paymentToolToken: 'v1.…',
    contactInfo: { email: 'user@example.com' },
  },
} satisfies PaymentParams;
