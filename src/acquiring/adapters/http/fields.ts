// Schemas of the fields that messages, responses and updates of the open bank protocol share.
import { Type } from 'typebox';
import { largestAmountMinor } from '../../../money.ts';
import { networkIdKinds } from '../../domain/references.ts';

export const text = (most: number) => Type.String({ minLength: 1, maxLength: most });
/** What a payer typed, or their browser sent, may be empty. */
export const anyText = (most: number) => Type.String({ maxLength: most });
export const visible = (most: number) => Type.String({ pattern: `^[\\x21-\\x7e]{1,${most}}$` });
/** Of printable ASCII, so that a character is a byte. */
export const latin = (most: number) => Type.String({ pattern: `^[\\x20-\\x7e]{1,${most}}$` });

/** The ID is a path segment, so it must not be `..`. */
export const operationIdPattern = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$';
export const OperationId = Type.String({ pattern: operationIdPattern });
export const Address = Type.String({ pattern: '^https?://[\\x21-\\x7e]+$', maxLength: 2_048 });
export const Moment = Type.String({ format: 'date-time' });
export const Amount = Type.Integer({ minimum: 1, maximum: Number(largestAmountMinor) });
export const Currency = Type.String({ pattern: '^[A-Z]{3}$' });
export const Country = Type.String({ pattern: '^[A-Z]{3}$' });
export const money = { amount: Amount, currency: Currency };

export const NetworkTransactionId = visible(64);
export const NetworkIds = Type.Array(
  Type.Object({ kind: Type.Enum([...networkIdKinds]), value: NetworkTransactionId }),
  { minItems: 1, maxItems: 8 },
);
export const References = Type.Object({
  rrn: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9]{12}$' })),
  acquirer: Type.Optional(visible(64)),
  arn: Type.Optional(Type.String({ pattern: '^\\d{23}$' })),
});

type Check = { Check(value: unknown): boolean };

/** Leaves out the members that do not fit their schema, where a detail must not cost the whole. Members without a check stay. */
export function withoutMisfits(checks: Readonly<Record<string, Check>>) {
  return <T extends object>(value: T): T =>
    Object.fromEntries(
      Object.entries(value).filter(
        ([name, member]) => !Object.hasOwn(checks, name) || checks[name]?.Check(member) === true,
      ),
    ) as T;
}
