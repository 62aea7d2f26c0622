// npm run prove:node-24: the tests on Node 24. The version is pinned, so that a new one changes no result.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { recordFolder } from './record.ts';
import { readOptions } from '../script-options.ts';
import { repository } from '../source-files.ts';

const { words } = readOptions(
  `npm run prove:node-24 -- [TESTS]…
Installs Node 24 from npm into a folder that git ignores, and runs all tests with it.

  TESTS  only the test files whose path contains one of these words`,
  {},
  { maxWords: 100 },
);
const version = '24.21.0';
const system = `node-${process.platform}-${process.arch}`;
const prefix = join(repository, recordFolder, `node-${version}`);
const programs = join(prefix, 'node_modules', system, 'bin');
if (!existsSync(join(programs, 'node'))) {
  mkdirSync(prefix, { recursive: true });
  const quiet = ['--silent', '--no-audit', '--no-fund'];
  run('npm', ['install', ...quiet, '--prefix', prefix, `${system}@${version}`], process.env);
}
const env = { ...process.env, PATH: `${programs}${delimiter}${process.env['PATH'] ?? ''}` };
run('node', ['--version'], env);
run('npm', ['run', 'test:all', '--', ...words], env);

function run(program: string, parameters: readonly string[], env: NodeJS.ProcessEnv): void {
  const { status } = spawnSync(program, parameters, { cwd: repository, stdio: 'inherit', env });
  if (status !== 0) process.exit(status ?? 1);
}
