// Every object has exactly the transfers its state requires, between the right accounts, with recalculated fees.
// A second table from states to transfers finds what is posted twice, left open or missing (I6, I7, I8).
import {
  groupedBy,
  type BindingRow,
  type Books,
  type Fee,
  type LedgerRow,
  type PaymentRow,
  type RefundRow,
  type WithdrawalRow,
} from '../rows.ts';
import type { Check, Problem } from '../check.ts';

type Line = {
  readonly operation: string;
  readonly step: string;
  readonly phase: LedgerRow['phase'];
  readonly debit: string;
  readonly credit: string;
  readonly posted: number;
  readonly pending: number;
};
/** The alternative sets of transfers an object may have. */
type Expected = {
  readonly about: string;
  readonly id: string;
  readonly operation: string;
  readonly either: Line[][];
};

export const postings: Check = {
  name: 'postings',
  says: 'the ledger has of every object the transfers that its state means, and no others',
  find({ books }) {
    const written = groupedBy(books.ledger, (row) => `${row.aggregate_id} ${row.operation_id}`);
    const expected = expectedOf(books, (id, operation) => written.get(`${id} ${operation}`)?.[0]);
    const known = new Set(expected.map(({ id, operation }) => `${id} ${operation}`));
    return [
      ...expected.flatMap(({ about, id, operation, either }): Problem[] => {
        const has = textOf((written.get(`${id} ${operation}`) ?? []).map(lineOf));
        const should = either.map(textOf);
        if (should.includes(has)) return [];
        return [
          [about, `the ledger has ${has || 'nothing'}; it should have ${should.join(' or ') || 'nothing'}`],
        ];
      }),
      ...[...written.keys()]
        .filter((name) => !known.has(name))
        .map((name) => [name, 'the ledger has transfers of an object that does not exist'] as const),
    ];
  },
};

/** `firstOf` gives what the rows lack: the mode, and the source of a deposit. */
function expectedOf(
  books: Books,
  firstOf: (id: string, operation: string) => LedgerRow | undefined,
): Expected[] {
  const payments = new Map(books.payments.map((one) => [`${one.invoice_id}.${one.payment_id}`, one]));
  return [
    ...books.payments.flatMap((payment) => [ofPayment(payment), ...ofUndone(payment)]),
    ...books.refunds.flatMap((refund) => {
      const payment = payments.get(`${refund.invoice_id}.${refund.payment_id}`);
      return payment ? [ofRefund(refund, payment)] : [];
    }),
    ...books.bindings.map(ofBinding),
    ...books.withdrawals.map((one) => ofWithdrawal(one, kindOf(firstOf(one.withdrawal_id, 'withdrawal')))),
    ...books.deposits.map((one) => {
      const first = firstOf(one.deposit_id, 'deposit');
      const from = first?.debit_account ?? '';
      const to = `${kindOf(first)}:wallet.own:${one.wallet_id}`;
      const code = from.split(':')[2];
      const isSource = ['bank.nostro', 'merchant.settlement', 'recon.suspense'].includes(code ?? '');
      return object('deposit', one.deposit_id, 'deposit', [
        [
          ...(isSource ? [single('deposit', 'deposit', from, to, one.amount_minor)] : []),
          ...(one.is_reversed ? [single('deposit', 'reversal', to, from, one.amount_minor)] : []),
        ],
      ]);
    }),
    ...books.topUps.map((one) => {
      const { top_up_id: id, party_id: partyId, shop_id: shopId, bank_account_id: bankAccountId } = one;
      const kind = `test:${one.currency}`;
      const from = `${kind}:bank.nostro:${bankAccountId}`;
      const to = `${kind}:merchant.settlement:${partyId}:${shopId}`;
      return object('top_up', id, 'top_up', [
        [
          single('top_up', 'top_up', from, to, one.amount_minor),
          ...(one.is_reversed ? [single('top_up', 'reversal', to, from, one.amount_minor)] : []),
        ],
      ]);
    }),
    ...books.transfers.map((one) => {
      const kind = kindOf(firstOf(one.transfer_id, 'transfer'));
      const wallet = (id: string) => `${kind}:wallet.own:${id}`;
      const moved = single(
        'transfer',
        'transfer',
        wallet(one.sender_id),
        wallet(one.receiver_id),
        one.amount_minor,
      );
      return object('transfer', one.transfer_id, 'transfer', [one.status === 'succeeded' ? [moved] : []]);
    }),
  ];
}

function ofPayment(payment: PaymentRow): Expected {
  const { status, amount_minor: authorised, captured_minor: captured, is_instant: isInstant } = payment;
  const { uncleared, settlement, kind } = accountsOf(payment);
  const operation = `payment/${payment.payment_id}`;
  const hold = held(operation, 'hold', uncleared, settlement, authorised);
  const taken = captured ?? payment.uncaptured_minor ?? 0;
  const feeMinor = Math.min(feeOf(taken, payment.fees.processing), taken);
  const fee = unlessZero(single(operation, 'fee', settlement, `${kind}:fee.income:processing`, feeMinor));
  const givenBack = unlessZero(
    single(operation, 'undone_charge', uncleared, settlement, payment.given_back_minor ?? 0),
  ).flatMap((line) => [line, { ...line, step: 'undone_refund', debit: settlement, credit: uncleared }]);
  const lines = (): Line[] => {
    switch (status) {
      case 'held':
      case 'capturing':
      case 'cancelling':
        return [hold];
      case 'cancelled':
        if (payment.uncaptured_minor !== null)
          return [hold, posted(hold, taken), ...fee, ...uncaptured(payment, operation, feeMinor)];
        return [hold, voided(hold), ...givenBack];
      case 'captured':
      case 'refunding':
      case 'refunded':
        return isInstant
          ? [single(operation, 'sale', uncleared, settlement, taken), ...fee]
          : [hold, posted(hold, taken), ...fee];
      case 'failed':
        return givenBack;
      default:
        return [];
    }
  };
  return object('payment', payment.invoice_id, operation, [lines()], payment.payment_id);
}

/** The shop gives back the amount without its fee, or the acquirer owes it while the shop lacks it. */
function uncaptured(payment: PaymentRow, operation: string, feeMinor: number): Line[] {
  const { uncleared, settlement, kind } = accountsOf(payment);
  const from = payment.is_uncaptured_aside ? `${kind}:acq.receivable:${payment.bank_id}` : settlement;
  return [
    single(operation, 'uncaptured', from, uncleared, payment.uncaptured_minor ?? 0),
    ...unlessZero(single(operation, 'uncaptured_fee', `${kind}:fee.income:processing`, from, feeMinor)),
  ];
}

/** In and out, and the shop keeps what it has. */
function ofUndone(payment: PaymentRow): Expected[] {
  const { uncleared, settlement } = accountsOf(payment);
  return payment.undone.flatMap(([name, minor]) => {
    if (minor === null) return [];
    const operation = `payment/${payment.payment_id}/${name}`;
    const charge = single(operation, 'undone_charge', uncleared, settlement, minor);
    const back = { ...charge, step: 'undone_refund', debit: settlement, credit: uncleared };
    return [object('undone charge', payment.invoice_id, operation, [[charge, back]], payment.payment_id)];
  });
}

function ofRefund(refund: RefundRow, payment: PaymentRow): Expected {
  const { uncleared, settlement, kind } = accountsOf(payment);
  const operation = `payment/${refund.payment_id}/refund/${refund.refund_id}`;
  const feeMinor = feeOf(refund.amount_minor, payment.fees.refund);
  const begun = [
    held(operation, 'refund', settlement, uncleared, refund.amount_minor),
    ...unlessZero(held(operation, 'refund_fee', settlement, `${kind}:fee.income:refund`, feeMinor)),
  ];
  const name = `${refund.payment_id}.${refund.refund_id}`;
  // A refund that waits, or has waited in vain, has moved nothing.
  const isUnfunded = refund.waits || refund.failure?.[0] === 'terms_violated';
  // The shop has it again, with the fee.
  const returned = [
    single(operation, 'returned', uncleared, settlement, refund.amount_minor),
    ...unlessZero(single(operation, 'returned_fee', `${kind}:fee.income:refund`, settlement, feeMinor)),
  ];
  const funded = refund.is_returned
    ? [...ended(begun, 'succeeded'), ...returned]
    : ended(begun, refund.status);
  return object('refund', refund.invoice_id, operation, [isUnfunded ? [] : funded], name);
}

function ofBinding(binding: BindingRow): Expected {
  const { status, mode, currency, bank_id: bankId, amount_minor: minor } = binding;
  const operation = `binding/${binding.binding_id}`;
  const uncleared = `${mode}:${currency}:acq.uncleared:${bankId}`;
  const clearing = `${mode}:${currency}:binding.clearing`;
  const refundLine = held(operation, 'return', clearing, uncleared, minor);
  const charged = [single(operation, 'charge', uncleared, clearing, minor), refundLine];
  const returned = [...charged, posted(refundLine, minor)];
  const either = () => {
    if (status === 'returning' || status === 'refunding') return [charged];
    if (status === 'succeeded' || status === 'withdrawn') return [returned];
    // It failed without a charge, or with one that was refunded.
    return status === 'failed' ? [[], returned] : [[]];
  };
  return object('binding', binding.customer_id, operation, either(), binding.binding_id);
}

function ofWithdrawal(withdrawal: WithdrawalRow, kind: string): Expected {
  const { status, wallet_id: walletId, bank_id: bankId, amount_minor: minor } = withdrawal;
  const wallet = `${kind}:wallet.own:${walletId}`;
  const transits = [...withdrawal.moved_from, bankId].map((bank) => `${kind}:payout.in_transit:${bank}`);
  const [first = '', ...later] = transits;
  const transit = transits.at(-1) ?? '';
  const begun = [
    held('withdrawal', 'payout', wallet, first, minor),
    ...later.map((to, at) => held('withdrawal', `moved${at + 1}`, transits[at] ?? '', to, minor)),
    ...unlessZero(
      held('withdrawal', 'payout_fee', wallet, `${kind}:fee.income:payout`, withdrawal.fee_minor),
    ),
  ];
  const paid = ended(begun, status === 'sending' ? 'pending' : status);
  const { returned_minor: returned } = withdrawal;
  const lines =
    returned === null ? paid : [...paid, single('withdrawal', 'returned', transit, wallet, returned)];
  // Without enough money or a bank it failed before anything was reserved.
  const either = status === 'failed' ? [lines, []] : [lines];
  return object('withdrawal', withdrawal.withdrawal_id, 'withdrawal', either);
}

/** A share rounded half up plus a fixed amount, within bounds. */
function feeOf(minor: number, fee: Fee | undefined): number {
  if (!fee) return 0;
  const share = BigInt(minor) * BigInt(fee.basisPoints);
  const whole = Number(share / 10_000n) + (share % 10_000n >= 5_000n ? 1 : 0) + fee.fixedMinor;
  return Math.min(Math.max(whole, fee.leastMinor ?? 0), fee.mostMinor ?? Number.MAX_SAFE_INTEGER);
}

function accountsOf({ mode, currency, bank_id: bankId, party_id: partyId, shop_id: shopId }: PaymentRow) {
  const kind = `${mode}:${currency}`;
  return {
    kind,
    uncleared: `${kind}:acq.uncleared:${bankId}`,
    settlement: `${kind}:merchant.settlement:${partyId}:${shopId}`,
  };
}

function kindOf(row: LedgerRow | undefined): string {
  return (row?.debit_account ?? '').split(':').slice(0, 2).join(':');
}

function single(operation: string, step: string, debit: string, credit: string, minor: number): Line {
  return { operation, step, phase: 'single', debit, credit, posted: minor, pending: 0 };
}

function held(operation: string, step: string, debit: string, credit: string, minor: number): Line {
  return { operation, step, phase: 'pending', debit, credit, posted: 0, pending: minor };
}

function posted(line: Line, minor: number): Line {
  return { ...line, phase: 'post', posted: minor, pending: -line.pending };
}

function voided(line: Line): Line {
  return { ...line, phase: 'void', posted: 0, pending: -line.pending };
}

function ended(begun: readonly Line[], status: string): Line[] {
  if (status === 'pending') return [...begun];
  return [
    ...begun,
    ...begun.map((line) => (status === 'succeeded' ? posted(line, line.pending) : voided(line))),
  ];
}

function unlessZero(line: Line): Line[] {
  return line.posted + line.pending === 0 ? [] : [line];
}

function object(kind: string, id: string, operation: string, either: Line[][], part?: string): Expected {
  return { about: `${kind} ${id}${part === undefined ? '' : `.${part}`}`, id, operation, either };
}

function lineOf(row: LedgerRow): Line {
  return {
    operation: row.operation_id,
    step: row.step,
    phase: row.phase,
    debit: row.debit_account,
    credit: row.credit_account,
    posted: row.posted_minor,
    pending: row.pending_minor,
  };
}

function textOf(lines: readonly Line[]): string {
  return lines
    .map(({ step, phase, debit, credit, posted, pending }) =>
      [phase, step, `${debit} > ${credit}`, posted || pending].join(' '),
    )
    .sort()
    .join(', ');
}
