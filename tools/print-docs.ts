// npm run docs: writes the documents that are printed from the code.
import { mkdir, writeFile } from 'node:fs/promises';
import { documents } from './documents.ts';

for (const [path, text] of await documents()) {
  const file = new URL(`../${path}`, import.meta.url);
  await mkdir(new URL('.', file), { recursive: true });
  await writeFile(file, text);
}
