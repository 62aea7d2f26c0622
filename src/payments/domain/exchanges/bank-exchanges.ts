// The bank operations of a payment, read from its facts: what was sent under which ID, when, and what the bank proved.
import type { Approval } from '../../../acquiring/authorisation/domain/approval.ts';
import type { PaymentFailure } from '../../../acquiring/authorisation/domain/payment-failure.ts';
import type { Terminal } from '../../../acquiring/domain/bank-port.ts';
import type { Instant } from '../../../clock.ts';
import { defined } from '../../../defined.ts';
import type { Money } from '../../../money.ts';
import { isUndoFact, operationIdOf, type PaymentFact, type UndoFact } from '../payment.ts';

export type BankExchange = {
  readonly operationId: string;
  readonly kind: 'authorise' | 'charge' | 'capture' | 'reverse' | 'refund';
  readonly amount?: Money;
  readonly terminal: Terminal;
  readonly startedAt: Instant;
  readonly endedAt?: Instant;
  readonly outcome: ExchangeOutcome;
  readonly approval?: Approval;
  readonly failure?: PaymentFailure;
  /** Why it went to another terminal, why an operator ordered it, or the source of an operator's outcome. */
  readonly note?: string;
};

/** `notDone`: whatever the bank did was undone by the next operation, or an operator gave it up. */
export type ExchangeOutcome = 'open' | 'payerNeeded' | 'approved' | 'declined' | 'notDone';

export type DatedFact = { readonly at: Instant; readonly fact: PaymentFact };

export function bankExchangesOf(
  payment: { readonly invoiceId: string; readonly id: string },
  facts: readonly DatedFact[],
): BankExchange[] {
  const exchanges: BankExchange[] = [];
  const undos: BankExchange[] = [];
  let unfunded: RefundStarted | undefined;
  for (const { at, fact } of facts) {
    // It runs on its own, whatever the payment does meanwhile.
    if (isUndoFact(fact)) {
      addUndo(undos, { at, fact }, operationIdOf(payment, fact.operation), exchanges[0]);
      continue;
    }
    const refund = unfunded;
    unfunded = fact.type === 'refund_started' && fact.refund.waitsUntil !== undefined ? fact : undefined;
    // Nothing was sent for a refund without its money.
    if (unfunded || (refund && fact.type === 'refund_failed')) continue;
    const last = exchanges.at(-1);
    if (last) exchanges.splice(-1, 1, { ...last, ...changeOf(last, at, fact) });
    const begun = begunBy(fact, exchanges[0], refund);
    if (!begun) continue;
    const { operation, ...more } = begun;
    const terminal = fact.type === 'payment_started' ? fact.terms.terminal : last?.terminal;
    if (!terminal) throw new Error(`Fact ${fact.type} came before the payment was created.`);
    const { invoiceId, id } = payment;
    const operationId = operationIdOf({ invoiceId, id }, operation);
    exchanges.push({ operationId, terminal, startedAt: at, outcome: 'open', ...more });
  }
  return [...exchanges, ...undos];
}

function addUndo(
  undos: BankExchange[],
  { at, fact }: { readonly at: Instant; readonly fact: UndoFact },
  operationId: string,
  first: BankExchange | undefined,
): void {
  const begun = undos.findLast((one) => one.operationId === operationId);
  if (fact.type === 'payment_undo_started') {
    if (!first) throw new Error(`Fact ${fact.type} came before the payment was created.`);
    const kind = fact.amount ? 'refund' : 'reverse';
    const { terminal } = first;
    undos.push({
      operationId,
      kind,
      ...defined({ amount: fact.amount }),
      terminal,
      startedAt: at,
      outcome: 'open',
    });
  } else if (begun) {
    const ended = fact.type === 'payment_undone' ? 'approved' : 'declined';
    const note = fact.type === 'payment_undone' ? fact.settledBecause : `code ${fact.code}`;
    undos.splice(undos.indexOf(begun), 1, { ...begun, endedAt: at, outcome: ended, ...defined({ note }) });
  }
}

type RefundStarted = PaymentFact & { readonly type: 'refund_started' };
type Begun = Pick<BankExchange, 'kind' | 'amount' | 'note'> & {
  readonly operation: Parameters<typeof operationIdOf>[1];
};

function begunBy(
  fact: PaymentFact,
  first: BankExchange | undefined,
  unfunded?: RefundStarted,
): Begun | undefined {
  switch (fact.type) {
    case 'payment_started': {
      const { flow, amount } = fact.terms;
      return { operation: 'authorise', kind: flow.type === 'instant' ? 'charge' : 'authorise', amount };
    }
    case 'payment_stepped_up':
      return { operation: 'stepUp', kind: first?.kind ?? 'charge', ...defined({ amount: first?.amount }) };
    case 'payment_capture_started':
      return { operation: 'capture', kind: 'capture', amount: fact.amount };
    case 'payment_cancel_started':
    case 'payment_reversal_started':
      return { operation: 'reverse', kind: 'reverse' };
    case 'payment_reversal_refused':
      return fact.isUncharged ? undefined : { operation: 'undo', kind: 'refund' };
    case 'payment_approved_late':
      return { operation: 'late', kind: first?.kind === 'charge' ? 'refund' : 'reverse' };
    case 'refund_started':
      return begunRefund(fact);
    case 'refund_funded':
      return unfunded && begunRefund(unfunded);
    default:
      return undefined;
  }
}

function begunRefund({ refund: { id, amount, reason }, byOperator }: RefundStarted): Begun {
  const note = byOperator && `by an operator: ${reason}`;
  return { operation: { refund: id }, kind: 'refund', amount, ...defined({ note }) };
}

/** What a fact says about the latest operation. */
function changeOf(last: BankExchange, at: Instant, fact: PaymentFact): Partial<BankExchange> {
  const ended = (outcome: ExchangeOutcome, note?: string) => ({ endedAt: at, outcome, ...defined({ note }) });
  const isUndo = last.kind === 'refund' && fact.type.startsWith('payment_');
  // The payment ends another way than by this refund only if the bank has declined it.
  if (isUndo && fact.type !== 'payment_given_back') return last.outcome === 'open' ? ended('declined') : {};
  switch (fact.type) {
    case 'payment_rerouted':
      return { terminal: fact.terminal, startedAt: at, note: fact.why };
    case 'payment_stepped_up':
      return ended('declined', `code ${fact.code}`);
    case 'payment_interaction_requested':
      return { outcome: 'payerNeeded' };
    case 'payment_processed':
      return { ...ended('approved'), approval: fact.approval };
    case 'payment_reversal_started':
      return { ...ended('notDone'), failure: fact.failure };
    case 'payment_cancel_started':
      if (last.outcome !== 'open') return {};
      return fact.code === undefined ? ended('notDone') : ended('declined', `code ${fact.code}`);
    case 'payment_reversal_refused':
      return ended('declined', `code ${fact.code}`);
    case 'payment_given_back':
      return ended('approved', fact.settledBecause);
    case 'payment_captured':
    case 'payment_cancelled':
      return last.outcome === 'open' ? ended('approved', fact.settledBecause) : {};
    case 'payment_failed':
      // A reversal that succeeds ends the payment as failed.
      if (last.kind === 'reverse')
        return last.outcome === 'open' ? ended('approved', fact.settledBecause) : {};
      return { ...ended('declined', fact.settledBecause), failure: fact.failure };
    case 'refund_succeeded':
      return ended('approved', fact.settledBecause);
    case 'refund_failed':
      return { ...ended('declined', fact.settledBecause), failure: fact.failure };
    default:
      return {};
  }
}
