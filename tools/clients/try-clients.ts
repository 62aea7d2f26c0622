// npm run clients:try: generates clients from the OpenAPI document of a sandbox, compiles them, and makes payments and payouts with each.
// It needs Java, Maven and Python 3 with venv.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { readOptions } from '../script-options.ts';
import { repository } from '../source-files.ts';

readOptions(
  'npm run clients:try: generates clients from the OpenAPI document, and tries them on a sandbox. It takes no options.',
);

const readyWithinMs = 240_000;
const stepMs = 900_000;
/** Pinned here and installed in a temporary folder: nothing else needs them. */
const packages = [
  'openapi-typescript@7.13.0',
  'openapi-fetch@0.17.0',
  'typescript@5.9.3',
  '@types/node@20.19.0',
];
const generator = 'openapi-generator-cli-7.17.0.jar';
const generatorArtifact = 'org.openapitools:openapi-generator-cli:7.17.0';
const dependencyPlugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1';
const pythonPackage = 'openapi-python-client==0.29.1';

const folder = await mkdtemp(join(tmpdir(), 'mandate-clients-'));
const flow = (name: string) => join(repository, 'tools/clients', name);

try {
  await allOf([downloadTypeScript(), downloadGenerator(), downloadPython()]);
  await withSandbox(async (url, apiKey) => {
    const document = await fetch(`${url}/openapi.json`);
    await writeFile(join(folder, 'openapi.json'), await document.text());
    await allOf([tryTypeScript(url, apiKey), tryPython(url, apiKey)]);
  });
  console.log('Every generated client pays, charges again, saves a card and pays out.');
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function downloadTypeScript(): Promise<void> {
  await writeFile(join(folder, 'package.json'), '{"type":"module","private":true}');
  const quietly = ['--silent', '--no-audit', '--no-fund', '--ignore-scripts'];
  await download('npm', 'install', ...quietly, ...packages);
}

async function downloadGenerator(): Promise<void> {
  const copy = [`-Dartifact=${generatorArtifact}`, `-DoutputDirectory=${folder}`];
  await download('mvn', '-q', '-B', dependencyPlugin + ':copy', ...copy);
}

async function downloadPython(): Promise<void> {
  await run('python3', '-m', 'venv', 'venv');
  const quietly = ['--quiet', '--disable-pip-version-check'];
  await download(join(folder, 'venv/bin/python'), '-m', 'pip', 'install', ...quietly, pythonPackage);
}

/** With openapi-typescript and openapi-fetch, and with the typescript-fetch of openapi-generator. */
async function tryTypeScript(url: string, apiKey: string): Promise<void> {
  const properties = '--additional-properties=supportsES6=true,importFileExtension=.js';
  const generate = [
    'generate',
    '-g',
    'typescript-fetch',
    '-i',
    'openapi.json',
    '-o',
    'generated',
    properties,
  ];
  await allOf([
    run('npx', 'openapi-typescript', 'openapi.json', '-o', 'api.d.ts', '--default-non-nullable=false'),
    run('java', '-Dlog.level=warn', '-jar', generator, ...generate),
  ]);
  await copyFile(flow('openapi-fetch.ts.txt'), join(folder, 'openapi-fetch.ts'));
  await copyFile(flow('typescript-fetch.ts.txt'), join(folder, 'typescript-fetch.ts'));
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        target: 'ES2022',
        lib: ['ES2022', 'DOM', 'DOM.Iterable'],
        module: 'NodeNext',
        moduleResolution: 'NodeNext',
        outDir: 'out',
        types: ['node'],
      },
      // The generator writes a file for webhooks that does not compile, and that its index leaves out.
      include: ['*.ts'],
    }),
  );
  await run('npx', 'tsc', '-p', '.');
  await run(process.execPath, 'out/openapi-fetch.js', url, apiKey);
  await run(process.execPath, 'out/typescript-fetch.js', url, apiKey);
}

async function tryPython(url: string, apiKey: string): Promise<void> {
  const python = join(folder, 'venv/bin/python');
  await mkdir(join(folder, 'python'));
  const target = ['--output-path', 'python/mandate_client', '--meta', 'none'];
  // Without its formatters, which are not here, every warning is about an operation that it leaves out.
  await writeFile(join(folder, 'python.json'), '{"post_hooks":[]}');
  const strictly = ['--config', 'python.json', '--fail-on-warning'];
  await run(
    join(folder, 'venv/bin/openapi-python-client'),
    'generate',
    '--path',
    'openapi.json',
    ...target,
    ...strictly,
  );
  await run(python, '-m', 'compileall', '-q', 'python/mandate_client');
  await copyFile(flow('python_client.py'), join(folder, 'python/python_client.py'));
  await run(python, 'python/python_client.py', url, apiKey);
}

/** Like Promise.all, but ends when all have ended: the folder in which they write is removed afterwards. */
async function allOf(works: readonly Promise<void>[]): Promise<void> {
  for (const ended of await Promise.allSettled(works)) if (ended.status === 'rejected') throw ended.reason;
}

/** Tried three times: a registry may be away for a moment. */
async function download(command: string, ...parameters: string[]): Promise<void> {
  for (const waitMs of [5_000, 20_000]) {
    try {
      return await run(command, ...parameters);
    } catch (error) {
      console.log(`${String(error)}; it is tried again in ${String(waitMs / 1000)} s`);
      await setTimeout(waitMs);
    }
  }
  await run(command, ...parameters);
}

async function run(command: string, ...parameters: string[]): Promise<void> {
  const child = spawn(command, parameters, {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: stepMs,
  });
  const [status] = (await once(child, 'exit')) as [number | null];
  if (status !== 0) throw new Error(`${command} ${parameters.join(' ')} ended with ${String(status)}`);
}

async function withSandbox(work: (url: string, apiKey: string) => Promise<void>): Promise<void> {
  const { PATH = '', HOME = '' } = process.env;
  const environment = { PATH, HOME, PORT: '0', MANDATE_DATA: join(folder, 'data') };
  const program = join(repository, 'bin/mandate.js');
  const child = spawn(process.execPath, [program, 'serve'], {
    cwd: repository,
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const hurry = globalThis.setTimeout(() => child.kill('SIGKILL'), readyWithinMs);
  let url: string | undefined;
  for await (const line of createInterface(child.stdout)) {
    url = /"address":"([^"]+)".*"msg":"ready"/.exec(line)?.[1];
    if (url !== undefined) break;
  }
  clearTimeout(hurry);
  try {
    if (url === undefined) throw new Error('the sandbox ended before it was ready');
    child.stdout.resume();
    const asked = spawnSync(process.execPath, [program, 'sandbox', '--json'], {
      env: environment,
      encoding: 'utf8',
    });
    const { apiKey } = JSON.parse(asked.stdout) as { readonly apiKey: string };
    await work(url, apiKey);
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}
