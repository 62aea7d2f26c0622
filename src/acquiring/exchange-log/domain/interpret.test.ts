import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Currency } from '../../../money.ts';
import { updateKinds } from '../../domain/bank-updates.ts';
import { provedStates, type ExchangeState } from './exchange.ts';
import { interpret, stateAfter, type Heard, type Meaning } from './interpret.ts';

const rub = (minor: bigint) => ({ minor, currency: 'RUB' as Currency });
const approved: Heard = { by: 'answer', answer: { outcome: 'approved', reference: '900000000001' } };
const declined: Heard = { by: 'answer', answer: { outcome: 'declined', network: 'visa', code: '05' } };
const line: Heard = { by: 'report', amount: rub(6_000n) };
const late: Heard = { by: 'update', what: 'approvedLate' };
const failed: Heard = { by: 'update', what: 'captureFailed' };
const silence = (['pending', 'notFound'] as const).map((outcome): Heard => ({
  by: 'answer',
  answer: { outcome },
}));
const unknown: Heard = { by: 'answer', answer: { outcome: 'unknown', why: 'timeout' } };
const notSent: Heard = { by: 'answer', answer: { outcome: 'notSent', why: 'closed' } };

const states: ExchangeState[] = [
  'begun',
  'challenged',
  'approved',
  'declined',
  'givenUp',
  'takenBack',
  'settled',
];
const says = (state: ExchangeState, heard: Heard): string => {
  const meaning = interpret({ state, amount: rub(6_000n) }, heard);
  return meaning.says === 'proved' ? meaning.state : meaning.says;
};
/** In the order of `states`. */
const row = (heard: Heard) => states.map((state) => says(state, heard)).join(' ');

describe('what is heard means', () => {
  test.each<[string, Heard, string]>([
    ['an approval', approved, 'approved approved nothing contradiction nothing nothing contradiction'],
    ['a late approval', late, 'waits waits apply apply apply apply apply'],
    ['a decline', declined, 'declined declined contradiction nothing nothing nothing contradiction'],
    ['a failed capture', failed, 'waits waits apply contradiction apply apply apply'],
    ['a line of the report', line, 'approved approved nothing contradiction nothing nothing nothing'],
  ])('%s', (_, heard, expected) => {
    expect(row(heard)).toBe(expected);
  });

  test.each([...silence, unknown, notSent])('nothing without an outcome', (heard) => {
    expect(new Set(states.map((state) => says(state, heard)))).toEqual(new Set(['nothing']));
  });

  test('a contradiction if the report has another amount', () => {
    for (const amount of [rub(6_001n), { minor: 6_000n, currency: 'USD' as Currency }])
      expect(interpret({ state: 'approved', amount: rub(6_000n) }, { by: 'report', amount }).says).toBe(
        'contradiction',
      );
    expect(interpret({ state: 'approved' }, line).says).toBe('nothing');
  });
});

const heard = fc.oneof(
  fc.constantFrom(approved, declined, line, unknown, notSent, ...silence),
  fc.constantFrom(...updateKinds).map((what): Heard => ({ by: 'update', what })),
);

/** Everything that is heard one after the other. */
function hear(first: ExchangeState, all: readonly Heard[]): { state: ExchangeState; meanings: Meaning[] } {
  const meanings: Meaning[] = [];
  let state = first;
  for (const one of all) {
    const meaning = interpret({ state }, one);
    meanings.push(meaning);
    state = stateAfter(state, meaning);
  }
  return { state, meanings };
}

test('whatever is heard, in any order and however often, a proved outcome stays', () => {
  fc.assert(
    fc.property(fc.constantFrom(...states), fc.array(heard, { maxLength: 12 }), (first, all) => {
      let state = first;
      for (const one of all) {
        const after = stateAfter(state, interpret({ state }, one));
        if (provedStates.includes(state) || state === 'givenUp') expect(after).toBe(state);
        state = after;
      }
    }),
  );
});

test('what is heard again means nothing new', () => {
  fc.assert(
    fc.property(fc.constantFrom(...states), fc.array(heard, { maxLength: 8 }), (first, all) => {
      const once = hear(first, all);
      const again = hear(once.state, all);
      expect(again.state).toBe(once.state);
      expect(again.meanings.some(({ says }) => says === 'proved')).toBe(false);
    }),
  );
});

test('without a contradiction the order does not matter', () => {
  fc.assert(
    fc.property(fc.array(heard, { maxLength: 8 }), fc.infiniteStream(fc.nat()), (all, keys) => {
      const shuffled = all.map((one) => [keys.next().value ?? 0, one] as const).sort(([a], [b]) => a - b);
      const [one, other] = [
        hear('begun', all),
        hear(
          'begun',
          shuffled.map(([, it]) => it),
        ),
      ];
      const contradicts = [...one.meanings, ...other.meanings].some(({ says }) => says === 'contradiction');
      if (!contradicts) expect(other.state).toBe(one.state);
    }),
  );
});
