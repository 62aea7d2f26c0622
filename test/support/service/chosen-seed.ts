/**
 * The seed of a randomised test, the same on each run unless the test's own variable or SEED sets another one. `.ci/run` gives each
 * commit a seed of its own.
 */
export function chosenSeed(variable: string): number {
  return Number(process.env[variable] ?? process.env['SEED'] ?? 1);
}
