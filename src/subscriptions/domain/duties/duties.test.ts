// What a payer is sent, and when their card is charged. The table is written from the duties of card networks, not from the code.
import { describe, expect, test } from 'vitest';
import { latest, laterBy, type Instant } from '../../../clock.ts';
import { defined } from '../../../defined.ts';
import type { Currency } from '../../../money.ts';
import type { Duties } from '../../../recurring/domain/settings.ts';
import type { Outcome } from '../../../refusal.ts';
import { decideChangeFromNextPeriod, decideChangeNow } from '../changes/change.ts';
import { decideChargeEnded, type ChargeEnding } from '../charge-outcome.ts';
import {
  decideCancel,
  decideCharge,
  decideCreate,
  decideForgive,
  decidePause,
  decideResume,
  decideWake,
} from '../commands.ts';
import { monthlyPolicy } from '../dunning/dunning.ts';
import {
  evolve,
  evolveAll,
  nextAction,
  type PeriodOutcome,
  type Subscription,
  type SubscriptionFact,
  type SubscriptionTerms,
} from '../subscription.ts';
import { actsOf } from '../payer-acts.ts';
import {
  decideDuty,
  dutyDue,
  holdUnannounced,
  nextDuty,
  pendingAnnouncements,
  unannounced,
  type Reach,
} from './duties.ts';
import { emailsFor } from './emails.ts';

const at = (text: string) => `${text}:00.000000Z` as Instant;
const start = at('2027-01-31T12:00');
const hour = 3_600_000;
const window = { from: '06:00', until: '06:01' };
const terms: SubscriptionTerms = {
  id: 'S',
  partyId: 'P',
  shopId: 'shop',
  customerId: 'C',
  createdAt: start,
  currency: 'RUB' as Currency,
  startsWith: 'savedCard',
  items: [{ product: 'Tea', quantity: 1n, priceMinor: 1_000n }],
  schedule: { every: { count: 1, unit: 'M' }, zone: 'UTC', chargeAt: window, anchor: 'atStart' },
  catchUp: 'current',
  dunning: { ...monthlyPolicy, byClass: {}, tries: [1, 3], at: window },
  trialWithoutCard: 'pause',
};

type Situation = {
  readonly schedule?: Partial<SubscriptionTerms['schedule']>;
  readonly duties?: Duties;
  readonly by?: Reach['by'];
  /** How long the mail server takes to accept an announcement, for each period. Infinite: it never does. */
  readonly acceptMs?: number | ((period: number) => number);
  /** How the bank ends each charge. All others are captured. */
  readonly endings?: readonly ChargeEnding[];
  readonly emailDays?: readonly number[];
  /** The price that the merchant schedules, and when. */
  readonly newPrice?: { readonly at: Instant; readonly minor: bigint };
  /** What others do, and when. */
  readonly acts?: readonly Act[];
  /** Mandate does not run. */
  readonly outage?: { readonly from: Instant; readonly until: Instant };
  readonly until: Instant;
};

type Decided = Outcome<readonly SubscriptionFact[], string> | readonly SubscriptionFact[];
type Act = { readonly at: Instant; readonly does: (subscription: Subscription, now: Instant) => Decided };

const declined = (declineClass: 'funds' | 'newCard' | 'configuration'): ChargeEnding => ({
  outcome: 'failed',
  declineClass,
});

/** Walks from one due time to the next, as the job does. */
class Walk {
  readonly emails: string[] = [];
  readonly charges: string[] = [];
  /** The numbers of the periods. */
  readonly announced: number[] = [];
  readonly outcomes: Record<number, PeriodOutcome> = {};
  ended: string | undefined;
  stops = 0;
  subscription: Subscription;
  #now = start;
  /** Announcements that the mail server has not accepted yet. */
  #mails: readonly { readonly number: number; readonly at: Instant }[] = [];
  #acts: readonly Act[];
  readonly #endings: ChargeEnding[];
  readonly #situation: Situation;

  constructor(situation: Situation) {
    this.#situation = situation;
    this.#endings = [...(situation.endings ?? [])];
    this.#acts = situation.acts ?? [];
    const schedule = { ...terms.schedule, ...situation.schedule };
    const dunning = { ...terms.dunning, ...defined({ emailDays: situation.emailDays }) };
    const made = decideCreate({ ...terms, schedule, dunning }, start);
    if (!made.ok) throw new Error(made.refusal.hint);
    const [created, ...others] = made.value;
    if (!created) throw new Error('Nothing was created.');
    this.subscription = evolve(undefined, created, start);
    this.#write(others);
    if (situation.duties) this.#write([{ type: 'duties_changed', duties: situation.duties }]);
    while (this.#step());
  }

  #step(): boolean {
    const { until, newPrice, outage } = this.#situation;
    const action = nextAction(this.subscription)?.at;
    const duty = nextDuty(this.subscription)?.at;
    const change =
      this.subscription.scheduledItems || this.subscription.knownPriceMinor ? undefined : newPrice?.at;
    const [mail] = this.#mails;
    const [act] = this.#acts;
    const [next] = [action, duty, change, mail?.at, act?.at].filter((time) => time !== undefined).toSorted();
    if (next === undefined || next > until) return false;
    if (this.stops++ > 1_000) throw new Error('The walk does not end.');
    this.#now = latest(this.#now, outage && next >= outage.from && next < outage.until ? outage.until : next);
    if (act && next === act.at) this.#act(act);
    else if (mail && next === mail.at) this.#accept(mail.number);
    else if (next === change && newPrice) this.#changePrice(newPrice.minor);
    else this.#run();
    return true;
  }

  #act({ does }: Act): void {
    this.#acts = this.#acts.slice(1);
    const decided = does(this.subscription, this.#now);
    if ('ok' in decided && !decided.ok) throw new Error(decided.refusal.code);
    this.#write('ok' in decided ? decided.value : decided);
  }

  #run(): void {
    const reach = { by: this.#situation.by ?? 'email', version: 1 } as const;
    const now = this.#now;
    const action = nextAction(this.subscription);
    if (!action || action.at > now) {
      const duty = dutyDue(this.subscription, now);
      return duty && this.#write(decideDuty(this.subscription, duty, now, reach));
    }
    const ids = { invoiceId: `I${this.stops}`, paymentId: `I${this.stops}.1` };
    const wished = decideWake(this.subscription, now, ids);
    const isHeld = unannounced(this.subscription, wished, now) !== undefined;
    const facts = isHeld ? holdUnannounced(this.subscription, wished, now, reach) : wished;
    this.#write(facts);
    const charge = facts.find((fact) => fact.type === 'charge_started');
    if (!charge) return;
    this.charges.push(`${charge.number} ${now.slice(0, 16)}${charge.isUnannounced ? ' unannounced' : ''}`);
    const ending = this.#endings.shift() ?? { outcome: 'captured' };
    this.#write(decideChargeEnded(this.subscription, charge, ending, now));
  }

  #accept(number: number): void {
    this.#mails = this.#mails.slice(1);
    const isAwaited = pendingAnnouncements(this.subscription).some((one) => one.number === number);
    if (isAwaited) this.#write([{ type: 'announcement_ended', number, as: 'accepted' }]);
  }

  #note(fact: SubscriptionFact): void {
    if (fact.type === 'subscription_ended') this.ended = `${fact.reason} ${this.#now.slice(0, 16)}`;
    if (fact.type === 'period_created') this.outcomes[fact.period.number] = fact.period.outcome;
    if (fact.type === 'period_paid') this.outcomes[fact.number] = 'paid';
    if (fact.type === 'period_closed') this.outcomes[fact.number] = fact.outcome;
    if (fact.type !== 'charge_announced') return;
    const { number, by } = fact.announcement;
    this.announced.push(number);
    const { acceptMs = 0 } = this.#situation;
    const takes = typeof acceptMs === 'number' ? acceptMs : acceptMs(number);
    if (by !== 'email' || takes === Infinity) return;
    const others = this.#mails.filter((mail) => mail.number !== number);
    const mail = { number, at: laterBy(this.#now, takes) };
    this.#mails = [...others, mail].toSorted((one, other) => (one.at < other.at ? -1 : 1));
  }

  #changePrice(priceMinor: bigint): void {
    const decided = decideChangeFromNextPeriod(this.subscription, [
      { product: 'Tea', quantity: 1n, priceMinor },
    ]);
    if (!decided.ok) throw new Error(decided.refusal.hint);
    this.#write(decided.value);
  }

  #write(facts: readonly SubscriptionFact[]): void {
    for (const { kind } of emailsFor(this.subscription, facts, this.#now))
      this.emails.push(`${kind} ${this.#now.slice(0, 16)}`);
    for (const fact of facts) this.#note(fact);
    this.subscription = evolveAll(this.subscription, facts, this.#now);
  }
}

const act = (time: string, does: Act['does']): Act => ({ at: at(time), does });
const pause: Act['does'] = (subscription, now) =>
  decidePause(subscription, { by: 'payer', openPeriods: 'keepTrying', invoiceId: 'unused' }, now);
const resume: Act['does'] = (subscription, now) => decideResume(subscription, { invoiceId: 'resumed' }, now);
const started = 'started 2027-01-31T12:00';
const first = '1 2027-01-31T12:00';
const trial = (trialDays: number) => ({ schedule: { trialDays } });
const every = (count: number, unit: 'W' | 'M' | 'Y') => ({ schedule: { every: { count, unit } } });

const table: readonly (readonly [string, Situation, string[], string[]])[] = [
  [
    'a month needs no announcement',
    { until: at('2027-03-01T00:00') },
    [started],
    [first, '2 2027-02-28T06:00'],
  ],
  [
    'a trial of 30 days ends 7 × 24 hours after its announcement',
    { ...trial(30), until: at('2027-03-03T00:00') },
    [started, 'announced 2027-02-23T00:00'],
    ['2 2027-03-02T06:00'],
  ],
  [
    'a trial of 8 days too',
    { ...trial(8), until: at('2027-02-09T00:00') },
    [started, 'announced 2027-02-01T00:00'],
    ['2 2027-02-08T06:00'],
  ],
  [
    'a trial of 7 days is announced by the confirmation at the start',
    { ...trial(7), until: at('2027-02-08T00:00') },
    [started],
    ['2 2027-02-07T06:00'],
  ],
  [
    'a trial before a first period with a price is announced once',
    {
      schedule: { trialDays: 14, anchor: { day: 17, firstPeriod: 'full' } },
      until: at('2027-02-18T00:00'),
    },
    [started, 'announced 2027-02-07T00:00'],
    ['2 2027-02-14T06:00', '3 2027-02-17T06:00'],
  ],
  [
    'a long trial before a short free period is announced 7 days before the first charge',
    { schedule: { trialDays: 14, anchor: { day: 17, firstPeriod: 'free' } }, until: at('2027-02-18T00:00') },
    [started, 'announced 2027-02-10T00:00'],
    ['3 2027-02-17T06:00'],
  ],
  [
    'a short trial before a short free period is a long one together with it',
    { schedule: { trialDays: 5, anchor: { day: 11, firstPeriod: 'free' } }, until: at('2027-02-12T00:00') },
    [started, 'announced 2027-02-04T00:00'],
    ['3 2027-02-11T06:00'],
  ],
  [
    'a week of both is announced by the confirmation at the start',
    { schedule: { trialDays: 3, anchor: { day: 7, firstPeriod: 'free' } }, until: at('2027-02-08T00:00') },
    [started],
    ['3 2027-02-07T06:00'],
  ],
  [
    'the end of a trial is announced before the first charge, also after a pause over a whole period',
    {
      ...trial(14),
      acts: [act('2027-02-05T00:00', pause), act('2027-03-20T00:00', resume)],
      until: at('2027-04-15T00:00'),
    },
    [started, 'announced 2027-03-20T00:00'],
    ['3 2027-03-27T00:00', '4 2027-04-14T06:00'],
  ],
  [
    'a charge that no bank has heard of has not ended the trial',
    {
      ...trial(14),
      endings: [{ outcome: 'refused', code: 'customerNotReady' }],
      acts: [act('2027-03-20T00:00', resume)],
      until: at('2027-04-15T00:00'),
    },
    [started, 'announced 2027-02-07T00:00', 'notCollected 2027-02-14T06:00', 'announced 2027-03-20T00:00'],
    ['2 2027-02-14T06:00', '3 2027-03-27T00:00', '4 2027-04-14T06:00'],
  ],
  [
    'a year is announced 7 days before',
    { ...every(1, 'Y'), until: at('2028-02-01T00:00') },
    [started, 'announced 2028-01-24T00:00'],
    [first, '2 2028-01-31T06:00'],
  ],
  [
    'six months are not less often than every six months',
    { ...every(6, 'M'), until: at('2027-08-01T00:00') },
    [started],
    [first, '2 2027-07-31T06:00'],
  ],
  [
    'seven months are',
    { ...every(7, 'M'), until: at('2027-09-01T00:00') },
    [started, 'announced 2027-08-24T00:00'],
    [first, '2 2027-08-31T06:00'],
  ],
  [
    'a shop that announces each charge 24 hours before',
    { duties: { announceEachHours: 24 }, until: at('2027-03-01T00:00') },
    [started, 'announced 2027-02-27T00:00'],
    [first, '2 2027-02-28T06:00'],
  ],
  [
    'a new price is announced 7 days before its first charge',
    { newPrice: { at: at('2027-02-03T00:00'), minor: 1_200n }, until: at('2027-04-01T00:00') },
    [started, 'announced 2027-02-21T00:00'],
    [first, '2 2027-02-28T06:00', '3 2027-03-31T06:00'],
  ],
  [
    'a new price that comes late moves the charge, and not the period after it',
    { newPrice: { at: at('2027-02-26T12:00'), minor: 1_200n }, until: at('2027-04-01T00:00') },
    [started, 'announced 2027-02-26T12:00'],
    [first, '2 2027-03-05T12:00', '3 2027-03-31T06:00'],
  ],
  [
    'the same price again needs no announcement',
    { newPrice: { at: at('2027-02-03T00:00'), minor: 1_000n }, until: at('2027-03-01T00:00') },
    [started],
    [first, '2 2027-02-28T06:00'],
  ],
  [
    'a mail server that accepts two days late moves the charge by what is missing',
    { ...trial(30), acceptMs: 48 * hour, until: at('2027-03-05T00:00') },
    [started, 'announced 2027-02-23T00:00'],
    ['2 2027-03-04T00:00'],
  ],
  [
    'a mail server that accepts after the trial moves the charge by all of it',
    { ...trial(30), acceptMs: 9 * 24 * hour, until: at('2027-03-12T00:00') },
    [started, 'announced 2027-02-23T00:00'],
    ['2 2027-03-11T00:00'],
  ],
  [
    'no charge is made while no mail server accepts the announcement',
    { ...trial(30), acceptMs: Infinity, until: at('2027-06-01T00:00') },
    [started, 'announced 2027-02-23T00:00'],
    [],
  ],
  [
    'no charge is made if the payer has no address',
    { ...trial(30), by: 'none', until: at('2027-06-01T00:00') },
    [started],
    [],
  ],
  [
    'a shop that charges unannounced has it in the fact',
    {
      ...trial(30),
      acceptMs: Infinity,
      duties: { chargeUnannounced: true },
      until: at('2027-03-03T00:00'),
    },
    [started, 'announced 2027-02-23T00:00'],
    ['2 2027-03-02T06:00 unannounced'],
  ],
  [
    'a decline is reported on its days, and not at each attempt',
    { endings: Array.from({ length: 9 }, () => declined('funds')), until: at('2027-03-20T00:00') },
    [
      started,
      'declined 2027-01-31T12:00',
      'reminder 2027-02-05T06:00',
      'reminder 2027-02-14T06:00',
      'lastWarning 2027-02-24T06:00',
      'notCollected 2027-02-26T12:00',
    ],
    [first, '1 2027-02-01T06:00', '1 2027-02-03T06:00'],
  ],
  [
    'emails continue for a card that is charged no more',
    { endings: [declined('newCard')], until: at('2027-02-20T00:00') },
    [started, 'declined 2027-01-31T12:00', 'reminder 2027-02-05T06:00', 'reminder 2027-02-14T06:00'],
    [first],
  ],
  [
    'a mistake of the merchant is no business of the payer',
    { endings: [declined('configuration')], until: at('2027-02-02T00:00') },
    [started],
    [first, '1 2027-02-01T12:00'],
  ],
  [
    'a recovered payment is reported once',
    { endings: [declined('funds')], until: at('2027-03-01T00:00') },
    [started, 'declined 2027-01-31T12:00', 'recovered 2027-02-01T06:00'],
    [first, '1 2027-02-01T06:00', '2 2027-02-28T06:00'],
  ],
  [
    'the end is reported',
    { schedule: { ends: { periods: 1 } }, until: at('2027-03-01T00:00') },
    [started, 'ended 2027-02-28T00:00'],
    [first],
  ],
];

describe('the duties towards the payer', () => {
  test.each(table)('%s', (_, situation, emails, charges) => {
    const walk = new Walk(situation);
    expect(walk.emails).toEqual(emails);
    expect(walk.charges).toEqual(charges);
  });

  test.each([
    [
      [1, 19],
      ['reminder 2027-02-01T06:00', 'lastWarning 2027-02-19T06:00', 'notCollected 2027-02-26T12:00'],
    ],
    [[10], ['lastWarning 2027-02-10T06:00', 'notCollected 2027-02-26T12:00']],
    [[], ['notCollected 2027-02-26T12:00']],
    [
      [0, 14, 5],
      [
        'declined 2027-01-31T12:00',
        'reminder 2027-02-05T06:00',
        'lastWarning 2027-02-14T06:00',
        'notCollected 2027-02-26T12:00',
      ],
    ],
  ])('on the email days %j', (emailDays, emails) => {
    const endings = Array.from({ length: 9 }, () => declined('funds'));
    const walk = new Walk({ emailDays, endings, until: at('2027-03-20T00:00') });
    expect(walk.emails).toEqual([started, ...emails]);
  });

  test('a recovery that no email came before has none', () => {
    const walk = new Walk({ emailDays: [10], endings: [declined('funds')], until: at('2027-02-27T00:00') });
    expect(walk.emails).toEqual([started]);
  });

  test('leave the dates of the period as they are', () => {
    const { subscription } = new Walk({ ...trial(30), by: 'none', until: at('2027-06-01T00:00') });
    expect(subscription.latest).toMatchObject({ number: 2, startsOn: '2027-03-02', endsOn: '2027-04-02' });
    expect(subscription.open).toMatchObject([{ number: 2, outcome: 'open' }]);
  });

  test('are looked at where something happens, and not every day', () => {
    const unreachable = new Walk({ ...trial(30), by: 'none', until: at('2028-01-31T00:00') });
    expect(unreachable.stops).toBeLessThanOrEqual(60);
    const announced = new Walk({ duties: { announceEachHours: 24 }, until: at('2028-01-30T23:00') });
    // A charge, the announcement of the next, and the mail server that accepts it.
    expect(announced.stops).toBe(3 * 12);
    expect(announced.charges).toHaveLength(12);
  });
});

describe('a charge that waits for its announcement', () => {
  const accepted = { type: 'announcement_ended', number: 2, as: 'accepted' } as const;
  const waiting = () =>
    new Walk({
      duties: { announceEachHours: 24 },
      acceptMs: Infinity,
      until: at('2027-02-28T06:30'),
    }).subscription;
  const now = at('2027-02-28T07:00');

  test('follows it', () => {
    const { open } = evolveAll(waiting(), [accepted], now);
    expect(open).toMatchObject([{ nextTryAt: '2027-03-01T07:00:00.000000Z' }]);
  });

  test('stays where the merchant has put it', () => {
    const wish = { number: 2, afterDays: 5, invoiceId: 'unused' };
    const put = decideCharge(waiting(), wish, now);
    if (!put.ok) throw new Error(put.refusal.hint);
    const { open } = evolveAll(waiting(), [...put.value, accepted], now);
    expect(open).toMatchObject([{ nextTryAt: '2027-03-05T06:00:54.000000Z' }]);
  });

  test('is not made after the payer has ended the subscription', () => {
    const ended = decideCancel(waiting(), { when: 'periodEnd', by: 'payer' });
    expect(ended.ok && ended.value).toEqual([
      { type: 'period_closed', number: 2, outcome: 'forgiven' },
      { type: 'subscription_ended', reason: 'payer' },
    ]);
  });

  test('is not made during a pause, and afterwards only if its period continues', () => {
    const paused = decidePause(waiting(), { by: 'payer', openPeriods: 'keepTrying', invoiceId: 'new' }, now);
    if (!paused.ok) throw new Error(paused.refusal.code);
    const after = evolveAll(waiting(), [...paused.value, accepted], now);
    expect(nextAction(after)).toBeUndefined();
    const resumed = (until: Instant) => {
      const facts = decideResume(after, { invoiceId: 'new' }, until);
      if (!facts.ok) throw new Error(facts.refusal.code);
      return evolveAll(after, facts.value, until);
    };
    expect(nextAction(resumed(at('2027-03-02T00:00')))).toMatchObject({ does: 'charge', number: 2 });
    const { open, latest: last } = resumed(at('2027-04-10T00:00'));
    expect(open.map(({ number }) => number)).toEqual([3]);
    expect(last).toMatchObject({ number: 3, outcome: 'open' });
  });

  test('has its own announcement while the next period of a stack has another', () => {
    const stack = { type: 'dunning_policy_changed', policy: { ...terms.dunning, stack: true } } as const;
    const walk = new Walk({
      duties: { announceEachHours: 24 },
      acceptMs: (period) => (period === 2 ? 40 * 24 * hour : 0),
      acts: [{ at: at('2027-02-01T00:00'), does: () => [stack] }],
      until: at('2027-04-20T00:00'),
    });
    expect(walk.announced).toEqual([2, 3]);
    expect(walk.emails.slice(1)).toEqual(['announced 2027-02-27T00:00', 'announced 2027-03-30T00:00']);
    expect(walk.charges).toEqual([first, '2 2027-04-09T00:00', '3 2027-04-10T06:00']);
  });
});

describe('credit for a charge that waits for its announcement', () => {
  const change: Act['does'] = (subscription, now) =>
    decideChangeNow(
      subscription,
      { items: [{ product: 'Tea', quantity: 1n, priceMinor: 600n }], invoiceId: 'unused' },
      now,
    );
  const end: Act['does'] = (subscription) => decideCancel(subscription, { by: 'payer', when: 'periodEnd' });
  const forgive: Act['does'] = (subscription, now) => decideForgive(subscription, 2, now);
  const life = (...acts: (readonly [string, Act['does']])[]) =>
    new Walk({
      acceptMs: Infinity,
      acts: [['2027-02-14T00:00', change] as const, ...acts].map((one) => act(...one)),
      until: at('2027-03-02T00:00'),
    }).subscription;

  test('pays a part of it', () => {
    const { open, creditMinor, paidMinor } = life();
    expect(open).toMatchObject([{ number: 2, amountMinor: 400n, creditMinor: 200n, isUnannounced: true }]);
    expect([creditMinor, paidMinor]).toEqual([0n, 200n]);
  });

  test('is there again for the period after a pause that covers it', () => {
    const paused = life(['2027-03-01T00:00', pause]);
    const { value } = resume(paused, at('2027-04-10T00:00')) as { value: readonly SubscriptionFact[] };
    const { latest: last, creditMinor } = evolveAll(paused, value, at('2027-04-10T00:00'));
    expect(last).toMatchObject({ number: 3, amountMinor: 200n, creditMinor: 200n });
    expect(creditMinor).toBe(0n);
  });

  test.each([
    ['the merchant forgives it', forgive],
    ['the payer ends the subscription', end],
  ])('is there again when %s', (_, does) => {
    const after = life(['2027-03-01T00:00', does]);
    expect([after.open, after.latest?.outcome, after.creditMinor, after.paidMinor]).toEqual([
      [],
      'forgiven',
      200n,
      0n,
    ]);
  });
});

describe('the announcement of a charge', () => {
  const duties = { announceEachHours: 24 };
  const outage = { from: at('2027-02-20T00:00'), until: at('2027-04-01T00:00') };
  const charges = (period: number, time: string): Act => ({
    at: at(time),
    does: (subscription, now) =>
      decideCharge(subscription, { number: period, afterDays: 0, invoiceId: 'missed' }, now),
  });

  test.each([
    [
      'that was accepted',
      0,
      '2027-04-29T12:00',
      ['3 2027-04-02T00:00', '2 2027-04-30T12:00', '4 2027-05-01T06:00'],
    ],
    [
      'that is accepted later',
      6 * hour,
      '2027-04-29T03:00',
      ['3 2027-04-02T06:00', '2 2027-04-30T09:00', '4 2027-05-01T06:00'],
    ],
  ])('%s counts also after a missed period was announced', (_, acceptMs, time, expected) => {
    const acts = [charges(2, time)];
    const walk = new Walk({ duties, acceptMs, outage, acts, until: at('2027-05-03T00:00') });
    expect(walk.announced).toEqual([3, 4, 2]);
    expect(walk.charges).toEqual([first, ...expected]);
  });

  test('of a period that was missed is made again when it is charged after all', () => {
    const asleep = { from: at('2027-02-28T00:00'), until: at('2027-04-01T00:00') };
    const acts = [charges(2, '2027-04-10T00:00')];
    const walk = new Walk({ duties, outage: asleep, acts, until: at('2027-04-20T00:00') });
    expect(walk.announced).toEqual([2, 3, 2]);
    expect(walk.charges).toEqual([first, '3 2027-04-02T00:00', '2 2027-04-11T00:00']);
  });

  test('holds at the price of its period, also when the next one has another', () => {
    const items = [{ product: 'Tea', quantity: 1n, priceMinor: 1_200n }];
    const raise = {
      at: at('2027-02-28T12:00'),
      does: (so: Subscription) => decideChangeFromNextPeriod(so, items),
    };
    const walk = new Walk({ duties, acceptMs: 48 * hour, acts: [raise], until: at('2027-04-10T00:00') });
    expect(walk.announced).toEqual([2, 3]);
    expect(walk.charges).toEqual([first, '2 2027-03-02T00:00', '3 2027-04-02T00:00']);
  });

  test('of the next price is known, also when an older period is announced after it', () => {
    const items = [{ product: 'Tea', quantity: 1n, priceMinor: 1_200n }];
    const raise = {
      at: at('2027-04-10T00:00'),
      does: (so: Subscription) => decideChangeFromNextPeriod(so, items),
    };
    const acts = [raise, charges(2, '2027-04-28T00:00')];
    const walk = new Walk({ duties, outage, acts, until: at('2027-06-01T00:00') });
    expect(walk.announced).toEqual([3, 4, 2, 5]);
    expect(walk.charges.slice(1)).toEqual([
      '3 2027-04-02T00:00',
      '2 2027-04-29T00:00',
      '4 2027-04-30T06:00',
      '5 2027-05-31T06:00',
    ]);
  });
});

// Written from the rules: a period that began before the end stays due, unless the subscription ends at once. The payer was promised
// that they can still prevent a charge that waits for its announcement, also if the merchant has moved it.
describe('an end around a charge that needs an announcement', () => {
  const end =
    (by: 'payer' | 'merchant', when: 'now' | 'periodEnd'): Act['does'] =>
    (subscription) =>
      decideCancel(subscription, { by, when });
  const putOff: Act['does'] = (subscription, now) =>
    decideCharge(subscription, { number: 2, afterDays: 5, invoiceId: 'unused' }, now);
  const pauseUntil =
    (resumesAt: Instant): Act['does'] =>
    (subscription, now) =>
      decidePause(
        subscription,
        { by: 'payer', openPeriods: 'keepTrying', invoiceId: 'unused', resumesAt },
        now,
      );
  type Row = readonly [
    string,
    Partial<Situation>,
    readonly Act[],
    string[],
    PeriodOutcome | undefined,
    string | undefined,
  ];
  const [payerEnds, merchantEnds] = [end('payer', 'periodEnd'), end('merchant', 'periodEnd')];
  const [morning, evening] = ['2027-02-28T08:00', '2027-02-28T18:00'];
  // Accepted on 28 February at noon, so the charge waits until 1 March at noon.
  const slow = { acceptMs: 36 * hour };
  const failing = { endings: [{ outcome: 'captured' } as const, declined('funds')] };
  const moved = act('2027-02-28T07:00', putOff);

  const rows: readonly Row[] = [
    // Announced, not begun.
    ['payer, announced', {}, [act('2027-02-27T12:00', payerEnds)], [], undefined, 'payer 2027-02-28T00:00'],
    [
      'merchant, announced',
      {},
      [act('2027-02-27T12:00', merchantEnds)],
      [],
      undefined,
      'merchant 2027-02-28T00:00',
    ],
    // Held.
    ['payer, not accepted yet', slow, [act(morning, payerEnds)], [], 'forgiven', `payer ${morning}`],
    ['payer, accepted late', slow, [act(evening, payerEnds)], [], 'forgiven', `payer ${evening}`],
    ['payer, unreachable', { by: 'none' }, [act(morning, payerEnds)], [], 'forgiven', `payer ${morning}`],
    [
      'payer, moved by the merchant',
      slow,
      [moved, act(morning, payerEnds)],
      [],
      'forgiven',
      `payer ${morning}`,
    ],
    [
      'payer, moved and accepted',
      slow,
      [moved, act('2027-03-03T00:00', payerEnds)],
      [],
      'forgiven',
      'payer 2027-03-03T00:00',
    ],
    [
      'payer, after the merchant',
      slow,
      [act(morning, merchantEnds), act(evening, payerEnds)],
      [],
      'forgiven',
      `payer ${evening}`,
    ],
    [
      'merchant, not accepted yet',
      slow,
      [act(morning, merchantEnds)],
      ['2 2027-03-01T12:00'],
      'paid',
      'merchant 2027-03-31T00:00',
    ],
    [
      'merchant, accepted late',
      slow,
      [act(evening, merchantEnds)],
      ['2 2027-03-01T12:00'],
      'paid',
      'merchant 2027-03-31T00:00',
    ],
    [
      'merchant, moved by them',
      slow,
      [moved, act(morning, merchantEnds)],
      ['2 2027-03-05T06:00'],
      'paid',
      'merchant 2027-03-31T00:00',
    ],
    ['merchant, unreachable', { by: 'none' }, [act(morning, merchantEnds)], [], 'open', undefined],
    ['payer, at once', slow, [act(morning, end('payer', 'now'))], [], 'unpaid', `payer ${morning}`],
    ['merchant, at once', slow, [act(morning, end('merchant', 'now'))], [], 'unpaid', `merchant ${morning}`],
    // Held, and paused.
    [
      'payer, paused',
      slow,
      [act(morning, pause), act(evening, payerEnds)],
      [],
      'forgiven',
      `payer ${evening}`,
    ],
    [
      'merchant, paused',
      slow,
      [act(morning, pause), act(evening, merchantEnds)],
      [],
      'forgiven',
      'merchant 2027-03-31T00:00',
    ],
    [
      'merchant, paused for a while',
      slow,
      [act(morning, pauseUntil(at('2027-03-10T00:00'))), act(evening, merchantEnds)],
      ['2 2027-03-10T00:00'],
      'paid',
      'merchant 2027-03-31T00:00',
    ],
    [
      'without an end, moved and paused for a while',
      slow,
      [moved, act(morning, pauseUntil(at('2027-03-20T00:00')))],
      ['2 2027-03-20T00:00', '3 2027-04-01T12:00'],
      'paid',
      undefined,
    ],
    // The first charge was made.
    [
      'payer, failing',
      failing,
      [act(morning, payerEnds)],
      ['2 2027-02-28T06:00', '2 2027-03-01T06:00'],
      'paid',
      'payer 2027-03-31T00:00',
    ],
    [
      'merchant, failing',
      failing,
      [act(morning, merchantEnds)],
      ['2 2027-02-28T06:00', '2 2027-03-01T06:00'],
      'paid',
      'merchant 2027-03-31T00:00',
    ],
  ];

  test.each(rows)('%s', (_, situation, acts, charges, outcome, ended) => {
    const walk = new Walk({
      duties: { announceEachHours: 24 },
      ...situation,
      acts,
      until: at('2027-04-02T00:00'),
    });
    expect(walk.charges.slice(1)).toEqual(charges);
    expect(walk.outcomes[2]).toBe(outcome);
    expect(walk.ended).toBe(ended);
  });

  test('leaves a missed period that is held, unless the payer ends', () => {
    const outage = { from: at('2027-02-20T00:00'), until: at('2027-04-01T00:00') };
    const charge: Act['does'] = (subscription, now) =>
      decideCharge(subscription, { number: 2, afterDays: 0, invoiceId: 'missed' }, now);
    const walk = (ends: Act['does']) => {
      const acts = [act('2027-04-10T00:00', charge), act('2027-04-10T06:00', ends)];
      return new Walk({ duties: { announceEachHours: 24 }, outage, acts, until: at('2027-05-02T00:00') });
    };
    const [byPayer, byMerchant] = [walk(payerEnds), walk(merchantEnds)];
    expect([byPayer.outcomes, byPayer.ended]).toEqual([
      { 1: 'paid', 2: 'forgiven', 3: 'paid' },
      'payer 2027-04-30T00:00',
    ]);
    expect([byMerchant.outcomes, byMerchant.ended]).toEqual([
      { 1: 'paid', 2: 'paid', 3: 'paid' },
      'merchant 2027-04-30T00:00',
    ]);
  });

  test('is offered to the payer also after the merchant has planned one', () => {
    const acts = [act(morning, merchantEnds)];
    const { subscription } = new Walk({
      duties: { announceEachHours: 24 },
      acceptMs: Infinity,
      acts,
      until: at(evening),
    });
    const may = { pause: true, changeCard: true };
    expect(actsOf(subscription, may, at(evening))).toContain('end');
  });
});
