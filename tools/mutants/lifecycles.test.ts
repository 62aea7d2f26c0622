// Every lifecycle is found in the sources, and every excused mutant still exists.
import { expect, test } from 'vitest';
import { describedMutants, equivalent, lifecyclesIn, mutantsToDetect } from './lifecycles.ts';
import { readSourceFiles, type SourceFile } from '../source-files.ts';

const sources = readSourceFiles();
const lifecycles = lifecyclesIn(sources);

test.each(lifecycles)('$name has mutants, and tests that can detect them', ({ file, tests }) => {
  expect(mutantsToDetect(file.text).length).toBeGreaterThan(10);
  expect(tests.length).toBeGreaterThan(0);
});

test.each(equivalent)('%s excuses a mutant that exists', (pattern) => {
  const descriptions = lifecycles.flatMap(({ file }) => describedMutants(file.text).map(([, text]) => text));
  expect(descriptions.filter((text) => pattern.test(text))).not.toEqual([]);
});

test('a lifecycle is found in any folder, with the tests next to it that import it', () => {
  const moved = sources.map(({ path, text }): SourceFile => ({
    path: path.replace('src/', 'src/other/'),
    text,
  }));
  expect(lifecyclesIn(moved).map(({ file }) => file.path)).toEqual(
    lifecycles.map(({ file }) => file.path.replace('src/', 'src/other/')),
  );
  const refund = lifecycles.find(({ name }) => name === 'refund');
  expect(refund?.tests.map((path) => path.split('/').at(-1))).toEqual(['refund.test.ts']);
});

test('a lifecycle that is renamed, declared twice or without a test is reported', () => {
  const without = sources.filter(({ path }) => path !== lifecycles[0]?.file.path);
  expect(() => lifecyclesIn(without)).toThrow(
    'InvoiceState, which identifies the lifecycle invoice, is declared 0 times',
  );
  const twice = [...sources, { path: 'src/again.ts', text: "export type InvoiceState = 'unpaid';" }];
  expect(() => lifecyclesIn(twice)).toThrow(
    'InvoiceState, which identifies the lifecycle invoice, is declared 2 times',
  );
  const untested = sources.filter(({ path }) => !path.endsWith('.test.ts'));
  expect(() => lifecyclesIn(untested)).toThrow(/^no test next to src\/.*invoice\.ts imports it$/);
});
