// Every code on every network, with every advice: the rule packs and the table agree.
import { expect, test } from 'vitest';
import {
  declineClassOf,
  effectsOf,
  finalStop,
  packsInForce,
  rulePacks,
  strictest,
} from '../../src/retry-rules/domain/rule-packs.ts';
import { hour } from './calendar.ts';
import { adviceCodes, codes, mastercards, meaningOf, type Meaning, type Network } from './declines.ts';
import { instantOf } from './service.ts';

const now = instantOf(Date.UTC(2026, 10, 23) * 1000);
const networks: readonly Network[] = ['visa', 'mastercard', 'maestro', 'mir'];
const scopes = { charge: 'invoice', series: 'series', cardInShop: 'shopCard', card: 'card' } as const;

/** Codes of reversals, batches and approvals: no charge is declined with them. */
const notOfCharges = ['00', '08', '11', '16', '85', '25', '95'];

test.each(networks)('%s: a decline has the class, the stop and the wait of the table', (network) => {
  const advices = mastercards.includes(network) ? [undefined, ...adviceCodes, '40', '99'] : [undefined];
  for (const code of [...codes, 'ZZ']) {
    for (const advice of advices) {
      expect([code, advice, ofService(network, code, advice)]).toEqual([
        code,
        advice,
        ofTable(network, code, advice),
      ]);
    }
  }
});

test('the table has a row for every code of the packs', () => {
  const inPacks = new Set(rulePacks.flatMap((pack) => Object.keys(pack.codes)));
  const unknown = [...inPacks].filter((code) => !codes.includes(code) && !notOfCharges.includes(code));
  expect(unknown).toEqual([]);
});

function ofTable(
  network: Network,
  code: string,
  advice?: string,
): Omit<Meaning, 'final'> & { final: boolean } {
  return { final: false, ...meaningOf(network, code, advice) };
}

function ofService(network: Network, code: string, advice?: string): ReturnType<typeof ofTable> {
  const answer = { network, code, ...(advice !== undefined && { advice }) };
  const packs = packsInForce(network, now);
  const { stop, wait } = strictest(effectsOf(answer, packs));
  return {
    class: declineClassOf(answer, now),
    final: finalStop(answer, packs) !== undefined,
    ...(stop && { stops: scopes[stop.effect.scope] }),
    ...(wait && { wait: (wait.effect.forMs * 1000) / hour }),
  };
}
