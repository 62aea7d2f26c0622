// The simulation in short: worlds of fixed seeds from their beginning to their peace, with every check, and once more beside
// somebody who keeps the machine busy: all comes out the same. A planted mistake is found, made small, told as a story, and
// found again elsewhere by the command that is printed. Longer worlds are for `npm run prove:traces` and `npm run simulate`.
import { spawn } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { expect, inject, test } from 'vitest';
import { plainSource } from '../support/processes/plain-sources.ts';
import { themes } from '../../simulation/clients/themes.ts';
import { often } from '../support/service/campaign.ts';
import { temporaryFolder } from '../support/database/test-cluster.ts';

/** No test depends on how quick the machine is: what is bounded is how many worlds there are. */
const timeoutMs = 900_000;
/** Of a world. */
const steps = process.env['WORLD_STEPS'] ?? String(often(80, 700));
/** How many worlds are gone through again on a busy machine. */
const repeated = Number(process.env['WORLDS_REPEATED'] ?? often(1, 2));

type Run = { readonly code: number | null; readonly text: string };

/** In a process of its own: the simulation rules over time and chance of all that is in one. */
async function simulate(told: readonly string[], folder = inject('plainSources')): Promise<Run> {
  const child = spawn(execPath, ['simulation/simulate.js', ...told], {
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
  'worlds do not break the service, and go the same way on a busy machine',
  { timeout: timeoutMs },
  async () => {
    // One of each theme.
    const asked = (worlds: number) =>
      simulate(['--seed', '21', '--steps', steps, '--worlds', String(worlds), '--as-it-is']);
    const calm = await asked(themes.length);
    expect(calm.code, calm.text).toBe(0);
    expect(calm.text).toMatch(/^seed 21: [1-9]\d* operations, /m);
    const traces = tracesIn(calm.text);
    expect(traces).toHaveLength(themes.length);

    const burners = Array.from({ length: repeated }, () =>
      spawn(execPath, ['-e', 'for (;;);'], { stdio: 'ignore', timeout: timeoutMs }),
    );
    try {
      // The first one went otherwise on a busy machine as long as statements could go on side by side.
      const busy = await asked(repeated);
      expect(tracesIn(busy.text)).toEqual(traces.slice(0, repeated));
    } finally {
      for (const burner of burners) burner.kill('SIGKILL');
    }
  },
);

/** The sources, with a mistake in them. */
async function plant(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const { folder, remove } = temporaryFolder();
  cpSync(inject('plainSources'), folder, { recursive: true, verbatimSymlinks: true });
  const right = readFileSync(
    new URL('../../src/platform/ledger/domain/postings.ts', import.meta.url),
    'utf8',
  );
  const line =
    "{ phase: 'single', step: 'sale', debit: uncleared, credit: settlement, minor: amount.minor },";
  expect(right).toContain(line);
  const wrong = right.replace(line, line + line.replace("'sale'", "'sale_again'"));
  writeFileSync(join(folder, 'src/platform/ledger/domain/postings.js'), await plainSource(wrong));
  return { folder, remove };
}

test(
  'a mistake is found, made small and told, and found again elsewhere',
  { timeout: timeoutMs },
  async () => {
    const here = await plant();
    const elsewhere = await plant();
    try {
      const asked = ['--seed', '1', '--worlds', '40', '--steps', '400', '--shrink-within', '1s'];
      const first = await simulate(asked, here.folder);
      expect(first.code, first.text).toBe(1);
      const [, seed = ''] = /^seed (\d+) fails after \d+ steps:$/m.exec(first.text) ?? [];
      const [, command = ''] =
        /^The smallest that was found: npm run simulate -- (.*)$/m.exec(first.text) ?? [];
      expect(command).toMatch(new RegExp(`^--seed ${seed} --steps \\d+`));
      const [, told = ''] = first.text.split('The smallest that was found');
      expect(told).toMatch(/^ {2}client(?: → node \d+)?: /m);
      const [, trace] = /^ {2}and its trace is ([0-9a-f]{16})$/m.exec(told) ?? [];

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
