// The sources without their types, in a folder of the same structure. Node runs them unchanged, so a process that a test starts is ready
// in a fraction of the time.
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';

const repository = fileURLToPath(new URL('../../..', import.meta.url));
const folders = ['bench', 'simulation', 'src', 'test/histories', 'test/support', 'tools'];
/** Files that are read, not run. */
const linked = ['node_modules', 'package.json', 'pages', 'schema.sql', 'src/platform/database/migrations'];
const asItIs = { format: 'esm', platform: 'node', target: 'node20', logLevel: 'warning' } as const;

/** How a file names another one, or its own name. */
const namesOfSources = /(["'`])((?:\.{1,2}\/[^"'`\n]*)?)\.ts\1/g;

export async function writePlainSources(folder: string): Promise<void> {
  const listed = await Promise.all(
    folders.map(async (name) => {
      const files = await readdir(join(repository, name), { recursive: true, encoding: 'utf8' });
      return files.filter((file) => /(?<!\.test)\.ts$/.test(file)).map((file) => join(name, file));
    }),
  );
  const { outputFiles } = await build({
    ...asItIs,
    absWorkingDir: repository,
    entryPoints: listed.flat(),
    outbase: '.',
    outdir: folder,
    write: false,
  });
  const targets = new Set(outputFiles.map(({ path }) => dirname(path)));
  await Promise.all([...targets].map((target) => mkdir(target, { recursive: true })));
  await Promise.all(outputFiles.map(({ path, text }) => writeFile(path, withPlainNames(text))));
  await Promise.all(linked.map((name) => symlink(join(repository, name), join(folder, name))));
}

/** One of the files, from another text. */
export async function plainSource(text: string): Promise<string> {
  const { code } = await transform(text, { ...asItIs, loader: 'ts' });
  return withPlainNames(code);
}

function withPlainNames(code: string): string {
  return code.replace(namesOfSources, '$1$2.js$1');
}
