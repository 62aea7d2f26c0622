// Random histories: the rules must agree with an independent checker, and retryAfter must be the first time at which that
// checker agrees.
//   CHARGE_HISTORIES how many (6000), CHARGE_SEED from which on (1, or SEED)
import { expect, test } from 'vitest';
import { instantAt, epochMsOf, type Instant } from '../../src/clock.ts';
import type { Currency } from '../../src/money.ts';
import { mayCharge, type CardStop, type Decline } from '../../src/retry-rules/domain/may-charge.ts';
import {
  countsAsDecline,
  applyOutcome,
  evolve,
  type Attempt,
  type ChargeOutcome,
  type Series,
} from '../../src/recurring/domain/series.ts';
import { rulePacks } from '../../src/retry-rules/domain/rule-packs.ts';
import { isLegal, turningPoints, type Asked, type Happened, type Told } from './charge-checker.ts';
import { allAdvice, allCodes, informationOnly } from './decline-table.ts';
import { chosenSeed } from '../support/service/chosen-seed.ts';
import { defined } from '../../src/defined.ts';

const histories = Number(process.env['CHARGE_HISTORIES'] ?? 6_000);
const firstSeed = chosenSeed('CHARGE_SEED');
const hour = 3_600_000;
const day = 24 * hour;
const shops = ['one shop', 'another shop'];
const systems = { visa: 'visa', mastercard: 'mastercard', mir: 'nspkmir' } as const;
/** The usual ones more often. */
const codes = [...allCodes, ...'51 05 51 05 91 51 62 30 58 54 1A 41 R1'.split(' '), 'Z9'];
const advices = [...allAdvice, ...informationOnly];
const moves = [
  1,
  hour,
  22.75 * hour - 1,
  22.75 * hour,
  23 * hour,
  day - 1,
  day,
  day + 1,
  25 * hour,
  2 * day,
  4 * day,
  7 * day,
  29 * day,
  30 * day,
  31 * day - 1,
  31 * day,
  31 * day + 1,
  32 * day,
];

test('the histories draw every code and every advice that has a rule', () => {
  const ruled = (of: 'codes' | 'advice') => [...new Set(rulePacks.flatMap((pack) => Object.keys(pack[of])))];
  expect(ruled('codes').filter((code) => !codes.includes(code))).toEqual([]);
  expect(ruled('advice').filter((advice) => !advices.includes(advice))).toEqual([]);
});

/** A series as the program stores it, with what it reads with it. */
type Kept = {
  series: Series;
  attempts: (Attempt & { outcome: 'pending' | ChargeOutcome['outcome']; isMisconfigured?: true })[];
};

test(`${histories} random histories (CHARGE_SEED=${firstSeed}): a charge is allowed exactly when legal, and retryAfter is the first legal time`, () => {
  const seen = { allowed: 0, refused: 0, withRetryAfter: 0 } as Record<string, number>;
  for (let seed = firstSeed; seed < firstSeed + histories; seed++) play(seed, seen);
  // Histories that never reach a rule would not test it.
  expect(seen).toMatchObject({
    allowed: expect.any(Number),
    recurrentStopped: expect.any(Number),
    recurrentConsentRevoked: expect.any(Number),
    recurrentConsentExpired: expect.any(Number),
    recurrentCardExpired: expect.any(Number),
    recurrentRetryWindowExpired: expect.any(Number),
    recurrentRetryTooEarly: expect.any(Number),
    recurrentRetryLimitReached: expect.any(Number),
  });
  for (const [what, times] of Object.entries(seen)) expect(times, what).toBeGreaterThan(histories / 1_000);
  if (process.env['SHOW_COUNTS']) console.log(seen);
}, 600_000);

function play(seed: number, seen: Record<string, number>): void {
  const random = randomOf(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  let now = Date.UTC(2026, 0, 1) + Math.floor(random() * 400) * day + Math.floor(random() * day);
  const network = pick(['visa', 'visa', 'mastercard', 'mir'] as const);
  const cardGoodUntil = now + (random() < 0.1 ? Math.floor(random() * 60) * day : 3_000 * day);
  const told: Told[] = [];
  const kept: Kept[] = [];
  for (let number = 0; number < pick([1, 1, 2, 3]); number++) {
    const shop = pick(shops);
    const agreedUntil = random() < 0.15 ? now + Math.floor(random() * 60) * day : undefined;
    told.push({
      shop,
      network,
      agreedAt: now,
      cardGoodUntil,
      ...defined({ agreedUntil }),
    });
    kept.push({ series: seriesOf(told[number] as Told, number), attempts: [] });
  }
  const log: Happened[] = [];
  const stops: (CardStop & { shop: string; everywhere: boolean })[] = [];
  const chargeStops: (CardStop & { invoice: number })[] = [];
  const declines: { at: Instant; shop: string; amount: number }[] = [];
  const invoices: number[] = [];
  let charges = 0;

  for (let steps = pick([4, 8, 12]); steps > 0; steps--) {
    const move = random();
    if (move < 0.35) now += pick(moves);
    else if (move < 0.75) charge(random() < 0.05 ? 16 : 1);
    else if (move < 0.97) end(random() < 0.4 ? 16 : 1);
    else renewOrWithdraw();
  }

  function charge(most: number): void {
    const number = Math.floor(random() * kept.length);
    const { shop } = told[number] as Told;
    const isNew = invoices.length === 0 || random() < 0.6;
    const invoice = isNew ? invoices.push(now) - 1 : Math.floor(random() * invoices.length);
    const amount = random() < 0.8 ? 100 : 200;
    for (let left = most; left > 0; left--) {
      const { series, attempts } = kept[number] as Kept;
      const asked: Asked = {
        series: number,
        invoice,
        invoiceMadeAt: random() < 0.1 ? 'then' : (invoices[invoice] as number),
        amount,
        ...(random() < 0.2 ? { waitsForOthers: true } : {}),
      };
      const lastAttemptAt = attempts.findLast(
        ({ outcome, isMisconfigured }) => outcome !== 'unsent' && !isMisconfigured,
      )?.createdAt;
      const cardStop = stops.filter((stop) => stop.everywhere || stop.shop === shop).at(-1);
      const chargeStop = chargeStops.findLast((stop) => stop.invoice === invoice);
      const history = {
        series,
        isAttemptPending: attempts.some(({ outcome }) => outcome === 'pending'),
        timeZone: 'UTC',
        declines: declines.map((each): Decline => ({
          at: each.at,
          isOfCharge: each.shop === shop && each.amount === amount,
        })),
        ...(cardStop ? { cardStop } : {}),
        ...(chargeStop && asked.invoiceMadeAt !== 'then' ? { chargeStop } : {}),
        ...(lastAttemptAt ? { lastAttemptAt } : {}),
      };
      const invoiceCreatedAt = asked.invoiceMadeAt === 'then' ? 'then' : instantAt(asked.invoiceMadeAt);
      const wish = { invoiceCreatedAt, ...defined({ waitsForOthers: asked.waitsForOthers }) } as const;
      const decision = mayCharge(history, wish, instantAt(now));
      // Of several concurrent attempts, checking the last one is enough.
      const legal = left > 1 && decision.may ? true : isLegal(told, log, asked, now);
      if (decision.may !== legal) fail(decision, asked, legal ? 'it is legal' : 'it is not legal');
      count(decision.may ? 'allowed' : decision.code);
      if (!decision.may) {
        checkTime(asked, decision);
        return;
      }
      if (asked.invoiceMadeAt === 'then') continue;
      const id = charges++;
      log.push({
        at: now,
        what: 'charged',
        series: number,
        id,
        invoice,
        invoiceMadeAt: asked.invoiceMadeAt,
        amount,
      });
      const member = { invoiceId: String(invoice), paymentId: String(id) };
      const { isRetry, packs, warnings } = decision;
      const started = { type: 'recurring_charge_started', ...member, isRetry, packs, warnings } as const;
      (kept[number] as Kept).series = evolve(series, started, instantAt(now));
      const money = { minor: BigInt(amount), currency: 'RUB' as Currency };
      attempts.push({ ...member, createdAt: instantAt(now), amount: money, isRetry, outcome: 'pending' });
    }
  }

  function checkTime(asked: Asked, decision: { rule: string; retryAfter?: string }): void {
    const points = [...new Set(turningPoints(told, log))].filter((point) => point > now);
    const { retryAfter } = decision;
    if (retryAfter === undefined) {
      // The end of the pending attempt decides, which comes before any time that could be given.
      if (decision.rule === 'attemptPending') return count('attemptPending');
      const legal = points.find((point) => isLegal(told, log, asked, point));
      if (legal !== undefined) fail(decision, asked, `it is legal at ${instantAt(legal)}`);
      return;
    }
    count('withRetryAfter');
    const first = epochMsOf(retryAfter as never);
    if (!isLegal(told, log, asked, first)) fail(decision, asked, 'it is not legal then');
    const earlier = points.filter((point) => point < first);
    for (const point of [...earlier, first - 1]) {
      if (isLegal(told, log, asked, point))
        fail(decision, asked, `it is legal at ${instantAt(point)} already`);
    }
  }

  function end(most: number): void {
    const pending = kept.flatMap(({ attempts }, number) =>
      attempts.filter(({ outcome }) => outcome === 'pending').map((attempt) => ({ number, attempt })),
    );
    const ending = endingOf();
    for (const { number, attempt } of pending.slice(0, most)) {
      const mine = kept[number] as Kept;
      const { shop } = told[number] as Told;
      const id = Number(attempt.paymentId);
      const { facts, stop, cardStop, declineClass } = applyOutcome(
        mine.series,
        attempt,
        ending,
        instantAt(now),
      );
      for (const fact of facts) mine.series = evolve(mine.series, fact, instantAt(now));
      attempt.outcome = ending.outcome;
      if (declineClass === 'configuration') attempt.isMisconfigured = true;
      log.push({ at: now, what: 'ended', id, how: ending });
      if (countsAsDecline(ending)) {
        declines.push({ at: attempt.createdAt, shop, amount: Number(attempt.amount.minor) });
        declines.sort((a, b) => (a.at < b.at ? -1 : 1));
      }
      const at = instantAt(now);
      if (stop?.scope === 'charge') {
        chargeStops.push({
          at,
          rule: stop.rule,
          pack: stop.pack,
          invoice: Number(attempt.invoiceId),
        });
      } else if (cardStop) {
        const { rule, pack, scope } = cardStop;
        stops.push({ at, rule, pack, shop, everywhere: scope === 'card' });
      }
    }
  }

  function endingOf(): ChargeOutcome {
    const kind = random();
    const advice = random() < 0.15 ? { advice: pick(advices) } : {};
    if (kind < 0.2) return { outcome: 'approved', ...(random() < 0.1 ? advice : {}) };
    if (kind < 0.27) return { outcome: 'lost' };
    if (kind < 0.34) return { outcome: 'unsent' };
    const code = random() < 0.6 ? '51' : pick(codes);
    return { outcome: 'declined', network: random() < 0.05 ? 'bank' : network, code, ...advice };
  }

  function renewOrWithdraw(): void {
    const number = Math.floor(random() * kept.length);
    const mine = kept[number] as Kept;
    // The rules define no order for events at the same time, so none occur.
    now += 1;
    const isRenewed = random() < 0.6;
    log.push({ at: now, what: isRenewed ? 'renewed' : 'withdrawn', series: number });
    const { card, endsAt } = mine.series;
    mine.series = evolve(
      mine.series,
      isRenewed
        ? { type: 'consent_renewed', card, ...defined({ endsAt }) }
        : { type: 'consent_withdrawn', by: 'payer' },
      instantAt(now),
    );
  }

  function count(what: string): void {
    seen[what] = (seen[what] ?? 0) + 1;
    if (what !== 'allowed' && what !== 'withRetryAfter') seen['refused'] = (seen['refused'] ?? 0) + 1;
  }

  function fail(decision: object, asked: Asked, why: string): never {
    const story = log.map((each) => `${instantAt(each.at)} ${JSON.stringify({ ...each, at: undefined })}`);
    throw new Error(
      [
        `seed ${seed}: ${why}`,
        JSON.stringify(decision),
        JSON.stringify({ ...asked, now: instantAt(now) }),
        JSON.stringify(told),
        ...story,
      ].join('\n'),
    );
  }
}

function seriesOf({ agreedAt, agreedUntil, cardGoodUntil, shop, network }: Told, number: number): Series {
  return evolve(
    undefined,
    {
      type: 'series_started',
      terms: {
        id: `series ${number}`,
        partyId: 'party',
        shopId: shop,
        kind: 'parent',
        root: { invoiceId: `root ${number}`, paymentId: '1' },
        card: {
          paymentSystem: systems[network],
          lastDigits: '4242',
          endsAt: instantAt(cardGoodUntil),
        },
        mandate: {
          schedule: 'P1M',
          evidence: 'missing',
          payer: { contactInfo: {} },
          payment: {
            createdAt: instantAt(agreedAt),
            amountMinor: 1,
            currency: 'RUB' as Currency,
            reference: '1',
          },
        },
        consentedAt: instantAt(agreedAt),
        ...(agreedUntil === undefined ? {} : { endsAt: instantAt(agreedUntil) }),
      },
    },
    instantAt(agreedAt),
  );
}

/** A small, fast generator: the same seed gives the same numbers. */
function randomOf(seed: number): () => number {
  let state = seed * 0x9e3779b1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
