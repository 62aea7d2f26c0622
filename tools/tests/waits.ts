// How long a test waits for what must happen: seconds are normal on a busy machine, so a shorter limit fails by chance.
// Tests about time-outs set their own short ones in the program.

/** The default of `expect.poll` (vitest.config.ts) and of `eventually`. No wait is shorter (test/architecture/chance.ts). */
export const waitMs = 30_000;
