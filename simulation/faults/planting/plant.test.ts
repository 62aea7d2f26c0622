import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { repository } from '../../../tools/source-files.ts';
import { copied } from './plant.ts';

const imported = /\b(?:from|import)\s*\(?\s*'(\.[^']+\.ts)'/g;

test('a copy of the sources has every file that a world loads', () => {
  const loaded = new Set(['simulation/simulate.ts']);
  for (const file of loaded) {
    const text = readFileSync(join(repository, file), 'utf8');
    for (const [, name = ''] of text.matchAll(imported)) loaded.add(join(dirname(file), name));
  }
  expect(loaded.size).toBeGreaterThan(300);
  expect([...loaded]).toContain('tools/temporary-folders.ts');
  const isCopied = (file: string) => copied.some((name) => file === name || file.startsWith(`${name}/`));
  expect([...loaded].filter((file) => !isCopied(file))).toEqual([]);
});
