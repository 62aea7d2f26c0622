// npm run build:try: whether what was built runs on its own. A copy with neither sources nor development tools is
// installed from the lock file, asked for its version, and serves a sandbox with its pages for a moment.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { readOptions } from '../script-options.ts';

readOptions(`npm run build:try: whether what is in dist/ runs on its own. It takes no options.`);

const readyWithinMs = 60_000;
const repository = fileURLToPath(new URL('../../', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'mandate-built-'));
const program = join(folder, 'bin/mandate.js');

try {
  // Where root runs this the private PostgreSQL has a user of its own, who must get in.
  await chmod(folder, 0o755);
  for (const part of ['bin', 'dist', 'package.json', 'package-lock.json']) {
    await cp(join(repository, part), join(folder, part), { recursive: true });
  }
  run('npm', 'ci', '--omit=dev', '--no-audit', '--no-fund');
  run(process.execPath, program, '--version');
  await serve();
  console.log('The built program runs.');
} finally {
  await rm(folder, { recursive: true, force: true });
}

function run(command: string, ...parameters: string[]): void {
  const { status } = spawnSync(command, parameters, { cwd: folder, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} ${parameters.join(' ')} failed in the built copy`);
}

async function serve(): Promise<void> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [program, 'serve'], {
    cwd: folder,
    env: { PATH, HOME, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const hurry = setTimeout(() => child.kill('SIGKILL'), readyWithinMs);
  let address: string | undefined;
  for await (const line of createInterface(child.stdout)) {
    address = /"address":"([^"]+)".*"msg":"ready"/.exec(line)?.[1];
    if (address !== undefined) break;
  }
  try {
    if (address === undefined) throw new Error('the built program ended before it was ready');
    for (const path of [
      '/health/ready',
      '/openapi.json',
      '/docs',
      '/docs/docs.js',
      '/checkout.js',
      '/demo',
    ]) {
      const { status } = await fetch(address + path);
      if (status !== 200) throw new Error(`${path} of the built program answers ${status}`);
    }
  } finally {
    child.stdout.resume();
    child.kill('SIGTERM');
    const [code] = (await ended) as [number | null];
    clearTimeout(hurry);
    if (code !== 0) console.error(`The built program ended with ${code}.`);
    process.exitCode = code === 0 ? process.exitCode : 1;
  }
}
