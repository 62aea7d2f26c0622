// What a subscription costs after other items were agreed, what changes of them cost within a period, and the credit that is left. By
// whole seconds, and half a minor unit is rounded up in each line.
import type { Fact } from '../rows.ts';

/** No fact says that a change was asked for without credit, so clients say it in the name of what they sell. */
export const withoutCredit = 'Tea without credit';

export type Item = { readonly product?: string; readonly priceMinor: number; readonly quantity: number };
type Change = {
  readonly period: number;
  readonly items: readonly Item[];
  readonly creditMinor: number;
  readonly chargeMinor: number;
  readonly fromBalanceMinor: number;
  readonly invoiceId?: string;
  readonly payableUntil?: string;
  /** What ends the period early. It costs the whole of the next one. */
  readonly newPeriod?: { readonly startsOn: string; readonly startsAt: string };
};
type PendingChange = Change & {
  readonly payment?: string;
  readonly isOver?: boolean;
  readonly failed?: { readonly at: string; readonly class: string };
  /** It was charged before: its bank held that, or the payer has agreed since it failed. */
  readonly isAgain?: boolean;
  /** Of the credit that it uses, by a bank that has taken back the money of it. */
  readonly lost?: number;
  /** When the charge that was not sent is made again. */
  readonly retryAt?: string;
};
type Cost = {
  readonly number: number;
  readonly amountMinor: number;
  readonly creditMinor: number;
  readonly outcome: string;
};
type Latest = {
  readonly number: number;
  readonly kind: string;
  readonly outcome: string;
  readonly startsAt: string;
  readonly endsAt: string;
};

type Move = {
  readonly again: (other: Changes) => void;
  readonly isLoss?: true;
  /** The period, if it may be paid again. */
  readonly lossOf?: number;
};

export class Changes {
  items: readonly Item[] = [];
  /** What the next invoices need not ask for. */
  balance = 0;
  pending: PendingChange | undefined;
  /** Whether one credit is right, and no other. */
  isKnown = true;
  #later: readonly Item[] | undefined;
  /** Of the latest period, less what was credited. */
  #collected = 0;
  /** The same of earlier periods, unless their own invoice alone has paid them. */
  #cut = new Map<number, number>();
  /** All that has moved money, and of which period that was lost. */
  #moves: Move[] = [];
  readonly #wrong: (problem: string) => void;

  constructor(wrong: (problem: string) => void) {
    this.#wrong = (problem) => (this.isKnown ? wrong(problem) : undefined);
  }

  agreed(items: readonly Item[]): void {
    this.items = items;
  }

  scheduled(items: readonly Item[] | undefined): void {
    if (this.pending) this.#wrong('other items are scheduled while a change waits for its payment');
    this.#later = items;
  }

  created(period: Cost, before: Cost | undefined): void {
    this.#moves.push({ again: (other) => other.created(period, before) });
    const isWhole = before?.outcome === 'paid' && this.#collected === before.amountMinor;
    if (before && !isWhole && !this.#cut.has(before.number))
      this.#cut.set(before.number, Math.max(0, this.#collected));
    this.items = this.#later ?? this.items;
    this.#later = undefined;
    this.#spend(period.creditMinor);
    // Credit of money that the bank has taken back before is none.
    const lost = Math.min(0, this.#collected);
    this.#collected = period.creditMinor + (period.outcome === 'paid' ? period.amountMinor : 0) + lost;
  }

  /** A loss that is made good is as if it had never been: what it took elsewhere is there again. */
  paid(amount: number, number: number, latest = number): void {
    const loss = this.#moves.findLastIndex(({ lossOf }) => lossOf === number);
    if (loss !== -1) return void this.#repeat(loss);
    this.#moves.push({ again: (other) => other.paid(amount, number, latest) });
    const before = this.#collectedFor(number, latest);
    if (before !== undefined) this.#collect(number, latest, before + amount);
  }

  /** Of several losses, the later ones may have taken what is there again, or not. */
  #repeat(loss: number): void {
    this.isKnown &&= this.#moves.slice(loss + 1).every(({ isLoss }) => !isLoss);
    const other = new Changes(() => {});
    for (const { again } of this.#moves.toSpliced(loss, 1)) again(other);
    this.balance = other.balance;
    this.#collected = other.#collected;
    this.#cut = other.#cut;
    this.#moves = other.#moves;
    if (this.pending) this.pending = { ...this.pending, lost: other.pending?.lost ?? 0 };
  }

  #collectedFor(number: number, latest: number): number | undefined {
    return number === latest ? this.#collected : this.#cut.get(number);
  }

  #collect(number: number, latest: number, amount: number): void {
    if (number === latest) this.#collected = amount;
    else this.#cut.set(number, amount);
  }

  /** What is left of the money for a period that is closed is credit again, also after a loss of a part. */
  closed(number: number, latest: number): void {
    this.#moves.push({ again: (other) => other.closed(number, latest) });
    const left = this.#collectedFor(number, latest) ?? 0;
    if (left <= 0) return;
    this.balance += left;
    this.#collect(number, latest, 0);
  }

  /** Of a change. Its invoice is not paid again. */
  changeLost(amount: number, number: number, latest: number): void {
    this.#moves.push({ again: (other) => other.changeLost(amount, number, latest), isLoss: true });
    this.#lose(amount, number, latest);
  }

  lost(amount: number, number: number, latest = number): void {
    this.#moves.push({ again: (other) => other.lost(amount, number, latest), isLoss: true, lossOf: number });
    this.#lose(amount, number, latest);
  }

  /** Credit that was given for it goes first, and then what that credit has paid of the periods after it. */
  #lose(amount: number, number: number, latest: number): void {
    const before = this.#collectedFor(number, latest);
    if (before === undefined) return;
    const own = Math.min(amount, before);
    this.#collect(number, latest, before - own);
    const fromCredit = Math.min(amount - own, this.balance);
    this.balance -= fromCredit;
    const { pending } = this;
    const { fromBalanceMinor = 0, lost = 0 } = pending ?? {};
    let missing = amount - own - fromCredit;
    const reserved = Math.min(missing, fromBalanceMinor - lost);
    if (pending && reserved > 0) this.pending = { ...pending, lost: lost + reserved };
    missing -= reserved;
    for (let later = number + 1; later <= latest && missing > 0; later++) {
      const left = this.#collectedFor(later, latest) ?? 0;
      if (left > 0) this.#collect(later, latest, left - Math.min(left, missing));
      missing -= Math.min(left, missing);
    }
  }

  started(fact: Fact, at: string, latest: Latest | undefined, first: string): void {
    this.#moves.push({ again: (other) => other.started(fact, at, latest, first) });
    const change = fact['change'] as Change;
    if (this.pending) this.#wrong(`change ${change.invoiceId} comes while ${this.pending.invoiceId} waits`);
    this.#cost(change, at, latest, first);
    this.#spend(change.fromBalanceMinor);
    this.pending = change;
  }

  charged(payment: string, at: string): void {
    const { pending } = this;
    if (!pending) return this.#wrong(`change payment ${payment} is of no change`);
    if (pending.payment !== undefined && !pending.isOver)
      this.#wrong(`change ${pending.invoiceId} is charged by ${payment} again`);
    if (!payment.startsWith(`${pending.invoiceId}.`))
      this.#wrong(`change ${pending.invoiceId} is charged by ${payment}`);
    const { isOver = false, failed: _, retryAt = '', ...change } = pending;
    if (at < retryAt)
      this.#wrong(`change ${pending.invoiceId} is charged at ${at}, and was to wait until ${retryAt}`);
    this.pending = { ...change, payment, isAgain: isOver };
  }

  failed({ failedFor, isUnsent, retryAt }: Fact, at: string): void {
    const { pending } = this;
    if (pending?.payment === undefined) return this.#wrong('a change fails that was not charged');
    const failed = { at, class: String(failedFor) };
    const { payableUntil = '' } = pending;
    this.pending = { ...pending, isOver: true, failed };
    if (typeof retryAt !== 'string') return;
    this.pending = { ...this.pending, retryAt };
    const mayComeAgain = pending.isAgain === true || failedFor === 'held';
    if (!mayComeAgain || isUnsent !== true || retryAt >= payableUntil)
      this.#wrong(`change ${pending.invoiceId} fails at ${at}, and is wanted again at ${retryAt}`);
  }

  dropped(): void {
    this.#moves.push({ again: (other) => other.dropped() });
    if (!this.pending) this.#wrong('a change is dropped that does not wait');
    const { fromBalanceMinor = 0, lost = 0 } = this.pending ?? {};
    this.balance += fromBalanceMinor - lost;
    this.pending = undefined;
  }

  changed(fact: Fact, at: string, latest: Latest | undefined, first: string): void {
    this.#moves.push({ again: (other) => other.changed(fact, at, latest, first) });
    const change = fact['change'] as Change;
    const { pending } = this;
    const { lost = 0 } = pending ?? {};
    if (pending) {
      if (pending.invoiceId !== change.invoiceId)
        this.#wrong(`${change.invoiceId} is paid, and ${pending.invoiceId} waits`);
      this.pending = undefined;
    } else {
      this.#cost(change, at, latest, first);
      this.#spend(change.fromBalanceMinor);
      if (dueOf(change) > 0)
        this.#wrong(`a change of period ${change.period} is free, and costs ${dueOf(change)}`);
    }
    this.items = change.items;
    this.#later = undefined;
    // The row of the new period uses all of it.
    if (change.newPeriod) {
      this.balance += change.fromBalanceMinor + change.creditMinor;
      this.#collected -= change.creditMinor;
      this.#cut.set(change.period, Math.max(0, this.#collected));
      this.#collected = Math.min(0, this.#collected) - lost;
      return;
    }
    this.balance += Math.max(0, change.creditMinor - change.chargeMinor);
    if (change.period === latest?.number) this.#collected += change.chargeMinor - change.creditMinor - lost;
  }

  #spend(amount: number): void {
    this.balance -= amount;
    if (this.balance < 0) this.#wrong(`its credit is ${this.balance} after ${amount} of it was used`);
  }

  /** The preview may be up to an hour old, and any second of it is right. */
  #cost(change: Change, at: string, latest: Latest | undefined, first: string): void {
    if (!latest || change.period !== latest.number)
      return this.#wrong(`a change is of period ${change.period}`);
    if (change.creditMinor > this.#collected)
      this.#wrong(`a change gives ${change.creditMinor} of ${this.#collected} that was paid`);
    if (change.fromBalanceMinor > this.balance) this.#wrong(`a change uses more credit than ${this.balance}`);
    const isFree =
      latest.outcome !== 'paid' || latest.kind === 'trial' || (latest.kind === 'first' && first === 'free');
    if (latest.kind === 'first' && first === 'proRata') return;
    const [from, to, now] = [latest.startsAt, latest.endsAt, at].map((time) =>
      Math.floor(Date.parse(time) / 1_000),
    );
    const valueOf = (items: readonly Item[], second: number) =>
      isFree
        ? 0
        : items.reduce((sum, one) => sum + part(one.priceMinor * one.quantity, to! - second, to! - from!), 0);
    const isCredited = change.items.every(({ product }) => product !== withoutCredit);
    const creditAt = (second: number) =>
      isCredited ? Math.min(valueOf(this.items, second), this.#collected) : 0;
    const whole = change.items.reduce((sum, one) => sum + one.priceMinor * one.quantity, 0);
    const chargeAt = (second: number) => (change.newPeriod ? whole : valueOf(change.items, second));
    for (let second = now!; second > now! - 3_602 && second >= from! - 1; second--) {
      const isCredit = change.creditMinor === creditAt(second);
      if (isCredit && chargeAt(second) === change.chargeMinor) return;
    }
    this.#wrong(
      `a change of period ${change.period} at ${at} costs ${change.chargeMinor} less ${change.creditMinor}, and not ` +
        `${chargeAt(now!)} less ${creditAt(now!)}`,
    );
  }
}

function dueOf({ creditMinor, chargeMinor, fromBalanceMinor }: Change): number {
  return Math.max(0, chargeMinor - creditMinor) - fromBalanceMinor;
}

/** In whole numbers that are too large for a double. */
function part(amount: number, left: number, whole: number): number {
  return Number((2n * BigInt(amount) * BigInt(left) + BigInt(whole)) / (2n * BigInt(whole)));
}
