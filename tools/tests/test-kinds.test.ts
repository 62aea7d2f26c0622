import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { kindOf, readingOf, testsByKind, testsOfService } from './test-kinds.ts';

const files: Record<string, string> = {
  'src/a/pure.test.ts': "import { expect } from 'vitest';\nimport { sum } from './pure.ts';",
  'src/a/pure.ts': "import pg from 'pg';\nimport { spawn } from 'node:child_process';",
  'src/a/deep/stored.test.ts': "import {\n  openWorld,\n} from '../../../test/support/world.ts';",
  'src/a/typed.test.ts': "import type { World } from '../../test/support/world.ts';",
  'src/a/late.test.ts': "  const { openWorld } = await import('../../test/support/world.ts');",
  'src/a/quoted.test.ts': 'const example = "import { spawn } from \'node:child_process\';";',
  'test/support/world.ts': "export { connect } from './database.ts';",
  'test/support/database.ts':
    "import { inject } from 'vitest';\nimport '../support/world.ts';\ninject('cluster');",
  'test/support/program.ts': "import { inject, test } from 'vitest';\nstart(inject('builtProgram'));",
  'test/pages/page.test.ts': "import { chromium } from 'playwright-core';",
  'test/pages/firefox.test.ts': "import { launch } from 'puppeteer-core';",
  'test/process/kill.test.ts': "import { start } from '../support/program.ts';",
  'test/process/crashes.test.ts':
    "import { often } from '../support/service/campaign.ts';\nimport { start } from '../support/program.ts';",
  'tools/script.test.ts': "import { execFile } from 'node:child_process';",
};
const read = (file: string) => (files[file] === undefined ? undefined : readingOf(files[file]));

describe('what a test file needs follows from its imports', () => {
  test.each([
    ['nothing, whatever src could do', 'src/a/pure.test.ts', 'unit'],
    ['a database, through a file that supports it', 'src/a/deep/stored.test.ts', 'database'],
    ['a database, through a dynamic import', 'src/a/late.test.ts', 'database'],
    ['nothing for a type import', 'src/a/typed.test.ts', 'unit'],
    ['nothing for an import inside a string', 'src/a/quoted.test.ts', 'unit'],
    ['a browser', 'test/pages/page.test.ts', 'database'],
    ['a Firefox', 'test/pages/firefox.test.ts', 'database'],
    ['the built program', 'test/process/kill.test.ts', 'process'],
    ['as much as it asks for', 'test/process/crashes.test.ts', 'campaign'],
    ['processes of its own', 'tools/script.test.ts', 'process'],
  ])('%s', (_, file, kind) => {
    expect(kindOf(file, read)).toBe(kind);
  });
});

test('every test file has one kind', () => {
  const repository = fileURLToPath(new URL('../..', import.meta.url));
  const there = ['src', 'test', 'tools', 'simulation'].flatMap((folder) =>
    readdirSync(`${repository}${folder}`, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => `${folder}/${name}`),
  );
  const kinds = testsByKind(repository);
  expect(Object.values(kinds).flat().sort()).toEqual(there.sort());
  expect(kinds.unit).toContain('tools/tests/test-kinds.test.ts');
  expect(kinds.campaign).toContain('test/process/crash.test.ts');
  expect(kinds.process).toContain('test/process/lifecycle.test.ts');
});

test('campaigns run with the others, not at all, or alone', () => {
  const tests = { unit: ['u'], database: ['d'], process: ['p'], campaign: ['c'] };
  expect(testsOfService(tests, undefined)).toEqual(['c', 'p', 'd']);
  expect(testsOfService(tests, 'without')).toEqual(['p', 'd']);
  expect(testsOfService(tests, 'only')).toEqual(['c']);
});

test('a unit test cannot start a process', () => {
  const { spawn } = process.getBuiltinModule('node:child_process');
  expect(() => spawn('true')).toThrow('a unit test starts no process');
});
