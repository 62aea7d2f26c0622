// Compares the bank's report with the rows, operation by operation, and at the end in sum with the ledger.
// What the rows say is done is there once; what failed is not there, or was reversed.
import { groupedBy, type BindingRow, type PaymentRow, type RefundRow, type WithdrawalRow } from '../rows.ts';
import type { Check, Problem, Seen } from '../check.ts';
import type { BankEntry } from '../world.ts';

type Line = Pick<BankEntry, 'operationId' | 'kind' | 'sign' | 'amount' | 'currency'>;

export const bank: Check = {
  name: 'bank',
  says: "the bank's report agrees with Mandate's objects, operation by operation, and has the same sums as the ledger",
  find: (seen) => [...objects(seen), ...strangers(seen), ...(seen.isSettled ? sums(seen) : [])],
};

function objects({ books, bank: lines, isSettled }: Seen): Problem[] {
  const refunds = groupedBy(books.refunds, (one) => `${one.invoice_id}.${one.payment_id}`);
  const linesOf = (name: string) => {
    const [aggregate = ''] = name.split('.');
    const own = (lines.get(aggregate) ?? []).filter(({ operationId: id }) => id.startsWith(`${name}.`));
    return textOf(own);
  };
  const problems: Problem[] = [];
  const compare = (about: string, name: string, either: readonly (readonly Line[])[]) => {
    const has = linesOf(name);
    const should = either.map(textOf);
    if (!should.includes(has))
      problems.push([
        about,
        `at the bank ${has || 'nothing'}; it should be ${should.map((one) => one || 'nothing').join(' or ')}`,
      ]);
  };
  for (const payment of books.payments) {
    const name = `${payment.invoice_id}.${payment.payment_id}`;
    compare(
      `payment ${name} (${payment.status})`,
      name,
      withFirst(payment, name, ofPayment(payment, name, refunds.get(name) ?? [], isSettled), isSettled),
    );
  }
  for (const binding of books.bindings) {
    const name = `${binding.customer_id}.${binding.binding_id}`;
    compare(`binding ${name} (${binding.status})`, name, ofBinding(binding, name));
  }
  for (const withdrawal of books.withdrawals) {
    const { withdrawal_id: name, status } = withdrawal;
    compare(`withdrawal ${name} (${status})`, name, ofWithdrawal(withdrawal));
  }
  return problems;
}

/** Every set of entries the bank may have for a payment of that state; an operation in progress may be there or not. */
function ofPayment(
  payment: PaymentRow,
  name: string,
  refunds: readonly RefundRow[],
  isSettled: boolean,
): Line[][] {
  const { status, currency, is_instant: isInstant, amount_minor: minor } = payment;
  const line = (suffix: string, kind: Line['kind'], sign: Line['sign'], amount: number): Line => ({
    operationId: `${name}.${suffix}`,
    kind,
    sign,
    amount,
    currency,
  });
  const charged = line(payment.is_stepped_up ? 's' : 'a', 'authorise', isInstant ? 1 : 0, minor);
  const reversed = line('r', 'reverse', isInstant ? -1 : 0, minor);
  const captured = line('c', 'capture', 1, payment.captured_minor ?? payment.uncaptured_minor ?? 0);
  const uncaptured = line('c.failed', 'return', -1, captured.amount);
  // A hold that has ended at the bank is not there any more to be released.
  const released = isInstant || !payment.has_ended ? [[charged, reversed]] : [];
  const over = !isInstant && (payment.has_ended || mayHaveEnded(minor, isSettled)) ? [[charged]] : [];
  if (payment.is_refused) return afterRefusal(payment, charged, (amount) => line('u', 'refund', -1, amount));
  switch (status) {
    case 'authorising':
    case 'challenged':
      return [[], [charged]];
    case 'reversing':
      return [[], [charged], ...released];
    case 'failed':
      return approvedLate(payment, charged, isSettled) ?? [[], ...released, ...over];
    case 'held':
      return [[charged]];
    case 'capturing':
      return [
        [charged],
        [charged, captured],
        ...(failsLater(captured) ? [[charged, captured, uncaptured]] : []),
      ];
    case 'cancelling':
      return [[charged], ...released];
    case 'cancelled':
      return payment.uncaptured_minor === null
        ? [...released, ...over]
        : ways([charged, captured, uncaptured], ...refunds.map(waysOf));
    default: {
      const taken = isInstant ? [charged] : [charged, captured];
      const mayFail = !isInstant && failsLater(captured) && (!isSettled || isKept(refunds));
      return ways(taken, mayFail ? [[], [uncaptured]] : [[]], ...refunds.map(waysOf));
    }
  }

  /** What the bank may have of a refund. */
  function waysOf({
    refund_id: id,
    status,
    amount_minor: amount,
    is_returned: isReturned,
  }: RefundRow): Line[][] {
    const refunded = line(id, 'refund', -1, amount);
    const both = [refunded, line(`${id}.failed`, 'return', 1, amount)];
    if (isReturned) return [both];
    if (status === 'failed') return [[]];
    // Until Mandate has read its report, only the bank knows that the money has come back.
    const sent = failsLater(refunded) && !isSettled ? [[refunded], both] : [[refunded]];
    return status === 'pending' ? [[], ...sent] : sent;
  }
}

/** Everything that these together may be. */
function ways(first: Line[], ...others: Line[][][]): Line[][] {
  return others.reduce<Line[][]>(
    (all, either) => all.flatMap((lines) => either.map((more) => [...lines, ...more])),
    [first],
  );
}

/** The simulated bank approves captures and refunds of these amounts, and reports later that they have failed. */
function failsLater({ kind, amount }: Pick<Line, 'kind' | 'amount'>): boolean {
  return amount % 100_000 === (kind === 'capture' ? 99_940 : 99_941);
}

/** Money that was refunded meanwhile is not taken from the shop again: an operator has to look. */
export function isKept(refunds: readonly Pick<RefundRow, 'status' | 'is_returned'>[]): boolean {
  return refunds.some(({ status, is_returned: isReturned }) => status === 'succeeded' || isReturned);
}

/** With the charge before a step-up, if the bank approved it later. Until Mandate has read its report, only the bank knows. */
function withFirst(
  { is_first_late, is_first_undone, is_stepped_up, currency, is_instant, amount_minor: amount }: PaymentRow,
  name: string,
  lines: Line[][],
  isSettled: boolean,
): Line[][] {
  if (!is_stepped_up || amount % 100_000 !== 99_945) return lines;
  const first: Line = {
    operationId: `${name}.a`,
    kind: 'authorise',
    sign: is_instant ? 1 : 0,
    amount,
    currency,
  };
  const undone: Line = {
    operationId: `${name}.f`,
    kind: is_instant ? 'refund' : 'reverse',
    sign: is_instant ? -1 : 0,
    amount,
    currency,
  };
  const wholly = lines.map((one) => [...one, first, undone]);
  if (is_first_undone || (is_first_late && isSettled)) return wholly;
  const half = lines.map((one) => [...one, first]);
  if (is_first_late) return [...half, ...wholly];
  return isSettled ? lines : [...lines, ...half];
}

/** The bank may have approved what it declined, as of a charge before a step-up. Undefined: it has not, and is not about to. */
function approvedLate(
  { is_late: isLate, is_stepped_up: isSteppedUp, is_instant: isInstant, amount_minor: amount }: PaymentRow,
  charged: Line,
  isSettled: boolean,
): Line[][] | undefined {
  if (isSteppedUp || amount % 100_000 !== 99_945 || (isSettled && !isLate)) return undefined;
  const operationId = charged.operationId.replace(/a$/, 'l');
  const undone: Line = {
    ...charged,
    operationId,
    kind: isInstant ? 'refund' : 'reverse',
    sign: isInstant ? -1 : 0,
  };
  if (isLate) return isSettled ? [[charged, undone]] : [[charged], [charged, undone]];
  return [[], [charged]];
}

/** The simulated bank ends holds of these amounts. Until Mandate has read its report, only the bank knows. */
function mayHaveEnded(minor: number, isSettled: boolean): boolean {
  return !isSettled && minor % 100_000 === 99_943;
}

/** The bank refuses to reverse: what it charged is refunded, and a hold stays until it expires. */
function afterRefusal(
  { status, amount_minor: minor, given_back_minor: given, is_instant: isInstant }: PaymentRow,
  charged: Line,
  undone: (amount: number) => Line,
): Line[][] {
  if (given !== null) return [[charged, undone(given)]];
  if (status === 'reversing') return [[], [charged], [charged, undone(minor)]];
  if (status === 'cancelling' && isInstant) return [[charged], [charged, undone(minor)]];
  // The bank knows of no charge that it would refund.
  if (status === 'failed') return isInstant ? [[]] : [[], [charged]];
  return [[charged]];
}

function ofBinding({ status, amount_minor: amount, currency }: BindingRow, name: string): Line[][] {
  const line = (suffix: string, kind: Line['kind'], sign: Line['sign']): Line => ({
    operationId: `${name}.${suffix}`,
    kind,
    sign,
    amount,
    currency,
  });
  const charged = line('charge', 'authorise', 1);
  const reversed = [charged, line('reverse', 'reverse', -1)];
  const refunded = [charged, line('refund', 'refund', -1)];
  switch (status) {
    case 'authorising':
    case 'challenged':
      return [[], [charged]];
    case 'reversing':
      return [[], [charged], reversed];
    case 'returning':
      return [[charged], reversed];
    case 'refunding':
      return [[charged], refunded];
    case 'failed':
      return [[], reversed, refunded];
    default:
      return [reversed, refunded];
  }
}

function ofWithdrawal({
  withdrawal_id: id,
  status,
  amount_minor: amount,
  currency,
  returned_minor: returned,
}: WithdrawalRow): Line[][] {
  const paid: Line = { operationId: `${id}.p`, kind: 'payout', sign: -1, amount, currency };
  const back: Line = { operationId: `${id}.p.returned`, kind: 'return', sign: 1, amount, currency };
  if (returned !== null) return [[paid, back]];
  // It may have come back a moment ago.
  if (status === 'succeeded') return [[paid], [paid, back]];
  return status === 'failed' ? [[]] : [[], [paid], [paid, back]];
}

/** Entries of objects that Mandate does not have. */
function strangers({ books, bank: lines }: Seen): Problem[] {
  const known = new Set([
    ...books.payments.map((one) => `${one.invoice_id}.${one.payment_id}`),
    ...books.bindings.map((one) => `${one.customer_id}.${one.binding_id}`),
    ...books.withdrawals.map((one) => `${one.withdrawal_id}.p`),
  ]);
  return [...lines.values()].flat().flatMap(({ operationId }): Problem[] => {
    const name = operationId.split('.').slice(0, 2).join('.');
    return known.has(name) ? [] : [[operationId, "it is in the bank's report, and no row has it"]];
  });
}

/** Compares what the banks took and paid out by their reports with the ledger. */
function sums({ books, bank: lines }: Seen): Problem[] {
  const byBank = new Map<string, bigint>();
  const byUs = new Map<string, bigint>();
  const add = (to: Map<string, bigint>, key: string, minor: bigint) =>
    void to.set(key, (to.get(key) ?? 0n) + minor);
  // The bank may fail to call about a payout that came back; then reconciliation finds it.
  const unknown = new Set(
    books.withdrawals
      .filter((one) => one.returned_minor === null)
      .map((one) => `${one.withdrawal_id}.p.returned`),
  );
  // The same of a capture that has failed after a refund.
  for (const { invoice_id: id, payment_id: part, uncaptured_minor: lost } of books.payments)
    if (lost === null) unknown.add(`${id}.${part}.c.failed`);
  const known = [...lines.values()].flat().filter(({ operationId }) => !unknown.has(operationId));
  for (const { operationId, kind, sign, amount, currency } of known) {
    const isPayout = kind === 'payout' || (kind === 'return' && !operationId.endsWith('.failed'));
    add(byBank, `${isPayout ? 'paid out' : 'taken'} in ${currency}`, BigInt(sign * amount));
  }
  for (const row of books.balances) {
    const [, currency = '', code] = row.account_id.split(':');
    const own = BigInt(row.debits_posted) - BigInt(row.credits_posted);
    if (code === 'acq.uncleared') add(byUs, `taken in ${currency}`, own);
    if (code === 'payout.in_transit') add(byUs, `paid out in ${currency}`, own);
  }
  return [...new Set([...byBank.keys(), ...byUs.keys()])].flatMap((what): Problem[] => {
    const [theirs, ours] = [byBank.get(what) ?? 0n, byUs.get(what) ?? 0n];
    return theirs === ours ? [] : [[what, `${theirs} by the bank's report, ${ours} by the ledger`]];
  });
}

function textOf(lines: readonly Line[]): string {
  return lines
    .map(
      ({ operationId, kind, sign, amount, currency }) =>
        `${operationId} ${kind} ${sign} ${amount} ${currency}`,
    )
    .sort()
    .join(', ');
}
