// Shared steps for tests of the wallets API.
import { expect } from 'vitest';
import { findIdentity, storeIdentityFacts } from '../../../src/identities/store/identities.ts';
import { startPayoutWorld, type PayoutWorld } from './payout-world.ts';
import type { Merchant } from '../service/test-service.ts';

/** A merchant with a wallet and a card for payouts, and another merchant with its own wallet. */
export type TwoSides = {
  readonly world: PayoutWorld;
  readonly destination: string;
  readonly other: Merchant;
  readonly others: { readonly identity: string; readonly wallet: string };
};

export async function startTwoSides(): Promise<TwoSides> {
  const world = await startPayoutWorld();
  const { id: destination } = await world.destinationFor('4242424242424242');
  const other = await world.createMerchant();
  return { world, destination, other, others: await world.openWallet(other) };
}

export const refused = (code: string, message: string, more = {}) => ({
  status: 422,
  body: { code, message, ...more },
});
/** Without the hint, which a test of its own reads. */
export const said = ({ status, body: { hint: _, ...body } = {} }: { status: number; body?: any }) => ({
  status,
  body,
});

export async function setBlocked(world: PayoutWorld, identity: string, isBlocked: boolean): Promise<void> {
  const { database, clock } = world.service;
  const stored = (await findIdentity(database, null, identity))!;
  const type = isBlocked ? 'identity_blocked' : 'identity_unblocked';
  expect(await storeIdentityFacts(database, stored, [{ type }], clock.now())).toBe(true);
}
