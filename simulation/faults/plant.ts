// The faults there are, and copies of the sources to plant one in. A fault is a patch; its first line says what it does, its
// second what the worlds are about in which it is sought.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { themes, type Theme } from '../clients/themes.ts';

export type PlantedFault = {
  /** Its patch, without the ending. */
  readonly name: string;
  readonly says: string;
  readonly theme: Theme;
};

type Sources = { readonly folder: string; remove(): void };

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'simulation/faults');
const ending = '.patch';
/** What a world is made of. */
const copied = [
  'src',
  'simulation',
  'pages',
  'test/support',
  'tools/script-options.ts',
  'package.json',
  'tsconfig.json',
  'schema.sql',
];

export function faultsThere(): PlantedFault[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((file) => {
      const [says = '', where = ''] = readFileSync(join(folder, file), 'utf8').split('\n');
      const theme = themes.find(({ name }) => where === `Sought in worlds of ${name}.`);
      if (!theme) throw new Error(`${file} does not say in worlds of what it is sought`);
      return { name: file.slice(0, -ending.length), says, theme };
    });
}

export function copySources(): Sources {
  const copy = mkdtempSync(join(tmpdir(), 'mandate-mutant-'));
  for (const name of copied) cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return { folder: copy, remove: () => rmSync(copy, { recursive: true, force: true }) };
}

/** A copy with the fault in it. */
export function plant(fault: PlantedFault): Sources | { readonly problem: string } {
  const sources = copySources();
  const problem = applying(fault, sources.folder);
  if (problem === undefined) return sources;
  sources.remove();
  return { problem };
}

/** Why the fault cannot be planted in the sources as they are; undefined when it can. */
export function problemWith(fault: PlantedFault): string | undefined {
  return applying(fault, root, '--check');
}

function applying({ name }: PlantedFault, where: string, ...how: string[]): string | undefined {
  const patch = join(folder, name + ending);
  const { status, stderr } = spawnSync('git', ['apply', '-p1', ...how, patch], {
    cwd: where,
    encoding: 'utf8',
  });
  return status === 0 ? undefined : stderr.trim();
}
