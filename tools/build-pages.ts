// Part of the build: bundles every page into dist/pages, from where the built program serves them.
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { bundlePage } from '../src/http/bundle-page.ts';

const target = new URL('../dist/pages/', import.meta.url);
const entries = await readdir(new URL('../pages/', import.meta.url), { withFileTypes: true });

await rm(target, { recursive: true, force: true });
for (const { name: page } of entries.filter((entry) => entry.isDirectory())) {
  const folder = new URL(`${page}/`, target);
  await mkdir(folder, { recursive: true });
  for (const [name, content] of await bundlePage(page)) await writeFile(new URL(name, folder), content);
}
