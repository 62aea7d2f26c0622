// How often a page of the demo asks its server, however long it stays open.
const quickMs = 15 * 60_000;
const slowMs = 10_000;

export function openPace(everyMs: number) {
  let since = performance.now();
  return {
    /** Something has happened, and more may follow. */
    quicken(): void {
      since = performance.now();
    },
    async pause(): Promise<void> {
      const isQuick = performance.now() - since < quickMs;
      await new Promise((resolve) => setTimeout(resolve, isQuick ? everyMs : slowMs));
    },
  };
}
