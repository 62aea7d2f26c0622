// Copies of the sources with planted faults.
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isTest, readSourceFiles, repository, type SourceFile } from '../../../tools/source-files.ts';
import { makeTemporaryFolder } from '../../../tools/temporary-folders.ts';
import { edited, locate } from './edits.ts';
import type { PlantedFault } from '../faults.ts';

type Sources = { readonly folder: string; remove(): void };

/** What a world needs. */
export const copied = [
  'src',
  'simulation',
  'pages',
  'test/histories',
  'test/support',
  'tools',
  'package.json',
  'tsconfig.json',
  'schema.sql',
];

/** The files a fault may change: the program and its SQL, without tests. */
export function readSources(): SourceFile[] {
  return readSourceFiles().filter((file) => !isTest(file));
}

/** The changed files, with all of the faults in them. Throws if one cannot be planted. */
export function plantedIn(files: readonly SourceFile[], faults: readonly PlantedFault[]): SourceFile[] {
  const located = faults.flatMap((fault) => {
    try {
      return locate(fault, files);
    } catch (error) {
      throw new Error(`${fault.name} cannot be planted. ${String(error)}`, { cause: error });
    }
  });
  return files
    .filter(({ path }) => located.some((edit) => edit.path === path))
    .map((file) => ({ ...file, text: edited(file, located) }));
}

export function copySources(): Sources {
  const copy = makeTemporaryFolder('mutant');
  for (const name of copied) cpSync(join(repository, name), join(copy, name), { recursive: true });
  symlinkSync(join(repository, 'node_modules'), join(copy, 'node_modules'));
  return { folder: copy, remove: () => rmSync(copy, { recursive: true, force: true }) };
}

/** Copies the sources and plants the faults. */
export function plant(...faults: readonly PlantedFault[]): Sources {
  const changed = plantedIn(readSources(), faults);
  const sources = copySources();
  for (const { path, text } of changed) writeFileSync(join(sources.folder, path), text);
  return sources;
}

/** The compiler's errors with all faults in one copy. A fault that does not compile would be found because it crashes. */
export function compilerErrors(faults: readonly PlantedFault[]): string {
  const { folder, remove } = plant(...faults);
  const config = join(folder, 'tsconfig.planted.json');
  const settings = { extends: './tsconfig.json', include: ['src'], exclude: ['src/**/*.test.ts'] };
  writeFileSync(config, JSON.stringify(settings));
  const compiler = join(repository, 'node_modules/typescript/bin/tsc');
  const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', config], { encoding: 'utf8' });
  remove();
  return status === 0 ? '' : stdout.trim();
}
