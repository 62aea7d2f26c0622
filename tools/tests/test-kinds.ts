// Derives from a test file's imports what it needs before it can run. vitest.config.ts has a project for each kind.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * `unit` needs nothing, `database` a PostgreSQL, a browser or another process, and `process` the built program or processes of its own.
 * A `campaign` asks how much to do, and may need all of these.
 */
export type TestKind = 'unit' | 'database' | 'process' | 'campaign';

const folders = ['src', 'test', 'tools', 'simulation'];
/** Type imports have no effect when a test runs. */
const imported = /^(?:(?:import|export) (?!type )(?:[^'"`;]* from )?|.*\bawait import\()'([^']+)'/gm;
/** Tests inject what is set up once for the run. */
const importsInject = /^import \{[^}]*\binject\b[^}]*\} from 'vitest'/m;
const asksForProgram = /\binject\('(?:builtProgram|plainSources)'\)/;
const reachesProcesses = new Set(['node:child_process', 'node:cluster']);
/** A test that imports this asks how much to do. */
const campaigns = 'test/support/service/campaign.ts';
const reachesOut = new Set([...reachesProcesses, 'playwright-core', 'pg']);

/** The test files of a checkout, as paths in it. */
export function testsByKind(repository: string): Record<TestKind, string[]> {
  const byKind: Record<TestKind, string[]> = { unit: [], database: [], process: [], campaign: [] };
  const textOf = textsIn(repository);
  for (const file of folders.flatMap((folder) => testFilesIn(repository, folder)).sort()) {
    byKind[kindOf(file, textOf)].push(file);
  }
  return byKind;
}

/**
 * Reads the file and the files that support it, but not src. Code in src opens a database or starts a process only when a test makes it.
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
