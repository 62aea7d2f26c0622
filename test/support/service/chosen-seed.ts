/** The seed of a randomised test: the same on each run unless its own variable or SEED sets another, as `npm run prove:night` does. */
export function chosenSeed(variable: string): number {
  return Number(process.env[variable] ?? process.env['SEED'] ?? 1);
}
