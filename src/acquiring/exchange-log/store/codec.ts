// Codecs of what the exchange log keeps as JSON.
import {
  list,
  money,
  object,
  oneOf,
  optional,
  text,
  wholeNumber,
  instant,
  type Codec,
} from '../../../platform/database/codec.ts';
import { updateKinds, type BankUpdate } from '../../domain/bank-updates.ts';
import { networkIdKinds, type NetworkId, type References } from '../../domain/references.ts';

export const references: Codec<References> = object({
  rrn: optional(text),
  acquirer: optional(text),
  arn: optional(text),
});

export const networkIds: Codec<readonly NetworkId[]> = list(
  object({ kind: oneOf(...networkIdKinds), value: text }),
);

export const bankUpdate: Codec<BankUpdate> = object({
  sequence: wholeNumber,
  operationId: text,
  what: oneOf(...updateKinds),
  amount: optional(money),
  code: optional(text),
  at: instant,
  networkIds: optional(networkIds),
  references: optional(references),
});
