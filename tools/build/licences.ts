// Lists the packages in a build with their licence texts, which must be distributed with the packages.
import { readdir, readFile } from 'node:fs/promises';

const packageFolder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+\//;
const licenceFile = /^(licen[cs]e|notice|copying)/i;

/** Of the packages that these files belong to, by their paths from the root. */
export async function licencesOf(files: readonly string[], root: URL): Promise<string> {
  const found = files.map((file) => packageFolder.exec(file)?.[0]);
  const folders = [...new Set(found.filter((folder) => folder !== undefined))].sort();
  const parts = await Promise.all(folders.map((folder) => licenceOf(new URL(folder, root))));
  return ['The program includes these packages.', ...parts].join(`\n\n${'-'.repeat(80)}\n\n`) + '\n';
}

async function licenceOf(folder: URL): Promise<string> {
  const { name, version, license } = JSON.parse(
    await readFile(new URL('package.json', folder), 'utf8'),
  ) as Record<'name' | 'version' | 'license', string | undefined>;
  // Some packages have a package.json without a name in each of their folders.
  if (name === undefined) throw new Error(`${folder.pathname}package.json has no "name".`);
  if (license === undefined) throw new Error(`The package.json of ${name} has no "license".`);
  const files = (await readdir(folder)).filter((file) => licenceFile.test(file)).sort();
  const words = await Promise.all(files.map((file) => readFile(new URL(file, folder), 'utf8')));
  return [`${name} ${version}, ${license}`, ...words.map((text) => text.trim())].join('\n\n');
}
