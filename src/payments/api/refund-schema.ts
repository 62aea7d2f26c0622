// The shapes of refunds in the API.
import { Type, type Static } from 'typebox';
import { BankWordsSchema } from '../../acquiring/api/bank-words-schema.ts';
import type { BankWords } from '../../acquiring/domain/bank-words.ts';
import type { Caller } from '../../caller.ts';
import { Amount, CurrencyCode, DateTime, EntityID, ExternalID } from '../../platform/http/schemas.ts';
import { CartParams, CartSchema, cartBody } from '../../invoices/api/schema.ts';
import { merchantError, type PaymentFailure } from '../../acquiring/authorisation/domain/payment-failure.ts';
import type { PaymentFact } from '../domain/payment.ts';
import { PaymentPath, SubError } from './schema.ts';
import type { Refund } from '../domain/refund.ts';
import type { NamedRefund } from '../store/refunds.ts';
import { defined } from '../../defined.ts';

export const RefundStatusSchema = Type.Enum(['pending', 'succeeded', 'failed']);

const RefundError = Type.Object(
  {
    code: Type.String(),
    message: Type.String(),
    subError: Type.Optional(SubError),
    bank: Type.Optional(BankWordsSchema),
  },
  { title: 'RefundError' },
);

export const RefundParams = Type.Object(
  {
    externalID: Type.Optional(ExternalID),
    amount: Type.Optional({ ...Amount, description: 'The default is all that is left of the payment.' }),
    currency: Type.Optional(CurrencyCode),
    reason: Type.Optional(Type.String({ maxLength: 1_000 })),
    cart: Type.Optional({
      ...CartParams,
      description:
        'What the payer keeps after the refund. Requires an amount; the total must equal what is left.',
    }),
    allocation: Type.Optional(Type.Unknown({ description: 'Split payments are not supported.' })),
  },
  { title: 'RefundParams' },
);

const refundProperties = {
  id: Type.String({ description: 'Unique within its payment.' }),
  externalID: Type.Optional(ExternalID),
  createdAt: DateTime,
  amount: Amount,
  currency: CurrencyCode,
  reason: Type.Optional(Type.String()),
  cart: Type.Optional(CartSchema),
  status: RefundStatusSchema,
  waitsUntil: Type.Optional({
    ...DateTime,
    description:
      'The balance of the shop is too small, so nothing was sent to the bank. Without money until then, the refund fails.',
  }),
  rrn: Type.Optional(Type.String({ description: "The bank's reference of a refund that succeeded." })),
  arn: Type.Optional(
    Type.String({
      description:
        'The acquirer reference number, if the bank returned it. With it, the bank of the payer finds the refund.',
    }),
  ),
  error: Type.Optional(RefundError),
};
export const RefundSchema = Type.Object(refundProperties, { title: 'Refund' });
export const RefundSearchResult = Type.Object(
  { ...refundProperties, invoiceID: EntityID, paymentID: Type.String() },
  { title: 'RefundSearchResult' },
);
export type RefundBody = Static<typeof RefundSchema>;

export const RefundPath = Type.Object({ ...PaymentPath.properties, refundID: EntityID });

export const refundChanges = [
  Type.Object(
    { changeType: Type.Literal('RefundStarted'), paymentID: EntityID, refund: RefundSchema },
    { title: 'RefundStarted' },
  ),
  Type.Object(
    {
      changeType: Type.Literal('RefundStatusChanged'),
      paymentID: EntityID,
      refundID: EntityID,
      status: RefundStatusSchema,
      error: Type.Optional(RefundError),
    },
    { title: 'RefundStatusChanged' },
  ),
];

export function refundBody(refund: Refund): RefundBody {
  const { id, externalId, createdAt, amount, reason, cart, status, waitsUntil, rrn, arn } = refund;
  return {
    id,
    createdAt,
    amount: Number(amount.minor),
    currency: amount.currency,
    status,
    ...defined({ externalID: externalId, reason, waitsUntil, rrn, arn }),
    ...(cart === undefined ? {} : { cart: cartBody(cart) }),
    ...(status === 'failed' ? { error: refundError(refund) } : {}),
  };
}

export function namedRefundBody(refund: NamedRefund): Static<typeof RefundSearchResult> {
  return { ...refundBody(refund), invoiceID: refund.invoiceId, paymentID: refund.paymentId };
}

/** For merchants, by the API and by webhook: the message repeats the code, and `subError` has the rest of the failure. */
export function refundError({
  failure,
  bank,
}: {
  readonly failure: PaymentFailure;
  readonly bank?: BankWords;
}): Static<typeof RefundError> {
  return { ...merchantError(failure), message: failure[0], ...defined({ bank }) };
}

/** What the event feed shows of a refund fact. */
export function refundChangeBody(fact: PaymentFact, paymentId: string, { kind }: Caller): object | undefined {
  const changed = (refundId: string, status: RefundBody['status']) => ({
    changeType: 'RefundStatusChanged',
    paymentID: paymentId,
    refundID: refundId,
    status,
  });
  switch (fact.type) {
    case 'refund_started':
      return {
        changeType: 'RefundStarted',
        paymentID: paymentId,
        refund: refundBody({ ...fact.refund, status: 'pending' }),
      };
    case 'refund_succeeded':
      return changed(fact.refundId, 'succeeded');
    case 'refund_failed':
    case 'refund_returned': {
      const [code] = fact.failure;
      // Payers read this feed too, and get neither what the bank said nor the reason in full.
      const error = kind === 'apiKey' ? refundError(fact) : { code, message: code };
      return { ...changed(fact.refundId, 'failed'), error };
    }
    default:
      return undefined;
  }
}
