// A PostgreSQL snapshot as text, `xmin:xmax:xip,…`, says which transactions had finished. The feed reads from snapshot to
// snapshot, so that it misses no late commit and waits for no long transaction.

/** The same snapshot with all transactions from `before` on as unfinished. */
export function snapshotBefore(snapshot: string, before: bigint): string {
  const { xmin, xmax, running } = parsed(snapshot);
  const earliest = (number: bigint) => (number < before ? number : before);
  return `${earliest(xmin)}:${earliest(xmax)}:${running.filter((number) => number < before).join(',')}`;
}

/** The same snapshot with these transactions as unfinished too. */
export function snapshotWithout(snapshot: string, transactions: readonly bigint[]): string {
  const { xmin, xmax, running } = parsed(snapshot);
  const unfinished = [...new Set([...running, ...transactions])].toSorted((one, other) =>
    one < other ? -1 : 1,
  );
  const [earliest = xmin] = unfinished;
  return `${earliest < xmin ? earliest : xmin}:${xmax}:${unfinished.join(',')}`;
}

/** The first transaction that had not begun. */
export function endOf(snapshot: string): bigint {
  return parsed(snapshot).xmax;
}

export function shows(snapshot: string, transaction: bigint): boolean {
  const { xmin, xmax, running } = parsed(snapshot);
  return transaction < xmin || (transaction < xmax && !running.includes(transaction));
}

/** The highest number of transactions between two snapshots. */
export function transactionsBetween(earlier: string, later: string): bigint {
  return parsed(later).xmax - parsed(earlier).xmin;
}

function parsed(snapshot: string): { xmin: bigint; xmax: bigint; running: bigint[] } {
  const [, xmin = '', xmax = '', running = ''] = /^(\d+):(\d+):([\d,]*)$/.exec(snapshot) ?? [];
  if (xmin === '') throw new Error(`not a PostgreSQL snapshot: ${snapshot.slice(0, 100)}`);
  return {
    xmin: BigInt(xmin),
    xmax: BigInt(xmax),
    running: running === '' ? [] : running.split(',').map(BigInt),
  };
}
