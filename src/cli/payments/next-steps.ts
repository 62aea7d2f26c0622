// What an operator does next about a payment, by its state and that of its job.
import { epochMsOf } from '../../clock.ts';
import type { BankExchange } from '../../payments/domain/exchanges/bank-exchanges.ts';
import { possibleOutcomes, type ManualOutcome } from '../../payments/domain/resolution.ts';
import { statesAtBank, undoOfOperation } from '../../payments/domain/payment.ts';
import type { PaymentOverview } from '../../payments/store/job-overview.ts';

/** A node claims a due job within a second. */
const overdueMs = 10_000;

export function nextSteps(one: PaymentOverview, exchanges: readonly BankExchange[]): string[] {
  const isUndo = ({ operationId }: BankExchange) => undoOfOperation(operationId) !== undefined;
  const own = exchanges.filter((exchange) => !isUndo(exchange));
  return [...stepsOfPayment(one, own), ...exchanges.filter(isUndo).flatMap(stepsOfUndo)];
}

/** Of a charge that does not decide the payment. */
function stepsOfUndo({ operationId, outcome }: BankExchange): string[] {
  if (outcome === 'open')
    return [`Operation ${operationId} undoes another charge. If it takes long, see: mandate jobs stuck`];
  if (outcome !== 'declined') return [];
  return [
    `The bank refuses operation ${operationId}, which undoes another charge. Steps: docs/operations/runbooks/stuck-jobs.md.`,
  ];
}

function stepsOfPayment(one: PaymentOverview, exchanges: readonly BankExchange[]): string[] {
  const { payment, stuckSince, isWaiting, nextTryAt, now } = one;
  const showIt = `"mandate payments show ${payment.invoiceId}/${payment.id}"`;
  const operation = exchanges.at(-1);
  if (stuckSince !== null)
    return [...stuckSteps(one, operation), 'Steps: docs/operations/runbooks/stuck-jobs.md.'];
  if (nextTryAt !== null && epochMsOf(now) - epochMsOf(nextTryAt) > overdueMs) {
    return [
      'Its job is due, and no node runs it. Check the nodes: GET /health/ready of each, and their logs.',
      'Steps: docs/operations/runbooks/not-ready.md.',
    ];
  }
  if (!isWaiting || fundsAwaitedUntil(one) !== undefined) return [idleStep(one)];
  const { bankId } = payment.terminal;
  const { state, deadline } = payment;
  return [
    `The outcome of operation ${operation?.operationId} at bank ${bankId} is unknown. Mandate queries it automatically and does nothing twice.`,
    ...(state.name === 'authorising'
      ? [`Without an answer it reverses the charge after ${deadline.slice(0, 19)}Z.`]
      : []),
    `Check the bank: mandate bank check ${bankId}`,
    `When the bank answers, wait for the next try. After 15 failures, about an hour, the job is stuck and waits for you: see then what ${showIt} says.`,
    'Steps: docs/operations/runbooks/banks.md.',
  ];
}

function stuckSteps(one: PaymentOverview, operation: BankExchange | undefined): string[] {
  const { payment, lastFailure } = one;
  const { invoiceId, id, terminal, state } = payment;
  const retry = `mandate jobs retry payment ${invoiceId}/${id}`;
  const resolve = (as: string, when: string) =>
    `${when}: mandate payments resolve ${invoiceId} ${id} --as ${as} --reason "…"`;
  if (fundsAwaitedUntil(one) !== undefined) {
    return [
      'Nothing was sent: the refund waits for money of the shop. The job failed 15 times, and no bank is the cause.',
      `Remove the cause that the last failure names, and retry: ${retry}`,
      resolve('failed', 'If a retry does not help, end the refund; the merchant can create another'),
    ];
  }
  const declined = /declined with code/.test(lastFailure ?? '');
  return [
    `The job failed 15 times and waits for you. Check the bank: mandate bank check ${terminal.bankId}`,
    `When it answers, retry. Nothing is done twice: ${retry}`,
    ...(state.name === 'capturing' && declined
      ? [`If the bank keeps declining the capture: mandate payments release ${invoiceId} ${id} --reason "…"`]
      : []),
    `If a retry does not help, ask the bank about operation ${operation?.operationId}. Then record what it says:`,
    ...possibleOutcomes(payment).map((as) => resolve(as, whenTrue(as, state.name === 'refunding'))),
  ];
}

/** When to record an outcome. */
function whenTrue(as: ManualOutcome, isRefund: boolean): string {
  switch (as) {
    case 'captured':
      return 'The bank has captured';
    case 'cancelled':
      return 'The bank has not captured, and the hold is gone';
    case 'succeeded':
      return 'The payer has the money';
    case 'undone':
      return 'The payer has the money of the undone charge back';
    case 'failed':
      return isRefund ? 'The bank has not refunded it' : 'The payer was not charged, or has the money back';
  }
}

/** Of a refund of which nothing was sent, because the shop lacks the money. */
function fundsAwaitedUntil({ payment: { state } }: PaymentOverview): string | undefined {
  return state.name === 'refunding' ? state.refund.waitsUntil : undefined;
}

function idleStep(one: PaymentOverview): string {
  const { state, flow } = one.payment;
  const until = fundsAwaitedUntil(one);
  if (until !== undefined)
    return `Nothing was sent: the refund waits for money of the shop, until ${until.slice(0, 19)}Z. Book what comes in: mandate shop top-up`;
  if (statesAtBank.includes(state.name))
    return 'Nothing: the request is with the bank. Run this again in a minute.';
  if (state.name === 'challenged')
    return `Nothing: the payer has to confirm at their bank, until ${state.until.slice(0, 19)}Z.`;
  if (state.name === 'held' && flow.type === 'hold')
    return `Nothing: the merchant captures or cancels the hold, until ${flow.heldUntil.slice(0, 19)}Z.`;
  return 'Nothing: the payment is final.';
}
