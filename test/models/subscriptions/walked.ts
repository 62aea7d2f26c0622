// The model: what a subscription does, written from the rules and not from the service. It finds periods by a walk over all days,
// and what is overdue at each time at which anything can be due.
import { dayLong, dayOf, hour, localDay, startOf, textOf, type Day, type Micros } from '../calendar.ts';
import type { Act, Answer, ClassPlan, Plan, Story } from './plan.ts';

type Row = Story['rows'][number];
type Unpaid = {
  row: Row;
  tries: number;
  /** The answers that count, in order. */
  answers: Answer[];
  failedAt?: Micros;
  tryAt?: Micros;
  giveUpAt?: Micros;
  isKnownFailed: boolean;
  /** The merchant or a new card asked for the next try. */
  isWished?: boolean;
  /** Only they can help after its last failure. */
  needsPayer?: boolean;
};
type PriceChange = {
  number: number;
  price: number;
  difference: number;
  fromBalance: number;
  /** A whole period starts on this day: then `difference` is its price without this credit. */
  fresh?: { day: Day; startsAt: Micros; credit: number };
};
/** It waits for money: from the saved card, which is charged once, and then from the payer. */
type WaitingChange = PriceChange & {
  answer: (Act & { does: 'priceNow' })['answer'];
  payableUntil: Micros;
  tryAt?: Micros;
  isAtBank: boolean;
};
/** Of a whole. Two whole numbers, so that nothing is rounded before the end. */
type Share = { left: number; whole: number };
const all: Share = { left: 1, whole: 1 };

/** Half a minor unit is rounded up. */
const partOf = (amount: number, { left, whole }: Share) =>
  Math.floor((2 * amount * left + whole) / (2 * whole));
const second = (instant: Micros) => Math.floor(instant / 1e6);
const restOf = ({ startsAt, endsAt }: { startsAt: Micros; endsAt: Micros }, at: Micros): Share => ({
  left: second(endsAt) - second(at),
  whole: second(endsAt) - second(startsAt),
});
type Span = {
  number: number;
  kind: 'trial' | 'first' | 'regular';
  from: Day;
  until: Day;
  /** Its days, of those of the whole period that would end with it. */
  share?: Share;
};

const calendarBegins = dayOf('2026-01-01');
/** Each day with its date and the count of its month, found by counting days. */
const dates = Array.from({ length: 6 * 365 }, (_, n) => {
  const [year = 0, month = 0, date = 0] = textOf(calendarBegins + n)
    .split('-')
    .map(Number);
  return { months: 12 * year + month, date, isLast: textOf(calendarBegins + n + 1).endsWith('-01') };
});
const dateOf = (day: Day) => dates[day - calendarBegins]!;

/** The periods that start up to a day: a walk over all days, each of which starts one or does not. */
function spansOf(
  plan: Pick<Plan, 'trialDays' | 'anchorDay' | 'interval' | 'periods' | 'endsOn'>,
  first: Day,
  lastDay: Day,
): Span[] {
  const afterTrial = first + plan.trialDays;
  const starts: { day: Day; kind: Span['kind'] }[] = [];
  if (plan.trialDays > 0) starts.push({ day: first, kind: 'trial' });
  let anchor: Day | undefined;
  let regular = 0;
  let shareOfFirst: Share | undefined;
  for (let day = afterTrial; day <= lastDay; day++) {
    const wanted = plan.anchorDay ?? dateOf(afterTrial).date;
    const isThatDate = dateOf(day).date === wanted || (dateOf(day).isLast && dateOf(day).date < wanted);
    if (anchor === undefined && (plan.anchorDay === undefined || isThatDate)) {
      anchor = day;
      if (plan.anchorDay !== undefined && 'months' in plan.interval)
        shareOfFirst = {
          left: day - afterTrial,
          whole: day - beforeAnchor(day, plan.anchorDay, plan.interval.months),
        };
    }
    if (anchor === undefined) {
      if (day === afterTrial) starts.push({ day, kind: 'first' });
      continue;
    }
    const { interval } = plan;
    const isStart =
      'days' in interval
        ? (day - anchor) % interval.days === 0
        : isThatDate && (dateOf(day).months - dateOf(anchor).months) % interval.months === 0;
    if (!isStart) continue;
    regular += 1;
    starts.push({ day, kind: 'regular' });
    // One more start is where the last period ends.
    if (plan.periods !== undefined && regular > plan.periods) break;
    if (plan.endsOn !== undefined && day >= plan.endsOn) break;
  }
  return starts.slice(0, -1).map(({ day, kind }, index) => ({
    number: index + 1,
    kind,
    from: day,
    until: starts[index + 1]!.day,
    ...(kind === 'first' && shareOfFirst ? { share: shareOfFirst } : {}),
  }));
}

/** Where the period before the first whole one would have started. */
function beforeAnchor(anchor: Day, anchorDay: number, apart: number): Day {
  for (let day = anchor - 1; ; day--) {
    const { months, date, isLast } = dateOf(day);
    const isThatDate = date === anchorDay || (isLast && date < anchorDay);
    if (isThatDate && dateOf(anchor).months - months === apart) return day;
  }
}

/** `moment`: the second of the local day at which this subscription is charged. Any is right that is in the window. */
export function walkedStory(plan: Plan, moment: number): Story {
  return new Walk(plan, moment).run();
}

class Walk {
  readonly plan: Plan;
  readonly moment: number;
  readonly lastDay: Day;
  spans: Span[];
  readonly rows: Row[] = [];
  readonly charges: Story['charges'] = [];
  /** When the bank was reached, for the limit of a day. */
  readonly reached: { number: number; at: Micros; isWished: boolean }[] = [];
  /** What the payer paid of their own accord, last. */
  paidByPayer: { number: number; at: Micros } | undefined;
  readonly changes: Story['changes'] = [];
  /** By the number of the period that they are for, in their order. */
  readonly payments = new Map<number, number[]>();
  readonly losses: number[] = [];
  refunds: Story['refunds'] = [];
  /** Asked for at the end, and not made yet. */
  refund: { share: 'unused' | 'last'; at: Micros; fails: boolean } | undefined;
  zone: string;
  phase: 'running' | 'paused' | 'unpaid' | 'ended' | 'parked' = 'running';
  why = '';
  endedAt: Micros | undefined;
  price: number;
  laterPrice: number | undefined;
  balance = 0;
  /** Collected for the latest period, less what was credited. */
  collected = 0;
  changedOn: Day | undefined;
  /** The latest row when a change of its items was wanted. */
  changedRow: Row | undefined;
  unpaid: Unpaid[] = [];
  /** Until when, unless a person decides that. It stays while a period is unpaid. */
  pause: { until: Micros | undefined } | undefined;
  change: WaitingChange | undefined;
  lastNumber: number | undefined;
  asked = 0;

  constructor(plan: Plan, moment: number) {
    this.plan = plan;
    this.moment = moment;
    this.zone = plan.zone;
    this.price = plan.price;
    this.lastDay = localDay('UTC', plan.endsAt) + 200;
    const first = plan.continuesWith?.startsOn ?? localDay(plan.zone, plan.startsAt);
    this.spans = spansOf(plan, first, this.lastDay);
  }

  run(): Story {
    const { firstPayment } = this.plan;
    if (firstPayment?.isPaid === false) {
      const waitsUntil = this.plan.startsAt - firstPayment.createdBefore + dayLong;
      const nothing = { rows: [], charges: [], changes: [], losses: [], refunds: [], balance: 0 };
      return {
        ...nothing,
        end: 'ended firstPaymentMissing',
        endedAt: this.looksAt(waitsUntil + this.plan.lateBy),
      };
    }
    if (firstPayment) this.payFirst(firstPayment.amount);
    let now = this.plan.startsAt;
    const stops = [
      ...this.plan.acts.map((act) => ({ at: act.at, act })),
      { at: this.plan.endsAt, act: undefined },
    ];
    for (const { at, act } of stops) {
      for (let next = this.nextTime(now); next <= at; next = this.nextTime(now)) {
        now = next;
        this.settle(now);
      }
      now = at;
      if (act) this.act(act);
    }
    const end = this.phase === 'ended' ? `ended ${this.why}` : this.phase;
    const { changes, refunds, balance, endedAt } = this;
    const before = (this.plan.continuesWith?.number ?? 1) - 1;
    const numbered = <T extends { number: number }>(all: readonly T[]) =>
      all.map((one) => ({ ...one, number: one.number + before }));
    const [rows, charges] = [numbered(this.rows), numbered(this.charges)];
    const losses = this.losses.map((number) => number + before);
    const story = { rows, charges, changes, losses, refunds, end, balance };
    return { ...story, ...(endedAt === undefined ? {} : { endedAt }) };
  }

  /** The payer's own payment is that of the first period, whatever it cost. */
  payFirst(amount: number): void {
    this.addRow(this.spans[0]!, 'paid').amount = amount;
    this.collected = amount;
    this.payments.set(1, [amount]);
  }

  /** When the service next looks: as soon as something is due, or at the end of an outage. */
  nextTime(now: Micros): Micros {
    const dropped = this.dropsAt();
    const all = [...this.overdue().map(({ at }) => at), ...(dropped === undefined ? [] : [dropped])];
    const times = all.map((at) => at + this.plan.lateBy);
    return this.looksAt(Math.max(Math.min(...times, Infinity), now));
  }

  looksAt(at: Micros): Micros {
    return this.plan.outages.find(({ from, until }) => from <= at && at < until)?.until ?? at;
  }

  /** Does what is due by now, the longest overdue first. */
  settle(now: Micros): void {
    const dropped = this.dropsAt();
    if (dropped !== undefined && dropped <= now) this.dropChange();
    for (let rounds = 0; rounds < 3_000; rounds++) {
      const [due] = this.overdue()
        .filter(({ at }) => at <= now)
        .toSorted((a, b) => a.at - b.at);
      if (!due) return;
      due.run(now);
    }
    throw new Error('The model is never done.');
  }

  /** Its invoice is due, and no payment of it is at the bank. */
  dropsAt(): Micros | undefined {
    const { change } = this;
    return change && !change.isAtBank && this.phase !== 'parked' ? change.payableUntil : undefined;
  }

  dropChange(): void {
    this.balance += this.change?.fromBalance ?? 0;
    this.change = undefined;
  }

  /** All that can become due without an act. Equal times are in this order. */
  overdue(): { at: Micros; run: (now: Micros) => void }[] {
    if (this.phase === 'ended' || this.phase === 'parked') return [];
    const found: { at: Micros; run: (now: Micros) => void }[] = [];
    const [oldest] = this.unpaid;
    if (oldest?.tryAt !== undefined)
      found.push({ at: this.turnOf(oldest, oldest.tryAt), run: (now) => this.charge(oldest, now) });
    else if (oldest?.giveUpAt !== undefined)
      found.push({ at: oldest.giveUpAt, run: (now) => this.giveUp(oldest, now) });
    const until = this.phase === 'paused' ? this.pause?.until : undefined;
    if (until !== undefined) found.push({ at: until, run: (now) => this.resume(until, now) });
    const isWaiting = oldest !== undefined && oldest.row.outcome === 'open';
    const next = this.nextSpan();
    const last = this.rows.at(-1);
    if (!next) {
      const mayEnd = this.phase === 'running' || this.lastNumber !== undefined;
      if (mayEnd && !isWaiting && last && !this.isStartingToday())
        found.push({
          at: last.endsAt,
          run: (now) => this.end(this.lastNumber === undefined ? 'finished' : 'payer', now),
        });
    } else if (this.phase === 'running' && (!isWaiting || this.plan.stack) && !this.isStartingToday()) {
      const due = this.dueAt(next);
      // On a day on which money was wanted, a period may join a stack, but is not asked for.
      const joins = isWaiting && this.plan.catchUp !== 'all';
      const at = joins ? due : this.renewsAt(next, due);
      found.push({ at, run: (now) => this.createDue(now) });
    }
    const { change } = this;
    if (this.phase === 'running' && change?.tryAt !== undefined) {
      const before = this.reached.at(-2);
      const at = Math.max(change.tryAt, before ? before.at + dayLong : 0);
      found.push({ at, run: (now) => this.chargeChange(change, now) });
    }
    return found;
  }

  /** When the payer's money was last wanted or given. */
  lastMoney(): { number: number; at: Micros } | undefined {
    const times = [this.paidByPayer, this.reached.at(-1)].filter((one) => one !== undefined);
    return times.toSorted((a, b) => b.at - a.at)[0];
  }

  /** The payer pays for one period a day, with the saved card or without it. A person may want more, unless there is a stack. */
  turnOf({ row, isWished }: Unpaid, tryAt: Micros): Micros {
    const before = this.lastMoney();
    const mayJoin = before?.number === row.number || (isWished === true && !this.plan.stack);
    return mayJoin ? tryAt : this.afterTheDayOf(before, tryAt);
  }

  /** Missed periods that are asked for move it to the next day at most. One that would be missed while it waits does not wait. */
  renewsAt(next: Span, due: Micros): Micros {
    const newest = this.rows.at(-1)?.number;
    const isExtra = (one: Walk['reached'][number]) => one.isWished && one.number !== newest;
    const plain = [this.paidByPayer, this.reached.filter((one) => !isExtra(one)).at(-1)];
    const extra = this.afterTheDayOf(this.reached.slice(-2).findLast(isExtra), due);
    const waits = [
      ...plain.map((one) => this.afterTheDayOf(one, due)),
      Math.min(extra, this.afterTheDayOf({ at: due }, due)),
    ];
    const at = Math.max(...waits);
    const from = Math.max(due, this.lastMoney()?.at ?? due);
    const later = this.spans.filter(
      ({ number }) => number > next.number && number <= (this.lastNumber ?? Infinity),
    );
    const dues = later.map((span) => this.momentOn(span.from));
    const lastDue = dues.findLast((time) => time <= from) ?? due;
    // Of the three days of `none`, half a day is left to who is late.
    const isTooLate = this.plan.catchUp === 'none' && at > lastDue + 60 * hour;
    const isLost = isTooLate || dues.some((time) => time > from && time <= at);
    return this.plan.catchUp !== 'all' && at > due && isLost ? due : at;
  }

  afterTheDayOf(before: { at: Micros } | undefined, at: Micros): Micros {
    return before ? Math.max(at, this.momentOn(localDay(this.zone, before.at) + 1)) : at;
  }

  nextSpan(): Span | undefined {
    const number = (this.rows.at(-1)?.number ?? 0) + 1;
    if (this.lastNumber !== undefined && number > this.lastNumber) return undefined;
    return this.spans[number - 1];
  }

  /** From the end of the day: every zone here changes its clocks before six. */
  momentOn(day: Day): Micros {
    return startOf(this.zone, day + 1) - dayLong + this.moment * 1_000_000;
  }

  startOfSpan({ from }: Span): Micros {
    return this.rows.at(-1)?.endsAt ?? startOf(this.zone, from);
  }

  dueAt(span: Span): Micros {
    if (this.rows.length === 0 && !this.plan.continuesWith) return this.plan.startsAt;
    return Math.max(this.startOfSpan(span), this.momentOn(span.from));
  }

  fullPrice({ kind, share = all }: Pick<Span, 'kind' | 'share'>, price: number): number {
    if (kind === 'regular') return price;
    const { firstPeriod = 'free' } = this.plan;
    if (kind === 'trial' || firstPeriod === 'free') return 0;
    return firstPeriod === 'full' ? price : partOf(price, share);
  }

  addRow(span: Span, outcome: string, credit = 0, share = all): Row {
    if (this.laterPrice !== undefined) {
      this.price = this.laterPrice;
      this.laterPrice = undefined;
    }
    const startsAt = this.startOfSpan(span);
    const endsAt = Math.max(startsAt, startOf(this.zone, span.until));
    const amount = partOf(this.fullPrice(span, this.price), share) - credit;
    const row = {
      number: span.number,
      startsOn: span.from,
      endsOn: span.until,
      startsAt,
      endsAt,
      outcome,
      amount,
      credit,
    };
    this.rows.push(row);
    this.balance -= credit;
    this.collected = 0;
    return row;
  }

  /** After a pause, the first one is charged for a share, and not before the end of the pause. */
  createDue(now: Micros, rest?: { at: Micros; share: Share }): void {
    if (this.change?.fresh) this.dropChange();
    let after = rest;
    for (
      let span = this.nextSpan();
      span && (after || this.dueAt(span) <= now);
      span = this.nextSpan(), after = undefined
    ) {
      const share = after?.share ?? all;
      const due = Math.max(this.dueAt(span), after?.at ?? 0);
      const price = partOf(this.fullPrice(span, this.laterPrice ?? this.price), share);
      const credit = Math.min(this.balance, price);
      const following = this.spans[span.number];
      const isLast = this.lastNumber !== undefined && span.number >= this.lastNumber;
      const wouldEnd = Math.max(this.startOfSpan(span), startOf(this.zone, span.until));
      const isNewest = !following || isLast || Math.max(wouldEnd, this.momentOn(following.from)) > now;
      const isTooLate = this.plan.catchUp === 'none' && now - due > 72 * hour;
      if (this.plan.catchUp !== 'all' && (!isNewest || isTooLate)) {
        this.addRow(span, price === 0 ? 'paid' : 'missed', 0, share);
        continue;
      }
      const row = this.addRow(span, price - credit === 0 ? 'paid' : 'open', credit, share);
      if (row.outcome === 'paid') this.collected = credit;
      else {
        const open: Unpaid = { row, tries: 0, answers: [], isKnownFailed: false };
        this.unpaid.push(open);
        // The oldest of a stack comes first.
        if (rest || this.unpaid.length > 1) open.tryAt = due;
        else this.charge(open, now);
      }
      return;
    }
  }

  charge(open: Unpaid, now: Micros): void {
    const recent = this.reached.filter(({ at }) => at > now - dayLong);
    if (recent.length >= 2) {
      // What people ask for, and what is late, explains a third one. It waits.
      const isOther = recent.slice(-2).some(({ number }) => number !== open.row.number);
      if (open.isWished || isOther || recent.slice(-2).some(({ isWished }) => isWished)) {
        open.tryAt = recent.at(-2)!.at + dayLong;
        return;
      }
      this.phase = 'parked';
      open.tryAt ??= now;
      return;
    }
    delete open.tryAt;
    const answer: Answer = this.plan.answers[this.asked++] ?? 'captured';
    this.charges.push({ number: open.row.number, at: now });
    if (answer === 'unsent') {
      open.tryAt = now + hour;
      return;
    }
    if (answer === 'limitReached' || answer === 'periodCharged') {
      const at = now + 12 * dayLong;
      // A limit of the network counts the payer's failures. A payer who has paid for the time is not given up.
      const isInTime = open.giveUpAt === undefined || at < open.giveUpAt;
      if (isInTime || answer === 'periodCharged') open.tryAt = at;
      return;
    }
    this.reached.push({ number: open.row.number, at: now, isWished: open.isWished === true });
    open.isWished = false;
    if (answer === 'captured') this.paid(open, now);
    else this.failed(open, answer, now);
  }

  paid(open: Unpaid, now: Micros): void {
    open.row.outcome = 'paid';
    this.payments.set(open.row.number, [open.row.amount]);
    this.unpaid = this.unpaid.filter((one) => one !== open);
    if (this.rows.at(-1) === open.row) this.collected = open.row.amount + open.row.credit;
    this.revive(now);
  }

  /** What started while nothing was paid is not charged afterwards, and a pause is not over by a payment. */
  revive(now: Micros): void {
    if (this.phase !== 'unpaid') return;
    this.phase = 'running';
    this.skip(now);
    const isPaused = this.pause !== undefined && (this.pause.until ?? Infinity) > now;
    if (isPaused) this.phase = 'paused';
    else this.pause = undefined;
  }

  failed(open: Unpaid, answer: Answer, now: Micros): void {
    open.isKnownFailed = true;
    open.needsPayer = answer === 'newCard';
    if (answer === 'stopCharge') {
      this.drop(open, 'unpaid');
      this.revive(now);
      return;
    }
    if (this.phase === 'unpaid') return;
    if (answer === 'configuration') {
      delete open.giveUpAt;
      open.tryAt = now + dayLong;
      return;
    }
    if (open.failedAt === undefined) open.failedAt = now;
    else open.tries += 1;
    open.giveUpAt = open.failedAt + this.plan.windowDays * dayLong;
    const day = this.dayOfNextTry(open, answer, now);
    open.answers.push(answer);
    if (day === undefined) return;
    let at = this.momentOn(day);
    // The issuer's code makes them wait for a week.
    const earliest = answer === 'issuer' ? now + 7 * dayLong : 0;
    for (let later = day; at < earliest; later++) at = this.momentOn(later + 1);
    if (at < open.giveUpAt) open.tryAt = at;
  }

  /** Time heals four kinds of declines. The rest waits for a person. */
  dayOfNextTry({ failedAt = 0, tries, answers }: Unpaid, answer: Answer, now: Micros): Day | undefined {
    const usual = { funds: Infinity, technical: Infinity, vague: 3, issuer: 1 }[answer as 'funds'];
    // The strictest network takes 15 attempts in 30 days, with the first one.
    if (usual === undefined || tries >= 14) return undefined;
    const own: ClassPlan = this.plan.classes[answer as 'funds'] ?? {};
    if (answers.filter((one) => one === answer).length >= (own.most ?? usual)) return undefined;
    const today = localDay(this.zone, now);
    const from = answer === 'technical' && own.tries ? today : localDay(this.zone, failedAt);
    const days = (own.tries ?? this.plan.tries).map((after) => this.payday(from + after, own));
    return days.filter((one) => one > today).toSorted((a, b) => a - b)[0];
  }

  /** The first payday of the next days, or the day itself. Months that are too short have their payday on the last day. */
  payday(day: Day, { paydays = [], within = 0 }: ClassPlan): Day {
    for (let later = day; paydays.length > 0 && later <= day + within; later++) {
      const { date, isLast } = dateOf(later);
      if (paydays.some((wanted) => wanted === date || (isLast && wanted > date))) return later;
    }
    return day;
  }

  /** Credit has paid for nothing, so it is there again. */
  drop(open: Unpaid, outcome: string): void {
    open.row.outcome = outcome;
    this.balance += open.row.credit;
    this.unpaid = this.unpaid.filter((one) => one !== open);
  }

  giveUp(open: Unpaid, now: Micros): void {
    if (this.plan.stack && this.plan.finally !== 'end') {
      // Each is a debt of its own, and the others continue.
      this.drop(open, 'unpaid');
      return;
    }
    open.row.outcome = 'unpaid';
    if (this.plan.finally === 'unpaid') {
      this.phase = 'unpaid';
      delete open.tryAt;
      delete open.giveUpAt;
      open.isWished = false;
      return;
    }
    this.drop(open, 'unpaid');
    if (this.plan.finally === 'end') this.end('unpaid', now);
    else if (this.phase !== 'paused') {
      this.phase = 'paused';
      this.pause = { until: undefined };
    }
  }

  end(why: string, at: Micros): void {
    for (const open of this.unpaid) this.drop(open, 'unpaid');
    if (this.change && !this.change.isAtBank) this.dropChange();
    this.phase = 'ended';
    this.why = why;
    this.endedAt = at;
  }

  /** As much as the wish is for, of one payment after the other. A payment at the bank comes first. */
  giveBack(): void {
    if (!this.refund || this.change) return;
    const { share, at, fails } = this.refund;
    this.refund = undefined;
    const paid = this.rows.findLast(({ outcome }) => outcome === 'paid');
    let wanted = share === 'last' ? Infinity : this.unusedAt(at);
    for (const payment of paid ? (this.payments.get(paid.number) ?? []) : []) {
      const amount = Math.min(wanted, payment);
      wanted -= amount;
      if (amount > 0) this.refunds.push({ amount, hasFailed: fails && this.refunds.length === 0 });
    }
    if (this.refunds.length === 0) this.refunds.push({ amount: 0, hasFailed: false });
  }

  /** The price of the time that is left, and not more than was collected. */
  unusedAt(at: Micros): number {
    const row = this.rows.at(-1);
    const kind = row && this.spans[row.number - 1]!;
    if (row?.outcome !== 'paid' || !kind || kind.kind === 'trial' || at >= row.endsAt) return 0;
    const share = restOf(row, Math.max(at, row.startsAt));
    return Math.min(partOf(this.fullPrice(kind, this.price), share), this.collected);
  }

  skip(now: Micros): void {
    for (let span = this.nextSpan(); span && this.startOfSpan(span) < now; span = this.nextSpan())
      this.addRow(span, 'skipped');
  }

  /** What started before a pause is not of the time of the pause. It is charged when it is due, unless an older one is unpaid. */
  startBeforePause(now: Micros): void {
    const isWaiting = this.unpaid.length > 0 && !this.plan.stack;
    let isAsked = false;
    for (let span = this.nextSpan(); span && this.startOfSpan(span) < now; span = this.nextSpan()) {
      const due = this.dueAt(span);
      const price = this.fullPrice(span, this.laterPrice ?? this.price);
      const following = this.spans[span.number];
      const isLast = this.lastNumber !== undefined && span.number >= this.lastNumber;
      const isNewest =
        !following || isLast || Math.max(startOf(this.zone, span.until), this.startOfSpan(span)) >= now;
      const isLate = this.plan.catchUp === 'none' && now - due > 72 * hour;
      const isTurn = this.plan.catchUp === 'all' ? !isAsked : isNewest && !isLate;
      isAsked = true;
      if (isWaiting || !isTurn) {
        this.addRow(span, price === 0 ? 'paid' : 'missed');
        continue;
      }
      const credit = Math.min(this.balance, price);
      const row = this.addRow(span, price === credit ? 'paid' : 'open', credit);
      if (row.outcome === 'paid') this.collected = credit;
      else this.unpaid.push({ row, tries: 0, answers: [], isKnownFailed: false, tryAt: due });
    }
  }

  /** The pause is over at this time, whenever the service looks. A period that continues is charged for what is left of it. */
  resume(at: Micros, now: Micros): void {
    this.phase = 'running';
    this.pause = undefined;
    const endOf = (span: Span) => Math.max(this.startOfSpan(span), startOf(this.zone, span.until));
    let span = this.nextSpan();
    for (; span && endOf(span) <= at; span = this.nextSpan()) this.addRow(span, 'skipped');
    if (!span || this.startOfSpan(span) >= at) return;
    const share = restOf({ startsAt: this.startOfSpan(span), endsAt: endOf(span) }, at);
    if (this.unpaid.some(({ row }) => row.outcome === 'open') && !this.plan.stack) {
      const price = partOf(this.fullPrice(span, this.laterPrice ?? this.price), share);
      this.addRow(span, price === 0 ? 'paid' : 'missed', 0, share);
    } else this.createDue(now, { at, share });
  }

  act(act: Act): void {
    const isParked = this.phase === 'parked';
    if (isParked || (this.phase === 'ended' && act.does !== 'bankAnswers')) return;
    const [oldest] = this.unpaid;
    switch (act.does) {
      case 'pause':
        if (this.phase !== 'running' || (act.resumesAt ?? Infinity) <= act.at) return;
        if (this.isStartingToday()) return;
        if (this.change?.fresh) this.dropChange();
        this.startBeforePause(act.at);
        if (act.forgives) for (const open of this.unpaid) this.drop(open, 'forgiven');
        this.phase = 'paused';
        this.pause = { until: act.resumesAt };
        return;
      case 'resume':
        if (this.phase === 'paused') this.resume(Math.min(act.at, this.pause?.until ?? act.at), act.at);
        return;
      case 'cancelNow':
        this.end('payer', act.at);
        if (act.refund !== 'none') this.refund = { share: act.refund, at: act.at, fails: act.failsRefund };
        this.giveBack();
        return;
      case 'cancelAtEnd':
        if (this.change?.fresh && !this.change.isAtBank) this.dropChange();
        this.lastNumber = this.rows.at(-1)!.number;
        return;
      case 'uncancel':
        if (act.at < this.rows.at(-1)!.endsAt) this.lastNumber = undefined;
        return;
      case 'payerPays':
        if (!oldest) return;
        this.paidByPayer = { number: oldest.row.number, at: act.at };
        this.paid(oldest, act.at);
        return;
      case 'newCard':
        if (oldest) {
          oldest.tryAt = act.at;
          oldest.isWished = true;
        }
        this.settle(act.at);
        return;
      case 'consent':
        this.consent(act.at);
        this.settle(act.at);
        return;
      case 'chargeMissed':
        this.chargeMissed(act.at);
        this.settle(act.at);
        return;
      case 'bankTakesBack':
        this.takeBack();
        return;
      case 'forgiveMissed': {
        const missed = this.rows.find(({ outcome }) => outcome === 'missed');
        if (missed && this.phase !== 'unpaid') missed.outcome = 'forgiven';
        return;
      }
      case 'forgive':
        if (!oldest) return;
        this.drop(oldest, 'forgiven');
        this.revive(act.at);
        return;
      case 'zone':
        this.zone = act.zone;
        return;
      case 'priceNext':
        this.changeLater(act.price);
        return;
      case 'priceNow':
        if (act.when !== 'auto' || act.price > this.price) this.changeNow(act);
        else this.changeLater(act.price);
        this.settle(act.at);
        return;
      case 'bankAnswers':
        if (!this.change?.isAtBank) return;
        if (act.isCaptured) this.payChange(this.change, act.at);
        else this.change.isAtBank = false;
        if (this.phase === 'ended' && this.change) this.dropChange();
        this.giveBack();
        return;
      case 'payerPaysChange':
        if (this.change && !this.change.isAtBank && act.at < this.change.payableUntil)
          this.payChange(this.change, act.at);
        return;
      case 'takeBack':
        if (!this.change) this.laterPrice = undefined;
        else if (!this.change.isAtBank) this.dropChange();
    }
  }

  /** What waits for the payer alone has one try, unless that would be after its end. */
  consent(now: Micros): void {
    if (this.phase !== 'running' && this.phase !== 'paused') return;
    const [oldest] = this.unpaid;
    const { change } = this;
    const at = Math.max(now, (this.reached.at(-2)?.at ?? -Infinity) + dayLong);
    if (oldest) {
      if (!oldest.needsPayer || oldest.tryAt !== undefined || at >= (oldest.giveUpAt ?? 0)) return;
      oldest.tryAt = at;
      oldest.isWished = true;
    } else if (this.phase === 'running' && change?.answer === 'newCard') {
      if (change.tryAt !== undefined || at >= change.payableUntil) return;
      change.answer = 'captured';
      change.tryAt = at;
    }
  }

  /** It is asked for like one that is due, unless another debt is open or may come. */
  chargeMissed(now: Micros): void {
    const row = this.rows.find(({ outcome }) => outcome === 'missed');
    if (!row || this.phase !== 'running' || this.change?.fresh) return;
    if (this.unpaid.length > 0 && !this.plan.stack) return;
    row.outcome = 'open';
    const open: Unpaid = { row, tries: 0, answers: [], isKnownFailed: false, isWished: true, tryAt: now };
    this.unpaid = [...this.unpaid, open].toSorted((a, b) => a.row.number - b.row.number);
  }

  /** The merchant may ask for it again. What credit has paid of it stays paid. */
  takeBack(): void {
    const row = this.rows.at(-1);
    if (row?.outcome !== 'paid' || row.amount === 0 || this.change || this.changedRow === row) return;
    row.outcome = 'missed';
    this.losses.push(row.number);
    this.collected = row.credit;
    this.payments.delete(row.number);
  }

  changeLater(price: number): void {
    if (this.phase !== 'unpaid' && !this.change) this.laterPrice = price;
  }

  /** The bank decides whether there is another next period. */
  isStartingToday(): boolean {
    return this.change?.fresh !== undefined && this.change.isAtBank;
  }

  /** Not twice on one date, not where the dates are fixed or announced, and not while another debt may come. */
  mayStartToday(row: Row, today: Day): boolean {
    const hasPaid = this.rows.some(
      ({ number, outcome }) => outcome === 'paid' && this.spans[number - 1]!.kind === 'regular',
    );
    const { periods, endsOn } = this.plan;
    const isFixed = periods !== undefined || this.lastNumber !== undefined;
    const isOver = endsOn !== undefined && today >= endsOn;
    return !isFixed && !isOver && hasPaid && today > row.startsOn && row.outcome !== 'missed';
  }

  changeNow({ at, price, when, credit: wanted, answer }: Act & { does: 'priceNow' }): void {
    const row = this.rows.at(-1)!;
    const today = localDay(this.zone, at);
    if (this.phase !== 'running' || this.unpaid.length > 0) return;
    // Once a day. A zone further west may be a day behind.
    if (this.changedOn !== undefined && this.changedOn >= today) return;
    if (this.change || at < row.startsAt || at >= row.endsAt) return;
    const isToday = when === 'anchorNow';
    if (isToday && !this.mayStartToday(row, today)) return;
    const kind = this.spans[row.number - 1]!;
    const part = (amount: number) => partOf(amount, restOf(row, at));
    const isCharged = row.outcome === 'paid' && kind.kind !== 'trial';
    const givesCredit = isCharged && wanted === 'unused';
    const credit = givesCredit ? Math.min(part(this.fullPrice(kind, this.price)), this.collected) : 0;
    const cost = isToday ? price : isCharged ? part(this.fullPrice(kind, price)) : 0;
    const fromBalance = Math.min(this.balance, Math.max(0, cost - credit));
    this.balance -= fromBalance;
    this.changedRow = row;
    const fresh = { day: today, startsAt: startOf(this.zone, today), credit };
    const change = {
      number: row.number,
      price,
      difference: cost - credit,
      fromBalance,
      ...(isToday ? { fresh } : {}),
    };
    const payableUntil = Math.min(row.endsAt, at + 3 * dayLong);
    if (change.difference > fromBalance)
      this.change = { ...change, answer, payableUntil, tryAt: at, isAtBank: false };
    else this.applyChange(change, at);
  }

  /** Of the saved card, once. */
  chargeChange(change: WaitingChange, now: Micros): void {
    delete change.tryAt;
    this.changes.push({ amount: change.difference - change.fromBalance, at: now });
    if (change.answer === 'unsent') return;
    this.reached.push({ number: change.number, at: now, isWished: true });
    change.isAtBank = change.answer === 'atBank';
    if (change.answer === 'captured') this.payChange(change, now);
  }

  /** A dearer price is in force when it is paid, in whichever period that is. */
  payChange(change: WaitingChange, at: Micros): void {
    this.change = undefined;
    const { difference, fromBalance, fresh } = change;
    const number = fresh ? change.number + 1 : change.number;
    this.payments.set(number, [...(this.payments.get(number) ?? []), difference - fromBalance]);
    this.applyChange(change, at);
  }

  applyChange({ number, price, difference, fromBalance, fresh }: PriceChange, at: Micros): void {
    this.balance += Math.max(0, -difference);
    if (!fresh && number === this.rows.at(-1)!.number) this.collected += difference;
    this.price = price;
    this.laterPrice = undefined;
    this.changedOn = localDay(this.zone, at);
    if (fresh) this.startToday(fresh.day, fresh.startsAt, Math.max(0, difference) - fromBalance);
  }

  /** It is paid, and all later periods are counted from its day. */
  startToday(day: Day, startsAt: Micros, amount: number): void {
    const last = this.rows.at(-1)!;
    last.endsOn = day;
    last.endsAt = startsAt;
    const { interval, endsOn } = this.plan;
    const whole = { interval, trialDays: 0, ...(endsOn === undefined ? {} : { endsOn }) };
    const later = spansOf(whole, day, this.lastDay);
    this.spans = [
      ...this.spans.slice(0, last.number),
      ...later.map((span) => ({ ...span, number: span.number + last.number })),
    ];
    if (this.lastNumber !== undefined) this.lastNumber += 1;
    const balance = this.balance;
    const credit = this.price - amount;
    this.addRow(this.spans[last.number]!, 'paid', credit);
    this.balance = balance;
    this.collected = this.price;
  }
}
