// Turns the folder of a page into the files a browser asks for: its script and its style bundled, the rest as it is.
// Needs the development tools, so only a checkout and the build do this.
import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

const pagesFolder = new URL('../../pages/', import.meta.url);

/** The content of each file by its name. The entries are named after the page: docs/docs.ts and docs/docs.css. */
export async function bundlePage(page: string): Promise<Map<string, Buffer>> {
  const { build } = await import('esbuild');
  const folder = new URL(`${page}/`, pagesFolder);
  const { outputFiles } = await build({
    entryPoints: [page, `${page}.css`].map((entry) => fileURLToPath(new URL(entry, folder))),
    outdir: fileURLToPath(folder),
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    logLevel: 'silent',
  });
  const files = new Map<string, Buffer>(
    outputFiles.map(({ path, contents }) => [basename(path), Buffer.from(contents)]),
  );
  for (const name of await readdir(folder)) {
    if (/\.(html|svg)$/.test(name)) files.set(name, await readFile(new URL(name, folder)));
  }
  return files;
}
