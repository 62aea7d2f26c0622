// Compares three separate records of the same money, operation by operation: the bank's report, the service's payments and refunds, and
// its ledger. `ledger-check.test.ts` shows that it finds what is planted in any of them.
import { openLink } from '../../../src/acquiring/adapters/http/link.ts';
import type { BookEntry } from '../../../src/acquiring/adapters/http/messages.ts';
import {
  protocolVersion,
  sign,
  signatureHeader,
  versionHeader,
} from '../../../src/acquiring/adapters/http/signature.ts';
import { everyInvariant } from '../../../src/app/composition/invariants.ts';
import type { DatabasePool } from '../../../src/platform/database/database.ts';
import { checkLedger } from '../../../src/platform/ledger/check-ledger.ts';
import { timesGoingBack } from './event-times.ts';
import { exchangeDifferences } from './exchange-log-check.ts';

export async function readBook(url: string, secret: string, nowMs: number): Promise<BookEntry[]> {
  const link = openLink(url, 5_000);
  const all: BookEntry[] = [];
  try {
    for (;;) {
      const target = `/book?after=${all.at(-1)?.sequence ?? 0}&limit=100`;
      const message = { method: 'GET', target, body: Buffer.alloc(0) } as const;
      const exchange = await link.ask({
        method: 'GET',
        target,
        headers: {
          [versionHeader]: protocolVersion,
          [signatureHeader]: sign(secret, message, Math.floor(nowMs / 1_000)),
        },
        answerMs: 10_000,
      });
      if (exchange.kind === 'nothing') throw new Error(exchange.why);
      const { entries } = JSON.parse(exchange.body.toString()) as { entries: BookEntry[] };
      all.push(...entries);
      if (entries.length < 100) return all;
    }
  } finally {
    await link.stop();
  }
}

type WithdrawalRow = { withdrawal_id: string; status: string; amount_minor: bigint };

type BindingRow = { customer_id: string; binding_id: string; status: string; amount_minor: bigint };

type PaymentRow = {
  readonly invoice_id: string;
  readonly payment_id: string;
  readonly status: string;
  readonly currency: string;
  readonly amount_minor: bigint;
  readonly captured_minor: bigint | null;
  readonly is_instant: boolean;
  readonly is_stepped_up: boolean;
  /** The charge before the step-up was approved later, and is undone. */
  readonly is_first_undone: boolean;
  /** The bank has refused the reversal for good. */
  readonly is_refused: boolean;
  /** What the refund in its place gave back; null if there was none. */
  readonly given_back_minor: bigint | null;
  /** Those that succeeded: their IDs and amounts. */
  readonly refunds: readonly (readonly [id: string, minor: number])[];
};

const factsOf = (type: string) => `select fact from event, json_array_elements(facts) as fact
  where aggregate_id = payment.invoice_id and fact ->> 'paymentId' = payment.payment_id and fact ->> 'type' = '${type}'`;

const readPayments = `
  select invoice_id, payment_id, payment.status, payment.currency, payment.amount_minor, captured_minor,
    terms -> 'flow' ->> 'type' = 'instant' as is_instant, exists (${factsOf('payment_reversal_refused')}) as is_refused,
    exists (${factsOf('payment_stepped_up')}) as is_stepped_up, exists (${factsOf('payment_undone')}) as is_first_undone,
    (select max((fact -> 'amount' ->> 'minor')::bigint) from (${factsOf('payment_given_back')}) as back) as given_back_minor,
    coalesce(json_agg(json_build_array(refund_id, refund.amount_minor)) filter (where refund.status = 'succeeded'), '[]')
      as refunds
  from payment left join refund using (invoice_id, payment_id)
  group by invoice_id, payment_id`;

/** What each bank owes the service by the ledger: everything it collected less everything it refunded. */
const readUncleared = `
  select currency, sum(debits_posted - credits_posted)::bigint as minor
  from ledger_account join ledger_balance using (account_id) where code = 'acq.uncleared' group by 1`;

const readMisledInvoices = `
  select invoice_id from (
    select invoice_id, invoice.status, payment_in_progress, invoice.version,
      count(payment_id) filter (where payment.status in ('captured', 'refunding', 'refunded')) as taken,
      count(payment_id) filter (where payment.status not in ('captured', 'refunding', 'refunded', 'cancelled', 'failed'))
        as open,
      (select count(*) from event where aggregate_id = invoice_id) as events
    from invoice left join payment using (invoice_id)
    group by invoice_id, invoice.status, payment_in_progress, invoice.version
  ) as seen
  where taken + open > 1 or payment_in_progress <> (open = 1) or events <> version
    or taken = 1 and status not in ('paid', 'fulfilled')`;

/** One message for each difference; none if every kopeck is in all records once. */
export async function differences(database: DatabasePool, book: readonly BookEntry[]): Promise<string[]> {
  const { payments, bindings, withdrawals, uncleared, misled } = await database.withClient(
    async (client) => ({
      payments: (await client.query<PaymentRow>(readPayments)).rows,
      uncleared: (await client.query<{ currency: string; minor: bigint }>(readUncleared)).rows,
      bindings: (
        await client.query<BindingRow>('select customer_id, binding_id, status, amount_minor from binding')
      ).rows,
      withdrawals: (
        await client.query<WithdrawalRow>('select withdrawal_id, status, amount_minor from withdrawal')
      ).rows,
      misled: (await client.query<{ invoice_id: string }>(readMisledInvoices)).rows,
    }),
  );
  const findings = await checkLedger(database, 'all', everyInvariant);
  const entries = byPayment(book);
  const known = new Set([
    ...payments.map(nameOf),
    ...bindings.map(nameOfBinding),
    ...withdrawals.map(nameOfPayout),
  ]);
  return [
    ...bookedTwice(book),
    ...payments.flatMap((payment) => differencesOf(payment, entries.get(nameOf(payment)) ?? [])),
    ...bindings.flatMap((binding) =>
      differencesOfBinding(binding, entries.get(nameOfBinding(binding)) ?? []),
    ),
    ...withdrawals.flatMap((withdrawal) =>
      differencesOfPayout(withdrawal, entries.get(nameOfPayout(withdrawal)) ?? []),
    ),
    ...[...entries.keys()]
      .filter((name) => !known.has(name))
      .map((name) => `the service does not know ${name}, which is in the bank's report`),
    ...differencesInAll(
      uncleared,
      book.filter(({ kind }) => kind !== 'payout'),
    ),
    ...misled.map(({ invoice_id }) => `the invoice ${invoice_id} does not match its payments or its events`),
    ...findings.flatMap(({ id, says, violations, examples }) =>
      violations === 0n ? [] : [`${id}: not ${says}: ${JSON.stringify(examples)}`],
    ),
    ...(await timesGoingBack(database)),
    ...(await exchangeDifferences(database, book)),
  ];
}

/** What is not final: it waits for the bank, for time to pass, or for an operator. An open hold does not count. */
export async function notFinal(database: DatabasePool): Promise<string[]> {
  const { rows } = await database.withClient((client) =>
    client.query<{ name: string }>(
      `select invoice_id || '.' || payment_id || ' is ' || status || coalesce(', stuck: ' || stuck_reason, '') as name
       from payment where status not in ('held', 'captured', 'refunded', 'cancelled', 'failed') or stuck_at is not null
       union all
       select invoice_id || '.' || payment_id || '.' || refund_id || ' is ' || status from refund
       where status = 'pending'`,
    ),
  );
  return rows.map(({ name }) => name);
}

function nameOf({ invoice_id, payment_id }: Pick<PaymentRow, 'invoice_id' | 'payment_id'>): string {
  return `${invoice_id}.${payment_id}`;
}

function byPayment(book: readonly BookEntry[]): Map<string, BookEntry[]> {
  const entries = new Map<string, BookEntry[]>();
  for (const entry of book) {
    const name = entry.operationId.split('.').slice(0, 2).join('.');
    entries.set(name, [...(entries.get(name) ?? []), entry]);
  }
  return entries;
}

function bookedTwice(book: readonly BookEntry[]): string[] {
  const seen = new Set<string>();
  return book.flatMap(({ operationId }) => {
    if (seen.has(operationId)) return [`${operationId} is in the bank's report more than once`];
    seen.add(operationId);
    return [];
  });
}

const nameOfBinding = (binding: BindingRow) => `${binding.customer_id}.${binding.binding_id}`;

/** A verification charge is refunded once its binding has ended; until then the service keeps it only as a pending refund. */
function differencesOfBinding(binding: BindingRow, entries: readonly BookEntry[]): string[] {
  const name = nameOfBinding(binding);
  const atBank = entries.reduce((sum, { sign: direction, amount }) => sum + direction * amount, 0);
  const isBound = ['succeeded', 'withdrawn'].includes(binding.status);
  const isOver = isBound || binding.status === 'failed';
  const charges = entries.filter(({ kind, sign: direction }) => kind === 'authorise' && direction === 1);
  return [
    ...(isOver && atBank !== 0
      ? [`${name} is ${binding.status}, and the bank holds ${atBank} of its payer`]
      : []),
    ...(atBank < 0 ? [`${name} was refunded more than was charged`] : []),
    ...(isBound && charges.length !== 1 ? [`${name} is bound after ${charges.length} charges`] : []),
    ...(charges.some(({ amount }) => amount !== Number(binding.amount_minor))
      ? [`${name} was charged another amount`]
      : []),
  ];
}

const nameOfPayout = (withdrawal: WithdrawalRow) => `${withdrawal.withdrawal_id}.p`;

/** Once on the card if it has succeeded, and not at all if it has failed. */
function differencesOfPayout(withdrawal: WithdrawalRow, entries: readonly BookEntry[]): string[] {
  const atBank = entries.reduce((sum, { sign: direction, amount }) => sum + direction * amount, 0);
  const atUs = withdrawal.status === 'succeeded' ? -Number(withdrawal.amount_minor) : 0;
  if (withdrawal.status === 'sending' || atBank === atUs) return [];
  return [
    `${nameOfPayout(withdrawal)} is ${withdrawal.status}: ${atUs} by the service, ${atBank} by the bank`,
  ];
}

function differencesOf(payment: PaymentRow, entries: readonly BookEntry[]): string[] {
  const atBank = entries.map(lineOf).sort().join(', ');
  const atUs = linesExpected(payment).map((lines) => lines.map(lineOf).sort().join(', '));
  if (atUs.includes(atBank)) return [];
  const name = nameOf(payment);
  return [
    `${name} is ${payment.status}: at the bank ${atBank || 'nothing'}, not ${atUs.join(' or ') || 'nothing'}`,
  ];
}

type Line = Pick<BookEntry, 'operationId' | 'kind' | 'sign' | 'amount' | 'currency'>;

function lineOf({ operationId, kind, sign, amount, currency }: Line): string {
  return `${kind} ${operationId.split('.')[2]} ${sign * amount || `(${amount})`} ${currency}`;
}

/** The entries that the bank's report should have for a payment, in one of these forms. */
function linesExpected(payment: PaymentRow): (readonly Line[])[] {
  if (!payment.is_first_undone) return linesOfCharge(payment);
  const { amount_minor, currency, is_instant } = payment;
  const more = { amount: Number(amount_minor), currency };
  const name = nameOf(payment);
  const undone: Line[] = [
    { ...more, operationId: `${name}.a`, kind: 'authorise', sign: is_instant ? 1 : 0 },
    { ...more, operationId: `${name}.f`, kind: is_instant ? 'refund' : 'reverse', sign: is_instant ? -1 : 0 },
  ];
  return linesOfCharge(payment).map((lines) => [...undone, ...lines]);
}

/** Of the charge that decides the payment. */
function linesOfCharge(payment: PaymentRow): (readonly Line[])[] {
  const { status, currency, is_instant, is_stepped_up } = payment;
  const line = (kind: Line['kind'], suffix: string, sign: Line['sign'], minor: bigint | number): Line => ({
    operationId: `${nameOf(payment)}.${suffix}`,
    kind,
    sign,
    amount: Number(minor),
    currency,
  });
  const authorised = line('authorise', is_stepped_up ? 's' : 'a', is_instant ? 1 : 0, payment.amount_minor);
  const reversed = line('reverse', 'r', is_instant ? -1 : 0, payment.amount_minor);
  const undone = line('refund', 'u', -1, payment.given_back_minor ?? 0);
  if (payment.given_back_minor !== null)
    return is_instant
      ? [[authorised, undone]]
      : [[authorised, line('capture', 'c', 1, payment.given_back_minor), undone]];
  if (payment.is_refused && status === 'cancelled') return [[authorised]];
  if (payment.is_refused && status === 'failed') return [[], [authorised]];
  switch (status) {
    case 'held':
    case 'capturing':
    case 'cancelling':
      return [[authorised]];
    case 'cancelled':
      return [[authorised, reversed]];
    case 'failed':
      // The bank did nothing, or reversed it.
      return [[], [authorised, reversed]];
    case 'captured':
    case 'refunding':
    case 'refunded': {
      const captured = is_instant ? [] : [line('capture', 'c', 1, payment.captured_minor ?? 0)];
      const refunds = payment.refunds.map(([id, minor]) => line('refund', id, -1, minor));
      return [[authorised, ...captured, ...refunds]];
    }
    default:
      return [[]];
  }
}

/** Independent of payments: the bank's total for the service, by its report and by the ledger. */
function differencesInAll(
  uncleared: readonly { currency: string; minor: bigint }[],
  book: readonly BookEntry[],
): string[] {
  const byUs = new Map(uncleared.map(({ currency, minor }) => [currency, Number(minor)]));
  const byBank = new Map<string, number>();
  for (const { currency, sign: direction, amount } of book) {
    byBank.set(currency, (byBank.get(currency) ?? 0) + direction * amount);
  }
  return [...new Set([...byUs.keys(), ...byBank.keys()])].flatMap((currency) => {
    const [ours = 0, theirs = 0] = [byUs.get(currency), byBank.get(currency)];
    return ours === theirs
      ? []
      : [`in ${currency} the bank has ${theirs} by its report, ${ours} by the ledger`];
  });
}
