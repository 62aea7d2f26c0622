// POST /wallet/v0/wallets. A wallet of the test provider opens with a deposit, in the same transaction, so that there is
// something to pay out.
import { endpoint } from '../../platform/http/endpoint.ts';
import { accept, refuse } from '../../refusal.ts';
import { depositFromBank } from '../deposit.ts';
import { findIdentity } from '../../identities/store/identities.ts';
import { createIdempotently, requestFingerprint } from '../../platform/http/idempotent-create.ts';
import type { Identity } from '../../identities/domain/identity.ts';
import { testProviderId } from '../../identities/domain/provider.ts';
import { givenIn, shapeProblem } from '../../identities/api/shared-schema.ts';
import { requireOwner, type WalletFact } from '../domain/wallet.ts';
import { findWalletByExternalId, storeNewWallet } from '../store/wallets.ts';
import { walletBody, WalletParams, WalletSchema } from './schema.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { Ids } from '../../ids.ts';

type Deps = {
  readonly db: Database;
  readonly merchants: Merchants;
  readonly payouts: { readonly livemode: boolean; readonly openingDepositMinor: bigint };
  readonly ids: Ids;
};

export const createWallet = endpoint({
  operation: 'createWallet',
  access: { scope: 'wallets:write' },
  method: 'POST',
  path: '/wallet/v0/wallets',
  tag: 'Wallets',
  summary: 'Create a wallet',
  description:
    'A wallet is money of one currency, from which payouts are made. In the sandbox it opens with a deposit. In live mode the ' +
    'operator deposits.',
  body: WalletParams,
  validateBody: shapeProblem,
  bodyExample: { name: 'Payouts', identity: 'the ID of your identity', currency: 'RUB' },
  status: 201,
  response: WalletSchema,
  location: ({ id }) => `/wallet/v0/wallets/${id}`,
  errors: [
    'partyInaccessible',
    'noSuchIdentity',
    'currencyNotSupported',
    'identityInaccessible',
    'externalIDConflict',
  ],
  handle: async ({ caller, body, now }, { db, merchants, payouts, ids }: Deps) => {
    const { name, identity, currency, metadata, externalID } = body;
    const fingerprint = requestFingerprint([name, identity, currency, metadata, externalID]);
    return createIdempotently({
      externalId: externalID,
      fingerprint,
      order: 'findFirst',
      find: (externalId) => findWalletByExternalId(db, caller.partyId, externalId),
      respond: (wallet) => accept(walletBody(wallet)),
      make: async () => {
        const party = await merchants.party(caller.partyId);
        const owner = await findIdentity(db, caller.partyId, identity);
        if (!party) return refuse('partyInaccessible');
        const decision = requireOwner(party, owner?.identity, currency);
        if (!decision.ok) return decision;
        const of = decision.value;
        const terms: WalletFact['terms'] = {
          id: ids.next(),
          partyId: party.id,
          identityId: of.identity.id,
          name: name.trim(),
          currency: of.currency,
          createdAt: now,
          ...givenIn(body),
        };
        const isStored = await storeWithDeposit({ db, payouts, ids }, terms, of.identity, fingerprint);
        if (!isStored) return 'externalIdTaken';
        return accept(walletBody({ ...terms, isBlocked: false }));
      },
    });
  },
});

/** False if the external ID is taken. Only a wallet of the test provider opens with money. */
async function storeWithDeposit(
  { db, payouts, ids }: Pick<Deps, 'db' | 'payouts' | 'ids'>,
  terms: WalletFact['terms'],
  identity: Identity,
  fingerprint: Buffer,
): Promise<boolean> {
  const isTest = identity.provider === testProviderId && !payouts.livemode;
  const opening = isTest ? payouts.openingDepositMinor : 0n;
  return db.transaction(async (tx) => {
    if (!(await storeNewWallet(tx, { type: 'wallet_opened', terms }, fingerprint))) return false;
    if (opening === 0n) return true;
    await depositFromBank(tx, terms, {
      id: ids.next(),
      livemode: payouts.livemode,
      bankAccountId: 'SANDBOX',
      minor: opening,
      now: terms.createdAt,
      description: 'Test money to begin with',
    });
    return true;
  });
}
