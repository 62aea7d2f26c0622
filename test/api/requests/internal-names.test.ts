// No operation takes a member that its schema does not declare, whatever it is called: neither the response nor any stored row differs.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { internalNames } from '../../support/requests/internal-names.ts';
import type { Document } from '../../support/requests/openapi.ts';
import { adding, asItIs, runStory, type StoryResult } from '../../support/requests/twin-stories.ts';
import { startPayoutWorld, type PayoutWorld } from '../../support/worlds/payout-world.ts';

let world: PayoutWorld;
let document: Document;
let plain: StoryResult;

beforeAll(async () => {
  world = await startPayoutWorld();
  document = (await world.service.call('GET', '/openapi.json')).body as Document;
  plain = await runStory(world, document, asItIs);
});
afterAll(() => world.close());

const names = internalNames();
const values = ['e1', -100, { id: 'x', amount: 1 }];

/** Every name at once, each with one of the values. */
function strangers(first: number): Record<string, unknown> {
  return Object.fromEntries(names.map((name, index) => [name, values[(first + index) % values.length]]));
}

describe('the story', () => {
  test('calls every operation', () => {
    const all = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const missing = all.filter(({ operationId }) => !plain.operations.has(operationId));
    expect(missing.map(({ operationId }) => operationId)).toEqual([]);
  });

  test('reaches what each operation does', () => {
    const refused = plain.answers.filter((answer) => !/^\w+ 2/.test(answer));
    // No bank reports chargebacks, and there are no quotes.
    expect(refused.map((answer) => answer.slice(0, 20))).toEqual([
      'createQuote 501 {"co',
      'getChargeback 404 {"',
    ]);
  });
});

test.each(values.map((value, index) => [JSON.stringify(value), index] as const))(
  'internal names in every object change nothing (first value %s)',
  async (_, first) => {
    const result = await runStory(world, document, adding(document, strangers(first)));
    expect(result.answers).toEqual(plain.answers);
    expect(result.rows).toEqual(plain.rows);
  },
);
