// POST /wallet/v0/wallets. A wallet of the test provider opens with a deposit, in the same transaction: there is no other way
// for a newcomer to have something to pay out.
import { endpoint } from '../../platform/http/endpoint.ts';
import { accept, refuse } from '../../refusal.ts';
import { depositFromBank } from '../deposit.ts';
import { findIdentity } from '../../identities/store/identities.ts';
import { fingerprintOf, createIdempotently } from '../../identities/api/idempotent-create.ts';
import { testProviderId } from '../../identities/domain/provider.ts';
import { givenIn, shapeProblem } from '../../identities/api/shared-schema.ts';
import { requireOwner, type OwnedRefusal, type Wallet, type WalletFact } from '../domain/wallet.ts';
import { findWalletNamed, storeNewWallet } from '../store/wallets.ts';
import { walletBody, WalletParams, WalletSchema } from './schema.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { Ids } from '../../ids.ts';

export const createWallet = endpoint({
  operation: 'createWallet',
  access: { scope: 'wallets:write' },
  method: 'POST',
  path: '/wallet/v0/wallets',
  tag: 'Wallets',
  summary: 'Create a wallet',
  description:
    'Money of one currency, from which payouts are made. In the sandbox it opens with a deposit; in live mode the operator ' +
    'deposits.',
  body: WalletParams,
  validateBody: shapeProblem,
  bodyExample: { name: 'Payouts', identity: 'the id of your identity', currency: 'RUB' },
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
  handle: async (
    { caller, body, now },
    {
      db,
      merchants,
      payouts,
      ids,
    }: {
      db: Database;
      merchants: Merchants;
      payouts: { livemode: boolean; openingDepositMinor: bigint };
      ids: Ids;
    },
  ) => {
    const { name, identity, currency, metadata, externalID } = body;
    const fingerprint = fingerprintOf([name, identity, currency, metadata, externalID]);
    const made = await createIdempotently<Wallet, OwnedRefusal>({
      externalId: externalID,
      fingerprint,
      find: (named) => findWalletNamed(db, caller.partyId, named),
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
        const isTest = of.identity.provider === testProviderId && !payouts.livemode;
        const opening = isTest ? payouts.openingDepositMinor : 0n;
        const isStored = await db.transaction(async (tx) => {
          if (!(await storeNewWallet(tx, { type: 'wallet_opened', terms }, fingerprint))) return false;
          if (opening === 0n) return true;
          await depositFromBank(tx, terms, {
            id: ids.next(),
            livemode: payouts.livemode,
            bankAccountId: 'SANDBOX',
            minor: opening,
            now,
            description: 'Test money to begin with',
          });
          return true;
        });
        const { provider, level } = of.identity;
        return isStored ? accept({ ...terms, isBlocked: false, provider, level }) : 'nameTaken';
      },
    });
    return made.ok ? accept(walletBody(made.value)) : made;
  },
});
