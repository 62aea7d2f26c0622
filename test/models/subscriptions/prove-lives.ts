// npm run prove:lives: random lives of subscriptions by the million, in several processes. What has run is kept in lives-run.md.
import { execFileSync, fork } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { readOptions, wholeNumber } from '../../../tools/script-options.ts';
import { compareLife } from './agree.ts';

const { options } = readOptions(
  `Compares the service with the model in random lives of subscriptions.

  npm run prove:lives                        1,000,000 lives of a fresh seed
  npm run prove:lives -- --lives 3000 --seed 310

  --lives 1000000     how many
  --seed N            which ones; by default a fresh seed
  --processes 2       by default one for each processor core
  --write             adds the run to test/models/subscriptions/lives-run.md

Exit code 1 if the service and the model differ in one.`,
  {
    lives: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(1_000 + (Date.now() % 1_000_000)) },
    processes: { type: 'string', default: String(availableParallelism()) },
    write: { type: 'boolean', default: false },
  },
);
const lives = wholeNumber('--lives', options.lives);
const seed = wholeNumber('--seed', options.seed);
const processes = wholeNumber('--processes', options.processes);
/** Of one message between processes. */
const atOnce = 1_000;
/** Few lives outlive a step, so a large young generation is collected seldom. */
const memory = '--max-semi-space-size=64';
const isChild = process.send !== undefined;

/** What is wrong with one of these lives. */
function faultIn(from: number, until: number): string | undefined {
  for (let life = from; life < until; life++) {
    const { fault, plan } = compareLife(1_000_003 * seed + life);
    if (fault !== undefined) return `life ${life}: ${fault}\n${JSON.stringify(plan, null, 1)}`;
  }
  return undefined;
}

/** With a word for what no commit has. */
function commitOfCode(): string {
  const git = (...words: string[]) => execFileSync('git', words, { encoding: 'utf8' }).trim();
  const isClean = git('status', '--porcelain') === '';
  return `${git('rev-parse', '--short=8', 'HEAD')}${isClean ? '' : ' and changes'}`;
}

/** Each process asks for the next lives when it is done with its own. */
async function runAll(): Promise<string | undefined> {
  const startedMs = Date.now();
  let given = 0;
  let done = 0;
  let fault: string | undefined;
  const program = fileURLToPath(import.meta.url);
  const worker = () =>
    new Promise<void>((resolve, reject) => {
      const child = fork(program, process.argv.slice(2), {
        execArgv: [memory, '--import', 'tsx'],
      });
      const giveNext = () => {
        if (given >= lives || fault !== undefined) return void child.disconnect();
        const until = Math.min(given + atOnce, lives);
        child.send({ from: given, until });
        given = until;
      };
      child.on('message', ({ ran, found }: { ran: number; found?: string }) => {
        const before = done;
        done += ran;
        fault ??= found;
        const tenth = Math.max(1, Math.ceil(lives / 10));
        if (Math.floor(done / tenth) > Math.floor(before / tenth))
          console.log(`${done} of ${lives} lives, ${Math.round((Date.now() - startedMs) / 1_000)} s`);
        giveNext();
      });
      child.once('exit', (code) =>
        code === 0 ? resolve() : reject(new Error(`A process ended with ${code}.`)),
      );
      giveNext();
    });
  console.log(`${lives} lives of seed ${seed} in ${processes} processes`);
  await Promise.all(Array.from({ length: processes }, worker));
  return fault;
}

if (isChild) {
  process.on('message', ({ from, until }: { from: number; until: number }) => {
    const found = faultIn(from, until);
    process.send?.({ ran: until - from, ...(found === undefined ? {} : { found }) });
  });
} else {
  // The code of the start is what runs.
  const commit = options.write ? commitOfCode() : '';
  const fault = await runAll();
  console.log(fault ?? 'The service and the model agree in all of them.');
  if (fault !== undefined)
    console.log(
      `Again: SUBSCRIPTION_SEED=${seed} SUBSCRIPTION_LIVES=${lives} npx vitest run test/models/subscriptions/campaign.test.ts`,
    );
  if (options.write) {
    const row = `| ${seed} | ${lives} | ${commit} | ${fault === undefined ? 'agree' : 'differ'} |\n`;
    appendFileSync(new URL('lives-run.md', import.meta.url), row);
  }
  process.exitCode = fault === undefined ? 0 : 1;
}
