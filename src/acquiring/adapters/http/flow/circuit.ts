// Circuit breaker for the link to one bank: when half of the requests fail, it pauses them, then lets one through.
// A rejected request was certainly not sent.

export type Circuit = {
  /** Whether `admit` would refuse. */
  isOpen(): boolean;
  /** Undefined while the circuit is open. Otherwise call the returned function with the result. */
  admit(): ((went: 'well' | 'badly' | 'not at all') => void) | undefined;
};

const windowSeconds = 30;
const minExchanges = 20;
const openMs = 15_000;

export function openCircuit(nowMs: () => number): Circuit {
  // One counter per second keeps memory constant under load.
  let seconds: { second: number; all: number; bad: number }[] = [];
  let openUntilMs: number | undefined;
  let probing = false;

  function count(went: 'well' | 'badly'): void {
    const second = Math.floor(nowMs() / 1000);
    seconds = seconds.filter((counted) => Math.abs(second - counted.second) < windowSeconds);
    let current = seconds.find((counted) => counted.second === second);
    if (!current) seconds.push((current = { second, all: 0, bad: 0 }));
    current.all += 1;
    if (went === 'badly') current.bad += 1;
    const all = seconds.reduce((sum, counted) => sum + counted.all, 0);
    const bad = seconds.reduce((sum, counted) => sum + counted.bad, 0);
    if (all >= minExchanges && bad * 2 >= all) open();
  }

  function open(): void {
    openUntilMs = nowMs() + openMs;
    seconds = [];
  }

  const isOpen = () => openUntilMs !== undefined && (probing || nowMs() < openUntilMs);

  return {
    isOpen,
    admit() {
      if (openUntilMs === undefined) {
        return (went) => {
          // A request that began before the circuit opened is not counted again.
          if (openUntilMs === undefined && went !== 'not at all') count(went);
        };
      }
      if (isOpen()) return undefined;
      probing = true;
      return (went) => {
        probing = false;
        if (went === 'well') openUntilMs = undefined;
        else if (went === 'badly') open();
      };
    },
  };
}
