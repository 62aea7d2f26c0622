// npm run package: what users install, and the list of what is in it, in release/. The built program needs no package but
// the private PostgreSQL, which is optional.
import { execFileSync } from 'node:child_process';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildProgram } from '../build/build-program.ts';
import { readOptions } from '../script-options.ts';
import { repository } from '../source-files.ts';

readOptions(`npm run package: builds release/mandate-<version>.tgz and its bill of materials (CycloneDX).

It takes no options. Install the package with "npm install ./release/mandate-<version>.tgz" in an empty folder; with --omit=optional it
comes without the private PostgreSQL.`);

type Description = Record<string, unknown> & { readonly version: string; readonly files: readonly string[] };

const target = join(repository, 'release');
// Its name is the component's name in the bill of materials.
const staged = join(target, 'mandate');
const description = await readJson<Description>('package.json');
const forDevelopers = ['scripts', 'devDependencies', 'allowScripts', 'knip'];

await rm(target, { recursive: true, force: true });
await mkdir(staged, { recursive: true });
await buildProgram(pathToFileURL(join(repository, 'dist/')));
for (const name of [...description.files, 'README.md', 'LICENSE'])
  await cp(join(repository, name), join(staged, name), { recursive: true });
await write('package.json', without(description, [...forDevelopers, 'dependencies', 'overrides']));
npm('pack', '--silent', '--pack-destination', target);
await writeFile(join(target, `mandate-${description.version}.cdx.json`), await billOfMaterials());
await rm(staged, { recursive: true });
console.log(
  `release/mandate-${description.version}.tgz and release/mandate-${description.version}.cdx.json are built.`,
);

/** `npm sbom --omit dev` drops a package that a development tool uses too, so npm sees a lock file without such tools. */
async function billOfMaterials(): Promise<string> {
  const lock = await readJson<{ packages: Record<string, Record<string, unknown>> }>('package-lock.json');
  const packages = Object.entries(lock.packages)
    .filter(([, entry]) => entry['dev'] !== true)
    .map(([path, entry]) => [path, path === '' ? without(entry, ['devDependencies']) : entry] as const);
  await write('package.json', without(description, forDevelopers));
  await write('package-lock.json', { ...lock, packages: Object.fromEntries(packages) });
  return npm('sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application');
}

function without(
  members: Readonly<Record<string, unknown>>,
  left: readonly string[],
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !left.includes(name)));
}

async function readJson<T>(file: string): Promise<T> {
  return JSON.parse(await readFile(join(repository, file), 'utf8')) as T;
}

async function write(file: string, content: unknown): Promise<void> {
  await writeFile(join(staged, file), `${JSON.stringify(content, null, 2)}\n`);
}

function npm(...parameters: string[]): string {
  return execFileSync('npm', parameters, {
    cwd: staged,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}
