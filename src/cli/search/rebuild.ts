// mandate search rebuild: copies what lists and searches look through again. Nodes may run.
import { recountExchanges } from '../../acquiring/exchange-log/store/exchange-sums.ts';
import { beginRebuild, rebuildPortion } from '../../search/position.store.ts';
import { withFoundation } from '../foundation.ts';

const lineEveryMs = 5_000;

export async function rebuildSearch(): Promise<void> {
  const rebuilt = await withFoundation(async ({ database, ports }) => {
    await recountExchanges(database, ports.clock.now());
    await beginRebuild(database);
    let printedAtMs = performance.now();
    for (;;) {
      const progress = await rebuildPortion(database);
      if (!progress.isRebuilding) return progress.rebuilt;
      if (performance.now() - printedAtMs < lineEveryMs) continue;
      printedAtMs = performance.now();
      process.stderr.write(`${progress.rebuilt} invoices\n`);
    }
  });
  console.log(`Rebuilt the search rows of ${rebuilt} invoices.`);
}
