// A PostgreSQL snapshot as text, `xmin:xmax:xip,…`: which transactions had finished at a moment. The log is looked through
// from snapshot to snapshot, so that nothing is missed that commits late and nothing waits for what runs long.

/** The same snapshot as far as transactions before `before` go; what comes later is not seen yet. */
export function snapshotBefore(snapshot: string, before: bigint): string {
  const { xmin, xmax, running } = parsed(snapshot);
  const earliest = (number: bigint) => (number < before ? number : before);
  return `${earliest(xmin)}:${earliest(xmax)}:${running.filter((number) => number < before).join(',')}`;
}

export function shows(snapshot: string, transaction: bigint): boolean {
  const { xmin, xmax, running } = parsed(snapshot);
  return transaction < xmin || (transaction < xmax && !running.includes(transaction));
}

/** How many transactions may have come between two snapshots. */
export function transactionsBetween(earlier: string, later: string): bigint {
  return parsed(later).xmax - parsed(earlier).xmin;
}

function parsed(snapshot: string): { xmin: bigint; xmax: bigint; running: bigint[] } {
  const [, xmin = '', xmax = '', running = ''] = /^(\d+):(\d+):([\d,]*)$/.exec(snapshot) ?? [];
  if (xmin === '') throw new Error(`this is no snapshot: ${snapshot.slice(0, 100)}`);
  return {
    xmin: BigInt(xmin),
    xmax: BigInt(xmax),
    running: running === '' ? [] : running.split(',').map(BigInt),
  };
}
