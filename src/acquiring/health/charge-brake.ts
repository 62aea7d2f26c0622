// When charges that Mandate begins automatically fail in such numbers that the bank or the set-up must be at fault.
// Kept in memory only: each node counts what it hears itself, and the hold is of all nodes.
import type { ChargeHeard } from '../domain/charge-heard.ts';

export type Hold = { readonly because: 'technical' | 'vague'; readonly forMs: number };

const minuteMs = 60_000;
const technical = {
  withinMs: minuteMs,
  least: 20,
  share: 0.3,
  hold: { because: 'technical', forMs: 5 * minuteMs },
} as const;
/** No bank declines nine of ten first charges without a reason of its own, at any time of the month. */
const vague = {
  withinMs: 5 * minuteMs,
  least: 50,
  share: 0.9,
  hold: { because: 'vague', forMs: 60 * minuteMs },
} as const;

export type ChargeBrake = ReturnType<typeof openChargeBrake>;

export function openChargeBrake(nowMs: () => number) {
  const banks = new Map<string, { readonly all: Count; readonly first: Count }>();

  function countsOf(bankId: string) {
    const known = banks.get(bankId) ?? { all: openCount(nowMs, technical), first: openCount(nowMs, vague) };
    banks.set(bankId, known);
    return known;
  }

  return {
    /** Why to hold the charges of the bank from now on. What was counted until then counts no more. */
    hear({ bankId, ended, isRetry }: ChargeHeard): Hold | undefined {
      const { all, first } = countsOf(bankId);
      all.add(ended === 'technical');
      if (!isRetry) first.add(ended === 'vague');
      const [broken] = [all, first].filter((count) => count.isBroken());
      if (broken) banks.delete(bankId);
      return broken?.hold;
    },
  };
}

type Count = ReturnType<typeof openCount>;
type Limit = {
  readonly withinMs: number;
  readonly least: number;
  readonly share: number;
  readonly hold: Hold;
};

/** One sum for each second keeps the memory constant under load. */
function openCount(nowMs: () => number, { withinMs, least, share, hold }: Limit) {
  let seconds: { readonly second: number; all: number; bad: number }[] = [];
  const sumOf = (name: 'all' | 'bad') => seconds.reduce((sum, counted) => sum + counted[name], 0);
  return {
    hold,
    add(isBad: boolean): void {
      const second = Math.floor(nowMs() / 1_000);
      if (seconds.at(-1)?.second !== second) {
        // A time in the future is from before the clock was set back.
        seconds = seconds.filter((counted) => Math.abs(second - counted.second) * 1_000 < withinMs);
        seconds.push({ second, all: 0, bad: 0 });
      }
      const [current] = seconds.slice(-1);
      if (!current) return;
      current.all += 1;
      if (isBad) current.bad += 1;
    },
    isBroken: () => sumOf('all') >= least && sumOf('bad') > share * sumOf('all'),
  };
}
