// A subscription by its log and by what was agreed: which period has to come next, and when it may be charged. A pause, an end and a
// payment forbid a charge.
import type { EventRow, Fact } from '../rows.ts';
import { dateIn } from '../states/local-days.ts';
import { Changes, type Item } from './changes.ts';
import { datesOf, startOfDate, timeIn, type Agreed, type Dates } from './dates.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** What one step creates of the periods that are due. The last of so many is followed by others. */
const mostAtOnce = 100;
/** Later than that, `none` charges no period. */
const tooLateMs = 72 * hourMs;

export type Period = Dates & {
  readonly number: number;
  readonly startsAt: string;
  readonly endsAt: string;
  readonly dueAt: string;
  readonly amountMinor: number;
  readonly creditMinor: number;
  readonly invoiceId?: string;
  readonly outcome: string;
};
type Terms = {
  readonly items: readonly Item[];
  readonly schedule: Agreed & { readonly anchor: 'atStart' | { readonly firstPeriod?: string } };
  readonly createdAt: string;
  readonly customerId?: string;
  readonly startsWith: string;
  readonly firstInvoice?: { readonly id: string };
  readonly firstPeriod?: { readonly number: number; readonly startsOn: string };
  readonly catchUp: string;
  readonly dunning: Policy;
};
type Policy = { readonly windowDays: number; readonly stack?: boolean };
/** What failed of a period, and the version of the policy that it began with. */
type Case = { readonly firstFailedAt: string; policy: Policy };
/** A period, and what its charges have come to. */
type Announcement = { readonly number: number; readonly leadMs: number };
export type Told = Period & {
  charging?: string;
  nextTryAt?: string;
  endsTriesAt?: string;
  /** Of its last failure. */
  failed?: { readonly at: string; readonly class: unknown };
};
/** A try that a new consent has to explain: one from after the failure, and known when the try was decided. */
export type ConsentedTry = { readonly what: string; readonly failedAt: string; readonly at: string };
/** What is left of a period at the end of a pause. */
type Rest = {
  readonly pauseEndedAt: string;
  readonly dueAt: string;
  readonly part: readonly [number, number];
};
type StartedPeriod = {
  readonly period: number;
  readonly invoiceId?: string;
  readonly newPeriod?: { readonly startsOn: string; readonly startsAt: string };
};
type Costing = { readonly part: Rest['part'] | undefined; readonly isPaidFor: boolean };
type Batch = { readonly at: string; readonly facts: readonly Fact[] };

const outcomesOf = { open: 'open', paid: 'paid' } as const;
/** Time heals none of them. The last three are refusals by what the payer has agreed to, or by an earlier stop. */
const healedByConsent = new Set([
  'newCard',
  'payerPresent',
  'stopped',
  'recurrentAmountAboveConsent',
  'recurrentStopped',
  'recurrentCardExpired',
]);
const isUnsettled = ({ outcome }: Told) => outcome === 'open' || outcome === 'unpaid';

export class Life {
  readonly problems: string[] = [];
  readonly periods = new Map<number, Told>();
  phase = 'absent';
  isParked = false;
  terms!: Terms;
  startedAt?: string;
  zone = '';
  #policy!: Policy;
  readonly #cases = new Map<number, Case>();
  paidThrough: string | undefined;
  lastNumber = Infinity;
  resumesAt: string | undefined;
  /** A charge, or what the payer paid of their own accord, and the period that it was for. */
  lastMoney?: { readonly at: string; readonly number: number };
  /** When charging last ended, and who ended it. */
  #stopped: { readonly at: string; readonly by: string } | undefined;
  #announcement: Announcement | undefined;
  /** What starts earlier is of a time that is not charged. */
  #chargedFrom = '';
  /** The day from which dates are counted: of a period that a change starts, or since the end of a pause, which has a time. */
  #anchor: { readonly day: string; readonly number: number; readonly resumedAt?: string } | undefined;
  readonly changes = new Changes((problem) => this.problems.push(problem));
  readonly #payments = new Set<string>();
  /** Refunds that the end has started, and that have not failed. */
  readonly refunding = new Set<string>();
  readonly consented: ConsentedTry[] = [];
  /** Those that its periods and changes have asked for. */
  readonly invoices = new Set<string>();

  constructor(log: readonly EventRow[]) {
    for (const batch of batchesOf(log)) this.#take(batch);
  }

  get latest(): Told | undefined {
    return [...this.periods.values()].at(-1);
  }

  /** Periods are asked for next to each other. */
  get isStacking(): boolean {
    return this.#policy.stack === true;
  }

  get unsettled(): Told[] {
    return [...this.periods.values()].filter((period) => this.#isOpen.has(period.number));
  }

  /** The dates of a period by what was agreed; undefined where none comes any more. */
  datesOf(number: number): Dates | undefined {
    if (number > this.lastNumber || this.startedAt === undefined) return undefined;
    const { schedule, firstPeriod } = this.terms;
    const { day = '', number: first = Infinity } = this.#anchor ?? {};
    if (number >= first)
      return datesOf({ ...schedule, anchor: 'atStart', trialDays: 0 }, day, number - first);
    const start = firstPeriod?.startsOn ?? dateIn(schedule.zone, Date.parse(this.startedAt));
    return datesOf(schedule, start, number - (firstPeriod?.number ?? 1));
  }

  /** When the next period is surely due; undefined where none comes. */
  surelyDue(): number | undefined {
    const { latest } = this;
    const dates = this.datesOf(latest ? latest.number + 1 : (this.terms.firstPeriod?.number ?? 1));
    if (!dates) return undefined;
    return this.#surelyDueAt(dates, latest?.endsAt);
  }

  #surelyDueAt({ startsOn }: Dates, endOfLast: string | undefined): number {
    const { until } = this.terms.schedule.chargeAt;
    const [hours = 0, minutes = 0] = until.split(':').map(Number);
    const [at, start] = [startOfDate(this.zone, startsOn), Date.parse(endOfLast ?? '1970-01-01')];
    // On the day on which clocks change, an hour more.
    return Math.max(start, at + (hours + 1) * hourMs + minutes * 60_000);
  }

  readonly #isOpen = new Set<number>();

  #take({ at, facts }: Batch): void {
    const before = this.phase;
    for (const fact of facts) {
      const says = this.#says[fact.type];
      if (says === undefined) this.problems.push(`${fact.type} is not a known fact`);
      else if (before === 'ended' && !afterTheEnd.has(fact.type) && !isOfChange(fact, facts))
        this.problems.push(`it has ended, and then ${fact.type}`);
      else says(fact, at, facts, before);
    }
    this.#closeTime(before, at);
    this.#lookForLater(facts, at);
  }

  readonly #says: Readonly<
    Record<string, (fact: Fact, at: string, together: readonly Fact[], before: string) => void>
  > = {
    subscription_created: (fact) => {
      this.terms = fact['terms'] as Terms;
      this.changes.agreed(this.terms.items);
      this.zone = this.terms.schedule.zone;
      this.#policy = this.terms.dunning;
      this.phase = 'incomplete';
      if (this.terms.firstInvoice) this.invoices.add(this.terms.firstInvoice.id);
    },
    subscription_started: (_, at, together) => {
      this.#startedBy(createdIn(together)[0]);
      this.startedAt = at;
      this.phase = 'running';
    },
    period_created: (fact, at, together, before) => this.#created(fact, at, together, before),
    charge_started: (fact, at) => this.#charged(fact, at),
    charge_postponed: (fact, at, together) => {
      if (fact['why'] === 'newConsent') return this.#consented(fact, at, String(fact['until']));
      const period = this.#tried(fact, fact['until'], together);
      if (fact['until'] === undefined && period?.failed) period.failed = { ...period.failed, at };
    },
    charge_failed: (fact, at, together) => {
      const period = this.#tried(fact, fact['nextTryAt'], together);
      if (!period) return;
      period.failed = { at, class: fact['declineClass'] };
      if (fact['declineClass'] !== 'configuration' && !this.#cases.has(period.number))
        this.#cases.set(period.number, { firstFailedAt: at, policy: this.#policy });
      this.#endTries(period, fact['givesUpAt']);
    },
    try_requested: (fact, at) =>
      fact['isConsent'] === true ? this.#consented(fact, at, at) : void this.#tried(fact, at, undefined),
    missed_period_charged: (fact, at) => {
      const period = this.#named(fact);
      this.#cases.delete(Number(fact['number']));
      if (period?.outcome !== 'missed') this.problems.push(`period ${period?.number} was not missed`);
      if (!period) return;
      this.periods.set(period.number, {
        ...period,
        outcome: 'open',
        invoiceId: String(fact['invoiceId']),
        nextTryAt: at,
      });
      this.#isOpen.add(period.number);
      this.invoices.add(String(fact['invoiceId']));
    },
    period_paid: (fact, at) => {
      const period = this.#close(fact, outcomesOf.paid);
      if (period) this.changes.paid(period.amountMinor, period.number, this.latest?.number);
      if (fact['by'] === 'charge' && period?.charging === undefined)
        this.problems.push(`period ${period?.number} is paid by a charge that was not made`);
      if (period) this.#paidFor(period);
      if (fact['by'] === 'payer') this.lastMoney = { at, number: Number(fact['number']) };
      if (this.phase === 'unpaid') this.phase = 'running';
    },
    period_closed: (fact) => {
      const period = this.#close(fact, String(fact['outcome']));
      if (period) this.changes.closed(period.number, this.latest?.number ?? 0);
      if (this.phase === 'unpaid') this.phase = 'running';
    },
    payment_taken_back: (fact) => {
      const { number, outcome } = fact['period'] as Period;
      const period = this.periods.get(number);
      if (period?.outcome !== 'paid') return void this.problems.push(`period ${number} was not paid`);
      this.periods.set(number, { ...period, outcome });
      this.changes.lost(period.amountMinor, number, this.latest?.number);
      const paid = [...this.periods.values()].filter((one) => one.outcome === 'paid');
      this.paidThrough = paid
        .map(({ endsAt }) => endsAt)
        .toSorted()
        .at(-1);
      if (outcome !== (this.phase === 'ended' ? 'unpaid' : 'missed'))
        this.problems.push(`period ${number} is ${outcome} after its payment was taken back`);
    },
    subscription_unpaid: (fact, at) => {
      const period = this.#named(fact);
      if (period) {
        this.#endTries({ ...period, outcome: 'unpaid' }, undefined);
        this.#tried(fact, undefined, []);
      }
      this.#stop('unpaid', at, 'failures');
    },
    subscription_paused: (fact, at) => {
      this.resumesAt = fact['resumesAt'] as string | undefined;
      this.#stop('paused', at, String(fact['by']));
    },
    subscription_resumed: () => void (this.phase = 'running'),
    end_scheduled: (fact) => void (this.lastNumber = Number(fact['afterNumber'])),
    payer_reason_given: () => {},
    end_refund_started: (fact) => void this.refunding.add(refundIn(fact)),
    end_refund_refused: () => {},
    end_refund_failed: (fact) => {
      if (!this.refunding.delete(refundIn(fact)))
        this.problems.push(`refund ${refundIn(fact)} failed, and it was not started or failed before`);
    },
    end_taken_back: () => void (this.lastNumber = Infinity),
    subscription_ended: () => void (this.phase = 'ended'),
    items_scheduled: (fact) => this.changes.scheduled(fact['items'] as Item[]),
    items_unscheduled: () => this.changes.scheduled(undefined),
    change_started: (fact, at) => {
      this.changes.started(fact, at, this.latest, this.#costsOfFirst());
      this.#isAskedFor(fact['change'] as StartedPeriod, at);
      this.invoices.add(this.changes.pending?.invoiceId ?? '');
    },
    change_charge_started: (fact, at) => {
      if (this.isParked || this.phase !== 'running')
        this.problems.push('a change is charged while it is not running');
      const { isOver, failed, retryAt, payableUntil = '' } = this.changes.pending ?? {};
      if (isOver && retryAt === undefined)
        this.#mayTry('the change', failed, { at, until: at, end: payableUntil });
      this.changes.charged(String(fact['paymentId']), at);
      this.lastMoney = { at, number: this.changes.pending?.period ?? 0 };
    },
    change_charge_failed: (fact, at) => this.changes.failed(fact, at),
    change_dropped: () => this.changes.dropped(),
    items_changed: (fact, at) => {
      if (!this.changes.pending) this.#isAskedFor(fact['change'] as StartedPeriod, at);
      this.changes.changed(fact, at, this.latest, this.#costsOfFirst());
      this.#startToday(fact['change'] as StartedPeriod, at);
    },
    anchor_shifted: (fact, at, together) => {
      if (together.some(({ type }) => type === 'items_changed')) this.#isCountedFromNewPeriod(fact);
      else this.#startsAgain(at);
    },
    change_payment_taken_back: (fact) => {
      this.changes.changeLost(
        Number(fact['amountMinor']),
        Number(fact['ofPeriod']),
        this.latest?.number ?? 0,
      );
    },
    dunning_policy_changed: (fact) => {
      this.#policy = fact['policy'] as Policy;
      for (const moved of (fact['moved'] ?? []) as readonly Fact[]) {
        const period = this.#tried(moved, moved['nextTryAt'], undefined);
        const failing = this.#cases.get(Number(moved['number']));
        if (failing) failing.policy = this.#policy;
        else this.problems.push(`period ${String(moved['number'])} has not failed, and is moved`);
        if (period) this.#endTries(period, moved['givesUpAt']);
      }
    },
    details_changed: ({ catchUp, endsOn }) => {
      const { schedule } = this.terms;
      if (typeof catchUp === 'string') this.terms = { ...this.terms, catchUp };
      if (typeof endsOn === 'string')
        this.terms = { ...this.terms, schedule: { ...schedule, ends: { before: endsOn } } };
    },
    zone_changed: (fact) => void (this.zone = String(fact['zone'])),
    subscription_parked: () => void (this.isParked = true),
    subscription_unparked: () => void (this.isParked = false),
    charge_announced: (fact) => void (this.#announcement = fact['announcement'] as Announcement),
    payer_reminded: () => {},
    duties_changed: () => {},
    announcement_ended: (fact, at) => this.#announced(fact, at),
  };

  /** A payment of the payer has paid the first period, and no other invoice asks for it. */
  #startedBy(first: Period | undefined): void {
    const { firstInvoice } = this.terms;
    if (!firstInvoice || (first?.outcome === 'paid' && first.invoiceId === firstInvoice.id)) return;
    this.problems.push('it starts with a payment, and that is not the one of its first period');
  }

  #costsOfFirst(): string {
    const { anchor } = this.terms.schedule;
    return anchor === 'atStart' ? 'full' : (anchor.firstPeriod ?? 'free');
  }

  /** A charge that waits for its announcement follows it in time. */
  #announced({ number, as }: Fact, at: string): void {
    const { number: announced, leadMs } = this.#announcement ?? {};
    const period = this.periods.get(Number(number));
    if (as !== 'accepted' || announced !== number || leadMs === undefined) return;
    if (period?.outcome !== 'open' || period.nextTryAt === undefined || period.endsTriesAt) return;
    const follows = instantOf(new Date(Date.parse(at) + leadMs).toISOString());
    const nextTryAt = follows > period.dueAt ? follows : period.dueAt;
    this.periods.set(period.number, { ...period, nextTryAt });
  }

  #stop(phase: string, at: string, by: string): void {
    this.phase = phase;
    this.#stopped ??= { at, by };
  }

  /** Charging continues: what started in the meantime is over. */
  #closeTime(before: string, at: string): void {
    if (this.phase === before || this.phase !== 'running') return;
    if (before === 'paused') this.#chargedFrom = earlier(this.resumesAt, at);
    // A whole period starts with the day.
    if (this.#anchor?.resumedAt === at)
      this.#chargedFrom = instantOf(new Date(startOfDate(this.zone, this.#anchor.day)).toISOString());
    if (before === 'unpaid') this.#chargedFrom = at;
    this.resumesAt = undefined;
    this.#stopped = undefined;
  }

  /** A new period starts with the day of its request in the zone, or with that of a preview of the hour before. */
  #isAskedFor({ newPeriod }: StartedPeriod, at: string): void {
    if (!newPeriod) return;
    const { startsOn, startsAt } = newPeriod;
    const [today, before] = [0, hourMs].map((ms) => dateIn(this.zone, Date.parse(at) - ms));
    const wrong = (what: string) => this.problems.push(`the period that starts on ${startsOn} ${what}`);
    if (startsOn !== today && startsOn !== before) wrong(`is asked for on ${today}`);
    if (Date.parse(startsAt) !== startOfDate(this.zone, startsOn)) wrong(`starts at ${startsAt}`);
  }

  /** The period ends on an earlier day, at its midnight, and the next one is counted from there. */
  #startToday({ period, newPeriod }: StartedPeriod, at: string): void {
    const { latest } = this;
    if (!newPeriod || !latest) return;
    const { startsOn, startsAt } = newPeriod;
    const wrong = (what: string) => this.problems.push(`the period that starts on ${startsOn} ${what}`);
    if (period !== latest.number) wrong(`follows ${period}, and the latest is ${latest.number}`);
    if (startsOn <= latest.startsOn || startsOn > latest.endsOn)
      wrong(`is not within period ${latest.number}`);
    if (Date.parse(startsAt) > Date.parse(at)) wrong(`starts at ${startsAt}, after ${at}`);
    if (this.terms.schedule.ends?.periods !== undefined) wrong('changes dates that are fixed');
    this.periods.set(period, { ...latest, endsOn: startsOn, endsAt: startsAt });
    this.#anchor = { number: period + 1, day: startsOn };
  }

  #isCountedFromNewPeriod(fact: Fact): void {
    const { anchor, anchorNumber } = fact['schedule'] as { anchor: string; anchorNumber: number };
    if (anchor !== this.#anchor?.day || anchorNumber !== this.#anchor.number)
      this.problems.push(`periods are counted from ${anchor} on, and nothing has started then`);
  }

  #startsAgain(at: string): void {
    const { endsOn, number = 0 } = this.latest ?? {};
    const day = dateIn(this.zone, Date.parse(at));
    if (endsOn !== day)
      this.problems.push(`its dates start again on ${day}, and its last period ends on ${endsOn}`);
    if (this.#isOpen.size > 0) this.problems.push(`its dates start again on ${day}, and a period is open`);
    this.#anchor = { day, number: number + 1, resumedAt: at };
  }

  #created(fact: Fact, at: string, together: readonly Fact[], before: string): void {
    const period = fact['period'] as Period;
    const { number, outcome } = period;
    const { latest } = this;
    const wrong = (what: string) => this.problems.push(`period ${number} ${what}`);
    const expected = latest ? latest.number + 1 : (this.terms.firstPeriod?.number ?? 1);
    if (number !== expected) wrong(`comes where ${expected} has to`);
    // What is skipped before a new anchor ends with it.
    const isCut = outcome === 'skipped' && together.some(({ type }) => type === 'anchor_shifted');
    const agreed = this.datesOf(number);
    const dates = agreed && isCut ? { ...agreed, endsOn: earlier(agreed.endsOn, period.endsOn) } : agreed;
    if (!dates) wrong('comes after the last one');
    else if (textOf(dates) !== textOf(period)) wrong(`is ${textOf(period)}, and agreed is ${textOf(dates)}`);
    const rest = this.#restOf(period, at, together, before);
    this.#timed({ ...period, ...rest }, latest, wrong);
    if (outcome === 'open' || outcome === 'missed')
      this.#mayBeDue(period, at, { together, before, rest }, wrong);
    if (outcome === 'skipped') this.#maySkip(period, at, before, wrong);
    this.changes.created(period, latest);
    const part = isCut && agreed && period.endsOn < agreed.endsOn ? ([0, 1] as const) : rest?.part;
    this.#costs(period, wrong, { part, isPaidFor: isOfChange(fact, together) });
    this.periods.set(number, { ...period, ...(outcome === 'open' ? { nextTryAt: period.dueAt } : {}) });
    if (outcome === 'paid') this.#paidFor(period);
    if (period.invoiceId !== undefined) this.invoices.add(period.invoiceId);
    if (outcome !== 'open') return;
    if (this.#isOpen.size > 0 && !this.isStacking) wrong('is asked for next to another');
    this.#isOpen.add(number);
  }

  /** A period that continues when a pause ends: what is asked for is due then, and costs what is left of it, by whole seconds. */
  #restOf(
    { startsAt, endsAt, dueAt }: Period,
    at: string,
    together: readonly Fact[],
    before: string,
  ): Rest | undefined {
    const continues = together.some(({ type }) => type === 'subscription_resumed');
    if (before !== 'paused' || !continues) return undefined;
    const until = earlier(this.resumesAt, at);
    if (startsAt >= until || endsAt <= until) return undefined;
    const [from, to, now] = [startsAt, endsAt, until].map((time) => Math.floor(Date.parse(time) / 1_000));
    return { pauseEndedAt: until, dueAt, part: [to! - now!, to! - from!] };
  }

  #timed(period: Period & Partial<Rest>, latest: Told | undefined, wrong: (what: string) => void): void {
    const { startsOn, endsOn, startsAt, endsAt, dueAt, pauseEndedAt } = period;
    const { zone } = this;
    const start = latest ? Date.parse(latest.endsAt) : startOfDate(zone, startsOn);
    if (Date.parse(startsAt) !== start)
      wrong(`starts at ${startsAt}, and not at ${new Date(start).toISOString()}`);
    if (Date.parse(endsAt) !== Math.max(start, startOfDate(zone, endsOn))) wrong(`ends at ${endsAt}`);
    if (latest && latest.endsOn !== startsOn) wrong(`leaves a hole after ${latest.endsOn}`);
    if (!latest && dueAt === this.startedAt) return;
    const { from, until } = this.terms.schedule.chargeAt;
    const [date, time] = [dateIn(zone, Date.parse(dueAt)), timeIn(zone, Date.parse(dueAt))];
    const chargedFrom = pauseEndedAt ?? startsAt;
    const isEarly = dueAt < chargedFrom || date < startsOn || (date === startsOn && time < from);
    const isInHours = date === startsOn && time < until;
    if (isEarly || !(isInHours || dueAt === chargedFrom)) wrong(`is due at ${dueAt}`);
  }

  /** What has started is asked for, or missed, when a pause begins in it or ends in it. Otherwise what is due. */
  #mayBeDue(
    period: Period,
    at: string,
    { together, before, rest }: { together: readonly Fact[]; before: string; rest: Rest | undefined },
    wrong: (what: string) => void,
  ): void {
    const isPausing = together.some(({ type }) => type === 'subscription_paused');
    const continues = together.some(({ type }) => type === 'subscription_resumed');
    // The rest after a pause is a period at once, and is charged at its time.
    const since = rest?.pauseEndedAt ?? (isPausing ? period.startsAt : period.dueAt);
    if (since > at) wrong(`comes at ${at}, and is due at ${since}`);
    if (this.phase !== 'running' && !continues)
      wrong(`is ${period.outcome} while the subscription is ${this.phase}`);
    const isCovered =
      before === 'unpaid' ? period.startsAt < at : continues && period.endsAt <= earlier(this.resumesAt, at);
    if (isCovered || period.startsAt < this.#chargedFrom) wrong('is of a time that is not charged');
    if (isPausing || period.outcome !== 'missed' || (rest && this.#isOpen.size > 0)) return;
    const { catchUp } = this.terms;
    const made = createdIn(together);
    const isLast = made.length < mostAtOnce && made.at(-1)?.number === period.number;
    const isLate = catchUp === 'none' && Date.parse(at) - Date.parse(period.dueAt) > tooLateMs;
    if (catchUp === 'all' || (isLast && !isLate)) wrong('is missed, and it should be charged');
  }

  #maySkip(period: Period, at: string, before: string, wrong: (what: string) => void): void {
    if (before !== 'paused' && before !== 'unpaid') return void wrong(`is skipped while it is ${before}`);
    const until = before === 'paused' ? earlier(this.resumesAt, at) : at;
    const [edge, does] = before === 'paused' ? [period.endsAt, 'ends'] : [period.startsAt, 'starts'];
    if (edge > until || (before !== 'paused' && edge === until))
      wrong(`is skipped, and ${does} at ${edge} after ${until}`);
    const { at: from = '', by = '' } = this.#stopped ?? {};
    if ((by === 'payer' || by === 'merchant') && before === 'paused' && period.startsAt < from)
      wrong(`is skipped, and started before the pause at ${from}`);
  }

  #costs(
    { number, kind, outcome, amountMinor, creditMinor }: Period,
    wrong: (what: string) => void,
    { part: [left, whole] = [1, 1], isPaidFor }: Costing,
  ): void {
    const { startsWith } = this.terms;
    const { items } = this.changes;
    const total = items.reduce(
      (sum, one) => sum + Math.round((one.priceMinor * one.quantity * left) / whole),
      0,
    );
    const cost = amountMinor + creditMinor;
    if (outcome === 'paid' && amountMinor > 0 && startsWith === 'savedCard' && !isPaidFor)
      wrong('is paid from the start, and it costs something');
    if (startsWith !== 'savedCard') return;
    const first = this.#costsOfFirst();
    const isFree = kind === 'trial' || (kind === 'first' && first === 'free');
    const isPart = kind === 'first' && first === 'proRata';
    const hasInstalments = items.some((one) => 'lastPriceMinor' in one);
    const isRight = isFree ? cost === 0 : isPart ? cost <= total : cost === total;
    if (!isRight && !hasInstalments) wrong(`${number} costs ${cost}, and agreed is ${total}`);
  }

  /** Nothing that is due at that moment comes after what was created. */
  #lookForLater(facts: readonly Fact[], at: string): void {
    const made = createdIn(facts);
    const created = made.at(-1);
    if (!created || made.length === mostAtOnce || this.terms.catchUp === 'all' || this.phase !== 'running')
      return;
    // What pays for a new period creates no other.
    if (facts.some((fact) => isOfChange(fact, facts))) return;
    const isLeftOpen = [...this.#isOpen].some((number) => number < created.number);
    if (isLeftOpen && !this.isStacking) return;
    const due = this.surelyDue();
    if (created.outcome === 'skipped' || due === undefined || due > Date.parse(at)) return;
    this.problems.push(
      `period ${created.number + 1} is due as well, and does not come with ${created.number}`,
    );
  }

  #charged(fact: Fact, at: string): void {
    const period = this.#named(fact);
    if (!period) return;
    const { number, invoiceId, charging, nextTryAt } = period;
    const payment = String(fact['paymentId']);
    const wrong = (what: string) => this.problems.push(`period ${number} ${what}`);
    if (!this.#isOpen.has(number) || !isUnsettled(period)) wrong(`is ${period.outcome}, and charged`);
    if (charging !== undefined) wrong(`is charged while ${charging} is at the bank`);
    if (!payment.startsWith(`${invoiceId}.`))
      wrong(`is charged by ${payment}, and its invoice is ${invoiceId}`);
    if (this.#payments.has(payment)) wrong(`is charged by ${payment} a second time`);
    if (nextTryAt === undefined || nextTryAt > at)
      wrong(`is charged at ${at}, and its next try is ${nextTryAt}`);
    if (this.isParked) wrong('is charged while charging is stopped');
    this.#payments.add(payment);
    this.lastMoney = { at, number };
    const { nextTryAt: _, ...rest } = period;
    this.periods.set(number, { ...rest, charging: payment });
  }

  /** Only what waits for the payer, and has no time, gets one. */
  #consented(fact: Fact, at: string, until: string): void {
    const period = this.#named(fact);
    if (!period) return;
    const { number, failed, charging, nextTryAt, endsTriesAt: end = '' } = period;
    if (charging !== undefined || nextTryAt !== undefined)
      this.problems.push(`period ${number} is tried in any case, and a consent starts a try`);
    if (this.isParked || (this.phase !== 'running' && this.phase !== 'paused'))
      this.problems.push(`period ${number} is not to be charged, and a consent starts a try`);
    this.#mayTry(`period ${number}`, failed, { at, until, end });
    this.#tried(fact, until, undefined);
  }

  /** Within the time in which it is tried. That the payer has consented is another check. */
  #mayTry(
    what: string,
    failed: Told['failed'],
    { at, until, end }: { readonly at: string; readonly until: string; readonly end: string },
  ): void {
    const wrong = (problem: string) => this.problems.push(`${what} ${problem}, and a consent starts a try`);
    if (!failed || !healedByConsent.has(String(failed.class))) wrong(`waits for ${String(failed?.class)}`);
    if (until >= end) wrong(`is tried until ${end}`);
    this.consented.push({ what, failedAt: failed?.at ?? at, at });
  }

  /** The charge at the bank is over, unless another try is only wanted. When the next may be made is said, or none is. */
  #tried(fact: Fact, next: unknown, over: readonly Fact[] | undefined): Told | undefined {
    const period = this.#named(fact);
    if (!period) return undefined;
    const { charging, nextTryAt: _, ...rest } = period;
    const after: Told = {
      ...rest,
      ...(charging !== undefined && !over ? { charging } : {}),
      ...(typeof next === 'string' ? { nextTryAt: next } : {}),
    };
    this.periods.set(period.number, after);
    // The payment was refused and never made, so the next one has its ID.
    const isRefused = over?.some(({ type, number }) => type === 'charge_started' && number === period.number);
    if (isRefused && charging !== undefined) this.#payments.delete(charging);
    return after;
  }

  /** The window is that of the policy with which the period began to fail. */
  #endTries({ endsTriesAt: _, ...period }: Told, at: unknown): void {
    const { firstFailedAt, policy } = this.#cases.get(period.number) ?? {};
    if (typeof at === 'string' && firstFailedAt !== undefined && policy) {
      const end = Date.parse(firstFailedAt) + policy.windowDays * dayMs;
      if (Math.abs(Date.parse(at) - end) > 1)
        this.problems.push(`the tries of period ${period.number} end at ${at}, and not with its policy`);
    }
    this.periods.set(period.number, { ...period, ...(typeof at === 'string' ? { endsTriesAt: at } : {}) });
  }

  #close(fact: Fact, outcome: string): Told | undefined {
    const period = this.#named(fact);
    if (!period) return undefined;
    if (!this.#isOpen.has(period.number) && period.outcome !== 'missed')
      this.problems.push(`period ${period.number} was ${period.outcome}, and becomes ${outcome}`);
    const { charging: _, nextTryAt: __, ...rest } = period;
    this.periods.set(period.number, { ...rest, outcome });
    this.#isOpen.delete(period.number);
    return period;
  }

  #paidFor({ endsAt }: Period): void {
    if (this.paidThrough === undefined || this.paidThrough < endsAt) this.paidThrough = endsAt;
  }

  #named(fact: Fact): Told | undefined {
    const number = Number(fact['number']);
    const period = this.periods.get(number);
    if (!period) this.problems.push(`${fact.type} is of period ${number}, which does not exist`);
    return period;
  }
}

function refundIn(fact: Fact): string {
  return `${String(fact['invoiceId'])}.${String(fact['paymentId'])}.${String(fact['refundId'])}`;
}

/** What was at the bank is finished. */
const afterTheEnd = new Set([
  'payer_reason_given',
  'end_refund_started',
  'end_refund_refused',
  'end_refund_failed',
  'charge_postponed',
  'charge_failed',
  'period_paid',
  'period_closed',
  'payment_taken_back',
  'change_charge_failed',
  'change_dropped',
  'change_payment_taken_back',
  'items_changed',
]);

/** The facts of each transaction: a long outage writes several events in one. */
function batchesOf(log: readonly EventRow[]): Batch[] {
  const batches: { at: string; transaction: number; facts: Fact[] }[] = [];
  for (const { created_at, transaction, facts } of log) {
    const at = instantOf(created_at);
    const last = batches.at(-1);
    if (last?.transaction === transaction && last.at === at) last.facts.push(...facts);
    else batches.push({ at, transaction, facts: [...facts] });
  }
  return batches;
}

/** Columns have times as PostgreSQL writes them, and facts as the service does. */
export function instantOf(text: string): string {
  const [, seconds = '', fraction = ''] = /^(.{19})\.?(\d*)/.exec(text) ?? [];
  return `${seconds}.${fraction.padEnd(6, '0')}Z`;
}

/** A period that the invoice of a change has paid. */
function isOfChange(fact: Fact, together: readonly Fact[]): boolean {
  if (fact.type !== 'period_created') return false;
  const { number, invoiceId } = fact['period'] as Period;
  return together.some(({ type, change }) => {
    const { period, newPeriod, invoiceId: paid } = (change ?? {}) as Partial<StartedPeriod>;
    return (
      type === 'items_changed' && newPeriod && period === number - 1 && (!invoiceId || paid === invoiceId)
    );
  });
}

function createdIn(facts: readonly Fact[]): Period[] {
  return facts.flatMap((fact) => (fact.type === 'period_created' ? [fact['period'] as Period] : []));
}

function earlier(one: string | undefined, other: string): string {
  return one !== undefined && one < other ? one : other;
}

function textOf({ kind, startsOn, endsOn }: Dates): string {
  return `${kind} ${startsOn}–${endsOn}`;
}
