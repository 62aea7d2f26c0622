// npm run check: runs every check that must pass, here and in CI.
// The quick checks all run, so that one run shows all their faults; the slow tests run only after these have passed.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { readOptions } from './script-options.ts';

readOptions(`npm run check
Runs every check that must pass, and then the tests. It takes no options.
Example: npm run check`);

type Outcome = { readonly script: string; readonly isGood: boolean; readonly output: string };

/** Scripts of package.json, the slowest first, each with what it checks. */
const quickChecks: Record<string, string> = {
  lint: 'oxlint finds no fault',
  types: 'program, tests, tools and pages compile',
  arrows: 'imports follow the rules of .dependency-cruiser.js',
  prose: 'texts and commit subjects follow the rules of CONTRIBUTING.md',
  'dead-code': 'no export, package or file is unused',
  'format:check': 'files are formatted; npm run format does it',
};
const concurrency = 2;
/** For programs in Go: each thread of the linter works out the types that it meets again. */
const onOneCore = { GOMAXPROCS: '1' };

const startedAtMs = performance.now();
const waiting = Object.keys(quickChecks);
const outcomes: Outcome[] = [];
await Promise.all(Array.from({ length: concurrency }, runWaitingChecks));
if (outcomes.every(({ isGood }) => isGood)) {
  // Other tests judge each state of a page once. Every look is for the night.
  const others = ['--', '--exclude', 'test/pages/accessibility/all-looks.test.ts'];
  outcomes.push(await check('test:all', 'the tests', 'inherit', others));
}

const failed = outcomes.filter(({ isGood }) => !isGood).map(({ script }) => script);
const testsSkipped = !outcomes.some(({ script }) => script === 'test:all');
console.log(
  failed.length === 0
    ? `\nAll checks passed (${secondsSince(startedAtMs)}).`
    : `\nFAILED: ${failed.join(', ')} (${secondsSince(startedAtMs)}).${testsSkipped ? ' The tests did not run.' : ''}`,
);
process.exitCode = failed.length === 0 ? 0 : 1;

async function runWaitingChecks(): Promise<void> {
  for (let script = waiting.shift(); script !== undefined; script = waiting.shift()) {
    const outcome = await check(script, quickChecks[script] ?? '', 'pipe', [], onOneCore);
    outcomes.push(outcome);
    if (!outcome.isGood) console.log(outcome.output.trimEnd().replace(/^/gm, '    '));
  }
}

/** With `pipe` the output is returned, with `inherit` it is printed as it comes. */
async function check(
  script: string,
  meaning: string,
  stdio: 'pipe' | 'inherit',
  more: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const beganAtMs = performance.now();
  const child = spawn('npm', ['run', '--silent', script, ...more], {
    cwd: fileURLToPath(new URL('../', import.meta.url)),
    env: { ...process.env, ...environment },
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
