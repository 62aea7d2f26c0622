// The order of steps of a create, without a database: what is found, made and refused is given.
import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { accept, refuse } from '../../refusal.ts';
import { createIdempotently, requestFingerprint, type IdempotentCreate } from './idempotent-create.ts';

type Made = ReturnType<typeof accept<string>> | ReturnType<typeof refuse<'taken'>>;
type Thing = { readonly id?: string; readonly fingerprint: Buffer };
type Answer = Made | 'versionConflict' | 'externalIdTaken' | Error;
type Create = IdempotentCreate<{ readonly id?: string }, Made | 'otherRequest', Exclude<Answer, Error>>;

const mine = requestFingerprint(['mine']);
const earlier: Thing = { id: 'first', fingerprint: requestFingerprint(['mine']) };
const another: Thing = { id: 'first', fingerprint: requestFingerprint(['another']) };
const hintAbout = (what: string) =>
  `The externalID belongs to ${what}, created with other content. Send a new externalID for a new object.`;
const conflict = refuse('externalIDConflict', {
  details: { externalID: 'order', id: 'first' },
  hint: hintAbout('`first`'),
});

/** `found` and `made` are the results of each try; the last one repeats. */
async function run(
  given: Partial<Pick<Create, 'order' | 'respond' | 'maxTries'>> & {
    externalId?: string | undefined;
    found?: (Thing | undefined)[];
    made?: Answer[];
  },
) {
  const { found = [undefined], made = [accept('made')], ...more } = given;
  const steps: string[] = [];
  const at = <T>(list: T[], kind: string) => list[Math.min(countOf(kind), list.length - 1)] as T;
  const countOf = (kind: string) => steps.filter((step) => step.startsWith(kind)).length;
  const outcome = createIdempotently<{ readonly id?: string }, Made | 'otherRequest', Exclude<Answer, Error>>(
    {
      externalId: 'order',
      fingerprint: mine,
      order: 'findFirst',
      find(externalId) {
        const thing = at(found, 'find');
        steps.push(`find ${externalId}`);
        return Promise.resolve(thing && { value: thing, fingerprint: thing.fingerprint });
      },
      respond: ({ id }) => accept(`again ${id}`),
      async make(attempt) {
        const answer = at(made, 'make');
        steps.push(`make ${attempt}`);
        await Promise.resolve();
        if (answer instanceof Error) throw answer;
        return answer;
      },
      ...more,
    },
  );
  return { outcome: await outcome.catch((error: unknown) => error), steps };
}

test('a new object is looked up and then made', async () => {
  expect(await run({})).toEqual({ outcome: accept('made'), steps: ['find order', 'make 0'] });
});

test('without an external ID nothing is looked up, even after a refusal', async () => {
  const externalId = undefined;
  expect(await run({ externalId })).toEqual({ outcome: accept('made'), steps: ['make 0'] });
  const refused = await run({ externalId, made: [refuse('taken')] });
  expect(refused).toEqual({ outcome: refuse('taken'), steps: ['make 0'] });
});

test('a repeat gets the existing object, and nothing is made', async () => {
  expect(await run({ found: [earlier] })).toEqual({ outcome: accept('again first'), steps: ['find order'] });
});

test('a repeat may be refused', async () => {
  const { outcome } = await run({ found: [earlier], respond: () => refuse('taken') });
  expect(outcome).toEqual(refuse('taken'));
});

test('another request is a conflict before `respond` is called', async () => {
  const respond = () => expect.unreachable();
  expect(await run({ found: [another], respond })).toEqual({ outcome: conflict, steps: ['find order'] });
});

test('a repeat that counts as another request is a conflict', async () => {
  const { outcome } = await run({ found: [earlier], respond: () => 'otherRequest' });
  expect(outcome).toEqual(conflict);
});

test('a conflict does not name an object without an ID', async () => {
  const { outcome } = await run({ found: [{ fingerprint: another.fingerprint }] });
  expect(outcome).toStrictEqual(
    refuse('externalIDConflict', {
      details: { externalID: 'order' },
      hint: hintAbout('another object'),
    }),
  );
});

test('with makeFirst nothing is looked up before the object is made', async () => {
  expect(await run({ order: 'makeFirst' })).toEqual({ outcome: accept('made'), steps: ['make 0'] });
  const repeated = await run({ order: 'makeFirst', found: [earlier], made: ['externalIdTaken'] });
  expect(repeated).toEqual({ outcome: accept('again first'), steps: ['make 0', 'find order'] });
});

test('a refusal stands unless the same object was made in the meantime', async () => {
  const made = [refuse('taken')];
  const steps = ['find order', 'make 0', 'find order'];
  expect(await run({ made })).toEqual({ outcome: refuse('taken'), steps });
  expect(await run({ made, found: [undefined, earlier] })).toEqual({ outcome: accept('again first'), steps });
  expect(await run({ made, found: [undefined, another] })).toEqual({ outcome: conflict, steps });
});

const taken = Object.assign(new Error(), { code: '23505', constraint: 'external_id_pkey' });
const changed = Object.assign(new Error(), { code: 'MV001' });

test.each<[string, Answer]>([
  ['is taken', 'externalIdTaken'],
  ['is taken according to the database', taken],
])('when the external ID %s, the object made under it is found', async (_, answer) => {
  expect(await run({ made: [answer], found: [undefined, earlier] })).toEqual({
    outcome: accept('again first'),
    steps: ['find order', 'make 0', 'find order'],
  });
});

test.each<[string, Answer]>([
  ['a version conflict', 'versionConflict'],
  ['a version conflict from the database', changed],
  ['an external ID that is free again', 'externalIdTaken'],
])('%s is retried', async (_, answer) => {
  expect(await run({ made: [answer, answer, accept('made')] })).toEqual({
    outcome: accept('made'),
    steps: ['find order', 'make 0', 'find order', 'make 1', 'find order', 'make 2'],
  });
});

test('an object neither made nor found in all tries is an error', async () => {
  const { outcome, steps } = await run({ made: ['versionConflict'], maxTries: 3 });
  expect(outcome).toEqual(
    new Error('An object was neither created nor found by its external ID in 3 tries.'),
  );
  expect(steps.filter((step) => step.startsWith('make'))).toEqual(['make 0', 'make 1', 'make 2']);
  const usual = await run({ made: ['versionConflict'] });
  expect(usual.steps.filter((step) => step.startsWith('make'))).toHaveLength(10);
});

test('any other error is thrown', async () => {
  const fault = new Error('the database is unavailable');
  expect(await run({ made: [fault] })).toEqual({ outcome: fault, steps: ['find order', 'make 0'] });
  const unique = Object.assign(new Error(), { code: '23505', constraint: 'card_pkey' });
  expect((await run({ made: [unique] })).outcome).toBe(unique);
});

test('a fingerprint ignores the order of members and members that are left out', () => {
  const one = requestFingerprint(['a', { x: 1, y: { p: null, q: [1, 2] } }, undefined]);
  expect(one).toEqual(hash('sha256', '["a",{"x":1,"y":{"p":null,"q":[1,2]}},null]', 'buffer'));
  expect(requestFingerprint(['a', { y: { q: [1, 2], p: undefined }, x: 1 }, null])).toEqual(one);
  expect(requestFingerprint(['a', { x: 1, y: { p: null, q: [2, 1] } }, null])).not.toEqual(one);
  expect(requestFingerprint(['a', { x: 1, y: { p: null, q: [1, 2] } }])).not.toEqual(one);
});
