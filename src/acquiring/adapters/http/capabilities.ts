// Schemas of what a bank says about itself, and about operations after their response.
import { Type, type Static } from 'typebox';
import { Amount, Currency, Moment, NetworkIds, OperationId, References } from './fields.ts';

const Words = Type.Array(Type.String({ maxLength: 40 }), { maxItems: 400 });
const Days = Type.Integer({ minimum: 0, maximum: 400 });
const Limit = Type.Integer({ minimum: 1, maximum: 100_000 });
/** What does not fit is no limit. */
export const limits = { perSecond: Limit, atOnce: Limit };

/** Every member is optional, and Mandate passes over words that it does not know. */
export const AbilitiesAnswer = Type.Object({
  kinds: Type.Optional(Words),
  currencies: Type.Optional(Type.Array(Currency, { maxItems: 400 })),
  networks: Type.Optional(Words),
  capture: Type.Optional(
    Type.Object({ partial: Type.Optional(Type.Boolean()), several: Type.Optional(Type.Boolean()) }),
  ),
  reverse: Type.Optional(Type.Object({ partial: Type.Optional(Type.Boolean()) })),
  authentication: Type.Optional(Words),
  initiations: Type.Optional(Words),
  foreignNetworkIds: Type.Optional(Type.Boolean()),
  holdDays: Type.Optional(Type.Object({ payer: Type.Optional(Days), merchant: Type.Optional(Days) })),
  repeatable: Type.Optional(Type.String({ maxLength: 40 })),
  refunds: Type.Optional(Type.Enum(['final', 'mayFail'])),
  returns: Type.Optional(Type.Boolean()),
  updates: Type.Optional(Type.Boolean()),
  perSecond: Type.Optional(limits.perSecond),
  atOnce: Type.Optional(limits.atOnce),
});
export type AbilitiesAnswer = Static<typeof AbilitiesAnswer>;

export const Sequence = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
export const updateDetails = {
  code: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' })),
  networkIds: Type.Optional(NetworkIds),
  references: Type.Optional(References),
};
export const Update = Type.Object({
  sequence: Sequence,
  operationId: OperationId,
  /** A bank may report what Mandate does not know. */
  what: Type.String({ pattern: '^[A-Za-z]{1,40}$' }),
  amount: Type.Optional(Amount),
  currency: Type.Optional(Currency),
  at: Moment,
  ...updateDetails,
});
export type Update = Static<typeof Update>;
export const UpdatePage = Type.Object({ updates: Type.Array(Update, { maxItems: 100 }) });
