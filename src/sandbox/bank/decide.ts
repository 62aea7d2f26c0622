// The rules of the simulated bank for an operation it has not received before.
import { laterBy, parseInstant, type Instant } from '../../clock.ts';
import type {
  AuthoriseMessage,
  OperationMessage,
  PayoutMessage,
  VerifyMessage,
} from '../../acquiring/adapters/http/messages.ts';
import { openMinor } from './state/state.ts';
import type {
  BankState,
  BookedOperation,
  OperationOutcome,
  Later,
  Operation,
  Waiting,
} from './state/state.ts';
import { specialAmount, type SpecialAmount } from './special-amounts.ts';
import { cardForPayment, cardForPayout, type TestCard } from './test-cards.ts';
import { defined } from '../../defined.ts';
import type { DeclineClass } from '../../acquiring/domain/decline-class.ts';

export type Decision = {
  readonly verdict: OperationOutcome;
  readonly waiting?: Waiting;
  readonly bookedTwice?: true;
  readonly returnsAt?: Instant;
  readonly later?: Later;
  readonly series?: string;
  readonly silentUntil?: Instant;
};

export type Question = {
  readonly operation: Operation;
  readonly message: OperationMessage;
  readonly ticket: () => string;
  readonly now: Instant;
  readonly holdMs: number;
  /** When the bank reports what happens later, after two minutes by default. */
  readonly returnsAfterMs?: number;
  /** The code of a decline that was ordered for this message. */
  readonly orderedDecline?: () => string | undefined;
};

/** When a message comes, and how long after it the bank reports what else happens. */
type When = Pick<Question, 'now' | 'returnsAfterMs'>;

/** Of a card that has none, where the amount wants one. */
const usualChallenge = { method: 'POST', dialect: '3-D Secure 2' } as const;
const challengeMs = 10 * 60_000;
const twoMinutesMs = 2 * 60_000;

/** Network codes for errors in the request itself. */
const customerCancelled = '17';
const invalidTransaction = '12';
const invalidAmount = '13';
const originalNotFound = '25';
const expiredCard = '54';
/** The message waited longer than the merchant wanted. Nothing was done. */
const notInTime = {
  outcome: 'declined',
  network: 'bank',
  code: 'not-sent-in-time',
  by: 'connector',
  class: 'technical',
} as const;
const transactionNotPermitted = '57';
/** The issuer requires the payer: no stored consent matches the charge. */
const authenticationWanted = '1A';

export function decide(book: BankState, question: Question): Decision {
  const { message, now } = question;
  const { notAfter } = message;
  const limit = notAfter === undefined ? undefined : parseInstant(notAfter);
  if (limit !== undefined && now > limit) return { verdict: notInTime };
  const ordered = question.orderedDecline?.();
  if (ordered !== undefined) return { verdict: declinedAsOrdered(message, ordered) };
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
      return decideFollowUpAndLater(book, question, message);
  }
}

function declinedAsOrdered(message: OperationMessage, code: string): OperationOutcome {
  return 'card' in message ? declined(cardForPayment(message.card.number), code) : no(code);
}

function decideFollowUpAndLater(
  book: BankState,
  question: Question,
  message: OperationMessage & { kind: 'capture' | 'refund' | 'reverse' },
): Decision {
  const verdict = decideFollowUp(book, question);
  const { kind, amount } = message;
  const special = amount === undefined || kind === 'reverse' ? undefined : specialAmount(amount, kind);
  return { verdict, ...(verdict.outcome === 'approved' ? laterOf(special, question) : {}) };
}

function laterOf(
  special: SpecialAmount | undefined,
  { now, returnsAfterMs = twoMinutesMs }: When,
): Pick<Decision, 'later'> {
  return special?.later ? { later: { what: special.later, at: laterBy(now, returnsAfterMs) } } : {};
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
    const series = seriesOf(book, message, operation.card?.fingerprint);
    if (series === undefined) return { verdict: declined(card, authenticationWanted) };
    return { ...chargedAgain(card, message, question, book.charges.get(series) ?? 0), series };
  }
  const isExempt = message.exemption !== undefined;
  if (message.authentication === 'given' && !isExempt) return decideGiven(card, message, question);
  const special = specialAmount(message.amount, 'authorise');
  const { largeForm, needsReturn, wantsChallenge } = special ?? {};
  if (wantsChallenge && !message.demandsChallenge)
    return { verdict: declined(card, softDeclineOf(card)), ...laterOf(special, question) };
  if (message.authentication === 'none' || isExempt) return authorised(card, message, question);
  if (card.authentication === 'fails') return { verdict: declined(card, '3ds-failed') };
  if (card.authentication === 'times out') return { verdict: declined(card, '3ds-not-finished') };

  const decision = authorised(card, message, question, eciOf(card));
  const isDemanded = message.demandsChallenge === true && decision.verdict.outcome === 'approved';
  const challenge = card.authentication ?? (isDemanded ? usualChallenge : undefined);
  if (!challenge) return decision;
  const { returnUrl } = message;
  const waiting: Waiting = {
    for: 'payer',
    until: laterBy(now, challengeMs),
    challenge,
    ticket: question.ticket(),
    ...defined({ returnUrl, largeForm, needsReturn }),
  };
  return { ...decision, waiting };
}

/** Of 20 bytes, as networks ask for it. */
const authenticationValue = /^[A-Za-z0-9+/]{26,28}={0,2}$/;

function decideGiven(card: TestCard, message: AuthoriseMessage, when: When): Decision {
  const { authenticated } = message;
  const isProof =
    authenticated !== undefined &&
    ['Y', 'A'].includes(authenticated.status) &&
    authenticationValue.test(authenticated.value);
  return isProof
    ? authorised(card, message, when, authenticated.eci)
    : { verdict: declined(card, '3ds-failed') };
}

function authorised(card: TestCard, message: AuthoriseMessage, when: When, eci?: string): Decision {
  if (card.declined !== undefined) return { verdict: declined(card, card.declined) };
  const special = specialAmount(message.amount, 'authorise');
  if (special?.declined !== undefined) {
    const verdict = declined(card, special.declined, special.advice, special.class);
    return { verdict, ...laterOf(special, when) };
  }
  return {
    verdict: approved(eci, special?.advice),
    ...(special?.bookedTwice ? { bookedTwice: true } : {}),
    ...(isOfCharge(special, message) ? laterOf(special, when) : {}),
  };
}

/** A charge has no hold that ends, and one with a challenge is not approved late. */
function isOfCharge(special: SpecialAmount | undefined, { capture }: AuthoriseMessage): boolean {
  return !(special?.wantsChallenge || (special?.later === 'holdEnded' && capture));
}

/** A charge without the payer, after so many others of its series. */
function chargedAgain(card: TestCard, message: AuthoriseMessage, when: When, before: number): Decision {
  const { withoutPayer } = card;
  const decision = authorised(card, message, when);
  if (withoutPayer === undefined) return decision;
  if ('silentMs' in withoutPayer)
    return { ...decision, silentUntil: laterBy(when.now, withoutPayer.silentMs) };
  const { declined: code, times = Infinity } = withoutPayer;
  return before < times ? { verdict: declined(card, code) } : decision;
}

/** At least one network transaction ID is required, and each must belong to this card. */
function seriesOf(
  book: BankState,
  message: AuthoriseMessage,
  fingerprint: string | undefined,
): string | undefined {
  const { reason, rootNetworkTransactionId, previousNetworkTransactionId } = message.initiation;
  const { rootNetworkIds = [], previousNetworkIds = [] } = message.initiation;
  const listed = [...rootNetworkIds, ...previousNetworkIds].map(({ value }) => value);
  const named = [rootNetworkTransactionId, previousNetworkTransactionId, ...listed].filter(
    (id) => id !== undefined,
  );
  if (reason === undefined) return undefined;
  const known = named.map((id) => book.credentials.get(id));
  return known.every((one) => one?.fingerprint === fingerprint) ? known[0]?.series : undefined;
}

function decidePayout({ now, returnsAfterMs = twoMinutesMs }: Question, message: PayoutMessage): Decision {
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
  return {
    verdict,
    ...(special?.bookedTwice ? { bookedTwice: true } : {}),
    ...(special?.comesBack ? { returnsAt: laterBy(now, returnsAfterMs) } : {}),
  };
}

/** Decides only whether the card takes payouts. A payout itself may still be declined. */
function decideVerification({ card: { number } }: VerifyMessage): OperationOutcome {
  const card = cardForPayout(number);
  return card.takesNoPayouts ? declined(card, transactionNotPermitted) : approved();
}

function decideFollowUp(book: BankState, { message, now, holdMs }: Question): OperationOutcome {
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
  if (message.kind === 'reverse') {
    const isMoved = original.verdict.outcome === 'approved' && !original.isReversed;
    const refused = isMoved && specialAmount(original.operation.amount ?? 0, 'reverse')?.declined;
    return refused ? no(refused) : decideReversal(original, message.amount);
  }

  // What it approved after it had declined it can be given back.
  const isApproved = original.verdict.outcome === 'approved' || original.isApprovedLate === true;
  if (original.waiting || !isApproved || original.isReversed) return no(invalidTransaction);
  if (message.currency !== original.operation.currency) return no(invalidAmount);
  const verdict =
    message.kind === 'capture'
      ? decideCapture(original, message.amount, laterBy(original.receivedAt, holdMs) <= now)
      : decideRefund(original, message.amount);
  const special = specialAmount(message.amount, message.kind);
  return verdict.outcome === 'approved' && special?.declined !== undefined ? no(special.declined) : verdict;
}

function decideCapture(original: BookedOperation, amount: number, isExpired: boolean): OperationOutcome {
  if (original.isClosed || isExpired) return no(invalidTransaction);
  return amount <= openMinor(original) ? approved() : no(invalidAmount);
}

function decideRefund(original: BookedOperation, amount: number): OperationOutcome {
  if (original.capturedMinor === undefined) return no(invalidTransaction);
  return amount <= original.capturedMinor - original.refundedMinor ? approved() : no(invalidAmount);
}

/** Approved means that the original moves no money, now or later. */
function decideReversal(original: BookedOperation, part: number | undefined): OperationOutcome {
  const { operation, capturedMinor, refundedMinor, verdict, isReversed, isApprovedLate } = original;
  if ((verdict.outcome === 'declined' && !isApprovedLate) || isReversed) return approved();
  if (part !== undefined)
    return operation.capture || part > openMinor(original) ? no(invalidAmount) : approved();
  const wasCapturedLater = !operation.capture && capturedMinor !== undefined;
  return wasCapturedLater || refundedMinor > 0 ? no(invalidTransaction) : approved();
}

function softDeclineOf({ network }: TestCard): string {
  return network === 'mastercard' || network === 'maestro' ? '65' : authenticationWanted;
}

/** A card is valid until the end of its expiry month. */
function isExpired(expiry: string, now: Instant): boolean {
  return expiry < now.slice(0, 7);
}

function eciOf({ network }: TestCard): string {
  return network === 'mastercard' || network === 'maestro' ? '02' : '05';
}

function approved(eci?: string, advice?: string): OperationOutcome {
  return { outcome: 'approved', ...defined({ eci, advice }) };
}

function declined(
  { network }: TestCard,
  code: string,
  advice?: string,
  declineClass?: DeclineClass,
): OperationOutcome {
  const by = declineClass && ({ by: 'acquirer', class: declineClass } as const);
  return { outcome: 'declined', network, code, ...defined({ advice }), ...by };
}

function no(code: string): OperationOutcome {
  return { outcome: 'declined', network: 'bank', code };
}
