// The pages for payers can be read from right to left, once they have such a language: their styles name no side.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const folders = ['checkout/', 'checkout/styles/', 'consent/'].map(
  (folder) => new URL(`../../../pages/${folder}`, import.meta.url),
);

test('no style of a page for payers names a side', () => {
  const named = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.css'))
      .flatMap((name) => readFileSync(new URL(name, folder), 'utf8').split('\n'))
      // As a property, a part of one, or a value; also by four values, the second and last of which are sides.
      .filter((line) => /\b(left|right)\b.*;/.test(line) || /(padding|margin):( \S+){4};/.test(line)),
  );
  expect(named).toEqual([]);
});
