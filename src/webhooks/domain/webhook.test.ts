import { describe, expect, test } from 'vitest';
import { instantAt } from '../../clock.ts';
import { randomIds } from '../../ids.ts';
import { matches, decideRotate, keysAt, webhookIdOf, type PublishedKey } from './webhook.ts';

const hourMs = 3_600_000;
const at = (hours: number) => instantAt(Date.UTC(2026, 0, 19) + hours * hourMs);
const key = (keyVersion: number, fromHour: number): PublishedKey => ({
  keyVersion,
  publicKey: `public ${keyVersion}`,
  signingPublicKey: `signing ${keyVersion}`,
  signsFrom: at(fromHour),
});
const generations = (keys: readonly { keyVersion: number }[]) => keys.map(({ keyVersion }) => keyVersion);

describe('keys', () => {
  const [first, second, third] = [key(1, 0), key(2, 48), key(3, 200)];

  test.each([
    ['with one key', [first], 1, 1, undefined, [1], []],
    ['with the next key published', [first, second], 24, 1, 2, [2, 1], []],
    ['just before the switch', [first, second], 47.999, 1, 2, [2, 1], []],
    ['at the switch', [first, second], 48, 2, undefined, [2, 1], []],
    ['just before 24 h after the switch', [first, second], 71.999, 2, undefined, [2, 1], []],
    ['24 h after the switch', [first, second], 72, 2, undefined, [2], [1]],
    ['with old keys', [first, second, third], 201, 3, undefined, [3, 2], [1]],
    ['whose clock is behind', [second], 0, 2, undefined, [2], []],
  ])('%s', (_, keys, hour, current, next, signing, retired) => {
    const found = keysAt(keys.toReversed(), at(hour));
    expect(found.current.keyVersion).toBe(current);
    expect(found.next?.keyVersion).toBe(next);
    expect(generations(found.signing)).toEqual(signing);
    expect(generations(found.retired)).toEqual(retired);
  });

  test.each([
    [[first], 1, { keyVersion: 2, signsFrom: at(25) }],
    [[first, second], 24, undefined],
    [[first, second], 71, undefined],
    [[first, second], 72, { keyVersion: 3, signsFrom: at(96) }],
    // An immediate rotation waits until every node knows the key.
    [[first], 1, { keyVersion: 2, signsFrom: at(1 + 5 / 60) }, 0],
  ])('can be rotated when no rotation is in progress', (keys, hour, expected, afterHours = 24) => {
    const decision = decideRotate(keys, at(hour), afterHours);
    expect(decision.ok ? decision.value : undefined).toEqual(expected);
  });
});

test.each([
  [{ id: 'SHOP' }, [{ id: 'SHOP' }], true],
  [{ id: 'SHOP' }, [{ id: 'OTHER' }], false],
  [{ id: 'I' }, [{ id: 'I', part: 'W' }], true],
  [{ id: 'I', part: 'W' }, [{ id: 'I', part: 'W' }], true],
  [{ id: 'I', part: 'V' }, [{ id: 'I', part: 'W' }], false],
  [{ id: 'I', part: 'V' }, [{ id: 'I' }], false],
  [{ id: 'I' }, [{ id: 'J' }, { id: 'I' }], true],
])('a webhook of %j receives events of an aggregate of %j: %s', (owner, owners, expected) => {
  expect(matches({ owner }, owners)).toBe(expected);
});

test('webhook IDs are decimal, longer than a card number, and ordered by time', () => {
  const ids = Array.from({ length: 1_000 }, () => webhookIdOf(randomIds.next()));
  for (const id of ids) expect(id).toMatch(/^\d{22}$/);
  expect(new Set(ids).size).toBe(1_000);
  expect(webhookIdOf('1aaaaaaaaaaaaaaaaaaaaaa') < webhookIdOf('1aaaabaaaaaaaaaaaaaaaaa')).toBe(true);
});
