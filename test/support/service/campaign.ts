/**
 * How many random or exhaustive cases run: as many as `npm run check` can afford, or all of them with `npm run prove:campaigns`. A test
 * file that calls this is a campaign (tools/tests/test-kinds.ts) and not part of `npm test`.
 */
export function often(usual: number, full: number): number {
  return process.env['FULL_CAMPAIGNS'] ? full : usual;
}
