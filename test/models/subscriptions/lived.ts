// A life of a subscription by the service's own rules, as rows of its facts. It is woken when it asks for that, and a bank answers
// its charges at once.
import { decideChangeChargeEnded, dueOf } from '../../../src/subscriptions/domain/changes/change.ts';
import { decideChargeEnded, type ChargeEnding } from '../../../src/subscriptions/domain/charge-outcome.ts';
import { decideCreate, decideWake } from '../../../src/subscriptions/domain/commands.ts';
import {
  evolve,
  nextAction,
  type Action,
  type Period,
  type Subscription,
  type SubscriptionFact,
  type SubscriptionTerms,
} from '../../../src/subscriptions/domain/subscription.ts';
import {
  invoicesToRefund,
  refundsOf,
  startedRefunds,
} from '../../../src/subscriptions/domain/ends/refund.ts';
import { latest, type Instant } from '../../../src/clock.ts';

/** How the bank answers the charge with this number, counted over the life. Undefined: it is still at the bank. */
export type Bank = (charge: number, period: number, at: Instant) => ChargeEnding | undefined;

/** More wake-ups at one instant are an endless loop. */
const maxWakes = 5_000;

export class Life {
  subscription: Subscription;
  readonly rows = new Map<number, Period>();
  readonly charges: { number: number; at: Instant; paymentId: string; ending?: ChargeEnding }[] = [];
  /** Of changes. Undefined: it is still at the bank. */
  readonly changeCharges: { amountMinor: bigint; at: Instant }[] = [];
  answerToChange: ChargeEnding | undefined;
  /** The bank declines the first refund of the end. */
  failsRefund = false;
  readonly facts: SubscriptionFact[] = [];
  /** The facts of each transaction. */
  readonly log: { readonly at: Instant; readonly facts: readonly SubscriptionFact[] }[] = [];
  /** What was collected by each invoice. */
  readonly collected = new Map<string, bigint>();
  wakes = 0;
  now: Instant;
  readonly #bank: Bank;
  #looked: { readonly at: Subscription; readonly next: Action | undefined } | undefined;

  constructor(terms: SubscriptionTerms, bank: Bank = () => ({ outcome: 'captured' })) {
    this.#bank = bank;
    this.now = terms.createdAt;
    const created = decideCreate(terms, terms.createdAt);
    if (!created.ok) throw new Error(created.refusal.hint ?? created.refusal.code);
    const [first, ...others] = created.value;
    this.subscription = evolve(undefined, first!, terms.createdAt);
    this.log.push({ at: terms.createdAt, facts: [first!] });
    this.take(others, terms.createdAt);
  }

  /** What it waits for. Looked up once for each state, because lives ask for it all the time. */
  get next(): Action | undefined {
    const at = this.subscription;
    if (this.#looked?.at !== at) this.#looked = { at, next: nextAction(at) };
    return this.#looked.next;
  }

  /** Wakes the subscription at each time it waits for, up to this one. */
  until(end: Instant): this {
    for (let { next } = this; next && next.at <= end; { next } = this) this.wake(latest(next.at, this.now));
    return this;
  }

  /** All that is due, at a time when a node looks. */
  wakeAt(now: Instant): this {
    for (let { next } = this; next && next.at <= now; { next } = this) this.wake(now);
    return this;
  }

  wake(now: Instant): void {
    this.wakes += 1;
    if (this.wakes > maxWakes) throw new Error('The subscription is woken without an end.');
    const invoiceId = `invoice${this.wakes}`;
    const { next } = this;
    const change = next?.does === 'chargeChange' ? this.subscription.change?.invoiceId : undefined;
    const open = next?.does === 'charge' ? this.rows.get(next.number)?.invoiceId : (change ?? invoiceId);
    const ids = { invoiceId, paymentId: `${open}.${this.wakes}` };
    if (next?.does === 'refund') return this.#refund(now);
    this.take(decideWake(this.subscription, now, ids), now);
  }

  /** Writes facts, as one transaction would, and brings the charge they start to the bank. */
  take(facts: readonly SubscriptionFact[], now: Instant): void {
    this.now = now;
    if (facts.length > 0) this.log.push({ at: now, facts });
    for (const fact of facts) {
      this.subscription = evolve(this.subscription, fact, now);
      this.facts.push(fact);
      this.#write(fact);
    }
    for (const fact of facts) {
      if (fact.type === 'change_charge_started') this.#chargeChange(fact.paymentId, now);
      if (fact.type !== 'charge_started') continue;
      const { number, paymentId } = fact;
      const ending = this.#bank(this.charges.length + 1, number, now);
      this.charges.push({ number, at: now, paymentId, ...(ending ? { ending } : {}) });
      if (ending) this.take(decideChargeEnded(this.subscription, fact, ending, now), now);
    }
  }

  #refund(now: Instant): void {
    const payments = invoicesToRefund(this.subscription).flatMap((invoiceId) => {
      const leftMinor = this.collected.get(invoiceId);
      return leftMinor === undefined ? [] : [{ invoiceId, paymentId: '1', leftMinor }];
    });
    const refunds = refundsOf(this.subscription, payments);
    const started = refunds.map(
      (refund) => ({ type: 'end_refund_started', ...refund, refundId: '100' }) as const,
    );
    const none = { type: 'end_refund_refused', refusedFor: 'nothingToRefund', amountMinor: 0n } as const;
    this.take(started.length > 0 ? started : [none], now);
    const [first] = startedRefunds(this.subscription);
    if (first && this.failsRefund)
      this.take([{ type: 'end_refund_failed', ...first, failedFor: 'unknown' }], now);
  }

  #chargeChange(paymentId: string, now: Instant): void {
    const { change } = this.subscription;
    if (change) this.changeCharges.push({ amountMinor: dueOf(change), at: now });
    const ending = this.answerToChange;
    if (ending) this.take(decideChangeChargeEnded(this.subscription, paymentId, ending, now), now);
  }

  #write(fact: SubscriptionFact): void {
    if (fact.type === 'period_created') {
      if (this.rows.has(fact.period.number))
        throw new Error(`Period ${fact.period.number} is created twice.`);
      this.rows.set(fact.period.number, fact.period);
      if (fact.period.outcome === 'paid') this.#collect(fact.period);
    }
    if (fact.type === 'period_paid') {
      if (fact.by !== 'elsewhere') this.#collect(this.rows.get(fact.number)!);
      this.#close(fact.number, 'paid');
    }
    if (fact.type === 'items_changed') {
      const { period, newPeriod } = fact.change;
      this.#collect({ ...fact.change, amountMinor: dueOf(fact.change) });
      const cut = newPeriod && this.rows.get(period);
      if (cut) this.rows.set(period, { ...cut, endsOn: newPeriod.startsOn, endsAt: newPeriod.startsAt });
    }
    if (fact.type === 'payment_taken_back') this.rows.set(fact.period.number, fact.period);
    if (fact.type === 'period_closed') this.#close(fact.number, fact.outcome);
    if (fact.type === 'subscription_unpaid') this.#close(fact.number, 'unpaid');
    if (fact.type === 'missed_period_charged') {
      this.#close(fact.number, 'open');
      this.rows.set(fact.number, { ...this.rows.get(fact.number)!, invoiceId: fact.invoiceId });
    }
  }

  #collect({ invoiceId, amountMinor }: { readonly invoiceId?: string; readonly amountMinor: bigint }): void {
    if (invoiceId !== undefined) this.collected.set(invoiceId, amountMinor);
  }

  #close(number: number, outcome: Period['outcome']): void {
    const row = this.rows.get(number);
    if (!row || row.outcome === 'paid') throw new Error(`Period ${number} becomes ${outcome} a second time.`);
    this.rows.set(number, { ...row, outcome });
  }

  /** `1 paid`, one for each row. */
  outcomes(): string[] {
    return [...this.rows.values()].map(({ number, outcome }) => `${number} ${outcome}`);
  }
}
