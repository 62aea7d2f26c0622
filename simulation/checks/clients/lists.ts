// In the end, each merchant's lists and files have every object of theirs once and in order, and sums are those of the objects. All of it
// is worked out from the objects themselves, and never from the tables of searches.
import type { Problem } from '../check.ts';
import type { CheckWorld } from '../world.ts';

/** Of one kind, as a merchant has read it. */
export type ShownLists = {
  readonly partyId: string;
  /** Empty for payouts. */
  readonly shopId: string;
  readonly kind: 'payments' | 'refunds' | 'invoices' | 'payouts';
  readonly rows: readonly object[];
  readonly file: string;
  readonly sums: object[];
};

// oxlint-disable-next-line typescript/no-explicit-any -- a row of the database, or an object of a list
type Row = Readonly<Record<string, any>>;

const within = `created_at >= '2026-01-01' and created_at < '2027-01-01'`;
const isTaken = `status in ('captured', 'refunding', 'refunded')`;

/** Newest first. `minor` is what counts in a sum, and `shown` what a list and a file show. */
const readObjects = `
  select 'payments' as kind, party_id, shop_id, invoice_id || '/' || payment_id as id, created_at, currency, status,
    case when ${isTaken} then captured_minor else amount_minor end as shown, case when ${isTaken} then captured_minor end as minor
  from payment where ${within}
  union all
  select 'refunds', refund.party_id, shop_id, concat_ws('/', invoice_id, payment_id, refund_id), refund.created_at, refund.currency,
    refund.status, refund.amount_minor, case when refund.status = 'succeeded' then refund.amount_minor end
  from refund join payment using (invoice_id, payment_id) where ${within.replaceAll('created_at', 'refund.created_at')}
  union all
  select 'invoices', party_id, shop_id, invoice_id, created_at, currency, status, amount_minor, null from invoice where ${within}
  union all
  select 'payouts', party_id, '', withdrawal_id, created_at, currency, status, amount_minor, amount_minor from withdrawal where ${within}
  order by created_at desc, id desc`;

const idMembers = {
  payments: ['invoiceID', 'paymentID'],
  refunds: ['invoiceID', 'paymentID', 'refundID'],
  invoices: ['invoiceID'],
  payouts: ['withdrawalID'],
} as const;

const payoutStatus: Readonly<Record<string, string>> = {
  sending: 'Pending',
  succeeded: 'Succeeded',
  failed: 'Failed',
};

export async function listedWrongly({
  query,
  lists,
}: Pick<CheckWorld, 'query' | 'lists'>): Promise<Problem[]> {
  const shown = lists?.() ?? [];
  if (shown.length === 0) return [];
  const objects = await query(readObjects);
  return shown.flatMap((one) => {
    const own = objects.filter(
      (row) => row['kind'] === one.kind && row['party_id'] === one.partyId && row['shop_id'] === one.shopId,
    );
    const about = `${one.kind} of ${one.partyId} ${one.shopId}`;
    const wanted = own.map((row) => `${row['id']} ${row['shown']}`);
    const listed = one.rows.map((row) => `${listedId(one.kind, row)} ${(row as Row)['amount']}`);
    return [
      ...(one.kind === 'payouts' ? [] : differing(about, 'the list', wanted, listed)),
      ...differing(about, 'the file', wanted, linesOf(one.file, idMembers[one.kind])),
      ...differing(about, 'the sum', sumsOf(one.kind, own), one.sums.map(textOf).toSorted()),
    ];
  });
}

/** In a list, the last ID of an object is its `id`. */
function listedId(kind: ShownLists['kind'], row: Row): string {
  const members = idMembers[kind];
  return members.map((member, index) => row[index === members.length - 1 ? 'id' : member]).join('/');
}

/** What the world's texts are made of needs no quotes in the columns that are read. */
function linesOf(file: string, members: readonly string[]): string[] {
  const [heading = '', ...lines] = file.split('\r\n').filter((line) => line !== '');
  const names = heading.split(',');
  return lines.map((line) => {
    const cells = line.split(',');
    const cell = (name: string) => cells[names.indexOf(name)];
    return `${members.map(cell).join('/')} ${cell('amount')}`;
  });
}

function sumsOf(kind: ShownLists['kind'], own: readonly Row[]): string[] {
  const add = (groups: Map<string, { count: number; amount: number }>, name: string, minor: number) => {
    const { count, amount } = groups.get(name) ?? { count: 0, amount: 0 };
    groups.set(name, { count: count + 1, amount: amount + minor });
  };
  const all = new Map<string, { count: number; amount: number }>();
  const counted = new Map<string, { count: number; amount: number }>();
  for (const { status, currency, minor } of own) {
    if (kind === 'payouts') add(all, `${payoutStatus[status]} ${currency}`, Number(minor));
    if (kind === 'payments') add(counted, currency, 0);
    if ((kind === 'payments' || kind === 'refunds') && minor !== null) add(all, currency, Number(minor));
  }
  const texts = [...all].map(([name, { count, amount }]) => {
    const [status, currency] = kind === 'payouts' ? name.split(' ') : [undefined, name];
    return textOf(status === undefined ? { amount, currency } : { amount, count, currency, status });
  });
  return [...texts, ...[...counted].map(([currency, { count }]) => textOf({ count, currency }))].toSorted();
}

const textOf = (row: object) =>
  Object.entries(row)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');

/** The first difference. */
function differing(
  about: string,
  what: string,
  wanted: readonly string[],
  found: readonly string[],
): Problem[] {
  const place = [...wanted, ...found].findIndex((_, index) => wanted[index] !== found[index]);
  if (place === -1) return [];
  const [right = 'nothing', wrong = 'nothing'] = [wanted[place], found[place]];
  return [[about, `${what} has ${wrong} at ${place + 1}, and it should be ${right}`]];
}
