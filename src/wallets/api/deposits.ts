// GET /wallet/v0/deposits lists deposits; POST /wallet/v0/test/deposits makes one, in the sandbox only.
import { Type } from 'typebox';
import { endpoint } from '../../platform/http/endpoint.ts';
import { CurrencyCode } from '../../platform/http/schemas.ts';
import { largestAmountMinor } from '../../money.ts';
import { accept, refuse } from '../../refusal.ts';
import { depositFromBank } from '../deposit.ts';
import { listed, PageQuery, pageSchema } from '../../platform/lists/pages.ts';
import { Moments, rangeOf } from '../../platform/lists/ranges.ts';
import { AnyID, AssetParams } from '../../identities/api/shared-schema.ts';
import { findWallet, listDeposits as readList } from '../store/wallets.ts';
import { depositBody, DepositSchema } from './schema.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Ids } from '../../ids.ts';

const TestDeposit = Type.Object({ wallet: AnyID, body: AssetParams }, { title: 'TestDeposit' });

export const makeTestDeposit = endpoint({
  operation: 'makeTestDeposit',
  access: { scope: 'sandbox' },
  method: 'POST',
  path: '/wallet/v0/test/deposits',
  tag: 'Wallets',
  summary: 'Deposit test money into a wallet',
  description: 'Only in the sandbox. In live mode the operator deposits.',
  body: TestDeposit,
  bodyExample: { wallet: 'the ID of your wallet', body: { amount: 100_000, currency: 'RUB' } },
  status: 202,
  response: DepositSchema,
  errors: ['noSuchWallet', 'differentCurrencies', 'invalidCashAmount'],
  handle: async (
    { caller, body, now },
    { db, ids, payouts }: { db: Database; ids: Ids; payouts: { livemode: boolean } },
  ) => {
    const wallet = await findWallet(db, caller.partyId, body.wallet);
    if (!wallet) return refuse('noSuchWallet');
    if (wallet.currency !== body.body.currency)
      return refuse('differentCurrencies', { hint: `The wallet is in ${wallet.currency}.` });
    const minor = BigInt(body.body.amount);
    if (minor < 1n || minor > largestAmountMinor) return refuse('invalidCashAmount');
    const { livemode } = payouts;
    const given = { id: ids.next(), livemode, bankAccountId: 'SANDBOX', minor, now };
    const { deposit } = await depositFromBank(db, wallet, given);
    return accept(depositBody(deposit));
  },
});

export const listDeposits = endpoint({
  operation: 'listDeposits',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/wallet/v0/deposits',
  tag: 'Wallets',
  summary: 'List the deposits into your wallets, newest first',
  query: Type.Object({
    ...PageQuery,
    walletID: Type.Optional(AnyID),
    identityID: Type.Optional(AnyID),
    depositID: Type.Optional(Type.String({ minLength: 1, maxLength: 50 })),
    sourceID: Type.Optional(AnyID),
    status: Type.Optional(Type.Enum(['Pending', 'Succeeded', 'Failed'])),
    revertStatus: Type.Optional(Type.Enum(['None', 'Partial', 'Full'])),
    ...Moments,
    currencyID: Type.Optional(CurrencyCode),
  }),
  status: 200,
  response: pageSchema('DepositPage', DepositSchema),
  errors: ['invalidContinuationToken', 'invalidSearchRange'],
  handle: async ({ caller, query }, { db }: { db: Database }) => {
    const range = rangeOf(query);
    if (!range.ok) return range;
    const { status = 'Succeeded', revertStatus } = query;
    // No deposit has another status: one that fails is not stored, and one that is reverted is so in full.
    if (status !== 'Succeeded' || revertStatus === 'Partial') return accept({ result: [] });
    const filter = {
      party_id: caller.partyId,
      wallet_id: query.walletID ?? null,
      identity_id: query.identityID ?? null,
      deposit_id: query.depositID ?? null,
      source_id: query.sourceID ?? null,
      currency: query.currencyID ?? null,
      is_reversed: revertStatus === undefined ? null : revertStatus === 'Full',
      ...range.value,
    };
    return listed(query, (page) => readList(db, { ...filter, ...page }), depositBody);
  },
});
