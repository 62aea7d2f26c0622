// With commands of a moment instead of campaigns.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Part } from './parts.ts';
import { prove } from './prove.ts';
import { nightFault, type NightRecord } from './record.ts';
import { runPart } from './run-part.ts';
import { temporaryFolder } from '../../test/support/database/test-cluster.ts';

const part = (name: string, script: string): Part => ({
  name,
  does: 'takes a moment',
  command: (seed) => `SEED=${seed} sh -c '${script}'`,
  repeats: false,
});

async function nightOf(parts: readonly Part[]) {
  const { folder, remove } = temporaryFolder();
  const printed: string[] = [];
  try {
    const code = await prove({
      parts,
      leftOut: [],
      ms: 60_000,
      seed: 7,
      checkout: { folder, commit: 'abc', isClean: () => true },
      records: join(folder, 'records'),
      name: 'abc',
      print: (line) => void printed.push(line),
    });
    const text = readFileSync(join(folder, 'records/abc.json'), 'utf8');
    return { code, printed, text, record: JSON.parse(text) as NightRecord };
  } finally {
    await remove();
  }
}

test('a night without a failure ends with 0', async () => {
  const { code, record, text } = await nightOf([part('a', 'true'), part('b', 'test $SEED = 7')]);
  expect(code).toBe(0);
  expect(record).toMatchObject({ commit: 'abc', isClean: true, seed: 7, notReached: [], leftOut: [] });
  expect(record.parts.map(({ name, result }) => [name, result])).toEqual([
    ['a', 'passed'],
    ['b', 'passed'],
  ]);
  expect(nightFault('abc', text)).toContain('too short');
});

test('a failing part ends the night with 1, and its output and command are printed', async () => {
  const { code, record, printed, text } = await nightOf([
    part('a', 'echo seed $SEED broke it; exit 3'),
    part('b', 'true'),
  ]);
  expect(code).toBe(1);
  expect(record.parts.map(({ result }) => result)).toEqual(['failed', 'passed']);
  const command = "SEED=7 sh -c 'echo seed $SEED broke it; exit 3'";
  expect(record.parts[0]).toMatchObject({ command, seed: 7 });
  expect(printed.join('\n')).toContain('    seed 7 broke it\n');
  expect(printed).toContain(`  ${command}`);
  expect(nightFault('abc', text)).toContain(command);
});

test('a part that hangs is stopped with its children', async () => {
  const { folder, remove } = temporaryFolder();
  try {
    const [log, began, ended] = ['log', 'began', 'ended'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    const child = `trap "touch ${ended}; exit" TERM; touch ${began}; while :; do sleep 0.05; done`;
    const tooLate = new AbortController();
    const outcome = runPart(`(${child}) & wait`, { log, folder, tooLate: tooLate.signal });
    await expect.poll(() => existsSync(began), { timeout: 30_000 }).toBe(true);
    tooLate.abort();
    const { isGood, lastLines } = await outcome;
    expect(isGood).toBe(false);
    expect(lastLines).toContain('It was stopped because it took too long.');
    await expect.poll(() => existsSync(ended), { timeout: 30_000 }).toBe(true);
  } finally {
    await remove();
  }
});
