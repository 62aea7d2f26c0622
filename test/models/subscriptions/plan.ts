// Random lives of subscriptions, each drawn from one number: what was agreed, what people do, how banks answer, when the service is out.
import { dayLong, dayOf, hour, localDay, minute, startOf, type Day, type Micros } from '../calendar.ts';

export type Answer =
  | 'captured'
  | 'funds'
  | 'vague'
  | 'technical'
  | 'issuer'
  | 'newCard'
  | 'configuration'
  | 'stopCharge'
  | 'unsent'
  | 'limitReached'
  | 'periodCharged';

export type Act = { at: Micros } & (
  | { does: 'pause'; resumesAt?: Micros; forgives: boolean }
  /** `failsRefund`: the bank declines the first of what it gives back. */
  | { does: 'cancelNow'; refund: 'none' | 'unused' | 'last'; failsRefund: boolean }
  /** The merchant, of the oldest period that was missed. */
  | { does: 'chargeMissed' | 'forgiveMissed' }
  /** Days later, the money of the latest period. Nothing happens if that is not paid, or its items were changed. */
  | { does: 'bankTakesBack' }
  | { does: 'resume' | 'cancelAtEnd' | 'uncancel' | 'payerPays' | 'newCard' | 'forgive' }
  /** Again. A change that waits for that is then captured. */
  | { does: 'consent' }
  | { does: 'zone'; zone: string }
  | { does: 'priceNext'; price: number }
  | {
      does: 'priceNow';
      price: number;
      /** Whatever it is, only when it is dearer, or with a whole period that starts today. */
      when: 'now' | 'auto' | 'anchorNow';
      credit: 'unused' | 'none';
      answer: 'captured' | 'funds' | 'newCard' | 'unsent' | 'atBank';
    }
  /** The bank, after a while. */
  | { does: 'bankAnswers'; isCaptured: boolean }
  | { does: 'payerPaysChange' | 'takeBack' }
);

export type ClassPlan = { tries?: number[]; most?: number; paydays?: number[]; within?: number };

export type Plan = {
  seed: number;
  zone: string;
  /** `days` or `months`, never both. */
  interval: { days: number } | { months: number };
  startsAt: Micros;
  /** Absent: the day of the start. */
  anchorDay?: number;
  /** What the short period before a fixed day costs; nothing by default. */
  firstPeriod?: 'free' | 'full' | 'proRata';
  /** It ran elsewhere before, and its first period here has this number and start. */
  continuesWith?: { number: number; startsOn: Day };
  trialDays: number;
  price: number;
  periods?: number;
  /** No period starts on that day or later. */
  endsOn?: Day;
  catchUp: 'current' | 'all' | 'none';
  tries: number[];
  windowDays: number;
  /** What a class has of its own. After `technical`, days are counted from that failure. */
  classes: { [Class in 'funds' | 'vague' | 'issuer' | 'technical']?: ClassPlan };
  finally: 'unpaid' | 'end' | 'pause';
  /** Later periods are asked for while older ones are unpaid. */
  stack: boolean;
  /** After all of them, every charge is captured. */
  answers: Answer[];
  acts: Act[];
  /** Half-open, in order. No act is in one. */
  outages: { from: Micros; until: Micros }[];
  /** How long after something is due the service looks. */
  lateBy: Micros;
  endsAt: Micros;
  /** The payer starts it with a payment at `startsAt`, so long after it was created, or never pays. */
  firstPayment?: { createdBefore: Micros; amount: number; isPaid: boolean };
};

const zones = [
  'UTC',
  'Europe/Berlin',
  'Europe/Moscow',
  'Asia/Vladivostok',
  'America/New_York',
  'Australia/Lord_Howe',
];
const second = 1_000_000;
const firstDay = dayOf('2026-11-25');
const lifeDays = 420;

/** Mulberry32: the same numbers on every machine. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

export function planFrom(seed: number): Plan {
  const random = randomFrom(seed);
  const pick = <T>(...from: T[]): T => from[random(from.length)]!;
  const zone = pick(...zones);
  const interval = pick<Plan['interval']>(
    { months: 1 },
    { months: 1 },
    { months: 3 },
    { days: 7 },
    { days: 30 },
  );
  const startsAt = startOf(zone, firstDay + random(120)) + random(23) * hour + random(60) * minute;
  const endsAt = startsAt + lifeDays * dayLong;
  const isShort = 'days' in interval && interval.days === 7;
  const windowDays = isShort ? pick(5, 5, 4, 2) : pick(26, 26, 19, 8);
  const isMonths = 'months' in interval;
  const outages = outagesIn(startsAt, random);
  const drawing = { startsAt, zone, random, pick };
  const arrears = random(6) === 0 ? arrearsFrom(drawing) : { answers: [], acts: [] };
  const acts = [...arrears.acts, ...actsFrom(drawing)]
    .flatMap((act) => (act.does === 'priceNow' ? [act, ...changeEndings(act.at, { random, pick })] : [act]))
    .flatMap((act) => [act, ...endMeanwhile(act)])
    .filter(({ at }) => outages.every(({ from, until }) => at < from || at > until))
    .toSorted((a, b) => a.at - b.at);
  const plan: Plan = {
    seed,
    zone,
    interval,
    startsAt,
    ...(isMonths && pick(false, false, true) ? { anchorDay: pick(1, 15, 30, 31) } : {}),
    trialDays: pick(0, 0, 7, 14),
    price: 1_000 + random(9_000),
    ...(pick(false, false, false, true) ? { periods: 1 + random(12) } : {}),
    catchUp: pick('current', 'current', 'all', 'none'),
    tries: (isShort ? pick([1, 3], [2], [1, 2, 3, 4]) : pick([1, 3, 6, 10, 16, 23], [2, 4], [5])).filter(
      (day) => day <= windowDays,
    ),
    windowDays,
    classes: classesFrom(windowDays, random, pick),
    finally: pick('unpaid', 'end', 'pause'),
    stack: false,
    answers: [...arrears.answers, ...answersFrom(random, pick)],
    outages,
    lateBy: pick(0, 0, second / 5, 30 * minute),
    endsAt,
    ...startFrom(acts, { random, pick }),
  };
  const drawn = withSecondThoughts(random(4) === 0 ? stackedFrom(plan, { random, pick }) : plan, random);
  const imported = { ...drawn, ...costOfFirst(drawn, pick), ...importFrom(drawn, random) };
  const looked = withMissedCharges(random(3) === 0 ? dailyFrom(imported) : imported, { random, pick });
  return withLastDay(looked, random);
}

/** Tries would last into the next day, so only a stack may have one. Its life is shorter. */
function dailyFrom(plan: Plan): Plan {
  if (!plan.stack) return plan;
  const { anchorDay: _, firstPeriod: __, ...daily } = plan;
  const endsAt = plan.startsAt + 45 * dayLong;
  const acts = plan.acts.filter(({ at }) => at < endsAt);
  return { ...daily, interval: { days: 1 }, acts, endsAt };
}

/** After an outage and at any time: the merchant looks at what was missed. */
function withMissedCharges(plan: Plan, { random, pick }: Pick<Drawing, 'random' | 'pick'>): Plan {
  const days = (plan.endsAt - plan.startsAt) / dayLong - 5;
  const anywhere = Array.from({ length: random(4) }, () => plan.startsAt + (1 + random(days * 24)) * hour);
  const looks = [...anywhere, ...plan.outages.flatMap(({ until }) => [until, until + random(40) * hour])];
  const others = looks
    .filter(() => random(2) === 0)
    .map((at): Act => ({
      at: at + 3 * second,
      does: pick('chargeMissed', 'chargeMissed', 'forgiveMissed', 'bankTakesBack'),
    }))
    .filter(({ at }) => at < plan.endsAt)
    .filter(({ at }) => plan.outages.every(({ from, until }) => at < from || at > until));
  return { ...plan, acts: [...plan.acts, ...others].toSorted((a, b) => a.at - b.at) };
}

function costOfFirst({ anchorDay }: Plan, pick: Drawing['pick']): Pick<Plan, 'firstPeriod'> {
  return anchorDay === undefined ? {} : { firstPeriod: pick('free', 'full', 'proRata') };
}

/** One that starts with a saved card may have run elsewhere, and be behind. */
function importFrom(
  { zone, startsAt, firstPayment, trialDays }: Plan,
  random: (below: number) => number,
): Pick<Plan, 'continuesWith'> {
  if (firstPayment || trialDays > 0 || random(6) > 0) return {};
  const startsOn = localDay(zone, startsAt) - 1 - random(random(2) ? 20 : 100);
  return { continuesWith: { number: 1 + random(40), startsOn } };
}

/** Some end by a date, after the first charge of a whole period. */
function withLastDay(plan: Plan, random: (below: number) => number): Plan {
  const { periods, startsAt, trialDays, zone } = plan;
  if (periods !== undefined || random(8) > 0) return plan;
  return { ...plan, endsOn: localDay(zone, startsAt) + trialDays + 40 + random(300) };
}

/** Payers who have ended it come back, some before the end. */
function withSecondThoughts(plan: Plan, random: (below: number) => number): Plan {
  const others = plan.acts
    .filter(({ does }) => does === 'cancelAtEnd' && random(2) === 0)
    .map(({ at }): Act => ({ at: at + (1 + random(48)) * hour + second, does: 'uncancel' }))
    .filter(({ at }) => plan.outages.every(({ from, until }) => at < from || at > until));
  return { ...plan, acts: [...plan.acts, ...others].toSorted((a, b) => a.at - b.at) };
}

/** Only with a stack may the tries of a period continue when the next one is due, so most of them do. */
function stackedFrom(plan: Plan, { random, pick }: Pick<Drawing, 'random' | 'pick'>): Plan {
  const windowDays = pick(30, 30, 20, 9);
  const tries = pick([1, 3, 6, 10, 16, 23, 29], [2, 14], [28], []).filter((day) => day <= windowDays);
  const classes = classesFrom(windowDays, random, pick);
  const failing = Array.from({ length: random(12) }, () => pick<Answer>('funds', 'newCard', 'technical'));
  return { ...plan, stack: true, windowDays, tries, classes, answers: [...failing, ...plan.answers] };
}

/** Most start with a saved card. Nothing else happens to one that is never paid. */
function startFrom(
  acts: Act[],
  { random, pick }: Pick<Drawing, 'random' | 'pick'>,
): Pick<Plan, 'acts' | 'firstPayment'> {
  if (random(4) > 0) return { acts };
  const isPaid = random(10) > 0;
  const firstPayment = { createdBefore: random(23 * 60) * minute, amount: pick(100, 5_000, 20_000), isPaid };
  return { acts: isPaid ? acts : [], firstPayment };
}

/** Drawn from the policy of the merchant, not from the one that comes with the product. */
function classesFrom(
  window: number,
  random: (below: number) => number,
  pick: <T>(...from: T[]) => T,
): Plan['classes'] {
  const classes: Plan['classes'] = {};
  for (const name of ['funds', 'vague', 'issuer', 'technical'] as const) {
    if (random(3) > 0) continue;
    const tries = [1 + random(3), 4 + random(Math.max(1, window - 4))].filter((day) => day <= window);
    classes[name] = {
      ...(pick(true, false) ? { tries } : {}),
      ...(pick(true, false) ? { most: random(5) } : {}),
      ...(pick(true, false) ? { paydays: [1 + random(31), 1 + random(31)], within: 1 + random(6) } : {}),
    };
  }
  return classes;
}

function outagesIn(startsAt: Micros, random: (below: number) => number): Plan['outages'] {
  if (random(3) > 0) return [];
  const from = startsAt + dayLong + random(300 * 24) * hour;
  return [{ from, until: from + (1 + random(random(2) ? 72 : 1_000)) * hour }];
}

/** A card that fails does so several times in a row. */
function answersFrom(random: (below: number) => number, pick: <T>(...from: T[]) => T): Answer[] {
  const answers: Answer[] = [];
  while (answers.length < 20) {
    const last = answers.at(-1) ?? 'captured';
    if (last !== 'captured' && random(2) === 0) answers.push(last);
    else if (random(100) < 65) answers.push('captured');
    else
      answers.push(
        pick<Answer>(
          'funds',
          'funds',
          'vague',
          'technical',
          'issuer',
          'newCard',
          'configuration',
          'stopCharge',
          'unsent',
          'limitReached',
          'periodCharged',
        ),
      );
  }
  return answers;
}

type Drawing = {
  startsAt: Micros;
  zone: string;
  random: (below: number) => number;
  pick: <T>(...from: T[]) => T;
};

/** The first period is not paid for long, and a pause begins meanwhile. */
function arrearsFrom({ startsAt, random, pick }: Drawing): Pick<Plan, 'answers' | 'acts'> {
  const on = (day: number, days: number) => startsAt + (24 * day + 1 + random(24 * days)) * hour + 7_000;
  const pausesAt = on(0, 20);
  const resumesAt = pausesAt + (30 + random(90)) * dayLong;
  const answers: Answer[] = Array.from({ length: 6 }, () =>
    pick<Answer>('funds', 'vague', 'vague', 'configuration'),
  );
  const acts: Act[] = [
    { at: on(0, 10), does: 'newCard' },
    { at: on(26, 60), does: pick('payerPays', 'forgive') },
  ];
  const pause = pick<Act[]>(
    [],
    [{ at: pausesAt, does: 'pause', forgives: false }],
    [{ at: pausesAt, does: 'pause', forgives: false, resumesAt }],
  );
  return { answers, acts: [...acts, ...pause] };
}

/** At once, within hours, or in another period. */
function changeEndings(at: Micros, { random, pick }: Pick<Drawing, 'random' | 'pick'>): Act[] {
  const after = () => pick(second, second, (1 + random(20)) * hour, (1 + random(40)) * dayLong);
  const ending = pick<Act>(
    { at: at + after(), does: 'payerPaysChange' },
    { at: at + after(), does: 'payerPaysChange' },
    { at: at + after(), does: 'takeBack' },
    { at: at + after(), does: 'consent' },
  );
  return [{ at: at + after(), does: 'bankAnswers', isCaptured: pick(true, true, false) }, ending];
}

/** Many new periods are still to be paid when an end is scheduled. */
function endMeanwhile(act: Act): Act[] {
  const isNew = act.does === 'priceNow' && act.when === 'anchorNow' && act.answer !== 'captured';
  return isNew && act.price % 2 === 0 ? [{ at: act.at + second / 2, does: 'cancelAtEnd' }] : [];
}

/** Some follow each other within hours. */
function actsFrom(drawing: Drawing): Act[] {
  const { startsAt, random } = drawing;
  const acts: Act[] = [];
  for (let count = random(8); count > 0; count--) {
    // A few milliseconds keep acts apart from what happens on a second.
    const anywhere = startsAt + hour + random(400 * 24 * 60) * minute + 7_000;
    const before = acts.at(-1);
    acts.push(actAt(before && random(3) === 0 ? before.at + random(20) * hour + minute : anywhere, drawing));
  }
  return acts;
}

function actAt(at: Micros, { zone, random, pick }: Drawing): Act {
  const does = pick(
    'pause',
    'pause',
    'resume',
    'cancelNow',
    'cancelAtEnd',
    'uncancel',
    'payerPays',
    'newCard',
    'consent',
    'consent',
    'forgive',
    'zone',
    'zone',
    'priceNext',
    'priceNow',
    'priceNow',
    'priceNow',
    'takeBack',
  );
  switch (does) {
    case 'pause': {
      const later = at + (1 + random(120)) * dayLong;
      // Periods start at midnight, if the zone is still the same.
      const resumesAt = pick(later, startOf(zone, localDay('UTC', later)));
      return { at, does, forgives: pick(true, false), ...(pick(true, true, false) ? { resumesAt } : {}) };
    }
    case 'zone':
      return { at, does, zone: pick(...zones) };
    case 'priceNext':
      return { at, does, price: 1 + random(20_000) };
    case 'priceNow': {
      const answer = pick('captured', 'captured', 'funds', 'newCard', 'unsent', 'atBank');
      const when = pick('now', 'now', 'auto', 'anchorNow');
      return { at, does, price: 1 + random(20_000), when, credit: pick('unused', 'unused', 'none'), answer };
    }
    case 'cancelNow':
      return {
        at,
        does,
        refund: refunds[Math.floor(at / minute) % refunds.length]!,
        failsRefund: Math.floor(at / (3 * minute)) % 3 === 0,
      };
    default:
      return { at, does };
  }
}

const refunds = ['none', 'unused', 'last'] as const;

/** A row, a charge and an end, in a form that both sides print. */
export type Story = {
  rows: {
    number: number;
    startsOn: Day;
    endsOn: Day;
    startsAt: Micros;
    endsAt: Micros;
    outcome: string;
    amount: number;
    credit: number;
  }[];
  charges: { number: number; at: Micros }[];
  /** What the saved card was charged for changes. */
  changes: { amount: number; at: Micros }[];
  /** The periods whose money the bank took back, each time. */
  losses: number[];
  /** What the end gave back of each payment, or tried to. */
  refunds: { amount: number; hasFailed: boolean }[];
  end: string;
  endedAt?: Micros;
  balance: number;
};
