// Faults on demand: which requests fail and how, the latency, and outages.
// The same seed and the same requests in the same order give the same faults.
import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { seededRandom } from './random.ts';
import { defined } from '../../defined.ts';

const beforeBooking = ['no-answer-before-booking', 'reset-before-booking', 'error-before-booking'] as const;
const certainlyNotDone = ['not-done', 'too-many-requests'] as const;
const afterBooking = [
  'no-answer-after-booking',
  'reset-after-booking',
  'error-after-booking',
  'garbage-after-booking',
  'foreign-answer-after-booking',
  'slow-answer',
  'split-answer',
] as const;
const ofCallbacks = ['duplicate-callback', 'late-callback', 'lost-callback'] as const;

export const faultKinds = [...beforeBooking, ...certainlyNotDone, ...afterBooking, ...ofCallbacks] as const;
export type FaultKind = (typeof faultKinds)[number];
export type FaultBefore = (typeof beforeBooking)[number] | (typeof certainlyNotDone)[number];
export type FaultAfter = (typeof afterBooking)[number];
export type FaultOfCallback = (typeof ofCallbacks)[number];

const isAmong =
  <Kind extends FaultKind>(kinds: readonly Kind[]) =>
  (fault: FaultKind): fault is Kind =>
    kinds.some((known) => known === fault);
export const isBefore = isAmong([...beforeBooking, ...certainlyNotDone]);
const isAfter = isAmong(afterBooking);
export const isOfCallback = isAmong(ofCallbacks);

const Latency = Type.Union([
  Type.Object({ shape: Type.Literal('none') }),
  Type.Object({ shape: Type.Literal('fixed'), ms: Type.Number({ minimum: 0, maximum: 120_000 }) }),
  Type.Object({
    shape: Type.Literal('uniform'),
    leastMs: Type.Number({ minimum: 0, maximum: 120_000 }),
    mostMs: Type.Number({ minimum: 0, maximum: 120_000 }),
  }),
  Type.Object({
    shape: Type.Literal('lognormal'),
    medianMs: Type.Number({ exclusiveMinimum: 0, maximum: 120_000 }),
    /** Of the logarithm. 0.5 is a usual host; 1 is a slow one. */
    sigma: Type.Number({ minimum: 0, maximum: 3 }),
  }),
]);
export type Latency = Static<typeof Latency>;

const operationKinds = ['authorise', 'capture', 'reverse', 'refund', 'payout', 'verify', 'inquire'] as const;
type Concerned = (typeof operationKinds)[number];

const Order = Type.Union([
  Type.Object({
    kind: Type.Enum([...faultKinds]),
    /** `next` fails this many requests, `rate` this share of all. */
    next: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    rate: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    operationKind: Type.Optional(Type.Enum([...operationKinds])),
  }),
  Type.Object({ kind: Type.Literal('outage'), on: Type.Boolean() }),
  Type.Object({ kind: Type.Literal('latency'), curve: Latency }),
]);
const order = Compile(Order);

type Standing = { kind: FaultKind; left?: number; rate?: number; operationKind?: Concerned };

export type Faults = {
  /** False when the order is not valid. */
  order(wanted: unknown): boolean;
  clear(): void;
  /** The faults still to come. */
  list(): { outage: boolean; latency: Latency; faults: readonly Standing[] };
  isOut(): boolean;
  ofRequest(concerned: Concerned): FaultBefore | FaultAfter | undefined;
  ofCallback(): FaultOfCallback | undefined;
  delayMs(): number;
};

const longestDelayMs = 120_000;

export function openFaults(seed: number): Faults {
  const random = seededRandom(seed);
  let standing: Standing[] = [];
  let outage = false;
  let latency: Latency = { shape: 'none' };

  function take<Kind extends FaultKind>(
    isWanted: (kind: FaultKind) => kind is Kind,
    concerned?: Concerned,
  ): Kind | undefined {
    for (const fault of standing) {
      const { kind, operationKind } = fault;
      if (!isWanted(kind) || (operationKind !== undefined && operationKind !== concerned)) continue;
      if (fault.rate !== undefined && random() >= fault.rate) continue;
      if (fault.left !== undefined && (fault.left -= 1) === 0) {
        standing = standing.filter((other) => other !== fault);
      }
      return kind;
    }
    return undefined;
  }

  return {
    order(wanted) {
      if (!order.Check(wanted)) return false;
      if (wanted.kind === 'outage') outage = wanted.on;
      else if (wanted.kind === 'latency') latency = wanted.curve;
      else {
        const { kind, next, rate, operationKind } = wanted;
        standing.push({
          kind,
          ...(rate === undefined ? { left: next ?? 1 } : { rate }),
          ...(rate === undefined || next === undefined ? {} : { left: next }),
          ...defined({ operationKind }),
        });
      }
      return true;
    },
    clear() {
      standing = [];
      outage = false;
      latency = { shape: 'none' };
    },
    list: () => ({ outage, latency, faults: standing }),
    isOut: () => outage,
    ofRequest: (concerned) => take((kind) => isBefore(kind) || isAfter(kind), concerned),
    ofCallback: () => take(isOfCallback),
    delayMs: () => Math.min(delayMs(latency, random), longestDelayMs),
  };
}

export function delayMs(latency: Latency, random: () => number): number {
  switch (latency.shape) {
    case 'none':
      return 0;
    case 'fixed':
      return latency.ms;
    case 'uniform':
      return latency.leastMs + random() * Math.max(0, latency.mostMs - latency.leastMs);
    case 'lognormal': {
      // Box-Muller: two uniform numbers give a normal one.
      const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
      return latency.medianMs * Math.exp(latency.sigma * normal);
    }
  }
}
