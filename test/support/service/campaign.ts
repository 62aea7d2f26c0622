/**
 * How much is done of what takes chances or goes through all cases: as much as `npm run check` can bear, or everything, by
 * `npm run prove:campaigns`. A test file that asks this is a campaign (tools/tests/test-kinds.ts), and no part of `npm test`.
 */
export function often(usual: number, full: number): number {
  return process.env['FULL_CAMPAIGNS'] ? full : usual;
}
