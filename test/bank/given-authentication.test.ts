// What a message says of an authentication elsewhere. The rest of the messages is tested with the simulated bank.
import { expect, test } from 'vitest';
import { parseInstant, type Instant } from '../../src/clock.ts';
import type { Currency } from '../../src/money.ts';
import type { BankOperation } from '../../src/acquiring/domain/bank-port.ts';
import { messageOf, type ClearCard } from '../../src/acquiring/adapters/http/build-message.ts';

const authenticated = {
  version: '2.2.0',
  status: 'Y',
  eci: '05',
  dsTransId: 'd',
  at: parseInstant('2026-11-26T12:00:00Z') as Instant,
};
const operation: BankOperation = {
  kind: 'authorise',
  operationId: 'i.1.a',
  terminal: { id: 'T1', bankId: 'B1', merchantId: 'M1', descriptor: 'SHOP' },
  amount: { minor: 6_000n, currency: 'RUB' as Currency },
  card: { token: 't', authentication: 'K' },
  capture: true,
  initiation: { by: 'payer', storesCard: false },
  authentication: 'given',
  authenticated,
  returnUrl: 'https://pay.example/return',
  payer: {},
};
const messageWith = (clear: Partial<ClearCard>) =>
  messageOf(
    operation,
    () => Promise.resolve({ number: '4242424242424242', expiry: '2049-12', ...clear }),
    undefined,
  );

test('the value that the vault kept is in the message', async () => {
  const value = 'AAECAwQFBgcICQoLDA0ODxAREhM=';
  const message = await messageWith({ authenticationValue: value });
  expect(message).toMatchObject({ authentication: 'given', authenticated: { ...authenticated, value } });
});

test('without its value there is no message', async () => {
  await expect(messageWith({})).rejects.toThrow('used up');
});
