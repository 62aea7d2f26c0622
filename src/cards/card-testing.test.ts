import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { limitCards, unlimitedCards, type Payer } from './card-testing.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const card = (name: number | string) => createHash('sha256').update(String(name)).digest();

function setUp() {
  let nowMs = 5_000_000;
  let others = 0;
  const limits = limitCards(() => nowMs);
  return {
    later: (ms: number) => void (nowMs += ms),
    /** A call by a payer who shares only the given values with others. */
    wait(same: Partial<Payer>, name: number | string | undefined) {
      others += 1;
      const payer: Payer = {
        address: `10.0.${others >> 8}.${others & 255}`,
        fingerprint: `browser ${others}`,
        kind: 'invoice',
        entityId: `invoice ${others}`,
        ...same,
      };
      return limits.waitSeconds(payer, name === undefined ? undefined : card(name));
    },
  };
}

describe.each<[string, Partial<Payer>, most: number, withinMs: number]>([
  ['an address', { address: '192.0.2.1' }, 3, 10 * minuteMs],
  ['an invoice', { kind: 'invoice', entityId: 'I' }, 3, 72 * hourMs],
  ['a customer', { kind: 'customer', entityId: 'C' }, 3, 24 * hourMs],
])('for %s', (_of, same, most, withinMs) => {
  test('the limit of different cards passes, and the next waits until the first is forgotten', () => {
    const { wait, later } = setUp();
    for (let name = 1; name <= most; name++) {
      expect(wait(same, name)).toBeUndefined();
      later(1_000);
    }
    expect(wait(same, 'one more')).toBe(withinMs / 1000 - most);
    expect(wait(same, 1), 'a card that counts already').toBeUndefined();
    later(withinMs - (most - 1) * 1_000 - 1);
    expect(wait(same, 'one more')).toBe(1);
    later(1);
    expect(wait(same, 'one more'), 'the second card was forgotten').toBeUndefined();
    expect(wait(same, 'yet another')).toBeGreaterThan(0);
  });
});

test('a refused card is not counted anywhere', () => {
  const { wait, later } = setUp();
  for (let name = 1; name <= 3; name++) wait({ entityId: 'I' }, name);
  for (let name = 4; name <= 9; name++) {
    expect(wait({ entityId: 'I', address: '192.0.2.1' }, name)).toBeGreaterThan(0);
  }
  for (let name = 1; name <= 3; name++) {
    expect(wait({ address: '192.0.2.1' }, name)).toBeUndefined();
    later(1);
  }
});

describe('for a browser', () => {
  test.each([
    ['one address', ['192.0.2.1', '192.0.2.1']],
    ['one network', ['2001:db8::1', '2001:db8::2']],
  ])('five different cards an hour pass from %s, however slowly', (_of, addresses) => {
    const { wait, later } = setUp();
    for (let name = 0; name < 5; name++) {
      expect(wait({ fingerprint: 'f', address: addresses[name % 2]! }, name)).toBeUndefined();
      later(4 * minuteMs);
    }
    expect(wait({ fingerprint: 'f', address: addresses[1]! }, 5)).toBe(40 * 60);
    expect(wait({ fingerprint: 'g', address: addresses[1]! }, 5), 'another browser').toBeUndefined();
  });

  test('payers on other networks with the same browser do not wait', () => {
    const { wait } = setUp();
    for (let stranger = 1; stranger <= 50; stranger++) {
      expect(wait({ fingerprint: 'f' }, stranger)).toBeUndefined();
    }
  });
});

test('an invoice and a customer with the same ID are counted separately', () => {
  const { wait } = setUp();
  for (let name = 1; name <= 3; name++) wait({ kind: 'invoice', entityId: 'X' }, name);
  expect(wait({ kind: 'customer', entityId: 'X' }, 4)).toBeUndefined();
});

test('one address has ten attempts, also with invalid cards, and then one a minute', () => {
  const { wait, later } = setUp();
  const same = { address: '192.0.2.1' };
  for (let times = 1; times <= 10; times++) expect(wait(same, undefined)).toBeUndefined();
  expect(wait(same, undefined)).toBe(60);
  later(minuteMs);
  expect(wait(same, undefined)).toBeUndefined();
  expect(wait(same, undefined)).toBe(60);
});

test('without limits no payer waits', () => {
  const payer: Payer = { address: '192.0.2.1', fingerprint: 'f', kind: 'invoice', entityId: 'I' };
  for (let name = 0; name < 50; name++) expect(unlimitedCards.waitSeconds(payer, card(name))).toBeUndefined();
});
