// Two accounts of the same money, kept apart: the bank's book, and the service's payments and ledger. Here they are compared.
import { openLink } from '../../src/bank/http/link.ts';
import type { BookEntry } from '../../src/bank/http/messages.ts';
import { protocolVersion, sign, signatureHeader, versionHeader } from '../../src/bank/http/signature.ts';
import { everyInvariant } from '../../src/compose.ts';
import type { DatabasePool } from '../../src/database/database.ts';
import { checkLedger } from '../../src/ledger/check-ledger.ts';

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
      if (exchange.came === 'nothing') throw new Error(exchange.why);
      const { entries } = JSON.parse(exchange.body.toString()) as { entries: BookEntry[] };
      all.push(...entries);
      if (entries.length < 100) return all;
    }
  } finally {
    await link.stop();
  }
}

type BindingRow = { customer_id: string; binding_id: string; status: string; amount_minor: bigint };

type PaymentRow = {
  invoice_id: string;
  payment_id: string;
  status: string;
  captured_minor: bigint | null;
  refunded_minor: bigint;
};

/** A sentence for each difference; none when every kopeck is in both, once. */
export async function differences(database: DatabasePool, book: readonly BookEntry[]): Promise<string[]> {
  const payments = await database.withClient(
    async (client) =>
      (
        await client.query<PaymentRow>(
          'select invoice_id, payment_id, status, captured_minor, refunded_minor from payment',
        )
      ).rows,
  );
  const bindings = await database.withClient(
    async (client) =>
      (await client.query<BindingRow>('select customer_id, binding_id, status, amount_minor from binding'))
        .rows,
  );
  const findings = await checkLedger(database, 'all', everyInvariant);
  return [
    ...bookedTwice(book),
    ...payments.flatMap((payment) => differencesOf(payment, book)),
    ...bindings.flatMap((binding) => differencesOfBinding(binding, book)),
    ...unknownTo([...payments.map(nameOfPayment), ...bindings.map(nameOfBinding)], book),
    ...findings.flatMap(({ id, says, broken, examples }) =>
      broken === 0n ? [] : [`${id}: not ${says}: ${JSON.stringify(examples)}`],
    ),
  ];
}

function bookedTwice(book: readonly BookEntry[]): string[] {
  const ids = book.map(({ operationId }) => operationId);
  return ids
    .filter((id, place) => ids.indexOf(id) !== place)
    .map((id) => `${id} is in the bank's book more than once`);
}

const nameOfPayment = (payment: PaymentRow) => `${payment.invoice_id}.${payment.payment_id}`;
const nameOfBinding = (binding: BindingRow) => `${binding.customer_id}.${binding.binding_id}`;

/** What was charged to try a card is back when its binding is over, and is with us only while we know that we owe it. */
function differencesOfBinding(binding: BindingRow, book: readonly BookEntry[]): string[] {
  const name = nameOfBinding(binding);
  const entries = book.filter(({ operationId }) => operationId.startsWith(`${name}.`));
  const atBank = entries.reduce((sum, { sign: direction, amount }) => sum + direction * amount, 0);
  const isBound = ['succeeded', 'withdrawn'].includes(binding.status);
  const isOver = isBound || binding.status === 'failed';
  const charges = entries.filter(({ kind, sign: direction }) => kind === 'authorise' && direction === 1);
  return [
    ...(isOver && atBank !== 0
      ? [`${name} is ${binding.status}, and the bank has ${atBank} of its payer`]
      : []),
    ...(atBank < 0 ? [`${name} was given back more than was charged`] : []),
    ...(isBound && charges.length !== 1 ? [`${name} is bound after ${charges.length} charges`] : []),
    ...(charges.some(({ amount }) => BigInt(amount) !== BigInt(binding.amount_minor))
      ? [`${name} was charged another sum`]
      : []),
  ];
}

function differencesOf(payment: PaymentRow, book: readonly BookEntry[]): string[] {
  const name = nameOfPayment(payment);
  const entries = book.filter(({ operationId }) => operationId.startsWith(`${name}.`));
  const atBank = entries.reduce((sum, { sign: direction, amount }) => sum + direction * amount, 0);
  const isTaken = ['captured', 'refunding', 'refunded'].includes(payment.status);
  const atUs = isTaken ? Number(payment.captured_minor) - Number(payment.refunded_minor) : 0;
  const has = (kind: string) => entries.some((entry) => entry.kind === kind);
  const isHeldAtBank =
    entries.some(({ kind, sign: direction }) => kind === 'authorise' && direction === 0) &&
    !has('capture') &&
    !has('reverse');
  const isOver = isTaken || ['cancelled', 'failed'].includes(payment.status);
  return [
    ...(atBank === atUs ? [] : [`${name} is ${payment.status}: ${atUs} by us, ${atBank} by the bank`]),
    ...(isOver && isHeldAtBank ? [`${name} is ${payment.status}, and the bank still holds its money`] : []),
  ];
}

function unknownTo(names: readonly string[], book: readonly BookEntry[]): string[] {
  const known = new Set(names);
  return book
    .filter(({ operationId }) => !known.has(operationId.split('.').slice(0, 2).join('.')))
    .map(({ operationId }) => `nobody here knows ${operationId}, which is in the bank's book`);
}
