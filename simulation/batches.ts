/** Seeds of one process: so many from the first on. */
export type Batch = { readonly seed: number; readonly worlds: number };

/** More would let the memory of a process grow. */
const mostInProcess = 8;

/** Shares out consecutive seeds, without an end if no number of worlds is given. Each process takes the next batch. */
export function* batchesOf(wish: {
  readonly firstSeed: number;
  readonly worlds: number | undefined;
  readonly processes: number;
}): Generator<Batch, undefined> {
  const { firstSeed, worlds = Infinity, processes } = wish;
  const size = Math.min(mostInProcess, Math.ceil(worlds / processes));
  for (let begun = 0; begun < worlds; begun += size)
    yield { seed: firstSeed + begun, worlds: Math.min(size, worlds - begun) };
}
