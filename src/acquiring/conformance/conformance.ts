// Checks whether a running bank follows the open bank protocol (`mandate bank conformance`).
// It needs a test system with known cards and moves no real money.
import { promisesOfMessages } from './message-checks.ts';
import { moneyChecks } from './money-checks.ts';
import { CheckFailed, openProbe, type ProbeOptions } from './probe.ts';

const checks = [...promisesOfMessages, ...moneyChecks];

export type Result = {
  readonly number: number;
  readonly promise: string;
  /** Undefined when the check passed. */
  readonly problem: string | undefined;
};

export type Report = {
  readonly passed: number;
  readonly failed: number;
  readonly results: readonly Result[];
};

export async function checkBank(
  options: ProbeOptions & { readonly onResult?: (result: Result) => void },
): Promise<Report> {
  const probe = openProbe(options);
  const results: Result[] = [];
  for (const [index, { promise, tryIt }] of checks.entries()) {
    const problem = await tryIt(probe).then(() => undefined, problemOf);
    const result = { number: index + 1, promise, problem };
    results.push(result);
    options.onResult?.(result);
  }
  await probe.stop();
  const failed = results.filter(({ problem }) => problem !== undefined).length;
  return { passed: results.length - failed, failed, results };
}

/** A failed check is a result; any other error is a fault of this program. */
function problemOf(error: unknown): string {
  if (error instanceof CheckFailed) return error.message;
  throw error;
}
