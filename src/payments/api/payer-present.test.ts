import { expect, test } from 'vitest';
import type { Caller } from '../../caller.ts';
import { presentPayerOf } from './payer-present.ts';

const token: Caller = { kind: 'invoice', entityId: 'I', partyId: 'P' };
const key: Caller = { kind: 'apiKey', keyId: 'K', partyId: 'P', scopes: [] };
const behindProxy = { address: '10.0.0.7', countedAs: '203.0.113.1' };
const direct = { address: '203.0.113.1', countedAs: '203.0.113.1' };

test.each([
  ['behind an undeclared proxy', token, behindProxy, { ip: '10.0.0.7', countedAs: '203.0.113.1' }],
  ['that connects itself', token, direct, { ip: '203.0.113.1' }],
  ['that a merchant names', key, behindProxy, { ip: '192.0.2.9' }],
])('limits count a payer %s as all others', (_who, caller, from, expected) => {
  const given = { fingerprint: 'f', ip: '192.0.2.9' };
  expect(presentPayerOf(given, caller, from)).toEqual({ fingerprint: 'f', ...expected });
});
