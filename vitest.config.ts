import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { keepTemporaryFilesInMemory } from './tools/tests/memory-folder.ts';
import { chosenCampaigns, testsByKind, testsOfService } from './tools/tests/test-kinds.ts';
import { longestFirst } from './tools/tests/test-order.ts';
import { waitMs } from './tools/tests/waits.ts';

const repository = fileURLToPath(new URL('.', import.meta.url));
const tests = testsByKind(repository);

// Before anything reads TMPDIR: databases, browsers and folders of tests are there.
keepTemporaryFilesInMemory();

/**
 * Most of what a test makes is garbage soon, and larger spaces for young objects are collected seldom. A run is too short to
 * optimise much, and each file uses what another has compiled.
 */
const flagsOfThreads = [
  '--min-semi-space-size=16',
  '--max-semi-space-size=32',
  '--interrupt-budget=540672',
  '--no-flush-bytecode',
];
// Before the threads start.
for (const flag of flagsOfThreads) setFlagsFromString(flag);

/** `npx vitest run --project unit` runs one project alone. Each loads the program for itself, so there are few. */
function project(
  name: 'unit' | 'service',
  { setupFiles = [], ...more }: { include: string[]; setupFiles?: string[]; globalSetup?: string },
): TestProjectInlineConfiguration {
  const each = { name, setupFiles: ['test/support/fixed-seed.ts', ...setupFiles] };
  return { extends: true, test: { ...more, ...each } };
}

export default defineConfig({
  test: {
    projects: [
      project('unit', { include: tests.unit, setupFiles: ['test/support/no-processes.ts'] }),
      project('service', {
        include: testsOfService(tests, chosenCampaigns),
        globalSetup: 'test/support/global-setup.ts',
      }),
    ],
    // Files share the modules of a thread: ten times faster, and it keeps module-level state out of the program.
    pool: 'threads',
    isolate: false,
    // One more than cores, because tests of processes wait for them.
    maxWorkers: availableParallelism() + 1,
    // Caches transformed files in node_modules, so that a file run alone starts in half the time.
    experimental: { fsModuleCache: true },
    sequence: { sequencer: longestFirst(repository, tests) },
    expect: { poll: { timeout: waitMs } },
    testTimeout: 120_000,
    hookTimeout: 240_000,
  },
});
