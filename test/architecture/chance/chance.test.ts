import { expect, test } from 'vitest';
import { filesEndingIn, textOf } from '../mentions.ts';
import { chancesIn, type TimedFile } from './chance.ts';

/** Files with an upper bound on elapsed time. It is at least ten times the limit. */
const timedFiles: Record<string, TimedFile> = {
  'test/api/payments/receipt-mail.test.ts': {
    limitMs: 300,
    why: 'the time limit of a mail server that never ends',
  },
  'test/api/requests/faults.test.ts': { limitMs: 200, why: 'the deadline of a request' },
};
/** The one place that sets the seed, and the examples below. */
const besides = ['test/support/fixed-seed.ts', 'test/architecture/chance/chance.test.ts'];

const files = filesEndingIn('.ts').filter(
  (file) => (file.endsWith('.test.ts') || /^(test\/|vitest\.config)/.test(file)) && !besides.includes(file),
);

test('no test depends on chance or on the speed of the machine', () => {
  expect(files.length).toBeGreaterThan(300);
  const found = files.flatMap((file) =>
    chancesIn(textOf(file), timedFiles[file]).map(({ line, what }) => `${file}:${line} ${what}`),
  );
  expect(found).toEqual([]);
});

test('every file listed for an upper bound on elapsed time has one, and tests a limit of the program', () => {
  const without = Object.keys(timedFiles).filter((file) => chancesIn(textOf(file)).length === 0);
  expect(without).toEqual([]);
  // Ten times nothing would allow every bound.
  for (const [file, { limitMs }] of Object.entries(timedFiles)) expect(limitMs, file).toBeGreaterThan(0);
});

test('no command retries tests', () => {
  const tools = filesEndingIn('.ts').filter((file) => file.startsWith('tools/'));
  for (const file of ['package.json', '.ci/run', ...tools])
    expect(textOf(file), file).not.toMatch(/--retry\b/);
});

test.each<[string, string, string]>([
  [
    'a seed of its own',
    `import fc from 'fast-check';\nfc.assert(p, { seed: Date.now() });`,
    'seed of its own',
  ],
  ['options elsewhere', `import fc from 'fast-check';\nfc.assert(p, options);`, 'cannot be read'],
  ['another global seed', `import fc from 'fast-check';\nfc.configureGlobal({});`, 'seed of all'],
  ['no global seed', `import fc from 'fast-check';\nfc.resetConfigureGlobal();`, 'seed of all'],
  ['a part of fast-check', `\nimport { assert } from 'fast-check';`, 'imports parts'],
  ['Math.random', 'const n =\n  Math.random();', 'Math.random'],
  ['a short poll', 'const s = { timeout: 5_000 };\nawait expect.poll(ask, s).toBe(1);', 'less than 30000'],
  ['a poll on two lines', 'await\n  expect\n  .poll(ask, { timeout: 29_999 }).toBe(1);', 'less than 30000'],
  ['a poll with options from elsewhere', `\nawait expect.poll(ask, soon).toBe(1);`, 'can be read here'],
  ['a wait with its own default', '\nawait vi.waitUntil(ask);', 'can be read here'],
  ['a short wait', `\nawait eventually(ask, 2_000, 'it');`, 'less than 30000'],
  [
    'a near due date',
    'const f = () => {\n  const dueDate = new Date(Date.now() + 1_500).toISOString(); };',
    'dueAfter',
  ],
  ['a near due date in a body', 'const f = {\n  dueDate: laterBy(now, 10) };', 'dueAfter'],
  ['a retry', `\ntest('it', { retry: 2 }, () => {});`, 'is retried'],
  ['a retry of many', `const options = { retry: 2 };\ndescribe('it', options, () => {});`, 'is retried'],
  ['a retry of all', 'export default defineConfig({\n  test: { retry: 2 } });', 'is retried'],
  ['a retry of the rest of a file', '\nvi.setConfig({ retry: 2 });', 'is retried'],
  ['a difference', '\nexpect(performance.now() - begun).toBeLessThan(9);', 'is not listed'],
  [
    'a difference kept',
    'const took = performance.now() - begun;\nexpect(took).toBeLessThan(9);',
    'is not listed',
  ],
  ['a limit of time', 'const a = 1;\nexpect(a.b).toBeLessThanOrEqual(maxMs);', 'is not listed'],
])('is found: %s', (_, text, what) => {
  expect(chancesIn(text)).toEqual([{ line: 2, what: expect.stringContaining(what) }]);
});

test.each([
  `import fc from 'fast-check';\nfc.assert(p); fc.assert(p, { numRuns: 5 }); fc.check(p, { seed, numRuns: 5 }); fc.sample(p, { seed: seed + round });`,
  '// Math.random() and expect.poll(ask, { timeout: 5 })',
  'await expect.poll(ask).toBe(1); await expect.poll(ask, { interval: 10 }).toBe(1);',
  'const soon = { timeout: 60_000 }; await expect.poll(ask, soon).toBe(1);',
  `await eventually(ask, waitMs, 'it'); await eventually(ask, 60_000, 'it');`,
  `const dueDate = dueAfter(now, hourMs); const other = { dueDate: '2030-01-01T00:00:00Z' };`,
  `expect(await jobs.retry('withdrawal', id)).toBe(true); const answer = { next: { retry: 1 } }; dueDate;`,
  'expect(count).toBeLessThan(9); expect(performance.now() - begun).toBeGreaterThan(9);',
])('is no chance: %s', (text) => {
  expect(chancesIn(text)).toEqual([]);
});

test('in a listed file the bound is at least ten times the limit', () => {
  const timed = { limitMs: 300, why: 'a limit' };
  const bounded = (ms: string) => `expect(performance.now() - begun).toBeLessThan(${ms});`;
  expect(chancesIn(bounded('3_000'), timed)).toEqual([]);
  expect(chancesIn(bounded('2_999'), timed)).toHaveLength(1);
  expect(chancesIn(bounded('other'), timed)).toHaveLength(1);
});
