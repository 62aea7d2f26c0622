import { expect, test } from 'vitest';
import { runNight, summaryOf, type Night } from './night.ts';
import { nightParts, runnable, type Part } from './parts.ts';

const part = (name: string, more: Partial<Part> = {}): Part => ({
  name,
  does: `does ${name}`,
  command: (seed) => `${name} ${seed}`,
  repeats: true,
  ...more,
});

/** Each command takes a minute; those of `failing` fail. */
async function nightOf(parts: readonly Part[], minutes: number, failing: readonly string[] = []) {
  const printed: string[] = [];
  const kept: Night[] = [];
  let nowMs = 0;
  const night = await runNight(
    { parts, ms: minutes * 60_000, seed: 7 },
    {
      run: async (_, { name }) => {
        nowMs += 60_000;
        return { isGood: !failing.includes(name), lastLines: `the end of ${name}\n` };
      },
      now: () => nowMs,
      print: (line) => void printed.push(line),
      keep: (night) => void kept.push(structuredClone(night)),
    },
  );
  return { night, printed, kept, commands: night.results.map(({ command }) => command) };
}

test('parts run in their order, and again with further seeds until the time is used', async () => {
  const { commands, night, printed } = await nightOf(
    [part('a'), part('b', { repeats: false }), part('c')],
    6,
  );
  expect(commands).toEqual(['a 7', 'b 7', 'c 7', 'a 1007', 'c 1007', 'a 2007']);
  expect(night).toMatchObject({ seconds: 360, notReached: [] });
  expect(printed).toContain('1:00 of 6:00 min  b: does b');
  expect(printed).toContain('  ok   60 s  a 1007');
});

test('parts that time did not reach are named', async () => {
  const { night } = await nightOf([part('a'), part('b'), part('c')], 1);
  expect(night.notReached).toEqual(['b', 'c']);
  expect(summaryOf(night)).toContain('not reached: b, c');
});

test('a night ends early if nothing is worth repeating', async () => {
  const { commands, night } = await nightOf([part('a', { repeats: false })], 20);
  expect(commands).toEqual(['a 7']);
  expect(night.seconds).toBe(60);
});

test('a failure does not stop the night, and its command stands in the summary', async () => {
  const { night, printed } = await nightOf([part('a'), part('b'), part('c')], 3, ['b']);
  expect(night.results.map(({ result }) => result)).toEqual(['passed', 'failed', 'passed']);
  expect(printed).toContain('    the end of b');
  const summary = summaryOf(night);
  expect(summary).toContain('  b 7');
  expect(summary.at(-1)).toBe('FAILED in 180 s: b');
});

test('results are kept after each part', async () => {
  const { kept } = await nightOf([part('a'), part('b')], 2, ['a']);
  expect(kept.map(({ results }) => results.length)).toEqual([1, 2]);
  expect(kept[0]).toMatchObject({ seconds: 60, notReached: ['b'] });
});

test('a part whose script or programs are missing is left out with the reason', () => {
  const parts = [part('a', { script: 'x' }), part('b', { needs: ['p', 'q'] }), part('c', { needs: ['p'] })];
  const here = { hasScript: () => false, hasProgram: (name: string) => name === 'p' };
  const { parts: rest, leftOut } = runnable(parts, here);
  expect(rest.map(({ name }) => name)).toEqual(['c']);
  expect(leftOut).toEqual([
    { name: 'a', why: 'no script x' },
    { name: 'b', why: 'not installed: q' },
  ]);
});

test('a part that repeats takes its seed, unless chance has no seed in it', () => {
  const withoutSeed = nightParts.filter(({ command }) => command(1) === command(2));
  expect(withoutSeed.filter(({ repeats }) => repeats).map(({ name }) => name)).toEqual([
    'torture',
    'fail-over',
    'junk',
  ]);
});
