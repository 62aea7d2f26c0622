// The kinds of faults and their frequencies, chosen for each world by its seed. Some worlds are calm, others have all kinds.
import type { Chance } from './chance.ts';
import type { Trace } from './trace.ts';

export const faultKinds = {
  'connection lost before the statement': 0.003,
  'connection lost after the statement': 0.003,
  'connection lost before the commit': 0.06,
  'connection lost after the commit': 0.06,
  'server starts up': 0.004,
  'server has no free connection': 0.004,
  'pooler has no server': 0.004,
  'changes sent together deadlock': 0.3,
  'bank cannot be reached': 0.05,
  'bank goes away': 0.01,
  'bank hangs': 0.01,
  'bank request lost': 0.05,
  'bank reply lost': 0.08,
  'bank request twice': 0.05,
  'bank is busy': 0.03,
  'bank answers nonsense': 0.03,
  'bank callback lost': 0.2,
  'bank callback twice': 0.1,
  'receiver fails': 0.15,
  'receiver takes it and does not answer': 0.08,
  'mail server fails': 0.15,
  'mail server takes it and does not answer': 0.08,
  'client hears nothing': 0.05,
  'node dies': 0.0008,
  'node stands still': 0.003,
  'clock jumps': 0.03,
  'clock of a node differs': 0.5,
  'bank refuses the signature': 0.01,
} as const;
export type FaultKind = keyof typeof faultKinds;

export type Faults = {
  happens(kind: FaultKind): boolean;
  /** Before this no fault happens. */
  begin(): void;
  /** After this no fault happens. */
  stop(): void;
  /** How often each kind has happened. */
  counts(): Readonly<Record<string, number>>;
  /** The server has ended a connection by its own rule. */
  loseConnection(): void;
  /** Database connections lost so far. */
  lostConnections(): number;
};

export function openFaults(options: { chance: Chance; trace: Trace; without: readonly string[] }): Faults {
  const { chance, trace, without } = options;
  // A third of the worlds has only a few kinds of faults.
  const share = chance.oneOf([0.15, 0.5, 1]);
  const rates = new Map(
    Object.entries(faultKinds).map(([kind, rate]) => {
      const isHere = chance.isTrue(share);
      return [kind, isHere && !without.includes(kind) ? rate * (0.3 + 1.5 * chance.next()) : 0] as const;
    }),
  );
  let isOn = false;
  const counts: Record<string, number> = Object.fromEntries(Object.keys(faultKinds).map((kind) => [kind, 0]));
  let lostConnections = 0;
  return {
    happens(kind) {
      const happened = chance.isTrue(rates.get(kind) ?? 0) && isOn;
      if (!happened) return false;
      counts[kind] = (counts[kind] ?? 0) + 1;
      if (kind.startsWith('connection lost')) lostConnections += 1;
      trace.add(`! ${kind}`);
      return true;
    },
    begin: () => void (isOn = true),
    stop: () => void (isOn = false),
    counts: () => counts,
    loseConnection: () => void (lostConnections += 1),
    lostConnections: () => lostConnections,
  };
}
