// Reads withdrawals: one by ID or external ID, or the list. Quotes are always refused.
import { Type, type Static } from 'typebox';
import { endpoint } from '../../platform/http/endpoint.ts';
import { CurrencyCode } from '../../platform/http/schemas.ts';
import { accept, refuse } from '../../refusal.ts';
import { listed, PageQuery, pageSchema } from '../../platform/lists/pages.ts';
import { Moments, rangeOf } from '../../platform/lists/ranges.ts';
import { AnyID, AssetParams, PayoutExternalID } from '../../identities/api/shared-schema.ts';
import {
  findWithdrawal as readOne,
  findWithdrawalByExternalId,
  listWithdrawals as readList,
} from '../store/withdrawals.ts';
import { withdrawalOutcome } from './outcome.ts';
import { withdrawalBody, WithdrawalPath, WithdrawalSchema, WithdrawalStatus } from './schema.ts';
import type { Database } from '../../platform/database/database.ts';

export const getWithdrawal = endpoint({
  operation: 'getWithdrawal',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/wallet/v0/withdrawals/{withdrawalID}',
  tag: 'Withdrawals',
  summary: 'Get a withdrawal',
  params: WithdrawalPath,
  status: 200,
  response: WithdrawalSchema,
  outcome: withdrawalOutcome,
  errors: ['withdrawalNotFound'],
  handle: async ({ caller, params }, { db }: { db: Database }) => {
    const stored = await readOne(db, caller.partyId, params.withdrawalID);
    return stored ? accept(withdrawalBody(stored.withdrawal)) : refuse('withdrawalNotFound');
  },
});

export const findWithdrawal = endpoint({
  operation: 'findWithdrawal',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/wallet/v0/external-ids/withdrawals/{externalID}',
  tag: 'Withdrawals',
  summary: 'Find a withdrawal by externalID',
  params: Type.Object({ externalID: PayoutExternalID }),
  status: 200,
  response: WithdrawalSchema,
  outcome: withdrawalOutcome,
  errors: ['withdrawalNotFound'],
  handle: async ({ caller, params }, { db }: { db: Database }) => {
    const found = await findWithdrawalByExternalId(db, caller.partyId, params.externalID);
    return found ? accept(withdrawalBody(found.value)) : refuse('withdrawalNotFound');
  },
});

export const WithdrawalSearch = Type.Object({
  ...PageQuery,
  walletID: Type.Optional(AnyID),
  identityID: Type.Optional(AnyID),
  withdrawalID: Type.Optional(AnyID),
  destinationID: Type.Optional(AnyID),
  status: Type.Optional(WithdrawalStatus),
  ...Moments,
  currencyID: Type.Optional(CurrencyCode),
});

const storedAs = { Pending: 'sending', Succeeded: 'succeeded', Failed: 'failed' } as const;

export function withdrawalsAsked(
  partyId: string,
  query: Omit<Static<typeof WithdrawalSearch>, 'limit' | keyof typeof Moments>,
) {
  return {
    party_id: partyId,
    wallet_id: query.walletID ?? null,
    identity_id: query.identityID ?? null,
    withdrawal_id: query.withdrawalID ?? null,
    destination_id: query.destinationID ?? null,
    currency: query.currencyID ?? null,
    status: query.status === undefined ? null : storedAs[query.status as keyof typeof storedAs],
  };
}

export const listWithdrawals = endpoint({
  operation: 'listWithdrawals',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/wallet/v0/withdrawals',
  tag: 'Withdrawals',
  summary: 'List your withdrawals, newest first',
  query: WithdrawalSearch,
  status: 200,
  response: pageSchema('WithdrawalPage', WithdrawalSchema),
  errors: ['invalidContinuationToken', 'invalidSearchRange'],
  handle: async ({ caller, query }, { db }: { db: Database }) => {
    const range = rangeOf(query);
    if (!range.ok) return range;
    const filter = { ...withdrawalsAsked(caller.partyId, query), ...range.value };
    return listed(query, (page) => readList(db, { ...filter, ...page }), withdrawalBody);
  },
});

export const createQuote = endpoint({
  operation: 'createQuote',
  access: { scope: 'payouts:read' },
  method: 'POST',
  path: '/wallet/v0/withdrawal-quotes',
  tag: 'Withdrawals',
  summary: 'Request a quote',
  description: 'Always refused today: a quote is for a payout in another currency than the wallet has.',
  body: Type.Object(
    {
      walletID: AnyID,
      currencyFrom: CurrencyCode,
      currencyTo: CurrencyCode,
      cash: AssetParams,
      destinationID: Type.Optional(AnyID),
    },
    { title: 'WithdrawalQuoteParams' },
  ),
  status: 202,
  errors: ['quotesNotOffered'],
  handle: () => Promise.resolve(refuse('quotesNotOffered')),
});
