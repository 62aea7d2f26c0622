// Schemas of withdrawals.
import { Type, type Static } from 'typebox';
import { BankWordsSchema } from '../../acquiring/api/bank-words-schema.ts';
import type { BankWords } from '../../acquiring/domain/bank-words.ts';
import { defined } from '../../defined.ts';
import { DateTime } from '../../platform/http/schemas.ts';
import { Failure } from '../../wallets/api/failure-schema.ts';
import { nestedFailure, type PayoutFailure } from '../../wallets/domain/failure-path.ts';
import {
  AnyID,
  Asset,
  assetBody,
  AssetParams,
  FreeMetadata,
  givenBody,
  PayoutExternalID,
  SenderParams,
} from '../../identities/api/shared-schema.ts';
import { returnCodes } from '../../acquiring/domain/bank-port.ts';
import { publicStatus, type Returned, type Withdrawal, type WithdrawalState } from '../domain/withdrawal.ts';

const GrantToken = Type.String({ minLength: 1, maxLength: 4_000 });

export const WithdrawalPath = Type.Object({ withdrawalID: AnyID });
export const WithdrawalStatus = Type.Enum(['Pending', 'Succeeded', 'Failed']);

export const WithdrawalParams = Type.Object(
  {
    wallet: AnyID,
    destination: AnyID,
    body: AssetParams,
    sender: Type.Optional(SenderParams),
    purpose: Type.Optional(
      Type.String({
        pattern: '^[A-Z0-9]{2,3}$',
        description: 'Why you pay out, as a code agreed with the operator, such as `FD`.',
      }),
    ),
    metadata: Type.Optional(FreeMetadata),
    externalID: Type.Optional(PayoutExternalID),
    walletGrant: Type.Optional({ ...GrantToken, description: "A grant for another party's wallet." }),
    destinationGrant: Type.Optional({
      ...GrantToken,
      description: "A grant for another party's destination.",
    }),
  },
  { title: 'WithdrawalParameters' },
);
export type WithdrawalParams = Static<typeof WithdrawalParams>;

export const ReturnedSchema = Type.Object(
  {
    at: DateTime,
    code: Type.Enum([...returnCodes]),
    amount: Asset,
  },
  {
    title: 'PayoutReturn',
    description:
      'The bank of the card sent money back. It is in the wallet again; the status stays, and so does the fee.',
  },
);

export function returnedBody({ at, code, amount }: Returned): Static<typeof ReturnedSchema> {
  return { at, code, amount: assetBody(amount) };
}

/** What a bank declined has the bank's own words. */
export const FailureOfBank = Type.Object(
  { ...Failure.properties, bank: Type.Optional(BankWordsSchema) },
  {
    title: 'WithdrawalFailure',
    description: 'Why it failed: a general code, with more specific codes inside.',
  },
);

export function failureBody({
  failure,
  bank,
}: {
  readonly failure: PayoutFailure;
  readonly bank?: BankWords;
}) {
  return { ...nestedFailure(failure), ...defined({ bank }) };
}

export const WithdrawalSchema = Type.Object(
  {
    id: AnyID,
    wallet: AnyID,
    destination: AnyID,
    body: Asset,
    /** In addition to the body. */
    fee: Type.Optional(Asset),
    status: WithdrawalStatus,
    failure: Type.Optional(FailureOfBank),
    availableBy: Type.Optional({ ...DateTime, description: 'When the money is on the card, says the bank.' }),
    returned: Type.Optional(ReturnedSchema),
    createdAt: DateTime,
    metadata: Type.Optional(FreeMetadata),
    externalID: Type.Optional(Type.String()),
  },
  { title: 'Withdrawal' },
);

function endBody({ availableBy, returned }: WithdrawalState & { status: 'succeeded' }) {
  return defined({ availableBy, returned: returned && returnedBody(returned) });
}

export function withdrawalBody(withdrawal: Withdrawal): Static<typeof WithdrawalSchema> {
  const { id, walletId, destinationId, amount, feeMinor, state, createdAt } = withdrawal;
  return {
    id,
    wallet: walletId,
    destination: destinationId,
    body: assetBody(amount),
    ...(feeMinor === 0n ? {} : { fee: assetBody({ minor: feeMinor, currency: amount.currency }) }),
    status: publicStatus[state.status],
    ...(state.status === 'failed' ? { failure: failureBody(state) } : {}),
    ...(state.status === 'succeeded' ? endBody(state) : {}),
    createdAt,
    ...givenBody(withdrawal),
  };
}
