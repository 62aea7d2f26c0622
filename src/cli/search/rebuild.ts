// mandate search rebuild: copies what lists and searches look through again. Nodes may run.
import { recountExchanges } from '../../acquiring/exchange-log/store/exchange-sums.ts';
import { beginListRebuild, rebuildListPortion } from '../../search/lists/position.store.ts';
import { beginRebuild, rebuildPortion } from '../../search/position.store.ts';
import { withFoundation } from '../foundation.ts';

const lineEveryMs = 5_000;

export async function rebuildSearch(): Promise<void> {
  const { invoices, listed } = await withFoundation(async ({ database, ports }) => {
    await recountExchanges(database, ports.clock.now());
    await beginRebuild(database);
    await beginListRebuild(database);
    const invoices = await finished(() => rebuildPortion(database), 'invoices');
    return { invoices, listed: await finished(() => rebuildListPortion(database), 'customers and series') };
  });
  console.log(`Rebuilt the search rows of ${invoices} invoices, and of ${listed} customers and series.`);
}

async function finished(portion: () => ReturnType<typeof rebuildPortion>, of: string): Promise<bigint> {
  let printedAtMs = performance.now();
  for (;;) {
    const progress = await portion();
    if (!progress.isRebuilding) return progress.rebuilt;
    if (performance.now() - printedAtMs < lineEveryMs) continue;
    printedAtMs = performance.now();
    process.stderr.write(`${progress.rebuilt} ${of}\n`);
  }
}
