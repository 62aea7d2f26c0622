// The rules of the simulated bank for an operation it has not received before.
import { laterBy, type Instant } from '../../clock.ts';
import type {
  AuthoriseMessage,
  OperationMessage,
  PayoutMessage,
  VerifyMessage,
} from '../../acquiring/adapters/http/messages.ts';
import type { BankState, BookedOperation, Operation, ChargeDecision, Waiting } from './state.ts';
import { specialAmount } from './special-amounts.ts';
import { cardForPayment, cardForPayout, type TestCard } from './test-cards.ts';
import { defined } from '../../defined.ts';

export type Decision = {
  readonly verdict: ChargeDecision;
  readonly waiting?: Waiting;
  readonly bookedTwice?: true;
};

export type Question = {
  readonly operation: Operation;
  readonly message: OperationMessage;
  readonly ticket: () => string;
  readonly now: Instant;
  readonly holdMs: number;
};

const challengeMs = 10 * 60_000;
const twoMinutesMs = 2 * 60_000;

/** Network codes for errors in the request itself. */
const customerCancelled = '17';
const invalidTransaction = '12';
const invalidAmount = '13';
const originalNotFound = '25';
const expiredCard = '54';
const transactionNotPermitted = '57';
/** The issuer requires the payer: no stored consent matches the charge. */
const authenticationWanted = '1A';

export function decide(book: BankState, question: Question): Decision {
  const { message } = question;
  switch (message.kind) {
    case 'authorise':
      return decideAuthorisation(book, question, message);
    case 'payout':
      return decidePayout(question, message);
    case 'verify':
      return { verdict: decideVerification(message) };
    case 'capture':
    case 'refund':
    case 'reverse':
      return { verdict: decideFollowUp(book, question) };
  }
}

function decideAuthorisation(book: BankState, question: Question, message: AuthoriseMessage): Decision {
  const { operation, now } = question;
  const card = cardForPayment(message.card.number);
  if (book.reversedUnseen.has(operation.operationId)) {
    return { verdict: { outcome: 'declined', network: 'bank', code: customerCancelled } };
  }
  if (card.declined === '15') return { verdict: declined(card, card.declined) };
  if (isExpired(message.card.expiry, now)) return { verdict: declined(card, expiredCard) };
  if (message.initiation.by === 'merchant') {
    if (!isAgreed(book, message, operation.card?.fingerprint)) {
      return { verdict: declined(card, authenticationWanted) };
    }
    return authorised(card, message);
  }
  if (message.authentication === 'none') return authorised(card, message);
  if (card.authentication === 'fails') return { verdict: declined(card, '3ds-failed') };
  if (card.authentication === 'times out') return { verdict: declined(card, '3ds-not-finished') };

  const decision = authorised(card, message, eciOf(card));
  if (!card.authentication) return decision;
  const { returnUrl } = message;
  const waiting: Waiting = {
    for: 'payer',
    until: laterBy(now, challengeMs),
    challenge: card.authentication,
    ticket: question.ticket(),
    ...defined({ returnUrl }),
  };
  return { ...decision, waiting };
}

function authorised(card: TestCard, message: AuthoriseMessage, eci?: string): Decision {
  if (card.declined !== undefined) return { verdict: declined(card, card.declined) };
  const special = specialAmount(message.amount, 'authorise');
  if (special?.declined !== undefined) {
    return { verdict: declined(card, special.declined, special.advice) };
  }
  return { verdict: approved(eci, special?.advice), ...(special?.bookedTwice ? { bookedTwice: true } : {}) };
}

/** At least one network transaction ID is required, and each must belong to this card. */
function isAgreed(book: BankState, message: AuthoriseMessage, fingerprint: string | undefined): boolean {
  const { reason, rootNetworkTransactionId, previousNetworkTransactionId } = message.initiation;
  const named = [rootNetworkTransactionId, previousNetworkTransactionId].filter((id) => id !== undefined);
  if (reason === undefined || named.length === 0) return false;
  return named.every((id) => book.credentials.get(id) === fingerprint);
}

function decidePayout({ now }: Question, message: PayoutMessage): Decision {
  const card = cardForPayout(message.card.number);
  if (card.declined !== undefined) return { verdict: declined(card, card.declined) };
  if (card.takesNoPayouts) return { verdict: declined(card, transactionNotPermitted) };
  const special = specialAmount(message.amount, 'payout');
  if (special?.declined !== undefined) return { verdict: declined(card, special.declined, special.advice) };
  const verdict = approved(undefined, special?.advice);
  if (special?.waits === 'permanently') return { verdict, waiting: { for: 'time' } };
  if (special?.waits === 'two minutes') {
    return { verdict, waiting: { for: 'time', until: laterBy(now, twoMinutesMs) } };
  }
  return { verdict, ...(special?.bookedTwice ? { bookedTwice: true } : {}) };
}

/** Decides only whether the card takes payouts. A payout itself may still be declined. */
function decideVerification({ card: { number } }: VerifyMessage): ChargeDecision {
  const card = cardForPayout(number);
  return card.takesNoPayouts ? declined(card, transactionNotPermitted) : approved();
}

function decideFollowUp(book: BankState, { message, now, holdMs }: Question): ChargeDecision {
  if (message.kind === 'authorise' || message.kind === 'payout' || message.kind === 'verify') {
    throw new Error(`${message.kind} has no original operation`);
  }
  const original = book.operations.get(message.originalOperationId);
  const isOurs = original?.operation.merchantId === message.merchant.id;
  if (!original || !isOurs) {
    // An unknown operation is reversed by declining it later. The operation of another merchant counts as unknown.
    return message.kind === 'reverse' && !original ? approved() : no(originalNotFound);
  }
  if (original.operation.kind !== 'authorise') return no(invalidTransaction);
  if (message.kind === 'reverse') return decideReversal(original);

  if (original.waiting || original.verdict.outcome !== 'approved' || original.isReversed) {
    return no(invalidTransaction);
  }
  if (message.currency !== original.operation.currency) return no(invalidAmount);
  const verdict =
    message.kind === 'capture'
      ? decideCapture(original, message.amount, laterBy(original.receivedAt, holdMs) <= now)
      : decideRefund(original, message.amount);
  const special = specialAmount(message.amount, message.kind);
  return verdict.outcome === 'approved' && special?.declined !== undefined ? no(special.declined) : verdict;
}

function decideCapture(original: BookedOperation, amount: number, isExpired: boolean): ChargeDecision {
  if (original.capturedMinor !== undefined || isExpired) return no(invalidTransaction);
  return amount <= (original.operation.amount ?? 0) ? approved() : no(invalidAmount);
}

function decideRefund(original: BookedOperation, amount: number): ChargeDecision {
  if (original.capturedMinor === undefined) return no(invalidTransaction);
  return amount <= original.capturedMinor - original.refundedMinor ? approved() : no(invalidAmount);
}

/** Approved means that the original moves no money, now or later. */
function decideReversal({
  operation,
  capturedMinor,
  refundedMinor,
  verdict,
  isReversed,
}: BookedOperation): ChargeDecision {
  if (verdict.outcome === 'declined' || isReversed) return approved();
  const wasCapturedLater = !operation.capture && capturedMinor !== undefined;
  return wasCapturedLater || refundedMinor > 0 ? no(invalidTransaction) : approved();
}

/** A card is valid until the end of its expiry month. */
function isExpired(expiry: string, now: Instant): boolean {
  return expiry < now.slice(0, 7);
}

function eciOf({ network }: TestCard): string {
  return network === 'mastercard' || network === 'maestro' ? '02' : '05';
}

function approved(eci?: string, advice?: string): ChargeDecision {
  return { outcome: 'approved', ...defined({ eci, advice }) };
}

function declined({ network }: TestCard, code: string, advice?: string): ChargeDecision {
  return { outcome: 'declined', network, code, ...defined({ advice }) };
}

function no(code: string): ChargeDecision {
  return { outcome: 'declined', network: 'bank', code };
}
