// The rules of recurring charges as dated data; the strictest pack wins. Add a pack to change a rule: decisions are stored
// with the pack's name.
import type { PaymentSystem } from '../../cards/domain/card.ts';
import type { Instant } from '../../clock.ts';

/** How far a stop reaches. `card` means every shop of the installation; in a sandbox, every shop of the party. */
export type StopScope = 'charge' | 'cardInShop' | 'card';

/** What a response of the bank means for later charges. */
export type Effect =
  { readonly does: 'stop'; readonly scope: StopScope } | { readonly does: 'wait'; readonly forMs: number };

/** After that many declines in a rolling window, no attempt is allowed until the oldest leaves it. */
export type Counter = {
  readonly rule: string;
  readonly maxDeclines: number;
  readonly withinMs: number;
  /** `charge`: same card, shop and amount. `card`: every charge of the card. */
  readonly of: 'charge' | 'card';
};

export type RulePack = {
  readonly name: 'house' | 'visa' | 'mastercard' | 'mir' | 'advice';
  readonly from: Instant;
  /** After a failure: the minimum time between attempts, and how long retries are allowed. */
  readonly retries?: { readonly onceWithinMs: number; readonly untilMs: number };
  readonly counters: readonly Counter[];
  /** By the network's response code. Other codes have no effect. */
  readonly codes: Readonly<Record<string, Effect>>;
  readonly advice: Readonly<Record<string, Effect>>;
};

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const stopCard: Effect = { does: 'stop', scope: 'cardInShop' };
const wait = (forMs: number): Effect => ({ does: 'wait', forMs });

function each(codes: string, effect: Effect): Record<string, Effect> {
  return Object.fromEntries(codes.split(' ').map((code) => [code, effect]));
}

/** For every network: no such account, lost, stolen, closed or illegal. Permanent. */
const hopeless = each('04 07 14 15 39 41 43 46 52 53 56 93', stopCard);
/** Unlikely to succeed soon: restricted in the country, or blocked for this kind of card. */
const uselessSoon = each('36 62', wait(7 * dayMs));
/** The payer asked the issuer to stop this charge, this merchant, or all merchants. */
const stoppedByPayer: Record<string, Effect> = {
  R0: { does: 'stop', scope: 'charge' },
  R1: { does: 'stop', scope: 'cardInShop' },
  R3: { does: 'stop', scope: 'card' },
};

/** Below the network's limit, because attempts elsewhere count too and are not visible here. */
const visaCounter: Counter = {
  rule: 'declinesIn30Days',
  maxDeclines: 15, // the network's limit is 20
  withinMs: 30 * dayMs,
  of: 'charge',
};
const visaCodes = {
  ...hopeless,
  ...uselessSoon,
  ...stoppedByPayer,
  '12': stopCard,
  '5C': wait(7 * dayMs),
};

export const rulePacks: readonly RulePack[] = [
  {
    name: 'house',
    from: '2026-01-01T00:00:00.000000Z' as Instant,
    retries: { onceWithinMs: dayMs, untilMs: 31 * dayMs },
    counters: [{ rule: 'declinesOfCardIn24Hours', maxDeclines: 9, withinMs: dayMs, of: 'card' }],
    codes: {},
    advice: {},
  },
  {
    name: 'visa',
    from: '2025-05-01T00:00:00.000000Z' as Instant,
    counters: [visaCounter],
    codes: visaCodes,
    advice: {},
  },
  {
    // 57 is final again, and 83 is now the network's own fraud control.
    name: 'visa',
    from: '2026-10-25T00:00:00.000000Z' as Instant,
    counters: [visaCounter],
    codes: { ...visaCodes, '57': stopCard, '83': wait(dayMs) },
    advice: {},
  },
  {
    name: 'mastercard',
    from: '2025-01-01T00:00:00.000000Z' as Instant,
    // The network's limit is 35.
    counters: [{ rule: 'declinesIn30Days', maxDeclines: 30, withinMs: 30 * dayMs, of: 'charge' }],
    codes: { ...hopeless, ...uselessSoon, ...stoppedByPayer, '57': stopCard, ...each('78 79 83', stopCard) },
    advice: {},
  },
  {
    // Mir publishes no limits, so Visa's apply.
    name: 'mir',
    from: '2025-01-01T00:00:00.000000Z' as Instant,
    counters: [visaCounter],
    codes: { ...visaCodes, '57': stopCard },
    advice: {},
  },
  {
    // Merchant advice codes of Mastercard, applied whichever network sends them.
    name: 'advice',
    from: '2025-01-01T00:00:00.000000Z' as Instant,
    counters: [],
    codes: {},
    advice: {
      '02': wait(72 * hourMs),
      '03': stopCard,
      '21': { does: 'stop', scope: 'cardInShop' },
      '24': wait(hourMs),
      '25': wait(24 * hourMs),
      '26': wait(2 * dayMs),
      '27': wait(4 * dayMs),
      '28': wait(6 * dayMs),
      '29': wait(8 * dayMs),
      '30': wait(10 * dayMs),
    },
  },
];

/** With these codes the advice decides. They have their own meaning only without one. */
const followAdvice: Readonly<Record<string, readonly string[]>> = { mastercard: ['79', '83'] };

/** Networks without rules of their own follow Visa. */
const networkOf: Partial<Record<PaymentSystem, RulePack['name']>> = {
  mastercard: 'mastercard',
  maestro: 'mastercard',
  nspkmir: 'mir',
};

export function packIdOf({ name, from }: RulePack): string {
  return `${name}@${from.slice(0, 10)}`;
}

/** The latest pack in force of each name that concerns the card. Before any is in force, the first one applies. */
export function packsInForce(
  system: PaymentSystem,
  now: Instant,
  packs: readonly RulePack[] = rulePacks,
): RulePack[] {
  const names = ['house', networkOf[system] ?? 'visa', 'advice'];
  return names.flatMap((name) => {
    const named = packs.filter((pack) => pack.name === name);
    return named.findLast(({ from }) => from <= now) ?? named[0] ?? [];
  });
}

export function nextPackAfter(
  system: PaymentSystem,
  now: Instant,
  packs: readonly RulePack[] = rulePacks,
): Instant | undefined {
  const network = networkOf[system] ?? 'visa';
  return packs
    .filter(({ name, from }) => (name === 'house' || name === 'advice' || name === network) && from > now)
    .map(({ from }) => from)
    .sort()[0];
}

export type Ruled = { readonly effect: Effect; readonly rule: string; readonly pack: string };

/** The effects of a response, by every pack that has a rule for it. */
export function effectsOf(
  answer: { readonly code?: string; readonly advice?: string },
  packs: readonly RulePack[],
): Ruled[] {
  const { code, advice } = answer;
  const isAdvised = advice !== undefined && packs.some((pack) => pack.advice[advice] !== undefined);
  return packs.flatMap((pack) => {
    const byCode = code === undefined ? undefined : pack.codes[code];
    const isReplaced = code !== undefined && isAdvised && (followAdvice[pack.name]?.includes(code) ?? false);
    const byAdvice = advice === undefined ? undefined : pack.advice[advice];
    const name = packIdOf(pack);
    return [
      ...(byCode && !isReplaced ? [{ effect: byCode, rule: `code ${code}`, pack: name }] : []),
      ...(byAdvice ? [{ effect: byAdvice, rule: `advice ${advice}`, pack: name }] : []),
    ];
  });
}

const reach: Record<StopScope, number> = { charge: 0, cardInShop: 1, card: 2 };

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
