// A second, independent implementation of the rules for recurring charges. It evaluates the whole history and shares no
// code with src/recurring, so that an error would have to occur in both.

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
      case 'invoice':
        if (
          charge.series === asked.series &&
          charge.invoice === asked.invoice &&
          asked.invoiceMadeAt !== 'then'
        )
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
      if (failingSince === undefined && !madeWhileFailing.has(each.id)) failingSince = each.at;
      notBefore = Math.max(notBefore, each.at + waitOf(me.network, each));
    }
  }
  overdue(at);
  if (asked.invoiceMadeAt !== 'then' && asked.invoiceMadeAt <= dead) return false;
  if (at < notBefore) return false;

  // While failing: one attempt a day, and no concurrent one.
  if (failingSince !== undefined) {
    for (const charge of charges.values()) {
      if (charge.series !== asked.series) continue;
      const end = ends.get(charge.id);
      if (!end) return false;
      if (end.how.outcome !== 'unsent' && at - charge.at < 1 * day) return false;
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

/** Every time at which the decision may change. */
export function turningPoints(told: readonly Told[], log: readonly Happened[]): number[] {
  const points: number[] = [];
  for (const each of log) {
    points.push(each.at + 1 * day, each.at + 30 * day, each.at + 31 * day, each.at + 31 * day + 1);
    if (each.what === 'ended')
      for (const hours of [1, 48, 72, 96, 144, 168, 192, 240]) points.push(each.at + hours * hour);
  }
  for (const { agreedUntil, cardGoodUntil } of told) points.push(agreedUntil ?? cardGoodUntil, cardGoodUntil);
  return points;
}

function stopOf(
  network: Told['network'],
  { how, at }: Happened & { what: 'ended' },
): 'invoice' | 'shop' | 'everywhere' | undefined {
  if (how.outcome !== 'approved' && how.outcome !== 'declined') return undefined;
  const { advice } = how;
  const code = how.outcome === 'declined' && how.network !== 'bank' ? how.code : '';
  const isAdvised = how.outcome === 'approved' || how.network !== 'bank';
  if (code === 'R3') return 'everywhere';
  if (isAdvised && (advice === '03' || advice === '21')) return 'shop';
  if (['04', '07', '14', '15', '39', '41', '43', '46', '52', '53', '56', '93', 'R1'].includes(code))
    return 'shop';
  if (code === '12' && network !== 'mastercard') return 'shop';
  if (code === '57' && (network !== 'visa' || at >= Date.UTC(2026, 9, 25))) return 'shop';
  if (network === 'mastercard' && code === '78') return 'shop';
  if (
    network === 'mastercard' &&
    (code === '79' || code === '83') &&
    !(advice !== undefined && advice in adviceHours)
  )
    return 'shop';
  return code === 'R0' ? 'invoice' : undefined;
}

const adviceHours: Record<string, number> = {
  '02': 72,
  '24': 1,
  '25': 24,
  '26': 48,
  '27': 96,
  '28': 144,
  '29': 192,
  '30': 240,
};

function waitOf(network: Told['network'], { how, at }: Happened & { what: 'ended' }): number {
  if (how.outcome !== 'declined' || how.network === 'bank') return -Infinity;
  const { code, advice = '' } = how;
  const hours = [adviceHours[advice] ?? -Infinity];
  if (code === '36' || code === '62') hours.push(7 * 24);
  if (code === '5C' && network !== 'mastercard') hours.push(7 * 24);
  if (code === '83' && network === 'visa' && at >= Date.UTC(2026, 9, 25)) hours.push(24);
  return Math.max(...hours) * hour;
}
