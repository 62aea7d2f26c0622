import { describe, expect, test } from 'vitest';
import type { Currency } from '../../money.ts';
import { abilitiesOfVersion1 as usual } from './abilities.ts';
import type { BankOperation } from './bank-port.ts';
import type { Initiation } from './initiation.ts';
import { missingAbility, refusalOfTerminal } from './missing-ability.ts';

const terminal = { id: 'T1', bankId: 'B1', merchantId: 'M1', descriptor: 'SHOP' };
const amount = { minor: 100n, currency: 'RUB' as Currency };
const named = { operationId: 'inv1.1.a', terminal };
const of = { ...named, originalOperationId: 'inv1.1.a' };

function charge(initiation: Initiation, authentication: 'none' | 'given' = 'none'): BankOperation {
  const returnUrl = 'https://pay.example/return';
  const how = { capture: true, card: { token: 't' }, initiation, authentication, returnUrl, payer: {} };
  return { ...named, kind: 'authorise', amount, ...how };
}

describe('an operation that every bank can do', () => {
  test.each<BankOperation>([
    charge({ by: 'payer', storesCard: true }),
    charge({ by: 'payer', storesCard: false, usesStored: true }),
    charge({ by: 'merchant', reason: 'unscheduled' }),
    { ...of, kind: 'capture', amount },
    { ...of, kind: 'capture', amount, final: true },
    { ...of, kind: 'reverse' },
    { ...of, kind: 'refund', amount },
  ])('$kind', (operation) => expect(missingAbility(operation, usual)).toBeUndefined());
});

describe('an operation that a bank has to declare', () => {
  test.each<[BankOperation, object, string]>([
    [
      charge({ by: 'merchant', reason: 'instalment' }),
      { initiations: ['instalment'] },
      'initiation instalment',
    ],
    [
      charge({ by: 'payer', storesCard: false }, 'given'),
      { authentication: ['given'] },
      'authentication given',
    ],
    [
      { ...of, kind: 'capture', amount, final: false },
      { capture: { partial: true, several: true } },
      'several captures',
    ],
    [{ ...of, kind: 'reverse', amount }, { reverse: { partial: true } }, 'reversal of a part'],
  ])('is missing in the first version, and is there once declared', (operation, declared, missing) => {
    expect(missingAbility(operation, usual)).toBe(missing);
    expect(missingAbility(operation, { ...usual, ...declared })).toBeUndefined();
  });

  test('a kind and a currency', () => {
    const refund = { ...of, kind: 'refund', amount } as const;
    expect(missingAbility(refund, { ...usual, kinds: ['authorise'] })).toBe('kind refund');
    expect(missingAbility(refund, { ...usual, currencies: ['EUR'] })).toBe('currency RUB');
  });
});

const payment = { kind: 'payment', currencies: ['RUB'] } as const;
const payout = { kind: 'payout', currencies: ['RUB', 'EUR'] } as const;

describe('a terminal', () => {
  test('is taken at a bank that declares nothing', () => {
    expect(refusalOfTerminal('B1', usual, payment)).toBeUndefined();
    expect(refusalOfTerminal('B1', usual, payout)).toBeUndefined();
  });

  test('is refused where the bank declares no such operation', () => {
    const abilities = { ...usual, kinds: ['authorise', 'refund'] as const };
    expect(refusalOfTerminal('B1', abilities, payment)).toBeUndefined();
    expect(refusalOfTerminal('B1', abilities, payout)).toBe(
      'Bank B1 declares that it does no operation of kind payout. Choose another bank.',
    );
    expect(refusalOfTerminal('B1', { ...abilities, kinds: ['payout'] }, payment)).toContain('authorise');
    expect(refusalOfTerminal('B1', { ...abilities, initiations: ['recurring'] }, payment)).toContain(
      'no payments of payers',
    );
  });

  test('is refused where the bank lacks a currency', () => {
    const abilities = { ...usual, currencies: ['RUB', 'USD'] };
    expect(refusalOfTerminal('B1', abilities, payment)).toBeUndefined();
    expect(refusalOfTerminal('B1', abilities, payout)).toBe(
      'Bank B1 declares no currency EUR. It has RUB, USD.',
    );
  });
});
