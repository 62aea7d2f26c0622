/**
 * How much is done of what takes chances or goes through all cases: as much as a run of all tests can bear, or everything, by
 * `npm run prove:campaigns`.
 */
export function often(usual: number, full: number): number {
  return process.env['FULL_CAMPAIGNS'] ? full : usual;
}
