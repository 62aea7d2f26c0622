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
        kind: 'invoice',
        entityId: `invoice ${others}`,
        ...same,
      };
      return limits.waitSeconds(payer, name === undefined ? undefined : card(name));
    },
  };
}

describe.each<[string, Partial<Payer>, most: number, withinMs: number]>([
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
  expect(wait({ kind: 'customer', entityId: 'C' }, 3)).toBeUndefined();
  for (let name = 4; name <= 9; name++) expect(wait({ entityId: 'I' }, name)).toBeGreaterThan(0);
  later(72 * hourMs);
  for (let name = 4; name <= 6; name++) expect(wait({ entityId: 'I' }, name)).toBeUndefined();
});

test('an address may enter as many cards as its attempts allow', () => {
  const { wait } = setUp();
  for (let name = 1; name <= 10; name++) expect(wait({ address: '192.0.2.1' }, name)).toBeUndefined();
});

test('a card without an address takes no attempt', () => {
  const { wait } = setUp();
  for (let name = 1; name <= 30; name++) expect(wait({ address: undefined }, name)).toBeUndefined();
});

test('an invoice and a customer with the same ID are counted separately', () => {
  const { wait } = setUp();
  for (let name = 1; name <= 3; name++) wait({ kind: 'invoice', entityId: 'X' }, name);
  expect(wait({ kind: 'customer', entityId: 'X' }, 4)).toBeUndefined();
});

test('the payers of one address enter 120 cards, also invalid ones, and then one a second', () => {
  const { wait, later } = setUp();
  const same = { address: '192.0.2.1' };
  for (let times = 1; times <= 120; times++) expect(wait(same, undefined)).toBeUndefined();
  expect(wait(same, undefined)).toBe(1);
  later(1_000);
  expect(wait(same, undefined)).toBeUndefined();
  expect(wait(same, undefined)).toBe(1);
});

test('sixty payers behind one address do not wait for each other', () => {
  const { wait, later } = setUp();
  for (let payer = 0; payer < 60; payer++) {
    expect(wait({ address: '192.0.2.1', entityId: `I${payer}` }, payer)).toBeUndefined();
    later(2_000);
  }
});

test('without limits no payer waits', () => {
  const payer: Payer = { address: '192.0.2.1', kind: 'invoice', entityId: 'I' };
  for (let name = 0; name < 50; name++) expect(unlimitedCards.waitSeconds(payer, card(name))).toBeUndefined();
});
