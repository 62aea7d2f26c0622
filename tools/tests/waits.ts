// How long a test waits for what must happen. A socket or a process on a busy machine takes seconds, so a shorter limit fails by
// chance.

/** The default of `expect.poll` (vitest.config.ts) and of `eventually`. No wait is shorter (test/architecture/chance/chance.ts). */
export const waitMs = 30_000;
