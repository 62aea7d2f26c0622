// Faults on demand: which requests fail and how, which operations are declined, the latency, and outages.
// The same seed and the same requests in the same order give the same faults.
import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { seededRandom } from './random.ts';
import { defined } from '../../defined.ts';
import type { Limits } from './state/limits.ts';
import type { OperationMessage } from '../../acquiring/adapters/http/messages.ts';

const beforeBooking = ['no-answer-before-booking', 'reset-before-booking', 'error-before-booking'] as const;
const certainlyNotDone = ['not-done', 'too-many-requests', 'unauthorised'] as const;
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

export const faultsOfOperations = [...beforeBooking, ...certainlyNotDone, ...afterBooking] as const;
export const faultKinds = [...faultsOfOperations, ...ofCallbacks] as const;
export type FaultKind = (typeof faultKinds)[number];
type OrderedKind = FaultKind | 'decline';
export type FaultBefore = (typeof beforeBooking)[number] | (typeof certainlyNotDone)[number];
export type FaultAfter = (typeof afterBooking)[number];
export type FaultOfCallback = (typeof ofCallbacks)[number];

const isAmong =
  <Kind extends FaultKind>(kinds: readonly Kind[]) =>
  (fault: OrderedKind): fault is Kind =>
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

/** The number of a card, or how it ends. */
export const CardEnding = Type.String({ pattern: '^\\d{4,19}$' });
/** A response code of the networks that does not approve. */
export const DeclineCode = Type.String({
  pattern: '^(0[1-79A-Z]|1[02-57-9A-Z]|8[0-46-9A-Z]|[2-79A-Z][0-9A-Z])$',
});

/** An order with a card, a terminal or merchants is for messages that name them, so never for an inquiry. */
const scope = {
  operationKind: Type.Optional(Type.Enum([...operationKinds])),
  card: Type.Optional(CardEnding),
  terminal: Type.Optional(Type.String()),
  merchants: Type.Optional(Type.Array(Type.Object({ id: Type.String(), terminal: Type.String() }))),
};
const counted = {
  /** `next` fails this many requests, `rate` this share of all. */
  next: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  rate: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
};
const Scope = Type.Object(scope);

const Limit = Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 }));

const Order = Type.Union([
  Type.Object({ kind: Type.Enum([...faultKinds]), ...counted, ...scope }),
  Type.Object({ kind: Type.Literal('decline'), code: DeclineCode, ...counted, ...scope }),
  Type.Object({ kind: Type.Literal('outage'), on: Type.Boolean() }),
  Type.Object({ kind: Type.Literal('latency'), curve: Latency }),
  Type.Object({ kind: Type.Literal('limits'), perSecond: Limit, atOnce: Limit }),
]);
const order = Compile(Order);

type StandingFault = Static<typeof Scope> & {
  kind: OrderedKind;
  code?: string;
  left?: number;
  rate?: number;
};

export type Faults = {
  /** False when the order is not valid. */
  order(wanted: unknown): boolean;
  clear(): void;
  /** The faults still to come. */
  list(): Condition & { faults: readonly StandingFault[] };
  isOut(): boolean;
  /** What the bank takes, and says that it takes. */
  limits(): Limits;
  ofRequest(concerned: Concerned, message?: OperationMessage): FaultBefore | FaultAfter | undefined;
  /** The code with which to decline an operation that the bank has not received before. */
  declineOf(message: OperationMessage): string | undefined;
  ofCallback(): FaultOfCallback | undefined;
  delayMs(): number;
};

type Condition = { outage: boolean; latency: Latency; limits: Limits };

const wellBank: Condition = { outage: false, latency: { shape: 'none' }, limits: {} };
const longestDelayMs = 120_000;

export function openFaults(seed: number): Faults {
  const random = seededRandom(seed);
  let standing: StandingFault[] = [];
  let bank = wellBank;

  function take<Kind extends OrderedKind>(
    isWanted: (kind: OrderedKind) => kind is Kind,
    concerned?: Concerned,
    message?: OperationMessage,
  ): (StandingFault & { kind: Kind }) | undefined {
    for (const fault of standing) {
      const { kind } = fault;
      if (!isWanted(kind) || !isConcerned(fault, concerned, message)) continue;
      if (fault.rate !== undefined && random() >= fault.rate) continue;
      if (fault.left !== undefined && (fault.left -= 1) === 0) {
        standing = standing.filter((other) => other !== fault);
      }
      return { ...fault, kind };
    }
    return undefined;
  }

  return {
    order(wanted) {
      if (!order.Check(wanted)) return false;
      if (wanted.kind === 'outage') bank = { ...bank, outage: wanted.on };
      else if (wanted.kind === 'latency') bank = { ...bank, latency: wanted.curve };
      else if (wanted.kind === 'limits') bank = { ...bank, limits: limitsIn(wanted) };
      else {
        const { kind, next, rate, operationKind, card, terminal, merchants } = wanted;
        const left = next ?? (rate === undefined ? 1 : undefined);
        const code = wanted.kind === 'decline' ? wanted.code : undefined;
        standing.push({ kind, ...defined({ code, left, rate, operationKind, card, terminal, merchants }) });
      }
      return true;
    },
    clear() {
      standing = [];
      bank = wellBank;
    },
    list: () => ({ ...bank, faults: standing.map(shown) }),
    isOut: () => bank.outage,
    limits: () => bank.limits,
    ofRequest: (concerned, message) =>
      take((kind) => isBefore(kind) || isAfter(kind), concerned, message)?.kind,
    declineOf: (message) => take((kind) => kind === 'decline', message.kind, message)?.code,
    ofCallback: () => take(isOfCallback)?.kind,
    delayMs: () => Math.min(delayMs(bank.latency, random), longestDelayMs),
  };
}

function isConcerned(
  { operationKind, card, terminal, merchants }: StandingFault,
  concerned: Concerned | undefined,
  message: OperationMessage | undefined,
): boolean {
  const named = message?.merchant;
  const number = message && 'card' in message ? message.card.number : '';
  return (
    (operationKind === undefined || operationKind === concerned) &&
    (card === undefined || number.endsWith(card)) &&
    (terminal === undefined || named?.terminal === terminal) &&
    (merchants === undefined ||
      merchants.some((one) => one.id === named?.id && one.terminal === named.terminal))
  );
}

function limitsIn({ perSecond, atOnce }: Limits): Limits {
  return defined({ perSecond, atOnce });
}

/** Whatever was ordered, no card number leaves the bank. */
function shown({ card, ...fault }: StandingFault): StandingFault {
  return { ...fault, ...defined({ card: card?.slice(-4) }) };
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
