import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type SourceFile = { readonly path: string; readonly text: string };

export const repository = fileURLToPath(new URL('../', import.meta.url));

/** TypeScript and SQL files of src, with paths relative to the repository. */
export function readSourceFiles(): SourceFile[] {
  return readdirSync(join(repository, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|sql)$/.test(name))
    .sort()
    .map((name) => join('src', name))
    .map((path) => ({ path, text: readFileSync(join(repository, path), 'utf8') }));
}

export function isTest({ path }: SourceFile): boolean {
  return path.endsWith('.test.ts');
}
