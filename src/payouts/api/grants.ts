// Grants let another party pay out from a wallet, once and up to an amount, or pay out to a destination. Any party that has
// the token can use the grant.
import { Type } from 'typebox';
import { endpoint } from '../../platform/http/endpoint.ts';
import { DateTime, instantOf } from '../../platform/http/schemas.ts';
import { accept, refuse } from '../../refusal.ts';
import { findDestination } from '../store/destinations.ts';
import { DestinationPath } from './destination-schema.ts';
import { storeGrant } from '../store/grants.ts';
import { requireActive } from '../../identities/domain/identity.ts';
import { Asset, AssetParams } from '../../identities/api/shared-schema.ts';
import { findWallet } from '../../wallets/store/wallets.ts';
import { WalletPath } from '../../wallets/api/schema.ts';
import { isKnownCurrency } from '../../money.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { Ids } from '../../ids.ts';

export const grantWallet = endpoint({
  operation: 'grantWallet',
  access: { scope: 'payouts:write' },
  method: 'POST',
  path: '/wallet/v0/wallets/{walletID}/grants',
  tag: 'Wallets',
  summary: 'Grant one payout from your wallet to another party',
  description:
    'Any party that has the token can pay out from the wallet once, up to the amount, until `validUntil`.',
  params: WalletPath,
  body: Type.Object({ asset: AssetParams, validUntil: DateTime }, { title: 'WalletGrantRequest' }),
  bodyExample: { asset: { amount: 10_000, currency: 'RUB' }, validUntil: '2030-01-01T00:00:00Z' },
  status: 201,
  response: Type.Object(
    { token: Type.String(), validUntil: DateTime, asset: Asset },
    { title: 'WalletGrant' },
  ),
  errors: ['walletNotFound', 'partyInaccessible', 'expiredGrant', 'currencyNotSupported'],
  handle: async (
    { caller, params, body, now },
    { db, merchants, ids }: { db: Database; merchants: Merchants; ids: Ids },
  ) => {
    const wallet = await findWallet(db, caller.partyId, params.walletID);
    if (!wallet) return refuse('walletNotFound');
    const party = await merchants.party(caller.partyId);
    if (!party || !requireActive(party).ok) return refuse('partyInaccessible');
    const validUntil = instantOf(body.validUntil);
    const { amount, currency } = body.asset;
    if (validUntil <= now) return refuse('expiredGrant');
    if (!isKnownCurrency(currency)) return refuse('currencyNotSupported');
    const token = await storeGrant(db, {
      id: ids.next(),
      kind: 'wallet',
      entityId: wallet.id,
      amount: { minor: BigInt(amount), currency },
      validUntil,
    });
    return accept({ token, validUntil, asset: { amount, currency } });
  },
});

export const grantDestination = endpoint({
  operation: 'grantDestination',
  access: { scope: 'payouts:write' },
  method: 'POST',
  path: '/wallet/v0/destinations/{destinationID}/grants',
  tag: 'Destinations',
  summary: 'Grant payouts to your destination to another party',
  description: 'Any party that has the token can pay out to the destination until `validUntil`.',
  params: DestinationPath,
  body: Type.Object({ validUntil: DateTime }, { title: 'DestinationGrantRequest' }),
  bodyExample: { validUntil: '2030-01-01T00:00:00Z' },
  status: 201,
  response: Type.Object({ token: Type.String(), validUntil: DateTime }, { title: 'DestinationGrant' }),
  errors: ['destinationNotFound', 'partyInaccessible', 'expiredGrant'],
  handle: async (
    { caller, params, body, now },
    { db, merchants, ids }: { db: Database; merchants: Merchants; ids: Ids },
  ) => {
    const stored = await findDestination(db, caller.partyId, params.destinationID);
    if (!stored) return refuse('destinationNotFound');
    const party = await merchants.party(caller.partyId);
    if (!party || !requireActive(party).ok) return refuse('partyInaccessible');
    const validUntil = instantOf(body.validUntil);
    if (validUntil <= now) return refuse('expiredGrant');
    const entityId = stored.destination.id;
    const token = await storeGrant(db, { id: ids.next(), kind: 'destination', entityId, validUntil });
    return accept({ token, validUntil });
  },
});
