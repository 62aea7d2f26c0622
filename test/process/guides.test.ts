// Runs every command block of README and the guides as it stands, each page as one script, all against one sandbox.
// A `text` block after a command block is what it prints, where `…` stands for any text.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, inject, onTestFinished, test } from 'vitest';
import { freePort } from '../../tools/free-port.ts';
import { createTestDatabase } from '../support/database/test-database.ts';
import { temporaryFolder } from '../support/database/test-cluster.ts';
import {
  commandBlocksOf,
  fencesOf,
  isPrinted,
  outputsOf,
  scriptOf,
} from '../support/documents/command-blocks.ts';
import { startServer } from '../support/processes/program.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const textOf = (page: string) => readFileSync(join(repository, page), 'utf8');
const guides = readdirSync(join(repository, 'docs/guide'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/guide/${name}`);
const isGenerated = (page: string) => /^<!-- Printed from .*`npm run docs`/m.test(textOf(page));
const pages = ['README.md', ...guides.sort().filter((page) => !isGenerated(page))];

/** Blocks marked `sh by-hand`, by page: they install, start or test the service, or run until you stop them. */
const blocksByHand = { 'README.md': 2, 'docs/guide/refunds-and-holds.md': 1, 'docs/guide/webhooks.md': 1 };
const languages = ['csv', 'html', 'http', 'js', 'json', 'sh', 'sh by-hand', 'text'];

test('every block of a page is of a known language, and JSON can be parsed', () => {
  for (const page of pages) {
    const prose = textOf(page).replace(/^```[^]*?^```$/gm, '');
    expect(prose, `${page} has a block in another form`).not.toMatch(/^\s*(~~~|```)|^ {4}\S/m);
    for (const { language, content, line } of fencesOf(textOf(page))) {
      expect(languages, `${page}:${line}`).toContain(language);
      if (language === 'json') expect(() => JSON.parse(content), `${page}:${line}`).not.toThrow();
    }
  }
});

test('only the blocks counted here are marked to be run by hand', () => {
  const isByHand = ({ language }: { language: string }) => language === 'sh by-hand';
  const counts = pages.map((page) => [page, fencesOf(textOf(page)).filter(isByHand).length] as const);
  expect(Object.fromEntries(counts.filter(([, count]) => count > 0))).toEqual(blocksByHand);
});

test('the commands of every page run, and print what the page shows', async () => {
  const environment = await startSandbox();
  for (const page of pages) {
    const blocks = commandBlocksOf(textOf(page));
    if (blocks.length === 0) continue;
    const { code, printed, errors } = await runScript(scriptOf(blocks), environment);
    const outputs = outputsOf(printed);
    const failed = blocks[outputs.length];
    expect(code, `${page}:${failed?.line}\n${failed?.commands}\n${printed}\n${errors}`).toBe(0);
    for (const [index, { line, output }] of blocks.entries()) {
      if (output === undefined) continue;
      const isAsShown = isPrinted(output, outputs[index] ?? '');
      expect(isAsShown, `${page}:${line} printed\n${outputs[index]}\nand not\n${output}`).toBe(true);
    }
  }
}, 300_000);

test('the rehearsal of going live runs as its page says', async () => {
  const page = 'docs/operations/go-live.md';
  const { folder, remove } = temporaryFolder();
  onTestFinished(remove);
  const db = await createTestDatabase();
  onTestFinished(() => db.drop());
  const [port, bankPort] = [String(await freePort()), String(await freePort())];
  const values: Record<string, string> = {
    'postgres://mandate@127.0.0.1/rehearsal': `'${db.url}'`,
    '/tmp/bank': join(folder, 'bank'),
    '127.0.0.1:8080': `127.0.0.1:${port}`,
    '9090': bankPort,
  };
  // All at once, because a value can contain the next name.
  const text = textOf(page).replaceAll(
    new RegExp(Object.keys(values).join('|'), 'g'),
    (name) => values[name]!,
  );
  const bin = commandsIn(folder, {
    mandate: `exec '${process.execPath}' '${inject('builtProgram')}' "$@"`,
    // The test has a database of its own.
    createdb: '[ "$*" = "-h 127.0.0.1 -U mandate rehearsal" ]',
    dropdb: '[ "$*" = "-h 127.0.0.1 -U mandate rehearsal" ]',
  });
  const { PATH = '', HOME = '' } = process.env;
  const environment = { folder, HOME, PORT: port, PATH: `${bin}:${PATH}` };
  const blocks = commandBlocksOf(text);
  const { code, printed, errors } = await runScript(scriptOf(blocks), environment);
  const failed = blocks[outputsOf(printed).length];
  expect(code, `${page}:${failed?.line}\n${failed?.commands}\n${printed}\n${errors}`).toBe(0);
}, 300_000);

test('the receiver to copy survives a request that breaks off', async () => {
  const port = await freePort();
  const child = spawn(process.execPath, [join(repository, 'examples/receive-webhooks.mjs')], {
    env: { WEBHOOK_SECRET: 'whsec_c2VjcmV0', RECEIVER_PORT: String(port) },
    stdio: 'ignore',
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const statusOfForgery = () =>
    fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: '{}' }).then(
      ({ status }) => status,
      () => 'unreachable',
    );
  await expect.poll(statusOfForgery).toBe(401);

  const socket = connect(port, '127.0.0.1');
  socket.end('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc');
  socket.resume();
  await once(socket, 'close');
  expect(await statusOfForgery()).toBe(401);
  expect(child.exitCode).toBeNull();
});

test('controls: blocks that run and those that do not, output that is printed and that is not', () => {
  const page = 'A\n\n```sh\necho a\n```\n\n```text\na…c\n```\n\n```sh by-hand\nnpm test\n```\n';
  expect(fencesOf(page).map(({ language }) => language)).toEqual(['sh', 'text', 'sh by-hand']);
  expect(commandBlocksOf(page)).toEqual([{ line: 3, commands: 'echo a\n', output: 'a…c\n' }]);
  const apart = '```sh\nls\n```\n\nThen:\n\n```text\nx\n```\n';
  expect(commandBlocksOf(apart)).toEqual([{ line: 1, commands: 'ls\n' }]);
  expect(isPrinted('a…c\n', 'a b\nc\n')).toBe(true);
  expect(isPrinted('a…c\n', 'a b\nd\n')).toBe(false);
  expect(isPrinted('a.c', 'abc')).toBe(false);
});

/** The environment of a shell in whose folder a sandbox runs, and in which `npx mandate` is the built program. */
async function startSandbox() {
  const { folder, remove } = temporaryFolder();
  onTestFinished(remove);
  const db = await createTestDatabase();
  onTestFinished(() => db.drop());
  const settings = { MANDATE_DATA: join(folder, 'data'), DATABASE_URL: db.url };
  await startServer(settings);
  const bin = commandsIn(folder, {
    npx: `[ "$1" = mandate ] && shift && exec '${process.execPath}' '${inject('builtProgram')}' "$@"`,
  });
  symlinkSync(join(repository, 'examples'), join(folder, 'examples'));
  const { PATH = '', HOME = '' } = process.env;
  const RECEIVER_PORT = String(await freePort());
  return { folder, ...settings, HOME, RECEIVER_PORT, PATH: `${bin}:${PATH}` };
}

/** A folder with these commands, each a line of shell. */
function commandsIn(folder: string, commands: Readonly<Record<string, string>>): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const [name, line] of Object.entries(commands)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${line}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return bin;
}

type ShellEnvironment = { readonly folder: string } & Record<string, string>;

async function runScript(script: string, { folder, ...env }: ShellEnvironment) {
  const file = join(folder, 'page.sh');
  writeFileSync(file, script);
  // In its own process group: a program that a page left running would keep the output open.
  const child = spawn('bash', [file], {
    cwd: folder,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.once('exit', () => {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // Nothing was left.
    }
  });
  let printed = '';
  let errors = '';
  child.stdout.on('data', (text) => (printed += String(text)));
  child.stderr.on('data', (text) => (errors += String(text)));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, printed, errors };
}
