// How much a simulated bank takes: what is beyond is certainly not done.
export type Limits = { readonly perSecond?: number | undefined; readonly atOnce?: number | undefined };

const secondMs = 1_000;

export function openLimits(nowMs: () => number, limits: () => Limits) {
  let inProgress = 0;
  let takenMs: number[] = [];
  return {
    /** Undefined if it is too much. */
    async take<T>(operation: () => Promise<T>): Promise<T | undefined> {
      const { perSecond = Infinity, atOnce = Infinity } = limits();
      const now = nowMs();
      takenMs = takenMs.filter((taken) => Math.abs(now - taken) < secondMs);
      if (inProgress >= atOnce || takenMs.length >= perSecond) return undefined;
      inProgress += 1;
      if (perSecond !== Infinity) takenMs.push(now);
      return operation().finally(() => (inProgress -= 1));
    },
  };
}
