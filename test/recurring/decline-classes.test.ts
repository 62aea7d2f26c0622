// Every code of every network against a table that was typed separately, before and after 25 October 2026.
import { describe, expect, test } from 'vitest';
import type { Instant } from '../../src/clock.ts';
import { stopOfDecline, type NetworkDecline } from '../../src/recurring/domain/series.ts';
import { declineClasses, type DeclineClass } from '../../src/acquiring/domain/decline-class.ts';
import {
  declineClassOf,
  effectsOf,
  packsInForce,
  rulePacks,
  strictest,
  type RulePack,
} from '../../src/retry-rules/domain/rule-packs.ts';
import {
  allAdvice,
  allCodes,
  finalCodes,
  informationOnly,
  meaningOfAdvice,
  meaningOfCode,
  type Meaning,
  type Network,
} from './decline-table.ts';

const networks: readonly Network[] = ['visa', 'mastercard', 'mir', 'jcb'];
const before = '2026-10-24T23:59:59.999999Z' as Instant;
const after = '2026-10-25T00:00:00.000000Z' as Instant;
const reaches = { charge: 'charge', series: 'series', cardInShop: 'shop', card: 'everywhere' } as const;

function found(decline: NetworkDecline, now: Instant, packs = rulePacks): Meaning {
  const { stop, wait } = strictest(effectsOf(decline, packsInForce(decline.network, now, packs)));
  return {
    helper: declineClassOf(decline, now, packs),
    ...(stop ? { stop: reaches[stop.effect.scope] } : {}),
    ...(wait ? { waitHours: wait.effect.forMs / 3_600_000 } : {}),
  };
}

/** The codes whose meaning differs from the table. */
function differing(packs: readonly RulePack[], codes = allCodes, advices = allAdvice): string[] {
  return networks.flatMap((network) =>
    [before, after].flatMap((now) => [
      ...codes
        .filter((code) => {
          const meaning = meaningOfCode(network, code, Date.parse(now));
          return JSON.stringify(found({ network, code }, now, packs)) !== JSON.stringify(meaning);
        })
        .map((code) => `${network} ${code}`),
      ...advices
        .filter((advice) => {
          const got = found({ network, code: '05', advice }, now, packs);
          return JSON.stringify(got) !== JSON.stringify(meaningOfAdvice(advice));
        })
        .map((advice) => `advice ${advice}`),
    ]),
  );
}

test('every code and every advice means on every network what the table says', () => {
  expect(differing(rulePacks)).toEqual([]);
});

test('the packs have a row for every code of the table and no other', () => {
  for (const pack of rulePacks) {
    if (pack.name === 'house') continue;
    const rows = Object.keys(pack.name === 'advice' ? pack.advice : pack.codes).sort();
    expect(rows, pack.name).toEqual(
      [...(pack.name === 'advice' ? [...allAdvice, ...informationOnly] : allCodes)].sort(),
    );
  }
});

test('a wrong row in any pack is found', () => {
  for (const [place, pack] of rulePacks.entries()) {
    for (const part of ['codes', 'advice'] as const) {
      for (const [code, rule] of Object.entries(pack[part])) {
        if (rule.class === undefined) continue;
        const wrongly = declineClasses[(declineClasses.indexOf(rule.class) + 1) % declineClasses.length];
        const { effect: _, ...without } = rule;
        const wrongRows = [
          { ...rule, class: wrongly as DeclineClass },
          ...(rule.effect ? [without] : [{ ...rule, effect: { does: 'stop', scope: 'series' } as const }]),
        ];
        for (const wrong of wrongRows) {
          const planted = rulePacks.with(place, { ...pack, [part]: { ...pack[part], [code]: wrong } });
          const differ = part === 'codes' ? differing(planted, [code], []) : differing(planted, [], [code]);
          expect(differ, `${pack.name} ${code} ${JSON.stringify(wrong)}`).not.toEqual([]);
        }
      }
    }
  }
});

describe('a decline that no network decided', () => {
  const told = (declineClass: DeclineClass, more = {}) => {
    const answer = { network: 'visa', code: 'a_word', by: 'acquirer', class: declineClass, ...more } as const;
    return found(answer, after);
  };

  test('stops what the class that the bank tells stops, and no other', () => {
    const meanings = declineClasses.map((one) => [one, told(one)]);
    expect(Object.fromEntries(meanings)).toEqual({
      funds: { helper: 'funds' },
      vague: { helper: 'vague' },
      issuer: { helper: 'issuer' },
      technical: { helper: 'technical' },
      newCard: { helper: 'newCard', stop: 'series' },
      payerPresent: { helper: 'payerPresent', stop: 'series' },
      stopped: { helper: 'stopped', stop: 'shop' },
      configuration: { helper: 'configuration' },
    });
  });

  test('does so although no network was asked', () => {
    expect(told('newCard', { network: 'bank' })).toEqual({ helper: 'newCard', stop: 'series' });
  });

  test('is read by no rule for codes, and still by the advice', () => {
    expect(told('vague', { code: '04' })).toEqual({ helper: 'vague' });
    expect(told('vague', { code: '04', class: undefined })).toEqual({ helper: 'vague' });
    expect(told('funds', { advice: '21' })).toEqual({ helper: 'stopped', stop: 'shop' });
    expect(told('newCard', { advice: '24' })).toEqual({ helper: 'newCard', stop: 'series', waitHours: 1 });
  });

  test('with the payer present stops charges of the card only if the payer stopped them', () => {
    const stopOf = (declineClass: DeclineClass) =>
      stopOfDecline({ network: 'visa', code: 'a_word', by: 'acquirer', class: declineClass }, after)?.scope;
    expect(declineClasses.filter(stopOf)).toEqual(['stopped']);
    expect(stopOf('stopped')).toBe('cardInShop');
  });
});

test('an unknown code is vague and has no effect', () => {
  for (const network of networks)
    for (const code of ['Z9', '99', '3ds-failed', '']) {
      expect(found({ network, code }, after)).toEqual({ helper: 'vague' });
    }
});

describe('advice', () => {
  test.each([
    ['overrides a code that says as little', 'visa', '51', '02', { helper: 'vague', waitHours: 72 }],
    [
      'does not make a stricter code milder',
      'visa',
      '54',
      '24',
      { helper: 'newCard', stop: 'series', waitHours: 1 },
    ],
    ['makes a milder code stricter', 'visa', '51', '21', { helper: 'stopped', stop: 'shop' }],
    [
      'leaves a wrong configuration one',
      'mastercard',
      '58',
      '25',
      { helper: 'configuration', waitHours: 24 },
    ],
    ['decides for 79', 'mastercard', '79', '25', { helper: 'funds', waitHours: 24 }],
    ['decides for 82', 'mastercard', '82', '01', { helper: 'newCard', stop: 'series' }],
    ['decides for 83', 'mastercard', '83', '02', { helper: 'vague', waitHours: 72 }],
    ['that only informs decides nothing', 'mastercard', '83', '40', { helper: 'newCard', stop: 'shop' }],
    ['without a row is ignored', 'mastercard', '51', '99', { helper: 'funds' }],
  ] as const)('%s', (_, network, code, advice, meaning) => {
    expect(found({ network, code, advice }, after)).toEqual(meaning);
  });
});

describe('a decline with the payer present', () => {
  const stopOf = (network: string, code: string, advice?: string, now = after) =>
    stopOfDecline({ network, code, ...(advice === undefined ? {} : { advice }) }, now);

  test.each(networks)('stops charges of the card if %s calls it final', (network) => {
    const stopping = allCodes.filter((code) => stopOf(network, code));
    expect(stopping).toEqual(
      allCodes.filter(
        (code) => finalCodes.includes(code) || (network === 'visa' && ['12', '57'].includes(code)),
      ),
    );
  });

  test('stops as much as that of a charge', () => {
    expect(stopOf('visa', 'R0')?.scope).toBe('charge');
    expect(stopOf('visa', '43')?.scope).toBe('cardInShop');
    expect(stopOf('mir', 'R3')).toMatchObject({ scope: 'card', declineClass: 'stopped', rule: 'code R3' });
    expect(stopOf('mastercard', '05', '03')).toMatchObject({ scope: 'cardInShop', rule: 'advice 03' });
  });

  test('stops nothing for a mistyped card, for advice about another card, or before it was final', () => {
    expect(stopOf('visa', '51', '01')).toBeUndefined();
    expect(stopOf('visa', 'N7')).toBeUndefined();
    expect(stopOf('visa', '57', undefined, before)).toBeUndefined();
    expect(stopOf('bank', '43')).toBeUndefined();
  });
});

test('what a bank declines without asking the network is a wrong configuration or technical', () => {
  const classes = allCodes.map((code) => [code, declineClassOf({ network: 'bank', code }, after)]);
  expect(classes.filter(([, helper]) => helper === 'configuration').map(([code]) => code)).toEqual(
    '03 12 13 30 31 40 58 76 77'.split(' '),
  );
  expect(classes.filter(([, helper]) => helper !== 'configuration' && helper !== 'technical')).toEqual([]);
});
