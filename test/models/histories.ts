// Random histories of agreements and charges, as of a shop that retries at the instant a refusal names, just before, or much later.
// What happens next depends on the answers, so a history is walked.
import fc from 'fast-check';
import {
  addMonths,
  dayLong,
  dayOf,
  hour,
  localDay,
  type Micros,
  minute,
  second,
  startOf,
  textOf,
} from './calendar.ts';
import { adviceCodes, codes, mastercards, type Network } from './declines.ts';
import type { Attempt, Ended, Invoice, Outcome, Question, Series, Shop, Story, Terms } from './story.ts';

/** The least time between two things that happen. */
const millisecond = 1000;

const zones = [
  'UTC',
  'Europe/Moscow',
  'America/New_York',
  'Asia/Kathmandu',
  'Pacific/Apia',
  'America/Sao_Paulo',
  // Its clocks skip midnight in spring.
  'Africa/Cairo',
  'Australia/Lord_Howe',
];
const networks: readonly Network[] = ['visa', 'mastercard', 'mir', 'maestro'];
const begins = [
  '2026-11-05T10:11:12Z',
  '2027-03-10T22:30:00Z',
  '2027-10-28T03:59:59Z',
  '2028-01-31T12:00:00Z',
];
const amounts = [500, 1000, 1000, 1000, 1000, 1000, 1000, 1001, 2500];
const schedules = [undefined, 'P1M', 'P1M', 'P1W', 'P3M', 'P1Y', 'P10D', 'every month'];

/** One act of the walk. Every number is reduced to the choices there are. */
interface Act {
  kind: number;
  gap: number;
  series: number;
  invoice: number;
  amount: number;
  outcome: number;
  code: number;
  delay: number;
  parent: number;
}

export interface Plan {
  seed: readonly number[];
  acts: readonly Act[];
}

const choice = fc.nat({ max: 9999 });

export const plans: fc.Arbitrary<Plan> = fc.record({
  seed: fc.array(choice, { minLength: 40, maxLength: 40 }),
  acts: fc.array(
    fc.record({
      kind: choice,
      gap: choice,
      series: choice,
      invoice: choice,
      amount: choice,
      outcome: choice,
      code: choice,
      delay: choice,
      parent: choice,
    }),
    { minLength: 1, maxLength: 60, size: 'max' },
  ),
});

/** What the code says to a question, and the instant that it names. */
export type Ask = (
  story: Story,
  question: Question,
) => { isPermitted: boolean; retryAfter?: Micros | undefined };

/** Walks a plan and asks before each charge. */
export function walk({ seed, acts }: Plan, ask: Ask): Story {
  const world = worldFrom(seed);
  for (const act of acts) step(world, act, ask);
  return world.story;
}

interface World {
  now: Micros;
  lastRetryAfter?: Micros | undefined;
  lastWasFinal?: boolean;
  /** Without an instant, in a row. */
  refusals: number;
  lastSeries: number;
  /** Nearly every charge is declined for funds. */
  isPoor: boolean;
  story: {
    shops: Shop[];
    cards: Story['cards'][number][];
    series: Series[];
    attempts: Attempt[];
    ended: Ended[];
  };
  invoices: Map<string, { invoice: Invoice; amount: number }[]>;
}

function worldFrom(seed: readonly number[]): World {
  let position = 0;
  const pick = <T>(from: readonly T[]): T => from[seed[position++ % seed.length]! % from.length]!;
  const now = Date.parse(pick(begins)) * 1000;
  const shops = ['shop1', 'shop2'].map((id) => ({
    id,
    zone: pick(zones),
    enforceMaxGap: pick([false, false, false, true]),
    enforceAmount: pick([true, true, false]),
    periodRule: pick(['warn', 'warn', 'refuse'] as const),
  }));
  const cards = ['card1', 'card2'].map((fingerprint) => ({
    fingerprint,
    network: pick(networks),
    expires: pick([
      '2034-05',
      '2034-05',
      '2034-05',
      '2034-05',
      '2034-05',
      textOf(Math.floor(now / dayLong) + 40).slice(0, 7),
    ]),
  }));
  const places = [
    ['shop1', 'card1', 'parent'],
    ['shop1', 'card1', 'binding'],
    ['shop2', 'card1', 'parent'],
    ['shop1', 'card2', 'binding'],
  ] as const;
  const world: World = {
    now,
    lastSeries: 0,
    refusals: 0,
    isPoor: pick([false, true]),
    story: { shops, cards, series: [], attempts: [], ended: [] },
    invoices: new Map(),
  };
  places.forEach(([shop, fingerprint, approach], index) => {
    const id = `series${index}`;
    const day = localDay(shops.find((each) => each.id === shop)!.zone, now);
    const terms = termsOf(day, pick);
    const isOld = pick([false, false, true]);
    world.story.series.push({
      id,
      shop,
      fingerprint,
      consents: [{ at: now, terms }],
      ...(isOld && { isOld }),
    });
    world.invoices.set(id, []);
    if (approach === 'parent') world.story.attempts.push(rootOf(id, shop, fingerprint, now));
  });
  return world;
}

function termsOf(day: number, pick: <T>(from: readonly T[]) => T): Terms {
  const kind = pick(['none', 'fixed', 'upTo', 'variable'] as const);
  const schedule = pick(schedules);
  const hasTrial = pick([false, false, true]);
  const lasts = pick([...Array.from({ length: 12 }, () => undefined), 25, 90]);
  return {
    currency: 'RUB',
    ...(kind === 'variable' && { rule: { kind } }),
    ...((kind === 'fixed' || kind === 'upTo') && { rule: { kind, amount: 1000 } }),
    ...(schedule !== undefined && { schedule }),
    ...(hasTrial && { trialEnd: textOf(day + pick([1, 7, 14, 30])) }),
    ...(hasTrial && pick([true, true, false]) && { amountAfterTrial: pick([500, 1500]) }),
    ...(lasts !== undefined && { validUntil: textOf(day + lasts) }),
  };
}

function rootOf(series: string, shop: string, fingerprint: string, at: Micros): Attempt {
  return {
    id: `root ${series}`,
    series,
    shop,
    fingerprint,
    invoice: { id: `root invoice ${series}`, createdAt: at - minute },
    amount: 1000,
    currency: 'RUB',
    payerPresent: true,
    makeRecurrent: true,
    createdAt: at - 30 * second,
    outcome: { kind: 'captured', at, capturedAt: at },
  };
}

function step(world: World, act: Act, ask: Ask): void {
  pass(world, act.gap);
  const { story, now } = world;
  if (act.series % (world.isPoor ? 40 : 10) < 3 || world.refusals > 2)
    world.lastSeries = act.series % story.series.length;
  const series = story.series[world.lastSeries]!;
  const kind = act.kind % (world.refusals > 4 ? 103 : 100);
  if (kind < 10) endObligation(world, series, act);
  else if (kind < 85) charge(world, series, act, ask);
  else if (kind < 92) payerPays(world, series, act);
  else if (kind !== 99) renew(world, series, act);
  else if (series.revokedAt === undefined) replace(world, { ...series, revokedAt: now });
}

/** Time passes to the limits that were named, to their neighbours, and by lengths around those of the rules. */
function pass(world: World, gap: number): void {
  const { now, lastRetryAfter } = world;
  const odd = (gap * 7919) % 1000;
  const lengths = [
    second + odd * millisecond,
    hour + odd * millisecond,
    22 * hour + 45 * minute,
    23 * hour,
    dayLong,
    dayLong + odd * millisecond,
    2 * dayLong,
    7 * dayLong,
    31 * dayLong,
    45 * dayLong,
  ];
  const named = gap % 100;
  if (
    named < (world.isPoor ? 92 : 70) &&
    lastRetryAfter !== undefined &&
    lastRetryAfter > now + millisecond
  ) {
    world.now = named % 7 < 5 ? lastRetryAfter : lastRetryAfter - millisecond;
  } else if (named > 92 && limitsAhead(world).length > 0) {
    const limits = limitsAhead(world);
    world.now = limits[gap % limits.length]! + (gap % 3) * millisecond;
  } else {
    const weighted = [0, 0, 0, 1, 1, 1, 2, 3, 3, 4, 4, 4, 4, 4, 5, 5, 6, 6, 7, 7, 8, 9];
    const chosen = world.isPoor ? [2, 3, 4, 4, 5] : weighted;
    world.now = now + lengths[chosen[gap % chosen.length]!]! + (gap % 2) * millisecond;
  }
}

/** Ends of windows, of half years, of the consent and of the card. */
function limitsAhead({ story, lastSeries, now }: World): Micros[] {
  const series = story.series[lastSeries]!;
  const { zone } = story.shops.find(({ id }) => id === series.shop)!;
  const { expires } = story.cards.find(({ fingerprint }) => fingerprint === series.fingerprint)!;
  const { validUntil } = series.consents.at(-1)!.terms;
  const limits = story.attempts
    .filter((attempt) => attempt.series === series.id && attempt.outcome && attempt.outcome.at <= now)
    .flatMap(({ createdAt, outcome }) => [outcome!.at + 31 * dayLong, halfYearAfter(createdAt)]);
  limits.push(addMonths(dayOf(`${expires}-01`), 1) * dayLong + 12 * hour);
  if (validUntil !== undefined) limits.push(startOf(zone, dayOf(validUntil) + 1));
  return limits.map((at) => at - millisecond).filter((at) => at > now && at < now + 200 * dayLong);
}

function halfYearAfter(at: Micros): Micros {
  return addMonths(Math.floor(at / dayLong), 6) * dayLong + (at % dayLong);
}

function charge(world: World, series: Series, act: Act, ask: Ask): void {
  const { story, now } = world;
  const target = chooseInvoice(world, series, act);
  const own = story.attempts.filter((attempt) => attempt.series === series.id);
  const parents = own.filter(
    ({ makeRecurrent, outcome }) =>
      makeRecurrent && outcome?.kind === 'captured' && outcome.capturedAt <= now,
  );
  const parent = act.parent % 4 === 0 ? parents[act.parent % parents.length] : parents.at(-1);
  const isByParent = own.some(({ payerPresent }) => payerPresent);
  const question: Question = {
    at: now,
    series: series.id,
    invoice: target.invoice,
    amount: target.amount,
    currency: act.amount % 53 === 0 ? 'USD' : 'RUB',
    ...(isByParent && parent && { parent: parent.id }),
  };
  const { isPermitted, retryAfter } = ask(story, question);
  world.lastRetryAfter = retryAfter;
  world.lastWasFinal = !isPermitted && retryAfter === undefined;
  world.refusals = world.lastWasFinal ? world.refusals + 1 : 0;
  if (!isPermitted) return;
  story.attempts.push({
    id: `attempt${story.attempts.length}`,
    series: series.id,
    shop: series.shop,
    fingerprint: series.fingerprint,
    invoice: target.invoice,
    amount: target.amount,
    currency: question.currency,
    makeRecurrent: isByParent && act.parent % 3 > 0,
    createdAt: now,
    outcome: outcomeOf(world, act, isAdvised(story, series)),
  });
}

/** Of an invoice that is not at the bank: given up, forgiven or paid elsewhere. */
function endObligation({ story, now }: World, { id }: Series, act: Act): void {
  const hasEnded = (invoice: string) =>
    story.ended.some((end) => end.series === id && end.invoice === invoice);
  const tried = story.attempts.filter(
    ({ series, invoice, payerPresent }) =>
      series === id && !payerPresent && mayBePaid(story, invoice.id, now) && !hasEnded(invoice.id),
  );
  const chosen = act.invoice % 3 === 0 ? tried[act.invoice % tried.length] : tried.at(-1);
  if (chosen) story.ended.push({ series: id, invoice: chosen.invoice.id, at: now });
}

/** An invoice has one payment at a time, and none once it is paid. */
function chooseInvoice(world: World, series: Series, act: Act): { invoice: Invoice; amount: number } {
  const { story, now } = world;
  const made = world.invoices.get(series.id)!;
  const isOpen = ({ invoice }: { invoice: Invoice }) => mayBePaid(story, invoice.id, now);
  const open = made.filter(isOpen);
  const ofOthers = story.series
    .filter(({ id, shop }) => id !== series.id && shop === series.shop)
    .flatMap(({ id }) => world.invoices.get(id)!.filter(isOpen));
  if (ofOthers.length > 0 && act.invoice % 100 >= 93) return ofOthers.at(-1)!;
  if (open.length > 0 && act.invoice % 10 < (world.isPoor ? 0 : 2)) return open[act.invoice % open.length]!;
  if (open.length > 0 && act.invoice % 10 < 7 && !world.lastWasFinal) return open.at(-1)!;
  const invoice = {
    id: `${series.id} invoice ${made.length}`,
    createdAt: now - [0, millisecond, minute][act.invoice % 3]!,
  };
  const created = { invoice, amount: world.isPoor ? 1000 : amounts[act.amount % amounts.length]! };
  made.push(created);
  return created;
}

function mayBePaid({ attempts }: Story, invoice: string, now: Micros): boolean {
  return attempts
    .filter((attempt) => attempt.invoice.id === invoice)
    .every(({ outcome }) => {
      if (!outcome || outcome.at > now || outcome.kind === 'captured') return false;
      return outcome.kind !== 'released' || outcome.releasedAt <= now;
    });
}

function outcomeOf(world: World, act: Act, isAdvised: boolean): Outcome {
  const delays = [
    millisecond,
    second,
    second,
    second,
    second,
    2 * second + 13 * millisecond,
    40 * second,
    minute,
    3 * hour,
    2 * dayLong,
  ];
  const at = world.now + delays[act.delay % delays.length]!;
  const kind = world.isPoor && act.outcome % 60 > 0 ? 50 : act.outcome % 100;
  if (kind < 4) return { kind: 'released', at, releasedAt: at + [3 * hour, 6 * dayLong][kind % 2]! };
  if (kind < 20)
    return { kind: 'captured', at, capturedAt: at + [0, 0, 0, 3 * hour, 6 * dayLong][kind % 5]! };
  if (kind < 25) return { kind: 'lost', at };
  if (kind < 30) return { kind: 'unsent', at };
  if (kind < 65) return { kind: 'declined', at, code: '51' };
  return { kind: 'declined', at, ...declineOf(act.code, isAdvised) };
}

function isAdvised({ cards }: Story, { fingerprint }: Series): boolean {
  return cards.some((card) => card.fingerprint === fingerprint && mastercards.includes(card.network));
}

/** Mastercard alone gives advice. */
function declineOf(code: number, isAdvised: boolean): { code: string; advice?: string } {
  const usual = ['05', '91', '03', 'R0', '62', '59', 'ZZ'];
  const named = code % 2 === 0 ? usual[code % usual.length]! : codes[code % codes.length]!;
  const advice = isAdvised && code % 3 === 0 ? adviceCodes[code % adviceCodes.length] : undefined;
  return { code: named, ...(advice !== undefined && { advice }) };
}

/** A payment by the payer that begins no series. */
function payerPays(world: World, series: Series, act: Act): void {
  const { story, now } = world;
  const made = world.invoices.get(series.id)!;
  const known = act.invoice % 2 === 0 ? made.at(-1)?.invoice : undefined;
  const isOpen = known !== undefined && mayBePaid(story, known.id, now);
  const tries = act.outcome % 3 === 0 ? [] : Array.from({ length: 1 + (act.delay % 10) }, (_, n) => n);
  const invoice =
    known && isOpen ? known : { id: `present invoice ${story.attempts.length}`, createdAt: now };
  const payment = (at: Micros, outcome: Outcome): Attempt => {
    const { shop, fingerprint } = series;
    const id = `present${story.attempts.length}`;
    return {
      id,
      shop,
      fingerprint,
      invoice,
      payerPresent: true,
      amount: 1000,
      currency: 'RUB',
      createdAt: at,
      outcome,
    };
  };
  for (const n of tries) {
    const code = n === 0 ? declineOf(act.code, isAdvised(story, series)) : { code: '51' };
    story.attempts.push(
      payment(now + n * second, { kind: 'declined', at: now + n * second + millisecond, ...code }),
    );
  }
  if (tries.length === 0)
    story.attempts.push(
      payment(now, { kind: 'captured', at: now + millisecond, capturedAt: now + millisecond }),
    );
  world.now += tries.length * second;
}

/** The payer agrees again with the same card, by a link or a new binding. */
function renew(world: World, series: Series, act: Act): void {
  let position = 0;
  const numbers = [act.amount, act.code, act.outcome, act.delay, act.parent, act.invoice];
  const pick = <T>(from: readonly T[]): T => from[numbers[position++ % numbers.length]! % from.length]!;
  const { zone } = world.story.shops.find(({ id }) => id === series.shop)!;
  const terms =
    act.parent % 2 === 0 ? series.consents.at(-1)!.terms : termsOf(localDay(zone, world.now), pick);
  const { revokedAt: _revokedAt, ...rest } = series;
  replace(world, { ...rest, consents: [...series.consents, { at: world.now, terms }] });
}

function replace({ story }: World, series: Series): void {
  story.series = story.series.map((each) => (each.id === series.id ? series : each));
}
