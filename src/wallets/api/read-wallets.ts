// Reads wallets: one by ID or external ID, the list, and the balance of one.
import { Type } from 'typebox';
import { endpoint } from '../../platform/http/endpoint.ts';
import { walletAccount } from '../../platform/ledger/domain/account.ts';
import { readBalance } from '../../platform/ledger/store/journals.ts';
import { accept, refuse } from '../../refusal.ts';
import { sought } from '../../platform/http/schemas.ts';
import { assetBody, HoldingsQuery, PayoutExternalID } from '../../identities/api/shared-schema.ts';
import { listed, pageSchema } from '../../platform/lists/pages.ts';
import { findWallet as readOne, findWalletByExternalId, listWallets as readList } from '../store/wallets.ts';
import { WalletAccount, walletBody, WalletPath, WalletSchema } from './schema.ts';
import type { Database } from '../../platform/database/database.ts';

export const getWallet = endpoint({
  operation: 'getWallet',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/wallet/v0/wallets/{walletID}',
  tag: 'Wallets',
  summary: 'Get a wallet',
  params: WalletPath,
  status: 200,
  response: WalletSchema,
  errors: ['walletNotFound'],
  handle: async ({ caller, params }, { db }: { db: Database }) => {
    const wallet = await readOne(db, caller.partyId, params.walletID);
    return wallet ? accept(walletBody(wallet)) : refuse('walletNotFound');
  },
});

export const getWalletAccount = endpoint({
  operation: 'getWalletAccount',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/wallet/v0/wallets/{walletID}/account',
  tag: 'Wallets',
  summary: 'Get the balance of a wallet',
  params: WalletPath,
  status: 200,
  response: WalletAccount,
  errors: ['walletNotFound'],
  handle: async ({ caller, params }, { db, payouts }: { db: Database; payouts: { livemode: boolean } }) => {
    const wallet = await readOne(db, caller.partyId, params.walletID);
    if (!wallet) return refuse('walletNotFound');
    const { currency } = wallet;
    const account = walletAccount({ livemode: payouts.livemode, currency, walletId: wallet.id });
    const { own, available } = await readBalance(db, account);
    return accept({
      own: assetBody({ minor: own, currency }),
      available: assetBody({ minor: available, currency }),
    });
  },
});

export const findWallet = endpoint({
  operation: 'findWallet',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/wallet/v0/external/wallets',
  tag: 'Wallets',
  summary: 'Find a wallet by externalID',
  query: Type.Object({ externalID: { ...PayoutExternalID, ...sought } }),
  status: 200,
  response: WalletSchema,
  errors: ['walletNotFound'],
  handle: async ({ caller, query }, { db }: { db: Database }) => {
    const found = await findWalletByExternalId(db, caller.partyId, query.externalID);
    return found ? accept(walletBody(found.value)) : refuse('walletNotFound');
  },
});

export const listWallets = endpoint({
  operation: 'listWallets',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/wallet/v0/wallets',
  tag: 'Wallets',
  summary: 'List your wallets, newest first',
  query: HoldingsQuery,
  status: 200,
  response: pageSchema('WalletPage', WalletSchema),
  errors: ['invalidContinuationToken'],
  handle: ({ caller, query }, { db }: { db: Database }) => {
    const filter = {
      party_id: caller.partyId,
      identity_id: query.identityID ?? null,
      currency: query.currencyID ?? null,
    };
    return listed(query, (page) => readList(db, { ...filter, ...page }), walletBody);
  },
});
