// Schemas of wallets, balances, deposits and transfers.
import { Type, type Static } from 'typebox';
import { CurrencyCode, DateTime } from '../../platform/http/schemas.ts';
import { Failure } from './failure-schema.ts';
import {
  AnyID,
  Asset,
  assetBody,
  AssetParams,
  EntityName,
  FreeMetadata,
  givenBody,
  PayoutExternalID,
} from '../../identities/api/shared-schema.ts';
import { insufficientFunds, nestedFailure } from '../domain/failure-path.ts';
import type { Deposit, Transfer, Wallet, WalletTerms } from '../domain/wallet.ts';
import { defined } from '../../defined.ts';

export const WalletPath = Type.Object({ walletID: AnyID });

export const WalletParams = Type.Object(
  {
    name: EntityName,
    identity: AnyID,
    currency: CurrencyCode,
    metadata: Type.Optional(FreeMetadata),
    externalID: Type.Optional(PayoutExternalID),
  },
  { title: 'Wallet' },
);

export const WalletSchema = Type.Object(
  {
    id: AnyID,
    name: Type.String(),
    identity: AnyID,
    currency: CurrencyCode,
    isBlocked: Type.Boolean({ description: 'Its identity is blocked, or its party blocked or suspended.' }),
    createdAt: DateTime,
    metadata: Type.Optional(FreeMetadata),
    externalID: Type.Optional(Type.String()),
  },
  { title: 'WalletState' },
);

export const WalletAccount = Type.Object(
  { own: Asset, available: Asset },
  { title: 'WalletAccount', description: '`available` is `own` less what is reserved for pending payouts.' },
);

export const DepositSchema = Type.Object(
  {
    id: Type.String(),
    createdAt: DateTime,
    wallet: AnyID,
    source: AnyID,
    body: Asset,
    status: Type.Enum(['Succeeded']),
    desc: Type.Optional(Type.String()),
    revertStatus: Type.Enum(['None', 'Full']),
  },
  { title: 'Deposit' },
);

export const TransferParams = Type.Object(
  { sender: AnyID, receiver: AnyID, body: AssetParams, externalID: Type.Optional(PayoutExternalID) },
  { title: 'W2WTransferParameters' },
);

export const TransferSchema = Type.Object(
  {
    id: AnyID,
    createdAt: DateTime,
    sender: AnyID,
    receiver: AnyID,
    body: Asset,
    status: Type.Object({
      status: Type.Enum(['Pending', 'Succeeded', 'Failed']),
      failure: Type.Optional(Failure),
    }),
    externalID: Type.Optional(Type.String()),
  },
  { title: 'W2WTransfer' },
);

export function walletBody(wallet: WalletTerms & Pick<Wallet, 'isBlocked'>): Static<typeof WalletSchema> {
  const { id, name, identityId, currency, isBlocked, createdAt } = wallet;
  return { id, name, identity: identityId, currency, isBlocked, createdAt, ...givenBody(wallet) };
}

export function depositBody(deposit: Deposit): Static<typeof DepositSchema> {
  const { id, createdAt, walletId, sourceId, amount, description, reversedAt } = deposit;
  return {
    id,
    createdAt,
    wallet: walletId,
    source: sourceId,
    body: assetBody(amount),
    status: 'Succeeded',
    revertStatus: reversedAt === undefined ? 'None' : 'Full',
    ...defined({ desc: description }),
  };
}

const statuses = { pending: 'Pending', succeeded: 'Succeeded', failed: 'Failed' } as const;

export function transferBody(transfer: Transfer): Static<typeof TransferSchema> {
  const { id, createdAt, senderId, receiverId, amount, status } = transfer;
  return {
    id,
    createdAt,
    sender: senderId,
    receiver: receiverId,
    body: assetBody(amount),
    status: {
      status: statuses[status],
      ...(status === 'failed' ? { failure: nestedFailure(insufficientFunds) } : {}),
    },
    ...givenBody(transfer),
  };
}
