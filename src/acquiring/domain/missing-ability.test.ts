import { describe, expect, test } from 'vitest';
import { parseInstant, type Instant } from '../../clock.ts';
import type { Currency } from '../../money.ts';
import { abilitiesOfVersion1 as usual } from './abilities.ts';
import type { BankOperation } from './bank-port.ts';
import type { Initiation } from './initiation.ts';
import {
  missingAbility,
  missingForCharge,
  missingForPayout,
  refusalOfTerminal,
  wantedVerification,
} from './missing-ability.ts';

const terminal = { id: 'T1', bankId: 'B1', merchantId: 'M1', descriptor: 'SHOP' };
const amount = { minor: 100n, currency: 'RUB' as Currency };
const at = parseInstant('2026-11-26T10:00:00Z') as Instant;
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

  test('lacks its kind or its currency', () => {
    const refund = { ...of, kind: 'refund', amount } as const;
    expect(missingAbility(refund, { ...usual, kinds: ['authorise'] })).toBe('kind refund');
    expect(missingAbility(refund, { ...usual, currencies: ['EUR'] })).toBe('currency RUB');
  });
});

describe('a capture of less than the hold', () => {
  const part = {
    ...of,
    kind: 'capture',
    amount,
    original: { amount: { ...amount, minor: 101n }, at },
  } as const;
  const allOrNothing = { ...usual, capture: { partial: false, several: false } };
  test('is missing where the bank takes all or nothing', () => {
    expect(missingAbility(part, usual)).toBeUndefined();
    expect(missingAbility(part, allOrNothing)).toBe('capture of a part');
    expect(missingAbility({ ...part, original: { amount, at } }, allOrNothing)).toBeUndefined();
  });
});

describe('a charge that is to be created', () => {
  const wanted = { by: 'payer', currency: 'RUB', isHold: false, savesCard: false } as const;

  test('is one that every bank can do', () => {
    for (const more of [{}, { isHold: true }, { savesCard: true }, { by: 'merchant' } as const])
      expect(missingForCharge({ ...wanted, ...more }, usual)).toBeUndefined();
    expect(missingForCharge(wantedVerification('RUB', 'visa'), usual)).toBeUndefined();
    expect(missingForPayout(wanted, usual)).toBeUndefined();
  });

  test.each([
    [{}, { kinds: ['capture'] as const }, 'kind authorise'],
    [{ isHold: true }, { kinds: ['authorise'] as const }, 'kind capture'],
    [{}, { currencies: ['EUR'] }, 'currency RUB'],
    [{ network: 'visa' }, { networks: ['MasterCard'] }, 'network visa'],
    [{}, { initiations: ['recurring'] as const }, 'initiation payer'],
    [{ savesCard: true }, { initiations: ['payer'] as const }, 'initiation recurring'],
    [{ by: 'merchant' as const }, { initiations: ['payer'] as const }, 'initiation recurring'],
    [{ savesCard: true, reason: 'instalment' as const }, {}, 'initiation instalment'],
    [
      { by: 'merchant' as const, reason: 'unscheduled' as const },
      { initiations: ['recurring'] as const },
      'initiation unscheduled',
    ],
    [{ authentication: 'given' as const }, {}, 'authentication given'],
    [{ authentication: 'hosted' as const }, { authentication: ['given'] as const }, 'authentication hosted'],
  ])('%j is missing at a bank with %j: %s', (more, abilities, missing) => {
    expect(missingForCharge({ ...wanted, ...more }, { ...usual, ...abilities })).toBe(missing);
  });

  test.each([
    ['nspkmir', 'MIR'],
    ['nspkmir', 'NSPK'],
    ['visa', 'Visa'],
    ['visa', 'Visa Electron'],
    ['mastercard', 'MC'],
    ['amex', 'American Express'],
    ['dinersclub', 'diners-club'],
  ])('with a card of %s is taken where the bank declares %s', (network, declared) => {
    const abilities = { ...usual, networks: [declared] };
    expect(missingForCharge({ ...wanted, network }, abilities)).toBeUndefined();
    expect(missingForPayout({ ...wanted, network }, abilities)).toBeUndefined();
    expect(missingForPayout({ ...wanted, network: 'jcb' }, abilities)).toBe('network jcb');
  });

  test('needs only what it uses', () => {
    const least = { ...usual, kinds: ['authorise'], initiations: ['payer'], authentication: [] } as const;
    expect(missingForCharge(wanted, least)).toBeUndefined();
    const charge = { ...wanted, by: 'merchant' } as const;
    expect(missingForCharge(charge, { ...least, initiations: ['recurring'] })).toBeUndefined();
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
