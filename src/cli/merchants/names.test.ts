// An empty name is refused before the database is opened.
import { expect, test } from 'vitest';
import { commandLine } from '../../../test/support/processes/command-line.ts';

const shop = ['--party', 'P', '--currency', 'RUB', '--url', 'https://shop.example'];

test.each([
  ['party', 'create'],
  ['shop', 'create', ...shop],
  ['keys', 'create', '--party', 'P'],
])('%s %s refuses an empty name', async (...words) => {
  for (const name of ['', ' '])
    expect(await commandLine([...words, '--name', name], { PORT: 'none' })).toEqual({
      code: 1,
      output: '',
      errors: 'mandate: --name is empty. Give a name.\n',
    });
});
