// When charges that Mandate begins automatically fail in such numbers that the bank or the set-up must be at fault.
// Kept in memory only: each node counts what it hears itself, and the hold is of all nodes.
import type { Instant } from '../../clock.ts';
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
  const banks = new Map<string, Counts>();

  /** A hold, and a resume, change until when the row says that the bank is held. What was counted before counts no more. */
  function countsOf(bankId: string, heldUntil: Instant | null): Counts {
    const known = banks.get(bankId);
    if (known && known.heldUntil === heldUntil) return known;
    const counts = { heldUntil, all: openCount(nowMs, technical), first: openCount(nowMs, vague) };
    banks.set(bankId, counts);
    return counts;
  }

  return {
    /** Why to hold the charges of the bank from now on, if its row still says that it was held until then. */
    hear({ bankId, partyId, ended, isRetry }: ChargeHeard, heldUntil: Instant | null): Hold | undefined {
      const { all, first } = countsOf(bankId, heldUntil);
      all.add(partyId, ended === 'technical');
      if (!isRetry) first.add(partyId, ended === 'vague');
      return [all, first].find((count) => count.isBroken())?.hold;
    },
  };
}

type Counts = { readonly heldUntil: Instant | null; readonly all: Count; readonly first: Count };
type Count = ReturnType<typeof openCount>;
type Limit = {
  readonly withinMs: number;
  readonly least: number;
  readonly share: number;
  readonly hold: Hold;
};

type Sum = { all: number; bad: number };

/** One sum for each second and merchant keeps the memory constant under load. */
function openCount(nowMs: () => number, { withinMs, least, share, hold }: Limit) {
  let seconds: { readonly second: number; readonly parties: Map<string, Sum> }[] = [];
  const isTooMuch = ({ all, bad }: Sum) => bad > share * all;
  return {
    hold,
    add(partyId: string, isBad: boolean): void {
      const second = Math.floor(nowMs() / 1_000);
      if (seconds.at(-1)?.second !== second) {
        // A time in the future is from before the clock was set back.
        seconds = seconds.filter((counted) => Math.abs(second - counted.second) * 1_000 < withinMs);
        seconds.push({ second, parties: new Map() });
      }
      addTo(seconds.at(-1)?.parties, partyId, { all: 1, bad: isBad ? 1 : 0 });
    },
    /** One merchant must not hold the charges of all: if there are others, too many of theirs fail as well. */
    isBroken(): boolean {
      const parties = new Map<string, Sum>();
      for (const counted of seconds)
        for (const [partyId, sum] of counted.parties) addTo(parties, partyId, sum);
      const [worst, ...others] = [...parties.values()].toSorted((a, b) => b.bad - a.bad);
      if (!worst) return false;
      const rest = others.reduce(plus, { all: 0, bad: 0 });
      const total = plus(worst, rest);
      return total.all >= least && isTooMuch(total) && (others.length === 0 || isTooMuch(rest));
    },
  };
}

function addTo(sums: Map<string, Sum> | undefined, partyId: string, added: Sum): void {
  sums?.set(partyId, plus(sums.get(partyId) ?? { all: 0, bad: 0 }, added));
}

function plus(a: Sum, b: Sum): Sum {
  return { all: a.all + b.all, bad: a.bad + b.bad };
}
