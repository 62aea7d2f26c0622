// Bundles a page's folder into the files a browser requests. It needs the development tools, so only a checkout and the build use it.
import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { guidePages } from './guides/guide-pages.ts';

const pagesFolder = new URL('../../../../pages/', import.meta.url);

/** Runs on the pages of other sites, as one script that needs no modules. */
const classicScripts = ['embed'];

/**
 * The content of each file by its name; entries are named after the page, as docs/docs.ts and docs/docs.css. `sources` gets what they were
 * bundled from, by paths from the root.
 */
export async function bundlePage(page: string, sources: string[] = []): Promise<Map<string, Buffer>> {
  const { build } = await import('esbuild');
  const folder = new URL(`${page}/`, pagesFolder);
  const names = await readdir(folder);
  const entries = [`${page}.ts`, `${page}.css`].filter((entry) => names.includes(entry));
  const { outputFiles, metafile } = await build({
    absWorkingDir: fileURLToPath(new URL('../', pagesFolder)),
    metafile: true,
    entryPoints: entries.map((entry) => fileURLToPath(new URL(entry, folder))),
    outdir: fileURLToPath(folder),
    bundle: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    write: false,
    format: classicScripts.includes(page) ? 'iife' : 'esm',
    target: 'es2022',
    charset: 'utf8',
    logLevel: 'silent',
  });
  sources.push(...Object.keys(metafile.inputs));
  const files = new Map<string, Buffer>(
    outputFiles.map(({ path, contents }) => [basename(path), Buffer.from(contents)]),
  );
  for (const name of names) {
    if (/\.(html|svg)$/.test(name)) files.set(name, await readFile(new URL(name, folder)));
  }
  if (page === 'guides') for (const [name, content] of await guidePages()) files.set(name, content);
  return files;
}
