// Schemas of what a bank responds in the open bank protocol; docs/bank-protocol.md explains the fields.
// The adapter, the simulated bank and the conformance checks share them.
import { Type, type Static } from 'typebox';
import { declineClasses } from '../../domain/decline-class.ts';
import { authenticationWays } from '../../domain/authentication.ts';
import { decliners } from '../../domain/bank-port.ts';
import {
  Amount,
  Moment,
  NetworkIds,
  NetworkTransactionId,
  OperationId,
  References,
  visible,
} from './fields.ts';

const short = (most: number) => Type.String({ pattern: `^[A-Za-z0-9-]{1,${most}}$` });
/** Of any characters. Mandate keeps the first 200. */
const DeclineText = Type.String({ minLength: 1, maxLength: 1_000 });
const PageAddress = Type.String({ pattern: '^https?://[\\x21-\\x7e]+$', maxLength: 8_192 });
/** Of the values of a form together: they are ASCII, so a character is a byte. */
export const maxFormBytes = 64 * 1_024;
const Authenticated = Type.Object({
  how: Type.Enum([...authenticationWays]),
  version: Type.Optional(visible(8)),
  status: Type.Optional(visible(1)),
  dsTransId: Type.Optional(visible(36)),
  acsTransId: Type.Optional(visible(36)),
});
const FormField = Type.Object({
  name: Type.String({ pattern: '^[\\x21-\\x7e]{1,100}$' }),
  value: Type.String({ pattern: '^[\\x20-\\x7e]*$', maxLength: maxFormBytes }),
});

export const OperationAnswer = Type.Union([
  Type.Object({
    operationId: OperationId,
    outcome: Type.Literal('approved'),
    /** Banks of the first version return a retrieval reference. An acquirer's own is as good. */
    reference: Type.Optional(visible(64)),
    references: Type.Optional(References),
    approvalCode: Type.Optional(short(6)),
    networkTransactionId: Type.Optional(NetworkTransactionId),
    networkIds: Type.Optional(NetworkIds),
    eci: Type.Optional(short(2)),
    authenticated: Type.Optional(Authenticated),
    liabilityShift: Type.Optional(Type.Boolean()),
    availableBy: Type.Optional(Moment),
    arn: Type.Optional(Type.String({ pattern: '^\\d{23}$' })),
    advice: Type.Optional(short(2)),
    /** Only of a payout whose money came back. Its code may be one that Mandate does not know. */
    returned: Type.Optional(
      Type.Object({
        at: Moment,
        code: Type.String({ pattern: '^[a-z_]{1,40}$' }),
        amount: Amount,
      }),
    ),
  }),
  Type.Object({
    operationId: OperationId,
    outcome: Type.Literal('declined'),
    network: short(20),
    code: Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' }),
    advice: Type.Optional(short(2)),
    by: Type.Optional(Type.Enum([...decliners])),
    class: Type.Optional(Type.Enum([...declineClasses])),
    notBefore: Type.Optional(Moment),
    authenticated: Type.Optional(Authenticated),
    text: Type.Optional(DeclineText),
    references: Type.Optional(References),
  }),
  Type.Object({
    operationId: OperationId,
    outcome: Type.Literal('payerNeeded'),
    interaction: Type.Union([
      Type.Object({ method: Type.Literal('GET'), url: PageAddress }),
      Type.Object({
        method: Type.Literal('POST'),
        url: PageAddress,
        form: Type.Array(FormField, { maxItems: 50 }),
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

/**
 * Fields of an outcome that came after the first version. One that does not fit is left out: it must not turn an approval into an
 * unknown outcome.
 */
export const laterFields = {
  references: References,
  networkIds: NetworkIds,
  authenticated: Authenticated,
  liabilityShift: Type.Boolean(),
  availableBy: Moment,
  by: Type.Enum([...decliners]),
  class: Type.Enum([...declineClasses]),
  notBefore: Moment,
  text: DeclineText,
} as const;

/** Undefined when the body is not JSON. */
export function parseMessage(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
