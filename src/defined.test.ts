import { expect, test } from 'vitest';
import { defined } from './defined.ts';

test('keeps what has a value, also one that is false or empty, and drops what is undefined or null', () => {
  const members = { id: 'a', name: undefined, note: null, count: 0, isOn: false, text: '' };
  expect(defined(members)).toStrictEqual({ id: 'a', count: 0, isOn: false, text: '' });
});
