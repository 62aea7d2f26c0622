// A second, independent implementation of the rules for recurring charges. It evaluates the whole history and shares no
// code with src/recurring, so that an error would have to occur in both.
import { followsAdvice, meaningOfAdvice, meaningOfCode, type Meaning } from './decline-table.ts';

export type Happened =
  | {
      readonly at: number;
      readonly what: 'charged';
      readonly series: number;
      readonly id: number;
      readonly invoice: number;
      readonly invoiceMadeAt: number;
      readonly amount: number;
    }
  | { readonly at: number; readonly what: 'ended'; readonly id: number; readonly how: How }
  | { readonly at: number; readonly what: 'renewed' | 'withdrawn'; readonly series: number };

export type How =
  | { readonly outcome: 'approved'; readonly advice?: string }
  | {
      readonly outcome: 'declined';
      readonly network: string;
      readonly code: string;
      readonly advice?: string;
    }
  | { readonly outcome: 'lost' | 'unsent' };

export type Told = {
  readonly shop: string;
  readonly network: 'visa' | 'mastercard' | 'mir';
  readonly agreedAt: number;
  readonly agreedUntil?: number;
  readonly cardGoodUntil: number;
};

export type Asked = {
  readonly series: number;
  readonly invoice: number;
  readonly invoiceMadeAt: number | 'then';
  readonly amount: number;
  readonly waitsForOthers?: true;
};

const hour = 3_600_000;
const day = 24 * hour;

export function isLegal(told: readonly Told[], log: readonly Happened[], asked: Asked, at: number): boolean {
  const me = told[asked.series];
  if (!me) throw new Error('The series was not found.');
  if (me.agreedUntil !== undefined && at >= me.agreedUntil) return false;
  if (at >= me.cardGoodUntil) return false;

  const charges = new Map<number, Happened & { what: 'charged' }>();
  const ends = new Map<number, Happened & { what: 'ended' }>();
  let agreedAt = me.agreedAt;
  let withdrawn = false;
  for (const each of log) {
    if (each.what === 'charged') charges.set(each.id, each);
    else if (each.what === 'ended') ends.set(each.id, each);
    else if (each.series === asked.series) {
      withdrawn = each.what === 'withdrawn';
      if (each.what === 'renewed') agreedAt = each.at;
    }
  }
  if (withdrawn) return false;

  // Stops.
  for (const end of ends.values()) {
    const charge = charges.get(end.id)!;
    const from = told[charge.series]!;
    switch (stopOf(from.network, end)) {
      case 'everywhere':
        if (end.at >= agreedAt) return false;
        break;
      case 'shop':
        if (from.shop === me.shop && end.at >= agreedAt) return false;
        break;
      case 'series':
        if (charge.series === asked.series && end.at >= agreedAt) return false;
        break;
      case 'charge':
        if (charge.invoice === asked.invoice && end.at >= agreedAt && asked.invoiceMadeAt !== 'then')
          return false;
        break;
    }
  }

  // Failures and their 31 days, replayed.
  let failingSince: number | undefined;
  let dead = -Infinity;
  let notBefore = -Infinity;
  const madeWhileFailing = new Set<number>();
  const overdue = (now: number) => {
    if (failingSince !== undefined && now - failingSince > 31 * day) {
      dead = failingSince + 31 * day;
      failingSince = undefined;
    }
  };
  for (const each of log) {
    if (each.at > at) break;
    if (each.what === 'charged' && each.series === asked.series) {
      overdue(each.at);
      if (failingSince !== undefined) madeWhileFailing.add(each.id);
    }
    if (each.what !== 'ended' || charges.get(each.id)!.series !== asked.series) continue;
    overdue(each.at);
    if (each.how.outcome === 'approved') {
      failingSince = undefined;
      notBefore = -Infinity;
    } else if (each.how.outcome !== 'unsent') {
      const isFailure = !isMisconfigured(me.network, each);
      if (isFailure && failingSince === undefined && !madeWhileFailing.has(each.id)) failingSince = each.at;
      notBefore = Math.max(notBefore, each.at + waitOf(me.network, each));
    }
  }
  overdue(at);
  if (asked.invoiceMadeAt !== 'then' && asked.invoiceMadeAt <= dead) return false;
  if (at < notBefore) return false;

  const isOneInProgress = [...charges.values()].some(
    (one) => one.series === asked.series && !ends.has(one.id),
  );
  if (asked.waitsForOthers && isOneInProgress) return false;
  // While failing: one attempt a day, and no concurrent one.
  if (failingSince !== undefined) {
    for (const charge of charges.values()) {
      if (charge.series !== asked.series) continue;
      const end = ends.get(charge.id);
      if (!end) return false;
      if (end.how.outcome === 'unsent' || isMisconfigured(me.network, end)) continue;
      // Shops of this test are in UTC.
      if (at - charge.at < 22.75 * hour || dateOf(at) === dateOf(charge.at)) return false;
    }
  }

  let ofCard = 0;
  let ofCharge = 0;
  for (const end of ends.values()) {
    if (end.how.outcome !== 'declined' || end.how.network === 'bank') continue;
    const charge = charges.get(end.id)!;
    const age = at - charge.at;
    if (age < 1 * day) ofCard += 1;
    if (age < 30 * day && told[charge.series]!.shop === me.shop && charge.amount === asked.amount)
      ofCharge += 1;
  }
  return ofCard < 9 && ofCharge < (me.network === 'mastercard' ? 30 : 15);
}

function dateOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** Every time at which the decision may change. */
export function turningPoints(told: readonly Told[], log: readonly Happened[]): number[] {
  const points: number[] = [];
  for (const each of log) {
    points.push(each.at + 22.75 * hour, Date.parse(dateOf(each.at + day)));
    points.push(each.at + 1 * day, each.at + 30 * day, each.at + 31 * day, each.at + 31 * day + 1);
    if (each.what === 'ended')
      for (const hours of [1, 48, 72, 96, 144, 168, 192, 240]) points.push(each.at + hours * hour);
  }
  for (const { agreedUntil, cardGoodUntil } of told) points.push(agreedUntil ?? cardGoodUntil, cardGoodUntil);
  return points;
}

type Ended = Happened & { what: 'ended' };

/** What the code and the advice say, each for itself. A bank that did not ask the network says nothing. */
function meaningsOf(network: Told['network'], { how, at }: Ended): Meaning[] {
  if (how.outcome !== 'approved' && how.outcome !== 'declined') return [];
  const advised = meaningOfAdvice(how.advice);
  // An approval may say that it was the last one, and nothing else.
  if (how.outcome === 'approved') return advised?.helper === 'stopped' ? [advised] : [];
  if (how.network === 'bank') return [];
  const coded = meaningOfCode(network, how.code, at);
  if (!advised) return [coded];
  return followsAdvice(network, how.code) ? [advised] : [coded, advised];
}

function stopOf(network: Told['network'], end: Ended): Meaning['stop'] {
  const stops = meaningsOf(network, end).map(({ stop }) => stop);
  return (['everywhere', 'shop', 'series', 'charge'] as const).find((reach) => stops.includes(reach));
}

function waitOf(network: Told['network'], end: Ended): number {
  if (end.how.outcome !== 'declined') return -Infinity;
  return Math.max(...meaningsOf(network, end).map(({ waitHours }) => waitHours ?? -Infinity)) * hour;
}

/** The merchant's set-up is wrong, and nothing stricter was said. */
function isMisconfigured(network: Told['network'], end: Ended): boolean {
  const { how } = end;
  if (how.outcome !== 'declined') return false;
  if (how.network === 'bank') return '03 12 13 30 31 40 58 76 77'.split(' ').includes(how.code);
  const helpers = meaningsOf(network, end).map(({ helper }) => helper);
  const isStricter = ['stopped', 'newCard', 'payerPresent'].some((helper) => helpers.includes(helper));
  return helpers.includes('configuration') && !isStricter;
}
