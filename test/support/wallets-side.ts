// What tests of the wallets' side say in short.
import { expect } from 'vitest';
import { findIdentity, storeIdentityFacts } from '../../src/wallets/identity.store.ts';
import type { PayoutWorld } from './payout-world.ts';

export const refused = (code: string, message: string, more = {}) => ({
  status: 422,
  body: { code, message, ...more },
});
export const said = ({ status, body }: { status: number; body: any }) => ({ status, body });

export async function setBlocked(world: PayoutWorld, identity: string, isBlocked: boolean): Promise<void> {
  const { database, clock } = world.service;
  const stored = (await findIdentity(database, null, identity))!;
  const type = isBlocked ? 'identity_blocked' : 'identity_unblocked';
  expect(await storeIdentityFacts(database, stored, [{ type }], clock.now())).toBe(true);
}
