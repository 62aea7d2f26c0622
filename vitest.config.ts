import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { keepTemporaryFilesInMemory } from './tools/tests/memory-folder.ts';
import { testsByKind } from './tools/tests/test-kinds.ts';
import { LongestFirst } from './tools/tests/test-order.ts';

const tests = testsByKind(fileURLToPath(new URL('.', import.meta.url)));

// Before anything asks for it: databases, browsers and folders of tests lie there.
keepTemporaryFilesInMemory();

/** What runs a part: `npx vitest run --project unit`. */
function project(
  name: keyof typeof tests,
  setUp: { setupFiles?: string; globalSetup?: string },
): TestProjectInlineConfiguration {
  return { extends: true, test: { name, include: tests[name], ...setUp } };
}

export default defineConfig({
  test: {
    projects: [
      project('campaign', { globalSetup: 'test/support/global-setup.ts' }),
      project('unit', { setupFiles: 'test/support/no-processes.ts' }),
      project('database', { globalSetup: 'test/support/global-setup.ts' }),
      project('process', { globalSetup: 'test/support/global-setup.ts' }),
    ],
    // Files share their threads' modules: ten times quicker, and it keeps module-level state out of the program.
    pool: 'threads',
    isolate: false,
    // One more than cores: tests of processes wait now and then.
    maxWorkers: availableParallelism() + 1,
    // What was translated once is kept by its content, in node_modules: a file run alone starts in half the time.
    experimental: { fsModuleCache: true },
    sequence: { sequencer: LongestFirst },
    testTimeout: 120_000,
    hookTimeout: 240_000,
  },
});
