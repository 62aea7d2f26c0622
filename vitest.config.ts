import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { keepTemporaryFilesInMemory } from './tools/tests/memory-folder.ts';
import { testsByKind } from './tools/tests/test-kinds.ts';
import { LongestFirst } from './tools/tests/test-order.ts';
import { waitMs } from './tools/tests/waits.ts';

const tests = testsByKind(fileURLToPath(new URL('.', import.meta.url)));

// Before anything reads TMPDIR: databases, browsers and folders of tests are there.
keepTemporaryFilesInMemory();

/** `npx vitest run --project unit` runs one project alone. */
function project(
  name: keyof typeof tests,
  setUp: { setupFiles?: string[]; globalSetup?: string },
): TestProjectInlineConfiguration {
  const setupFiles = ['test/support/fixed-seed.ts', ...(setUp.setupFiles ?? [])];
  return { extends: true, test: { name, include: tests[name], ...setUp, setupFiles } };
}

export default defineConfig({
  test: {
    projects: [
      project('campaign', { globalSetup: 'test/support/global-setup.ts' }),
      project('unit', { setupFiles: ['test/support/no-processes.ts'] }),
      project('database', { globalSetup: 'test/support/global-setup.ts' }),
      project('process', { globalSetup: 'test/support/global-setup.ts' }),
    ],
    // Files share the modules of a thread: ten times faster, and it keeps module-level state out of the program.
    pool: 'threads',
    isolate: false,
    // One more than cores, because tests of processes wait for them.
    maxWorkers: availableParallelism() + 1,
    // Caches transformed files in node_modules, so that a file run alone starts in half the time.
    experimental: { fsModuleCache: true },
    sequence: { sequencer: LongestFirst },
    expect: { poll: { timeout: waitMs } },
    testTimeout: 120_000,
    hookTimeout: 240_000,
  },
});
