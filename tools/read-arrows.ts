// Reads the imports of src, and returns a sentence for each that breaks a rule of .dependency-cruiser.js.
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const rulesFile = fileURLToPath(new URL('../.dependency-cruiser.js', import.meta.url));

/** `folder` holds a program with its sources in `src`. */
export async function readArrows(folder: string): Promise<{ files: string[]; breaches: string[] }> {
  const files = programFiles(folder);
  const { output } = await cruise(['src'], { ...(await extractOptions(rulesFile)), baseDir: folder });
  const { modules, summary } = output as ICruiseResult;
  const broken = summary.violations.map(
    ({ rule, from, to, cycle }) =>
      `${rule.name}: ${from} imports ${cycle ? cycle.map(({ name }) => name).join(', which imports ') : to}`,
  );
  return { files, breaches: [...unread(files, modules), ...[...new Set(broken)].sort()] };
}

/** Reports unread files: a reader that cannot read TypeScript would find no breach. */
export function unread(files: readonly string[], modules: readonly { readonly source: string }[]): string[] {
  const read = new Set(modules.map(({ source }) => source));
  return files
    .filter((file) => !read.has(file))
    .map((file) => `unread: the imports of ${file} were not read`);
}

function programFiles(folder: string): string[] {
  return readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => join('src', file))
    .sort();
}
