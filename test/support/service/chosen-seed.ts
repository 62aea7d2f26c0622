/**
 * The seed of a test that takes chances. It is the same each time unless another is asked for, for this test or by SEED for all of
 * them: what was green with these sources stays green, and `.ci/run` gives each commit a seed of its own.
 */
export function chosenSeed(variable: string): number {
  return Number(process.env[variable] ?? process.env['SEED'] ?? 1);
}
