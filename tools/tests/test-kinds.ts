// Reads from the imports of a test file what it needs to run, so that it may lie in any folder.
// The units are a project of vitest.config.ts, and the others together are one.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * `unit` needs nothing; `database` a PostgreSQL, a browser or another process. `process` needs the built program or starts processes;
 * `campaign` takes an amount of work and may need everything.
 */
export type TestKind = 'unit' | 'database' | 'process' | 'campaign';

const folders = ['src', 'test', 'tools', 'simulation'];
/** Imports of types do not count: they are gone when a test runs. */
const imported = /^(?:(?:import|export) (?!type )(?:[^'"`;]* from )?|.*\bawait import\()'([^']+)'/gm;
/** With `inject` a test gets what the global set-up provides. */
const importsInject = /^import \{[^}]*\binject\b[^}]*\} from 'vitest'/m;
const asksForBuiltProgram = /\binject\('(?:builtProgram|plainSources)'\)/;
const reachesProcesses = new Set(['node:child_process', 'node:cluster']);
/** A test that imports it takes an amount of work. */
const campaigns = 'test/support/service/campaign.ts';
const reachesOut = new Set([...reachesProcesses, 'playwright-core', 'puppeteer-core', 'pg']);

/** What a file says about itself. It is read once, though many tests import it. */
type Reading = {
  readonly imports: readonly string[];
  readonly asks: boolean;
  readonly asksForProgram: boolean;
};

/** The test files of a checkout, by kind, with paths relative to it. */
export function testsByKind(repository: string): Record<TestKind, string[]> {
  const byKind: Record<TestKind, string[]> = { unit: [], database: [], process: [], campaign: [] };
  const read = readingsIn(repository);
  for (const file of folders.flatMap((folder) => testFilesIn(repository, folder)).sort()) {
    byKind[kindOf(file, read)].push(file);
  }
  return byKind;
}

/** How a run chooses among campaigns and others: `without`, `only`, or not at all. */
export const chosenCampaigns = process.env['CAMPAIGNS'];

/** All but those of units. */
export function testsOfService(
  { campaign, process: ofProcess, database }: Readonly<Record<TestKind, readonly string[]>>,
  campaigns: string | undefined,
): string[] {
  const others = campaigns === 'only' ? [] : [...ofProcess, ...database];
  return campaigns === 'without' ? others : [...campaign, ...others];
}

/**
 * Reads the file and its support files, but not src: src uses a database or starts a process only if a test makes it.
 */
export function kindOf(file: string, read: (file: string) => Reading | undefined): TestKind {
  const ownPackages = new Set<string>();
  const packages = new Set<string>();
  let asks = false;
  let asksForProgram = false;
  const seen = new Set([file]);
  for (const each of seen) {
    const reading = read(each);
    if (reading === undefined) continue;
    asks ||= reading.asks;
    asksForProgram ||= reading.asksForProgram;
    for (const name of reading.imports) {
      const path = join(dirname(each), name);
      if (each === file && path === campaigns) return 'campaign';
      if (!name.startsWith('.')) packages.add(name);
      else if (!path.startsWith('src/')) seen.add(path);
      if (each === file) ownPackages.add(name);
    }
  }
  const isAboutProcesses = [...reachesProcesses].some((name) => ownPackages.has(name));
  if (isAboutProcesses || asksForProgram) return 'process';
  return asks || [...reachesOut].some((name) => packages.has(name)) ? 'database' : 'unit';
}

export function readingOf(text: string): Reading {
  const asks = importsInject.test(text);
  return {
    imports: Array.from(text.matchAll(imported), ([, name = '']) => name),
    asks,
    asksForProgram: asks && asksForBuiltProgram.test(text),
  };
}

function testFilesIn(repository: string, folder: string): string[] {
  return readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(folder, name));
}

function readingsIn(repository: string): (file: string) => Reading | undefined {
  const known = new Map<string, Reading | undefined>();
  return (file) => {
    if (!known.has(file)) known.set(file, readFile(join(repository, file)));
    return known.get(file);
  };
}

function readFile(path: string): Reading | undefined {
  if (!path.endsWith('.ts')) return undefined;
  try {
    return readingOf(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
