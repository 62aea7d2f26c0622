// The program as it runs without development tools: every source as JavaScript beside its map, the migrations, the pages.
// Types are not looked at here; `npm run types` does that.
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { bundlePage } from '../src/http/bundle-page.ts';

const repository = new URL('../', import.meta.url);
const migrations = 'database/migrations/';

/** Leaves every import where it stands; of our own files it names what they are built to. */
const importsOfWhatIsBuilt: Plugin = {
  name: 'imports of what is built',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ kind, path }) =>
      kind === 'entry-point' ? undefined : { path: path.replace(/\.ts$/, '.js'), external: true },
    );
  },
};

/** Into a folder that may have an older build; what has no source any more goes. */
export async function buildProgram(target: URL): Promise<void> {
  await rm(target, { recursive: true, force: true });
  const names = await readdir(new URL('src/', repository), { recursive: true });
  await build({
    absWorkingDir: fileURLToPath(repository),
    entryPoints: names
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .map((name) => `src/${name}`),
    outdir: fileURLToPath(target),
    outbase: 'src',
    // For the plug-in alone: with everything external nothing is put together.
    bundle: true,
    packages: 'external',
    plugins: [importsOfWhatIsBuilt],
    platform: 'node',
    format: 'esm',
    target: 'node20',
    charset: 'utf8',
    sourcemap: true,
    logLevel: 'warning',
  });
  await cp(new URL(`src/${migrations}`, repository), new URL(migrations, target), { recursive: true });
  const pages = await readdir(new URL('pages/', repository), { withFileTypes: true });
  for (const { name } of pages.filter((entry) => entry.isDirectory())) {
    const folder = new URL(`pages/${name}/`, target);
    await mkdir(folder, { recursive: true });
    for (const [file, content] of await bundlePage(name)) await writeFile(new URL(file, folder), content);
  }
}
