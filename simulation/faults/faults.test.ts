// A change of code that a planted fault replaces fails here, before the next search for the faults.
import { expect, test } from 'vitest';
import { treeOf } from '../../tools/mutants/syntax-tree.ts';
import { plantedFaults } from './faults.ts';
import { plantedIn, readSources } from './planting/plant.ts';
import { foundIn } from './search.ts';
import { withTable } from './table.ts';

const sources = readSources();

test('at least thirty faults have unique names', () => {
  expect(new Set(plantedFaults.map(({ name }) => name)).size).toBe(plantedFaults.length);
  expect(plantedFaults.length).toBeGreaterThanOrEqual(30);
});

test.each(plantedFaults)('$name can be planted in the sources as they are', (fault) => {
  const changed = plantedIn(sources, [fault]);
  expect(changed.length).toBeGreaterThan(0);
  for (const { path, text } of changed) {
    const before = sources.find((file) => file.path === path);
    expect(text).not.toBe(before?.text);
    if (path.endsWith('.ts')) expect(() => treeOf(text)).not.toThrow();
  }
});

test('foundIn reads the output of a failing world', () => {
  const printed = `seed 3: 120 operations, 1 faults, 900 statements in 1.0 s (120/s)
trace 0123456789abcdef
seed 8: 30 operations, 1 faults, 90 statements in 1.0 s (30/s)
seed 8 fails after 640 steps:
  bank: payment I.1 (failed): at the bank nothing
npm run simulate -- --seed 8 --steps 1200
`;
  expect(foundIn(printed)).toEqual({
    check: 'bank',
    problem: 'payment I.1 (failed): at the bank nothing',
    seed: 8,
    operations: 150,
  });
  expect(foundIn('SyntaxError: Unexpected token')).toBeUndefined();
});

test('withTable writes the table between its marks, with "nothing" for a fault that was not found', () => {
  const [fault, other] = plantedFaults;
  if (!fault || !other) throw new Error('fewer than two planted faults');
  const found = { check: 'bank', problem: '', seed: 8, operations: 150, seconds: 1 };
  const document = 'before\n\n<!-- planted faults -->\nold\n<!-- end of planted faults -->\n\nafter\n';
  const names = [fault.name, other.name];
  const written = withTable(document, [{ fault, found }, { fault: other }], names);
  expect(written).toMatch(/^before\n\n<!-- planted faults -->\n\n\| Planted fault /);
  expect(written).toContain(`| \`bank\`   |\n`);
  expect(written).toContain(`| nothing  |\n`);
  expect(written).not.toContain('\nold\n');
  expect(() => withTable('nowhere', [], names)).toThrow(/has no/);
  // A fault that was not searched for keeps its row; one that no longer exists loses it.
  expect(withTable(written, [{ fault: other }], names)).toBe(written);
  expect(withTable(written, [], [other.name])).not.toContain(fault.name);
});
