// Schemas of the open bank protocol; docs/bank-protocol.md explains the fields.
// The adapter, the simulated bank and the conformance checks share them.
import { Type, type Static } from 'typebox';
import { exemptions } from '../../domain/authentication.ts';
import { chargeReasons } from '../../domain/initiation.ts';
import {
  Address,
  Amount,
  anyText,
  Country,
  Currency,
  latin,
  Moment,
  money,
  NetworkIds,
  NetworkTransactionId,
  OperationId,
  References,
  text,
  visible,
} from './fields.ts';

const CardNumber = Type.String({ pattern: '^\\d{12,19}$' });
/** Year first, so that month and year cannot be confused. */
const Expiry = Type.String({ pattern: '^20\\d\\d-(0[1-9]|1[0-2])$' });
/** Characters, which may be bytes: the message itself has at most 64 KiB. */
const maxReturned = 64 * 1_024;
const AmountRule = Type.Enum(['fixed', 'variable']);
const Count = Type.Integer({ minimum: 1, maximum: 9_999 });

const common = {
  merchant: Type.Object({
    id: text(40),
    terminal: text(40),
    descriptor: text(100),
    mcc: Type.Optional(Type.String({ pattern: '^\\d{4}$' })),
    name: Type.Optional(text(100)),
    city: Type.Optional(text(50)),
    country: Type.Optional(Country),
    url: Type.Optional(Address),
    subMerchant: Type.Optional(text(40)),
  }),
  notAfter: Type.Optional(Moment),
  callbackUrl: Type.Optional(Address),
};

const Original = Type.Object({ ...money, references: Type.Optional(References), at: Moment });
const followUp = { ...common, originalOperationId: OperationId, original: Type.Optional(Original) };

const StoredFor = Type.Object({
  for: Type.Enum([...chargeReasons]),
  amount: Type.Optional(AmountRule),
  everyDays: Type.Optional(Count),
  until: Type.Optional(Moment),
});
const Authenticated = Type.Object({
  version: visible(8),
  status: visible(1),
  eci: visible(2),
  value: visible(64),
  dsTransId: visible(36),
  acsTransId: Type.Optional(visible(36)),
  at: Moment,
});
/** Screens have at most six digits, and time zones four. */
const Browser = Type.Object({
  accept: Type.Optional(anyText(2_048)),
  userAgent: Type.Optional(anyText(2_048)),
  language: Type.Optional(anyText(35)),
  javaEnabled: Type.Optional(Type.Boolean()),
  javaScriptEnabled: Type.Optional(Type.Boolean()),
  colorDepth: Type.Optional(Type.Integer({ minimum: 1, maximum: 64 })),
  screenWidth: Type.Optional(Type.Integer({ minimum: 0, maximum: 999_999 })),
  screenHeight: Type.Optional(Type.Integer({ minimum: 0, maximum: 999_999 })),
  timeZoneOffset: Type.Optional(Type.Integer({ minimum: -1_440, maximum: 1_440 })),
});
export const payerFields = {
  ip: Type.Optional(anyText(45)),
  email: Type.Optional(anyText(254)),
  fingerprint: Type.Optional(anyText(1_000)),
  browser: Type.Optional(Browser),
  name: Type.Optional(anyText(100)),
  phone: Type.Optional(anyText(40)),
  billingAddress: Type.Optional(
    Type.Object({
      line: Type.Optional(anyText(200)),
      city: Type.Optional(anyText(100)),
      state: Type.Optional(anyText(100)),
      postalCode: Type.Optional(anyText(20)),
      country: Type.Optional(Country),
    }),
  ),
  reference: Type.Optional(Type.String({ minLength: 3, maxLength: 64 })),
};

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
    reason: Type.Optional(Type.Enum([...chargeReasons])),
    rootNetworkTransactionId: Type.Optional(NetworkTransactionId),
    previousNetworkTransactionId: Type.Optional(NetworkTransactionId),
    rootNetworkIds: Type.Optional(NetworkIds),
    previousNetworkIds: Type.Optional(NetworkIds),
    stores: Type.Optional(StoredFor),
    usesStored: Type.Optional(Type.Boolean()),
    amount: Type.Optional(AmountRule),
    sequence: Type.Optional(Type.Object({ number: Count, of: Type.Optional(Count) })),
    resubmission: Type.Optional(Type.Boolean()),
  }),
  authentication: Type.Enum(['required', 'preferred', 'none', 'given']),
  demandsChallenge: Type.Optional(Type.Boolean()),
  authenticationAmount: Type.Optional(Type.Object(money)),
  returnUrl: Type.Optional(Address),
  authenticated: Type.Optional(Authenticated),
  exemption: Type.Optional(Type.Enum([...exemptions])),
  payer: Type.Optional(Type.Object(payerFields)),
  obligation: Type.Optional(visible(64)),
  attempt: Type.Optional(Count),
});

const CaptureMessage = Type.Object({
  kind: Type.Literal('capture'),
  ...followUp,
  ...money,
  final: Type.Optional(Type.Boolean()),
});
const ReverseMessage = Type.Object({
  kind: Type.Literal('reverse'),
  ...followUp,
  amount: Type.Optional(Amount),
  currency: Type.Optional(Currency),
});
const RefundMessage = Type.Object({ kind: Type.Literal('refund'), ...followUp, ...money });
const ReceivingCard = Type.Object({
  number: CardNumber,
  expiry: Type.Optional(Expiry),
  holder: Type.Optional(anyText(100)),
});
const PayoutSender = Type.Object({
  name: Type.Optional(latin(30)),
  firstName: Type.Optional(latin(30)),
  lastName: Type.Optional(latin(30)),
  address: Type.Optional(latin(35)),
  city: Type.Optional(latin(25)),
  country: Type.Optional(Country),
  birthDate: Type.Optional(Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$' })),
  nationality: Type.Optional(Country),
  occupation: Type.Optional(latin(30)),
  account: Type.Optional(latin(34)),
  reference: Type.String({ pattern: '^[\\x21-\\x7e]{1,16}$' }),
  sourceOfFunds: Type.String({ pattern: '^0[1-6]$' }),
});
const PayoutMessage = Type.Object({
  kind: Type.Literal('payout'),
  ...common,
  ...money,
  card: ReceivingCard,
  sender: Type.Optional(PayoutSender),
  purpose: Type.Optional(Type.String({ pattern: '^[A-Z0-9]{2,3}$' })),
  recipient: Type.Optional(
    Type.Object({
      firstName: Type.Optional(latin(30)),
      lastName: Type.Optional(latin(30)),
      country: Type.Optional(Country),
    }),
  ),
});
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
export type ReverseMessage = Static<typeof ReverseMessage>;
export type PayoutMessage = Static<typeof PayoutMessage>;
export type VerifyMessage = Static<typeof VerifyMessage>;
export type OperationMessage =
  | AuthoriseMessage
  | Static<typeof CaptureMessage>
  | ReverseMessage
  | Static<typeof RefundMessage>
  | PayoutMessage
  | VerifyMessage;

/** What the payer's browser brought back from the page, unchanged. */
export const ReturnMessage = Type.Object({
  method: Type.Enum(['GET', 'POST']),
  query: anyText(maxReturned),
  form: Type.Optional(anyText(maxReturned)),
});

export type ReturnMessage = Static<typeof ReturnMessage>;

export const Callback = Type.Object({ operationId: OperationId });

export const BookEntry = Type.Object({
  sequence: Type.Integer({ minimum: 1 }),
  operationId: OperationId,
  kind: Type.Enum(['authorise', 'capture', 'reverse', 'refund', 'payout', 'return']),
  originalOperationId: Type.Optional(OperationId),
  amount: Amount,
  currency: Currency,
  /** 1: from the payer to the merchant. -1: to the payer. 0: held or released. */
  sign: Type.Enum([1, 0, -1]),
  at: Moment,
  cardMask: Type.String({ pattern: '^\\d{6}\\*{2,9}\\d{4}$' }),
});
export type BookEntry = Static<typeof BookEntry>;
export const BookPage = Type.Object({ entries: Type.Array(BookEntry) });
