// Checks whether a running bank follows the open bank protocol (`mandate bank conformance`).
// It needs a test system with known cards and moves no real money.
import { defined } from '../../defined.ts';
import { abilityChecks } from './ability-checks.ts';
import { promisesOfMessages } from './message-checks.ts';
import { moneyChecks } from './money-checks.ts';
import { unmetNeed } from './needs.ts';
import { CheckFailed, openProbe, type ProbeOptions } from './probe.ts';

/** The last check compares everything that was promised before. */
const checks = [
  ...promisesOfMessages,
  ...moneyChecks.slice(0, -1),
  ...abilityChecks,
  ...moneyChecks.slice(-1),
];

export type Result = {
  readonly number: number;
  readonly promise: string;
  /** Undefined when the check passed. */
  readonly problem: string | undefined;
  /** The ability that the bank does not declare. Nothing was tried. */
  readonly notDeclared?: string;
};

export type Report = {
  readonly passed: number;
  readonly failed: number;
  readonly notDeclared: number;
  readonly results: readonly Result[];
};

export async function checkBank(
  options: ProbeOptions & { readonly onResult?: (result: Result) => void },
): Promise<Report> {
  const probe = openProbe(options);
  const results: Result[] = [];
  const { abilities, isDeclared } = await probe.abilities();
  for (const [index, { promise, needs, tryIt }] of checks.entries()) {
    const notDeclared = unmetNeed(needs, abilities, isDeclared);
    const problem = notDeclared ? undefined : await tryIt(probe).then(() => undefined, problemOf);
    const result = { number: index + 1, promise, problem, ...defined({ notDeclared }) };
    results.push(result);
    options.onResult?.(result);
  }
  await probe.stop();
  const failed = results.filter(({ problem }) => problem !== undefined).length;
  const notDeclared = results.filter((result) => result.notDeclared !== undefined).length;
  return { passed: results.length - failed - notDeclared, failed, notDeclared, results };
}

/** A failed check is a result; any other error is a fault of this program. */
function problemOf(error: unknown): string {
  if (error instanceof CheckFailed) return error.message;
  throw error;
}
