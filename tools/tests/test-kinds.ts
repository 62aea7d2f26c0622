// Reads from the imports of a test file what it needs to run, so that it may lie in any folder.
// Each kind is a project of vitest.config.ts.
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
const asksForProgram = /\binject\('(?:builtProgram|plainSources)'\)/;
const reachesProcesses = new Set(['node:child_process', 'node:cluster']);
/** A test that imports it takes an amount of work. */
const campaigns = 'test/support/service/campaign.ts';
const reachesOut = new Set([...reachesProcesses, 'playwright-core', 'pg']);

/** The test files of a checkout, by kind, with paths relative to it. */
export function testsByKind(repository: string): Record<TestKind, string[]> {
  const byKind: Record<TestKind, string[]> = { unit: [], database: [], process: [], campaign: [] };
  const textOf = textsIn(repository);
  for (const file of folders.flatMap((folder) => testFilesIn(repository, folder)).sort()) {
    byKind[kindOf(file, textOf)].push(file);
  }
  return byKind;
}

/**
 * Reads the file and its support files, but not src: src uses a database or starts a process only if a test makes it.
 */
export function kindOf(file: string, textOf: (file: string) => string | undefined): TestKind {
  const ownPackages = new Set<string>();
  const packages = new Set<string>();
  const asking: string[] = [];
  const seen = new Set([file]);
  for (const each of seen) {
    const text = textOf(each);
    if (text === undefined) continue;
    if (importsInject.test(text)) asking.push(text);
    for (const [, name = ''] of text.matchAll(imported)) {
      const path = join(dirname(each), name);
      if (each === file && path === campaigns) return 'campaign';
      if (!name.startsWith('.')) packages.add(name);
      else if (!path.startsWith('src/')) seen.add(path);
      if (each === file) ownPackages.add(name);
    }
  }
  const isAboutProcesses = [...reachesProcesses].some((name) => ownPackages.has(name));
  if (isAboutProcesses || asking.some((text) => asksForProgram.test(text))) return 'process';
  const asks = asking.length > 0 || [...reachesOut].some((name) => packages.has(name));
  return asks ? 'database' : 'unit';
}

function testFilesIn(repository: string, folder: string): string[] {
  return readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(folder, name));
}

function textsIn(repository: string): (file: string) => string | undefined {
  const known = new Map<string, string | undefined>();
  return (file) => {
    if (!known.has(file)) known.set(file, readText(join(repository, file)));
    return known.get(file);
  };
}

function readText(path: string): string | undefined {
  if (!path.endsWith('.ts')) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
