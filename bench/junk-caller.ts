// npm run bench:junk: measures how long one caller's requests take while another caller sends junk to the same node.
// It exits with 1 if their 95th percentile more than doubles, beyond the margin of the measurement.
import { spawn, execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { invoiceExample } from '../src/invoices/api/schema.ts';
import { temporaryFolder } from '../test/support/database/test-cluster.ts';
import { readOptions, refuse, wholeNumber } from '../tools/script-options.ts';
import { closedLoop, median, percentile } from './harness/load.ts';
import { heading, keepLatest, machine, tableRow } from './harness/report.ts';
import { mandateProgram, repository, startProgram } from './harness/program.ts';

const { options, words } = readOptions(
  `npm run bench:junk -- [SECONDS] [--margin 0.3]
Measures a caller's 95th percentile alone and next to a caller of junk, by turns, and exits with 1 if it more than doubles.
  SECONDS     length of the measurement; 12 by default, 120 at most
  --margin N  by how much the ratio may exceed 2 on a busy machine; 0 by default
Example: npm run bench:junk -- 30`,
  { margin: { type: 'string', default: '0' } },
  { maxWords: 1 },
);
const rounds = 6;
const roundMs =
  (Math.min(wholeNumber('the number of seconds', words[0] ?? '12'), 120) * 1_000) / (2 * rounds);
const margin = Number(options.margin);
if (!(margin >= 0 && margin <= 1)) refuse(`--margin must be a number from 0 to 1, not "${options.margin}"`);
const mostTimes = 2 + margin;
const clients = 2;

type Round = { readonly p95Ms: number; readonly perSecond: number };

const { folder, remove } = temporaryFolder();
const environment = { MANDATE_DATA: folder, PORT: '0' };
const node = await startProgram([mandateProgram, 'serve'], environment);
try {
  const { apiKey } = JSON.parse(readFileSync(join(folder, 'sandbox.json'), 'utf8')) as { apiKey: string };
  const junkKey = await anotherKey();
  const junk = spawn(
    process.execPath,
    [
      ...process.execArgv,
      fileURLToPath(new URL('harness/junk-sender.ts', import.meta.url)),
      invoicesUrl(),
      junkKey,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  try {
    await once(junk.stdout, 'data');
    await measured(apiKey);
    const alone: Round[] = [];
    const besideJunk: Round[] = [];
    for (let round = 0; round < rounds; round++) {
      junk.kill('SIGSTOP');
      alone.push(await measured(apiKey));
      junk.kill('SIGCONT');
      besideJunk.push(await measured(apiKey));
    }
    report(alone, besideJunk);
  } finally {
    junk.kill('SIGKILL');
  }
} finally {
  await node.stop();
  await remove();
}

function report(alone: readonly Round[], besideJunk: readonly Round[]): void {
  const p95 = (some: readonly Round[]) => median(some.map(({ p95Ms }) => p95Ms));
  const rate = (some: readonly Round[]) => Math.round(median(some.map(({ perSecond }) => perSecond)));
  const times = p95(besideJunk) / p95(alone);
  const row = (name: string, some: readonly Round[]) =>
    tableRow([name, p95(some).toFixed(1), String(rate(some))]);
  const lines = [
    heading('A caller next to a caller of junk'),
    '',
    `${machine()}. Medians of ${rounds} rounds of ${roundMs / 1_000} s each.`,
    '',
    tableRow(['', 'p95, ms', 'invoices/s']),
    tableRow(['---', '---:', '---:']),
    row('alone', alone),
    row('with junk', besideJunk),
    '',
    `ratio junk=${times.toFixed(2)} most=${mostTimes}`,
    '',
  ];
  console.log(lines.join('\n'));
  keepLatest('latest-junk.md', lines);
  if (!(times <= mostTimes)) process.exitCode = 1;
}

/** Medians over the rounds: a busy machine disturbs some of them. */
async function measured(apiKey: string): Promise<Round> {
  const headers = {
    authorization: `Bearer ${apiKey}`,
    'content-type': 'application/json',
    'x-request-id': 'bench',
  };
  const body = JSON.stringify(invoiceExample);
  const work = async () => {
    const answer = await fetch(invoicesUrl(), { method: 'POST', headers, body });
    if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
  };
  const { latenciesMs, rate } = await closedLoop(work, { clients, ms: roundMs });
  return { p95Ms: percentile(latenciesMs, 0.95), perSecond: rate };
}

function invoicesUrl(): string {
  return `${node.url}/v2/processing/invoices`;
}

async function anotherKey(): Promise<string> {
  const args = [mandateProgram, 'keys', 'create', '--party', 'SANDBOX', '--name', 'junk'];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: repository,
    env: { ...process.env, ...environment },
  });
  const [text] = /mandate_test_\w+/.exec(stdout) ?? [];
  if (text === undefined) throw new Error('The second key was not created.');
  return text;
}
