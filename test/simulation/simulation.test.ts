// Short worlds of fixed seeds, run once on a calm and once on a busy machine, and the search for a planted mistake.
// Longer worlds are for `npm run prove:traces` and `npm run simulate`.
import { spawn } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { expect, inject, test } from 'vitest';
import { plainSource } from '../support/processes/plain-sources.ts';
import { themes } from '../../simulation/clients/themes.ts';
import { often } from '../support/service/campaign.ts';
import { temporaryFolder } from '../support/database/test-cluster.ts';

/** Generous: the number of worlds bounds these tests, not the speed of the machine. */
const timeoutMs = 900_000;
/** Steps of a world. */
const steps = process.env['WORLD_STEPS'] ?? String(often(80, 700));
/** Worlds to repeat on a busy machine. */
const repeated = Number(process.env['WORLDS_REPEATED'] ?? often(1, 2));

type Run = { readonly code: number | null; readonly text: string };

/** In its own process, because the simulation replaces the time and chance of the process. */
async function simulate(args: readonly string[], folder = inject('plainSources')): Promise<Run> {
  const child = spawn(execPath, ['simulation/simulate.js', ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (part: Buffer) => (text += part.toString()));
  const code = await new Promise<number | null>((resolve) => void child.once('close', resolve));
  return { code, text };
}

const tracesIn = (text: string) => [...text.matchAll(/^trace ([0-9a-f]{16})$/gm)].map(([, trace]) => trace);

test(
  'worlds do not break the service and have the same traces on a busy machine',
  { timeout: timeoutMs },
  async () => {
    // One of each theme.
    const asked = (seed: number, worlds: number) =>
      simulate(['--seed', String(seed), '--steps', steps, '--worlds', String(worlds), '--as-it-is']);
    const calm = await asked(20, new Set(themes).size);
    expect(calm.code, calm.text).toBe(0);
    expect(calm.text).toMatch(/^seed 20: [1-9]\d* operations, /m);
    const traces = tracesIn(calm.text);
    expect(traces).toHaveLength(new Set(themes).size);

    const burners = Array.from({ length: repeated }, () =>
      spawn(execPath, ['-e', 'for (;;);'], { stdio: 'ignore', timeout: timeoutMs }),
    );
    try {
      // Begun with the second world: what earlier ones leave in the process or its server decides nothing.
      const busy = await asked(21, repeated);
      expect(tracesIn(busy.text)).toEqual(traces.slice(1, 1 + repeated));
    } finally {
      for (const burner of burners) burner.kill('SIGKILL');
    }
  },
);

/** A copy of the sources with a mistake. */
async function plant(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const { folder, remove } = temporaryFolder();
  cpSync(inject('plainSources'), folder, { recursive: true, verbatimSymlinks: true });
  const right = readFileSync(
    new URL('../../src/payments/domain/payment-postings.ts', import.meta.url),
    'utf8',
  );
  const line =
    "{ phase: 'single', step: 'sale', debit: uncleared, credit: settlement, minor: amount.minor },";
  expect(right).toContain(line);
  const wrong = right.replace(line, line + line.replace("'sale'", "'sale_again'"));
  writeFileSync(join(folder, 'src/payments/domain/payment-postings.js'), await plainSource(wrong));
  return { folder, remove };
}

test(
  'a planted mistake is found, shrunk and printed, and the printed command finds it in another folder',
  { timeout: timeoutMs },
  async () => {
    const here = await plant();
    const elsewhere = await plant();
    try {
      const asked = ['--seed', '1', '--worlds', '40', '--steps', '400', '--shrink-within', '1s'];
      const first = await simulate(asked, here.folder);
      expect(first.code, first.text).toBe(1);
      const [, seed = ''] = /^seed (\d+) fails after \d+ steps:$/m.exec(first.text) ?? [];
      const [, command = ''] = /^Smallest failing world: npm run simulate -- (.*)$/m.exec(first.text) ?? [];
      expect(command).toMatch(new RegExp(`^--seed ${seed} --steps \\d+`));
      const [, story = ''] = first.text.split('Smallest failing world');
      expect(story).toMatch(/^ {2}client(?: → node \d+)?: /m);
      const [, trace] = /^ {2}trace of the smallest: ([0-9a-f]{16})$/m.exec(story) ?? [];

      const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(
        ([, quoted, plain]) => quoted ?? plain ?? '',
      );
      const second = await simulate([...words, '--as-it-is'], elsewhere.folder);
      expect(second.code, second.text).toBe(1);
      expect(second.text).toContain(`seed ${seed} fails after`);
      expect(tracesIn(second.text)).toEqual([trace]);
    } finally {
      await here.remove();
      await elsewhere.remove();
    }
  },
);
