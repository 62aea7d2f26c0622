// The shapes of payments in the API. A merchant sees the whole tree of an error, a payer one flat code.
import { BankWordsSchema } from '../../acquiring/api/bank-words-schema.ts';
import { Type, type Static } from 'typebox';
import { referencesOf } from '../../acquiring/authorisation/domain/approval.ts';
import { merchantError, payerError } from '../../acquiring/authorisation/domain/payment-failure.ts';
import { exemptions } from '../../acquiring/domain/authentication.ts';
import type { Interaction } from '../../acquiring/domain/bank-port.ts';
import {
  ClientInfo,
  PaymentToolDetails,
  paymentToolDetailsBody,
  PresentClientInfoParams,
  SecurityCode,
} from '../../cards/api/schema.ts';
import { threeDSecureWishes } from '../../merchants/domain/party.ts';
import type { AuthenticatedElsewhere } from '../domain/authentication/elsewhere.ts';
import type { Payer } from '../domain/payer/payer.ts';
import type { Instant } from '../../clock.ts';
import type { Caller } from '../../caller.ts';
import { returnAddressOf } from '../../merchants/domain/return-address.ts';
import { validationMessage } from '../../platform/http/errors/validate.ts';
import { refuse } from '../../refusal.ts';
import {
  Amount,
  CurrencyCode,
  DateTime,
  EntityID,
  ExternalID,
  Metadata,
} from '../../platform/http/schemas.ts';
import { DeclineClassSchema, RecurrentTerms } from '../../recurring/api/schema.ts';
import { chargeWarnings } from '../../retry-rules/domain/may-charge.ts';
import {
  amountOf,
  publicStatus,
  type Payment,
  type PaymentFact,
  type PaymentState,
} from '../domain/payment.ts';
import { reasonOfBank } from '../domain/bank-actions.ts';
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

/** The error message of an address that no browser should be sent to. */
export function returnAddressProblem(
  where: string,
  sessionInfo: { readonly redirectUrl?: string } | undefined,
): string | undefined {
  const template = sessionInfo?.redirectUrl;
  if (template === undefined || returnAddressOf(template) !== undefined) return undefined;
  return validationMessage(`${where}sessionInfo.redirectUrl`, 'no_match', 'must be an http or https address');
}

/** For a shop that has a list of origins. */
export const unlistedReturn = (where: string) =>
  refuse('invalidRequest', {
    message: validationMessage(
      `${where}sessionInfo.redirectUrl`,
      'no_match',
      'must be on an origin of the shop, which "mandate shop origins" lists',
    ),
  });

export const SessionInfo = Type.Object(
  {
    redirectUrl: Type.Optional(
      Type.String({
        maxLength: 2_000,
        description: "Where the payer's browser goes after 3-D Secure.",
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
    present: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'The payer is present. The payment is like one with an entered card: it may need 3-D Secure, and no rules of ' +
          'recurring charges apply. Requires `clientInfo`.',
      }),
    ),
    clientInfo: Type.Optional({ ...PresentClientInfoParams, description: 'Only with `present`.' }),
    cvv: Type.Optional({
      ...SecurityCode,
      description: 'Only with `present`, if your shop asks for it again. Stored for 15 minutes, for one use.',
    }),
    customerAccessToken: Type.Optional(
      Type.String({
        maxLength: 2_048,
        description:
          'Only with `present`: the customer’s own token, which lets any token of the invoice pay.',
      }),
    ),
    sessionInfo: Type.Optional(SessionInfo),
  },
  { title: 'CustomerPayerParams' },
);

const ThreeDSecure = Type.Enum([...threeDSecureWishes]);
const ExemptionSchema = Type.Enum([...exemptions]);

const TransID = Type.String({ pattern: '^[0-9A-Za-z-]{1,36}$' });

const authenticated = {
  version: Type.String({ pattern: '^2\\.\\d\\.\\d$' }),
  status: Type.Enum(['Y', 'A']),
  eci: Type.String({ pattern: '^[0-9A-Z]{2}$' }),
  dsTransID: TransID,
  acsTransID: Type.Optional(TransID),
  at: DateTime,
};
const Authenticated = Type.Object(authenticated, { title: 'Authenticated' });

const AuthenticatedParams = Type.Object(
  {
    ...authenticated,
    value: Type.String({
      pattern: '^[A-Za-z0-9+/]{27}=$',
      description: 'A secret.',
    }),
    amount: Amount,
    currency: CurrencyCode,
    card: Type.Object({
      bin: Type.String({ pattern: '^\\d{6}(\\d\\d)?$' }),
      lastDigits: Type.String({ pattern: '^\\d{4}$' }),
    }),
  },
  {
    title: 'AuthenticatedParams',
    description:
      'Only with an API key, and for a payer who is present. The result of your own 3-D Secure server, used once.',
  },
);
export type AuthenticatedParams = Static<typeof AuthenticatedParams>;

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
        description:
          'The captured payment can be the parent of recurring payments. If the invoice has it, this value does not matter.',
      }),
    ),
    recurrentTerms: Type.Optional(RecurrentTerms),
    threeDSecure: Type.Optional({
      ...ThreeDSecure,
      description:
        'Only with an API key, and for a payer who is present. `always` authenticates them or fails, ' +
        '`whenTheBankSays` leaves it to the bank, and `never` tells the bank not to. The default is the setting of the shop.',
    }),
    exemption: Type.Optional({
      ...ExemptionSchema,
      description:
        'Only with an API key, and for a payer who is present. Why your acquirer need not authenticate them, in place of `threeDSecure`.',
    }),
    authenticated: Type.Optional(AuthenticatedParams),
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

export const SubError = Type.Object(
  {
    code: Type.String(),
    subError: Type.Optional(
      Type.Object({
        code: Type.String(),
        subError: Type.Optional(Type.Object({ code: Type.String() })),
      }),
    ),
  },
  { title: 'SubError', description: 'A more specific reason. Only for merchants.' },
);

const PaymentError: ReturnType<typeof Type.Object> = Type.Object(
  {
    code: Type.String(),
    subError: Type.Optional(SubError),
    declineClass: Type.Optional({
      ...DeclineClassSchema,
      description: 'Only for merchants. Who can help, if the bank declined or did not answer.',
    }),
    bank: Type.Optional(BankWordsSchema),
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
            present: Type.Optional(Type.Boolean({ description: 'Only if the payer was present.' })),
            paymentToolDetails: PaymentToolDetails,
            clientInfo: Type.Optional(ClientInfo),
            sessionInfo: Type.Optional(SessionInfo),
          },
          { title: 'CustomerPayer' },
        ),
      ],
      { title: 'Payer' },
    ),
    warnings: Type.Optional(
      Type.Array(Type.Enum([...chargeWarnings]), {
        description:
          'Only for recurring payments. The charge goes against card-network guidance or the consent.',
      }),
    ),
    makeRecurrent: Type.Boolean(),
    threeDSecure: Type.Optional({
      ...ThreeDSecure,
      description: 'What the bank was asked, unless that was left to the bank.',
    }),
    exemption: Type.Optional(ExemptionSchema),
    authenticated: Type.Optional(Authenticated),
    metadata: Type.Optional(Metadata),
    transactionInfo: Type.Optional(
      Type.Object(
        {
          rrn: Type.Optional(
            Type.String({ description: 'The retrieval reference, if the bank has given one.' }),
          ),
          approvalCode: Type.Optional(Type.String()),
        },
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
    { changeType: Type.Literal('PaymentInteractionCompleted'), paymentID: EntityID },
    { title: 'PaymentInteractionCompleted' },
  ),
  Type.Object(
    {
      changeType: Type.Literal('PaymentStatusChanged'),
      paymentID: EntityID,
      status: PaymentStatusSchema,
      error: Type.Optional(PaymentError),
      reason: Type.Optional(
        Type.String({
          description: 'Only for merchants, if you did not cancel it: why, such as captureRefused.',
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
    ...defined({
      externalID: payment.externalId,
      threeDSecure: payment.threeDSecure,
      // A stepped-up charge was made without it.
      exemption: payment.isSteppedUp ? undefined : payment.exemption,
      authenticated: payment.authenticated && authenticatedBody(payment.authenticated),
    }),
    ...(payment.metadata === undefined
      ? {}
      : { metadata: payment.metadata as NonNullable<PaymentBody['metadata']> }),
    ...transactionInfo(state),
    ...(state.name === 'failed' ? { error: errorBody(state, caller) } : {}),
  };
}

function authenticatedBody(said: AuthenticatedElsewhere): PaymentBody['authenticated'] {
  const { version, status, eci, dsTransId: dsTransID, acsTransId: acsTransID, at } = said;
  return { version, status, eci, dsTransID, ...defined({ acsTransID }), at };
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
  if (payer.savedBy) return presentCustomerBody(payer, payer.savedBy.customerId, session);
  return {
    payerType: 'PaymentResourcePayer',
    paymentToolToken: payer.token,
    paymentSession: payer.session,
    paymentToolDetails: paymentToolDetailsBody(payer.card),
    clientInfo: payer.clientInfo,
    ...contact,
  };
}

/** No token: the card belongs to the customer. */
function presentCustomerBody(
  { card, clientInfo }: Payer & { readonly type: 'resource' },
  customerID: string,
  session: object,
): PaymentBody['payer'] {
  const paymentToolDetails = paymentToolDetailsBody(card);
  return {
    payerType: 'CustomerPayer',
    customerID,
    present: true,
    paymentToolDetails,
    clientInfo,
    ...session,
  };
}

function transactionInfo(state: PaymentState): Pick<PaymentBody, 'transactionInfo'> {
  if (!('approval' in state)) return {};
  const { approvalCode } = state.approval;
  return { transactionInfo: defined({ rrn: referencesOf(state.approval).rrn, approvalCode }) };
}

function errorBody(
  {
    failure,
    declineClass,
    bank,
  }: (PaymentState & { name: 'failed' }) | (PaymentFact & { type: 'payment_failed' }),
  caller: Caller,
): Static<typeof PaymentError> {
  if (caller.kind !== 'apiKey') return payerError(failure);
  return { ...merchantError(failure), ...defined({ declineClass, bank }) };
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
    case 'payment_interaction_completed':
      return { changeType: 'PaymentInteractionCompleted', paymentID: paymentId };
    case 'payment_processed':
      return changed('processed');
    case 'payment_captured':
      return changed('captured');
    case 'payment_cancelled':
    case 'payment_capture_failed': {
      const reason = caller.kind === 'apiKey' ? reasonOfBank(fact) : undefined;
      return { ...changed('cancelled'), ...defined({ reason }) };
    }
    case 'payment_refunded':
      return changed('refunded');
    case 'payment_failed':
      return { ...changed('failed'), error: errorBody(fact, caller) };
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
