// The rules of recurring charges as dated data; the strictest pack wins. Add a pack to change a rule: decisions are stored
// with the pack's name.
import { type Instant, dayMs } from '../../clock.ts';
import type { DeclineClass } from '../../acquiring/domain/decline-class.ts';
import {
  adviceCodes,
  bankCodes,
  isFinal,
  mastercardCodes,
  otherCodes,
  bankClasses,
  visaCodes,
  visaCodesOfOctober2026,
  type AdviceRule,
  type CodeRule,
  type Effect,
  type StopScope,
} from './response-codes.ts';

/** After that many declines in a rolling window, no attempt is allowed until the oldest leaves it. */
export type Counter = {
  readonly rule: string;
  readonly maxDeclines: number;
  readonly withinMs: number;
  /** `charge`: same card, shop and amount. `card`: every charge of the card. */
  readonly of: 'charge' | 'card';
};

export type RulePack = {
  readonly name: 'house' | 'visa' | 'mastercard' | 'mir' | 'other' | 'advice';
  readonly from: Instant;
  /** Raised when a pack changes that may already have decided something. Absent: the first. */
  readonly revision?: number;
  /** After a failure: one attempt on a local day, at least so much after the one before, and how long retries are allowed. */
  readonly retries?: { readonly atLeastMs: number; readonly untilMs: number };
  readonly counters: readonly Counter[];
  /** By the network's response code. Other codes are `vague`. */
  readonly codes: Readonly<Record<string, CodeRule>>;
  readonly advice: Readonly<Record<string, AdviceRule>>;
  /** By the class that a bank returns with a decline which no network decided. */
  readonly classes?: Readonly<Partial<Record<DeclineClass, CodeRule>>>;
};

const hourMs = 3_600_000;

/** Below the network's limit, because attempts elsewhere count too and are not visible here. */
const visaCounter: Counter = {
  rule: 'declinesIn30Days',
  maxDeclines: 15, // the network's limit is 20
  withinMs: 30 * dayMs,
  of: 'charge',
};

export const rulePacks: readonly RulePack[] = [
  {
    name: 'house',
    from: '2026-11-23T00:00:00.000000Z' as Instant,
    // Less than the 23 hours of a day on which the clocks go forward.
    retries: { atLeastMs: 22.75 * hourMs, untilMs: 31 * dayMs },
    counters: [{ rule: 'declinesOfCardIn24Hours', maxDeclines: 9, withinMs: dayMs, of: 'card' }],
    codes: {},
    advice: {},
    classes: bankClasses,
  },
  {
    name: 'visa',
    from: '2025-05-01T00:00:00.000000Z' as Instant,
    revision: 2,
    counters: [visaCounter],
    codes: visaCodes,
    advice: {},
  },
  {
    name: 'visa',
    from: '2026-10-25T00:00:00.000000Z' as Instant,
    revision: 2,
    counters: [visaCounter],
    codes: visaCodesOfOctober2026,
    advice: {},
  },
  {
    name: 'mastercard',
    from: '2025-01-01T00:00:00.000000Z' as Instant,
    revision: 2,
    // The network's limit is 35.
    counters: [{ rule: 'declinesIn30Days', maxDeclines: 30, withinMs: 30 * dayMs, of: 'charge' }],
    codes: mastercardCodes,
    advice: {},
  },
  {
    // Mir publishes no limits, so Visa's apply.
    name: 'mir',
    from: '2025-01-01T00:00:00.000000Z' as Instant,
    revision: 2,
    counters: [visaCounter],
    codes: otherCodes,
    advice: {},
  },
  {
    // American Express, JCB and the rest, as Mir.
    name: 'other',
    from: '2025-01-01T00:00:00.000000Z' as Instant,
    counters: [visaCounter],
    codes: otherCodes,
    advice: {},
  },
  {
    // Merchant advice codes of Mastercard, applied whichever network sends them.
    name: 'advice',
    from: '2025-01-01T00:00:00.000000Z' as Instant,
    revision: 2,
    counters: [],
    codes: {},
    advice: adviceCodes,
  },
];

/** With these codes the advice decides. They have their own meaning only without one. */
const followAdvice: Readonly<Record<string, readonly string[]>> = { mastercard: ['79', '82', '83'] };

/** By a card's payment system, or by the network in a bank's response. */
const packOfNetwork: Readonly<Record<string, RulePack['name']>> = {
  visa: 'visa',
  mastercard: 'mastercard',
  maestro: 'mastercard',
  nspkmir: 'mir',
  mir: 'mir',
};

export function packIdOf({ name, from, revision }: RulePack): string {
  return `${name}@${from.slice(0, 10)}${revision === undefined ? '' : `.${revision}`}`;
}

/** The latest pack in force of each name that concerns the card. Before any is in force, the first one applies. */
export function packsInForce(
  network: string,
  now: Instant,
  packs: readonly RulePack[] = rulePacks,
): RulePack[] {
  const names = ['house', packOfNetwork[network] ?? 'other', 'advice'];
  return names.flatMap((name) => {
    const named = packs.filter((pack) => pack.name === name);
    return named.findLast(({ from }) => from <= now) ?? named[0] ?? [];
  });
}

export function nextPackAfter(
  network: string,
  now: Instant,
  packs: readonly RulePack[] = rulePacks,
): Instant | undefined {
  const names = ['house', packOfNetwork[network] ?? 'other', 'advice'];
  return packs
    .filter(({ name, from }) => names.includes(name) && from > now)
    .map(({ from }) => from)
    .sort()[0];
}

/** What a bank returned. `network` is `bank` if it decided without asking the network. */
export type Answer = {
  readonly network?: string;
  readonly code?: string;
  readonly advice?: string;
  /** Whose code it is, and who can help in the bank's opinion. */
  readonly by?: 'network' | 'acquirer' | 'connector';
  readonly class?: DeclineClass;
};

export type Ruled = { readonly effect: Effect; readonly rule: string; readonly pack: string };

type Applied = {
  readonly rule: AdviceRule;
  readonly name: string;
  readonly pack: string;
  readonly isAdvice: boolean;
};

/** The rules that every pack has for a response. What a bank declines without asking the network has none. */
function rulesFor(answer: Answer, packs: readonly RulePack[]): Applied[] {
  const { network, code, advice } = answer;
  if (network === 'bank' && !isForeignWord(answer)) return [];
  const isAdvised = advice !== undefined && packs.some((pack) => pack.advice[advice]?.class !== undefined);
  return packs.flatMap((pack) => {
    const byCode = isForeignWord(answer) ? classRule(answer, pack) : codeRule(answer, pack);
    const isReplaced = code !== undefined && isAdvised && (followAdvice[pack.name]?.includes(code) ?? false);
    const byAdvice = advice === undefined ? undefined : pack.advice[advice];
    const id = packIdOf(pack);
    return [
      ...(byCode && !isReplaced ? [{ ...byCode, pack: id, isAdvice: false }] : []),
      ...(byAdvice ? [{ rule: byAdvice, name: `advice ${advice}`, pack: id, isAdvice: true }] : []),
    ];
  });
}

function codeRule({ code }: Answer, { codes }: RulePack) {
  const rule = code === undefined ? undefined : codes[code];
  return rule && { rule, name: `code ${code}` };
}

function classRule({ class: declineClass }: Answer, { classes }: RulePack) {
  const rule = declineClass && classes?.[declineClass];
  return rule && { rule, name: `class ${declineClass}` };
}

/** A word of the acquirer may look like a network's code. */
function isForeignWord({ by = 'network' }: Answer): boolean {
  return by !== 'network';
}

/** The effects of a response. */
export function effectsOf(answer: Answer, packs: readonly RulePack[]): Ruled[] {
  return rulesFor(answer, packs).flatMap(({ rule: { effect }, name, pack }) =>
    effect ? [{ effect, rule: name, pack }] : [],
  );
}

/** The widest stop by a rule that the network calls final, also when the payer was present. */
export function finalStop(answer: Answer, packs: readonly RulePack[]) {
  const final = rulesFor(answer, packs).filter(({ rule }) => isFinal(rule));
  return strictest(
    final.flatMap(({ rule: { effect }, name, pack }) => (effect ? [{ effect, rule: name, pack }] : [])),
  ).stop;
}

/** Classes by strictness. Those that differ only in how long to wait are equal, so that advice overrides the code. */
const strictness: Readonly<Record<DeclineClass, number>> = {
  technical: 0,
  funds: 0,
  vague: 0,
  issuer: 1,
  configuration: 2,
  payerPresent: 3,
  newCard: 4,
  stopped: 5,
};

/** Who can help after a decline. The advice overrides the code unless the code is stricter. */
export function declineClassOf(
  answer: Answer & { readonly network: string; readonly code: string },
  now: Instant,
  packs: readonly RulePack[] = rulePacks,
): DeclineClass {
  const byBank = isForeignWord(answer) ? answer.class : undefined;
  if (answer.network === 'bank' && !byBank) return bankCodes[answer.code]?.class ?? 'technical';
  const rules = rulesFor(answer, packsInForce(answer.network, now, packs));
  const byCode = byBank ?? rules.find(({ isAdvice }) => !isAdvice)?.rule.class;
  const byAdvice = rules.find(({ isAdvice }) => isAdvice)?.rule.class;
  if (byCode === undefined || byAdvice === undefined) return byCode ?? byAdvice ?? 'vague';
  return strictness[byCode] > strictness[byAdvice] ? byCode : byAdvice;
}

const reach: Record<StopScope, number> = { charge: 0, series: 1, cardInShop: 2, card: 3 };

/** The widest stop and the longest wait. */
export function strictest(effects: readonly Ruled[]): {
  readonly stop?: Ruled & { effect: Effect & { does: 'stop' } };
  readonly wait?: Ruled & { effect: Effect & { does: 'wait' } };
} {
  let stop: (Ruled & { effect: Effect & { does: 'stop' } }) | undefined;
  let wait: (Ruled & { effect: Effect & { does: 'wait' } }) | undefined;
  for (const { effect, ...by } of effects) {
    if (effect.does === 'stop') {
      if (!stop || reach[effect.scope] > reach[stop.effect.scope]) stop = { effect, ...by };
    } else if (!wait || effect.forMs > wait.effect.forMs) {
      wait = { effect, ...by };
    }
  }
  return { ...(stop ? { stop } : {}), ...(wait ? { wait } : {}) };
}
