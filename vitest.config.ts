import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'tools/**/*.test.ts', 'simulation/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    // Files share their threads' modules: ten times quicker, and it keeps module-level state out of the program.
    pool: 'threads',
    isolate: false,
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 240_000,
  },
});
