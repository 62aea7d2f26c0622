// npm run docs: writes the documents that are printed from the code.
import { mkdir, writeFile } from 'node:fs/promises';
import { documents } from './documents.ts';
import { readOptions } from '../script-options.ts';

readOptions(`npm run docs: writes the documents that are printed from the code. It takes no options.`);

for (const [path, text] of await documents()) {
  const file = new URL(`../../${path}`, import.meta.url);
  await mkdir(new URL('.', file), { recursive: true });
  await writeFile(file, text);
}
