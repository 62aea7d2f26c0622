// Schemas of the open bank protocol; docs/bank-protocol.md explains the fields.
// The adapter, the simulated bank and the conformance checks share them.
import { Type, type Static } from 'typebox';
import { largestAmountMinor } from '../../../money.ts';

const text = (most: number) => Type.String({ minLength: 1, maxLength: most });
/** What a payer typed, or their browser sent, may be empty. */
const anyText = (most: number) => Type.String({ maxLength: most });

/** The ID is a path segment, so it must not be `..`. */
export const operationIdPattern = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$';
const OperationId = Type.String({ pattern: operationIdPattern });
const Address = Type.String({ pattern: '^https?://[\\x21-\\x7e]+$', maxLength: 2_048 });
const NetworkTransactionId = Type.String({ pattern: '^[\\x21-\\x7e]{1,64}$' });
const Amount = Type.Integer({ minimum: 1, maximum: Number(largestAmountMinor) });
const Currency = Type.String({ pattern: '^[A-Z]{3}$' });
const CardNumber = Type.String({ pattern: '^\\d{12,19}$' });
/** Year first, so that month and year cannot be confused. */
const Expiry = Type.String({ pattern: '^20\\d\\d-(0[1-9]|1[0-2])$' });

const common = {
  merchant: Type.Object({ id: text(40), terminal: text(40), descriptor: text(100) }),
  callbackUrl: Type.Optional(Address),
};
const money = { amount: Amount, currency: Currency };

const AuthoriseMessage = Type.Object({
  kind: Type.Literal('authorise'),
  ...common,
  ...money,
  capture: Type.Boolean(),
  card: Type.Object({
    number: CardNumber,
    expiry: Expiry,
    holder: Type.Optional(anyText(100)),
    securityCode: Type.Optional(Type.String({ pattern: '^\\d{3,4}$' })),
  }),
  initiation: Type.Object({
    by: Type.Enum(['payer', 'merchant']),
    storesCard: Type.Optional(Type.Boolean()),
    reason: Type.Optional(Type.Enum(['recurring', 'unscheduled'])),
    rootNetworkTransactionId: Type.Optional(NetworkTransactionId),
    previousNetworkTransactionId: Type.Optional(NetworkTransactionId),
  }),
  authentication: Type.Enum(['required', 'preferred', 'none']),
  returnUrl: Type.Optional(Address),
  payer: Type.Optional(
    Type.Object({
      ip: Type.Optional(anyText(45)),
      email: Type.Optional(anyText(254)),
      fingerprint: Type.Optional(anyText(1_000)),
    }),
  ),
});

const CaptureMessage = Type.Object({
  kind: Type.Literal('capture'),
  ...common,
  ...money,
  originalOperationId: OperationId,
});
const ReverseMessage = Type.Object({
  kind: Type.Literal('reverse'),
  ...common,
  originalOperationId: OperationId,
});
const RefundMessage = Type.Object({
  kind: Type.Literal('refund'),
  ...common,
  ...money,
  originalOperationId: OperationId,
});
const ReceivingCard = Type.Object({
  number: CardNumber,
  expiry: Type.Optional(Expiry),
  holder: Type.Optional(anyText(100)),
});
const PayoutMessage = Type.Object({ kind: Type.Literal('payout'), ...common, ...money, card: ReceivingCard });
const VerifyMessage = Type.Object({
  kind: Type.Literal('verify'),
  ...common,
  currency: Currency,
  card: ReceivingCard,
});

export const operationSchemas = {
  authorise: AuthoriseMessage,
  capture: CaptureMessage,
  reverse: ReverseMessage,
  refund: RefundMessage,
  payout: PayoutMessage,
  verify: VerifyMessage,
} as const;
export type OperationKind = keyof typeof operationSchemas;

export type AuthoriseMessage = Static<typeof AuthoriseMessage>;
export type PayoutMessage = Static<typeof PayoutMessage>;
export type VerifyMessage = Static<typeof VerifyMessage>;
export type OperationMessage =
  | AuthoriseMessage
  | Static<typeof CaptureMessage>
  | Static<typeof ReverseMessage>
  | Static<typeof RefundMessage>
  | PayoutMessage
  | VerifyMessage;

const short = (most: number) => Type.String({ pattern: `^[A-Za-z0-9-]{1,${most}}$` });
const FormField = Type.Object({
  name: Type.String({ pattern: '^[\\x21-\\x7e]{1,100}$' }),
  value: Type.String({ pattern: '^[\\x20-\\x7e]*$', maxLength: 16_384 }),
});

export const OperationAnswer = Type.Union([
  Type.Object({
    operationId: OperationId,
    outcome: Type.Literal('approved'),
    reference: Type.String({ pattern: '^[A-Za-z0-9]{12}$' }),
    approvalCode: Type.Optional(short(6)),
    networkTransactionId: Type.Optional(NetworkTransactionId),
    eci: Type.Optional(short(2)),
    advice: Type.Optional(short(2)),
  }),
  Type.Object({
    operationId: OperationId,
    outcome: Type.Literal('declined'),
    network: short(20),
    code: short(20),
    advice: Type.Optional(short(2)),
  }),
  Type.Object({
    operationId: OperationId,
    outcome: Type.Literal('payerNeeded'),
    interaction: Type.Union([
      Type.Object({ method: Type.Literal('GET'), url: Address }),
      Type.Object({
        method: Type.Literal('POST'),
        url: Address,
        form: Type.Array(FormField, { maxItems: 20 }),
      }),
    ]),
  }),
  Type.Object({ operationId: OperationId, outcome: Type.Literal('pending') }),
]);
export type OperationAnswer = Static<typeof OperationAnswer>;

/** The body of a 404 to an inquiry. A 404 without it may come from a proxy and proves nothing. */
export const NeverSeen = Type.Object({ operationId: OperationId, outcome: Type.Literal('notFound') });

/**
 * The body of a 400, 401, 409, 429 or 503. A response without it may come from a gateway, which does not know what
 * the bank did.
 */
export const ErrorAnswer = Type.Object({
  error: Type.Enum(['invalid', 'unauthorised', 'conflict', 'notDone']),
  /** With `invalid`: the name of the wrong field, such as `card.number`, never its value. */
  field: Type.Optional(Type.String({ maxLength: 100 })),
  message: Type.Optional(Type.String({ maxLength: 1_000 })),
});
export type ErrorAnswer = Static<typeof ErrorAnswer>;

export const Callback = Type.Object({ operationId: OperationId });

export const BookEntry = Type.Object({
  sequence: Type.Integer({ minimum: 1 }),
  operationId: OperationId,
  kind: Type.Enum(['authorise', 'capture', 'reverse', 'refund', 'payout']),
  originalOperationId: Type.Optional(OperationId),
  amount: Amount,
  currency: Currency,
  /** 1: from the payer to the merchant. -1: to the payer. 0: held or released. */
  sign: Type.Enum([1, 0, -1]),
  at: Type.String({ format: 'date-time' }),
  cardMask: Type.String({ pattern: '^\\d{6}\\*{2,9}\\d{4}$' }),
});
export type BookEntry = Static<typeof BookEntry>;
export const BookPage = Type.Object({ entries: Type.Array(BookEntry) });

/** Undefined when the body is not JSON. */
export function parseMessage(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
