// npm run check: everything that has to be green, here and in CI. One run shows every fault of the quick checks, which run two
// at a time; the tests take minutes and run when those have passed.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { readOptions } from './script-options.ts';

readOptions(`npm run check: everything that has to be green. It takes no options.`);

type Outcome = { readonly script: string; readonly isGood: boolean; readonly output: string };

/** Scripts of package.json, the longest first, with what each is about. */
const quickChecks: Record<string, string> = {
  types: 'the compiler accepts program, tests, tools and pages',
  architecture: 'schema dump, statements and printed documents are as they should be',
  arrows: 'imports point one way',
  'format:check': 'the form is right; npm run format makes it so',
  lint: 'no careless code',
  prose: 'texts and commit subjects follow the rules of CONTRIBUTING.md',
  'dead-code': 'no export, package or file is unused',
};
const atOnce = 2;

const startedAtMs = performance.now();
const waiting = Object.keys(quickChecks);
const outcomes: Outcome[] = [];
await Promise.all(Array.from({ length: atOnce }, checkWhatWaits));
if (outcomes.every(({ isGood }) => isGood)) {
  // Those of the architecture were run before.
  const others = ['--', '--exclude', 'test/architecture/**'];
  outcomes.push(await check('test:all', 'the tests', 'inherit', others));
}

const failed = outcomes.filter(({ isGood }) => !isGood).map(({ script }) => script);
const wasCut = !outcomes.some(({ script }) => script === 'test:all');
console.log(
  failed.length === 0
    ? `\nAll is well (${secondsSince(startedAtMs)}).`
    : `\nFAILED: ${failed.join(', ')} (${secondsSince(startedAtMs)}).${wasCut ? ' The tests were not run.' : ''}`,
);
process.exitCode = failed.length === 0 ? 0 : 1;

async function checkWhatWaits(): Promise<void> {
  for (let script = waiting.shift(); script !== undefined; script = waiting.shift()) {
    const outcome = await check(script, quickChecks[script] ?? '', 'pipe');
    outcomes.push(outcome);
    if (!outcome.isGood) console.log(outcome.output.trimEnd().replace(/^/gm, '    '));
  }
}

/** With `pipe` what the script prints is kept back, with `inherit` it is shown as it comes. */
async function check(
  script: string,
  meaning: string,
  stdio: 'pipe' | 'inherit',
  more: readonly string[] = [],
): Promise<Outcome> {
  const beganAtMs = performance.now();
  const child = spawn('npm', ['run', '--silent', script, ...more], {
    cwd: fileURLToPath(new URL('../', import.meta.url)),
    stdio: ['ignore', stdio, stdio],
  });
  let output = '';
  child.stdout?.on('data', (text) => (output += String(text)));
  child.stderr?.on('data', (text) => (output += String(text)));
  const isGood = await new Promise<boolean>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code === 0));
  });
  const verdict = isGood ? 'ok  ' : 'FAIL';
  console.log(`${verdict} ${script.padEnd(12)} ${secondsSince(beganAtMs).padStart(6)}  ${meaning}`);
  return { script, isGood, output };
}

function secondsSince(momentMs: number): string {
  return `${((performance.now() - momentMs) / 1000).toFixed(1)} s`;
}
