// A page that does not change is compressed once.
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { zippedOnce } from './inline-page.ts';

test('a page is compressed once, for all who want it', async () => {
  const zipped = zippedOnce('<p>Hello</p>');
  const [first, second] = await Promise.all([zipped(), zipped()]);
  expect(second).toBe(first);
  expect(gunzipSync(first).toString()).toBe('<p>Hello</p>');
});
