// A clean bank report, and the mistakes a bank can make, each in another payment with the expected finding. The expectation is worked
// out by hand from the payment's status, without the code of the reconciliation.
import type { BookEntry } from '../../../src/acquiring/adapters/http/messages.ts';
import type { DatabasePool } from '../../../src/platform/database/database.ts';
import type { DifferenceClass } from '../../../src/acquiring/reconciliation/domain/difference.ts';
import { seededRandom } from '../../../src/sandbox/bank/random.ts';

type Row = {
  readonly of: 'payment' | 'payout';
  /** The prefix of its operations' IDs; for a payout, its only ID. */
  readonly name: string;
  readonly status: string;
  readonly bank: string;
  readonly currency: string;
  readonly minor: number;
  readonly is_instant: boolean;
  /** With their amounts. */
  readonly failed_refunds: readonly (readonly [id: string, minor: number])[];
};

export type Life = Row & { readonly lines: readonly BookEntry[] };

/** `class operation amount currency`. */
export type Planted = { readonly book: readonly BookEntry[]; readonly expected: readonly string[] };

export async function livesIn(database: DatabasePool, book: readonly BookEntry[]): Promise<Life[]> {
  const { rows } = await database.withClient((client) =>
    client.query<Row>(`
      select 'payment' as of, invoice_id || '.' || payment_id as name, payment.status, terms -> 'terminal' ->> 'bankId' as bank,
        payment.currency, payment.amount_minor::int as minor, terms -> 'flow' ->> 'type' = 'instant' as is_instant,
        coalesce(json_agg(json_build_array(refund_id, refund.amount_minor))
          filter (where refund.status = 'failed'), '[]') as failed_refunds
      from payment left join refund using (invoice_id, payment_id)
      group by invoice_id, payment_id
      union all
      select 'payout', withdrawal_id || '.p', status, terms -> 'route' ->> 'bankId', currency, amount_minor::int, false, '[]'::json
      from withdrawal
      order by of, minor, name`),
  );
  const lines = groupedBy(book, ({ operationId }) => operationId.split('.').slice(0, 2).join('.'));
  return rows.map((row) => ({ ...row, lines: lines.get(row.name) ?? [] }));
}

type Change = {
  readonly class: DifferenceClass;
  readonly operationId: string;
  readonly atStake: number;
  readonly currency: string;
  readonly removed?: BookEntry;
  readonly added?: BookEntry;
};

/** What can go wrong with a payment, in one or several ways each. */
const mistakes: Readonly<Record<DifferenceClass, (life: Life, chance: () => number) => Change[]>> = {
  missing_at_bank: ({ status, lines }) =>
    // For a released hold or a reversed charge, more than one entry would be wrong.
    ['captured', 'refunded', 'held', 'capturing', 'succeeded'].includes(status)
      ? lines.map((line) => change('missing_at_bank', line, -worth(line), { removed: line }))
      : [],
  missing_here: (life, chance) => {
    const stranger = `stranger${Math.floor(chance() * 1e9)}.1.a`;
    return [
      extra('missing_here', life, stranger, 'authorise', 1, 777),
      extra('missing_here', life, `${life.name}.9`, 'refund', -1, 777),
      extra('missing_here', life, `payout${Math.floor(chance() * 1e9)}.p`, 'payout', -1, 777),
      extra('missing_here', life, `${life.name}0.a`, 'authorise', 0, 777),
    ];
  },
  return_missing: ({ of, name, status, lines }) =>
    of === 'payout' && status === 'succeeded' && lines.length === 1
      ? lines.map((line) => {
          const returned = { kind: 'return', sign: 1, operationId: `${name}.returned` } as const;
          const added = { ...line, ...returned, originalOperationId: name };
          return change('return_missing', added, line.amount, { added });
        })
      : [],
  amount: ({ lines }) => [
    ...lines.map((line) => altered('amount', line, { amount: line.amount + 1 }, weight(line))),
    ...lines.map((line) => altered('amount', line, { amount: line.amount - 1 }, -weight(line))),
  ],
  currency: ({ lines }) =>
    lines.map((line) => altered('currency', line, { currency: 'GEL' }, -worth(line), line.currency)),
  kind: ({ lines }) =>
    lines.flatMap((line) => {
      const { sign, amount, kind } = line;
      if (kind === 'refund' || kind === 'payout') return [altered('kind', line, { sign: 1 }, 2 * amount)];
      if (kind === 'capture') return [altered('kind', line, { kind: 'authorise' }, 0)];
      if (kind === 'authorise' && sign === 1) return [altered('kind', line, { sign: 0 }, -amount)];
      if (kind === 'authorise') return [altered('kind', line, { sign: 1 }, amount)];
      return [];
    }),
  original: ({ lines }) =>
    lines
      .filter(({ originalOperationId }) => originalOperationId !== undefined)
      .map((line) => altered('original', line, { originalOperationId: 'another.1.a' }, worth(line))),
  card: ({ lines }) =>
    lines.map((line) => altered('card', line, { cardMask: '555555******4444' }, worth(line))),
  duplicate: ({ lines }) => lines.map((line) => change('duplicate', line, worth(line), { added: line })),
  unexpected_success: (life) => {
    const { status, name, is_instant, lines, failed_refunds } = life;
    const add = (suffix: string, kind: BookEntry['kind'], sign: BookEntry['sign'], minor = life.minor) =>
      extra('unexpected_success', life, `${name}.${suffix}`, kind, sign, minor);
    if (life.of === 'payout') {
      return status === 'failed' ? [extra('unexpected_success', life, name, 'payout', -1, life.minor)] : [];
    }
    return [
      ...failed_refunds.map(([id, minor]) => add(id, 'refund', -1, minor)),
      ...(status === 'captured' && is_instant ? [add('r', 'reverse', -1), add('c', 'capture', 1)] : []),
      ...(status === 'captured' && !is_instant ? [add('r', 'reverse', 0)] : []),
      ...(status === 'held' || status === 'cancelled' ? [add('c', 'capture', 1)] : []),
      ...(status === 'held' ? [add('r', 'reverse', 0)] : []),
      // Reversed, and never charged.
      ...(status === 'failed' && lines.length === 0 ? [add('r', 'reverse', is_instant ? -1 : 0)] : []),
    ];
  },
  reversal_missing: (life) =>
    life.of === 'payment' && life.is_instant ? notTakenBack('reversal_missing', life, 1) : [],
  hold_not_released: (life) =>
    life.of === 'payment' && !life.is_instant ? notTakenBack('hold_not_released', life, 0) : [],
  wrong_bank: ({ bank, lines }) =>
    bank === 'OTHER' ? lines.map((line) => change('wrong_bank', line, worth(line), { added: line })) : [],
  final_at_bank: (life) => {
    if (life.status === 'capturing')
      return [extra('final_at_bank', life, `${life.name}.c`, 'capture', 1, life.minor)];
    return life.status === 'sending'
      ? [extra('final_at_bank', life, life.name, 'payout', -1, life.minor)]
      : [];
  },
  // These exist already: captures and payouts of yesterday.
  pending_too_long: () => [],
};

/** A failed payment that was charged without a reversal, or whose reversal is missing; likewise for a cancelled one. */
function notTakenBack(
  name: 'reversal_missing' | 'hold_not_released',
  life: Life,
  sign: BookEntry['sign'],
): Change[] {
  const { status, lines, minor, currency } = life;
  const authorisation = `${life.name}.a`;
  const reversal = lines.find(({ kind }) => kind === 'reverse');
  if (status === 'failed' && lines.length === 0)
    return [extra(name, life, authorisation, 'authorise', sign, minor)];
  if (!reversal) return [];
  const operationId = status === 'cancelled' ? reversal.operationId : authorisation;
  return [{ class: name, operationId, atStake: minor, currency, removed: reversal }];
}

/** Plants a possible mistake in most payments and payouts, the rarer kinds first. */
export function plant(lives: readonly Life[], clean: readonly BookEntry[], seed: number): Planted {
  const chance = seededRandom(seed);
  const book: BookEntry[] = [...clean];
  const changes: Change[] = [];
  const counts = new Map<DifferenceClass, number>();
  const classes = Object.keys(mistakes) as DifferenceClass[];
  for (const life of shuffled(lives, chance)) {
    if (chance() < 0.15) continue;
    const foreign = life.bank === 'OTHER';
    const possible = classes
      .map((name) => (foreign && name !== 'wrong_bank' ? [] : mistakes[name](life, chance)))
      .filter((list) => list.length > 0)
      .sort((a, b) => (counts.get(a[0]!.class) ?? 0) - (counts.get(b[0]!.class) ?? 0));
    const [rarest = []] = possible;
    const made = rarest[Math.floor(chance() * rarest.length)];
    if (!made) continue;
    counts.set(made.class, (counts.get(made.class) ?? 0) + 1);
    changes.push(made);
    if (made.removed) book.splice(book.indexOf(made.removed), 1);
    if (made.added) book.splice(Math.floor(chance() * (book.length + 1)), 0, made.added);
  }
  return {
    // A copy comes after its original.
    book: book.map((entry, place) => ({ ...entry, sequence: place + 1 })),
    expected: changes.map(textOf).sort(),
  };
}

export function textOf(found: {
  class: string;
  operationId: string;
  atStake: number | bigint;
  currency: string;
}): string {
  return `${found.class} ${found.operationId} ${found.atStake} ${found.currency}`;
}

function change(
  name: DifferenceClass,
  { operationId, currency }: BookEntry,
  atStake: number,
  how: { removed?: BookEntry; added?: BookEntry },
): Change {
  return { class: name, operationId, atStake, currency, ...how };
}

function altered(
  name: DifferenceClass,
  line: BookEntry,
  to: Partial<BookEntry>,
  atStake: number,
  currency = to.currency ?? line.currency,
): Change {
  const { operationId } = line;
  return { class: name, operationId, atStake, currency, removed: line, added: { ...line, ...to } };
}

function extra(
  name: DifferenceClass,
  { lines, currency }: Life,
  operationId: string,
  kind: BookEntry['kind'],
  sign: BookEntry['sign'],
  amount: number,
): Change {
  const at = lines[0]?.at ?? '2026-01-20T12:00:00Z';
  const cardMask = '424242******4242';
  const added: BookEntry = { sequence: 1, operationId, kind, amount, currency, sign, at, cardMask };
  return { class: name, operationId, atStake: worth(added), currency, added };
}

function weight({ kind, sign }: BookEntry): number {
  return sign !== 0 ? sign : kind === 'reverse' ? -1 : 1;
}

function worth(line: BookEntry): number {
  return weight(line) * line.amount;
}

function shuffled<T>(all: readonly T[], chance: () => number): T[] {
  return all
    .map((one) => [chance(), one] as const)
    .sort(([a], [b]) => a - b)
    .map(([, one]) => one);
}

export function groupedBy<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}
