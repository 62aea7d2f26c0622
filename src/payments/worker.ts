// Runs the job of a payment. Running it twice is harmless: the bank knows each operation by its ID, and each write is
// guarded by the version.
import type { Bank, BankResponse, Terminal } from '../acquiring/domain/bank-port.ts';
import { earliest, laterBy, runningFrom, type Clock, type Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { Logger } from '../platform/log.ts';
import { interpret, interpretStanding, nextAction, type NextAction } from './domain/bank-actions.ts';
import { authorisationOf, followUpOf } from './domain/bank-operations.ts';
import { openExchangeOf } from './domain/exchanges/exchanges.ts';
import { operationIdOf, sendUntilOf, type Payment } from './domain/payment.ts';
import { consentOver } from '../acquiring/authorisation/domain/payment-failure.ts';
import { seriesEffectsOf } from './domain/series-effects.ts';
import { storeEvents, storeApprovedCharge, storeRefundFunding } from './store/payment-changes.ts';
import { firstWaitingRefund, wakeFirstWaitingRefund } from './store/waiting-refunds.ts';
import type { StoredPayment } from './store/rows.ts';
import type { PreloadedEmail, PendingCharge } from '../recurring/store/charge-fragments.ts';
import { seriesWriteOf, successOf } from './series-writes.ts';
import { loadPayment, reschedule, type NewPayment } from './store/payments.ts';
import { storeReroute } from './store/pending/reroute.ts';
import { storeStepUp } from './store/pending/step-up.ts';
import { doubtBeforeSending, storeUnsent } from './store/pending/unsent.ts';
import { isProvedUndone, mayReroute, rerouted } from '../acquiring/domain/routing/reroute.ts';
import { hearLateAnswer } from '../acquiring/exchange-log/hear-late-answer.ts';
import { OutcomeUnknown, sendOrInquire, type Sending } from '../acquiring/send-or-inquire.ts';
import { defined } from '../defined.ts';
import type { Recurring } from '../recurring/port.ts';
import type { Banks } from '../acquiring/banks.ts';

const stepsInARow = 5;

export type PaymentJobDeps = {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'error'>;
  readonly recurring: Recurring;
  readonly bankOf: (payment: Payment) => Promise<Bank>;
  /** Another terminal of the shop whose bank is not known to be unavailable. */
  readonly alternateTerminal: (payment: Payment, now: Instant) => Promise<Terminal | undefined>;
  readonly pauseTerminal: Banks['pauseTerminal'];
  /** For a charge without the payer that another node may have sent. */
  readonly isPaused: (payment: Payment, now: Instant) => Promise<boolean>;
  /** Where the payer's browser returns after a challenge. */
  readonly returnUrlOf: (payment: Payment) => string;
  /** Does not block. The email is already claimed by this node. */
  readonly sendPayerEmail: (payerEmail: PreloadedEmail, now: Instant) => void;
};

export async function runPaymentJob(
  deps: PaymentJobDeps,
  [invoiceId = '', paymentId = '']: readonly string[],
  now: Instant,
  attempt: number,
  preloaded?: NewPayment,
): Promise<void> {
  let stored = preloaded?.stored ?? (await loadPayment(deps.db, { invoiceId, paymentId }));
  // A bank may respond slowly, so facts are dated when the response arrives.
  const onItsClock = { ...deps, clock: runningFrom(now, deps.clock), nodeClock: deps.clock };
  // One step often makes the next one due, as when a hold ends and is reversed.
  for (let step = 0; stored && step < stepsInARow; step++) {
    stored = await takeStep(onItsClock, stored, step === 0 ? attempt : 1, preloaded);
  }
}

/** Limits against card testing count by the node's clock, which no test clock moves. */
type StepDeps = PaymentJobDeps & { readonly nodeClock: Clock };

/** The payment if there is more to do immediately, else undefined. */
async function takeStep(
  deps: StepDeps,
  stored: StoredPayment,
  attempt: number,
  preloaded?: NewPayment,
): Promise<StoredPayment | undefined> {
  const { db, clock } = deps;
  const now = clock.now();
  const next = nextAction(stored.payment, now);
  switch (next.do) {
    case 'nothing':
      await reschedule(db, stored, null);
      return undefined;
    case 'wait':
      await reschedule(db, stored, next.until);
      return undefined;
    case 'fundRefund':
      return fundRefund(deps, stored, next, now);
    case 'write':
      return written(await afterEvents(deps, stored, [[next.fact]], now));
    default:
      return askBank(deps, stored, next, attempt, preloaded);
  }
}

async function askBank(
  deps: StepDeps,
  stored: StoredPayment,
  next: Asking,
  attempt: number,
  preloaded?: NewPayment,
): Promise<StoredPayment | undefined> {
  const { db, clock } = deps;
  const { payment } = stored;
  const { answer, isUndone } = await ask(deps, payment, next, { attempt, isNew: preloaded !== undefined });
  const answeredAt = clock.now();
  if (answer === 'consent revoked') {
    const fact = { type: 'payment_reversal_started', failure: consentOver } as const;
    return written(await afterEvents(deps, stored, [[fact]], answeredAt, neverSeen));
  }
  if (mayReroute(payment, answer, attempt, { now: answeredAt, until: sendUntilOf(payment) })) {
    const terminal = await deps.alternateTerminal(payment, answeredAt);
    const fact = terminal && ({ type: 'payment_rerouted', ...rerouted(terminal, answer) } as const);
    const moved = fact && (await storeReroute(db, stored, fact, answeredAt));
    if (moved) return moved;
  }
  const isUnseen = isUndone === true && (stored.unsentAttempts ?? 0) === attempt - 1;
  if (isUnseen && interpretsNothing(payment, answer, answeredAt)) await storeUnsent(db, payment, attempt);
  return apply(deps, stored, answer, { at: answeredAt, isUnseen, ...defined({ charge: preloaded?.charge }) });
}

function interpretsNothing(payment: Payment, answer: BankResponse, now: Instant): boolean {
  return 'seriesId' in payment.payer && 'unknown' in interpret(payment, answer, now);
}

const neverSeen = { outcome: 'notFound' } as const;
const applyTries = 3;

/** If the merchant cancelled the payment meanwhile, the response means something else. Any other writer continues with the payment. */
async function apply(
  deps: StepDeps,
  read: StoredPayment,
  answer: BankResponse,
  how: { readonly at: Instant; readonly isUnseen: boolean; readonly charge?: PendingCharge },
): Promise<StoredPayment | undefined> {
  let stored = read;
  let { charge } = how;
  for (let tried = 0; tried < applyTries; tried++) {
    const { payment } = stored;
    const meaning = await meaningOf(deps, payment, answer, how.at);
    if ('unknown' in meaning) throw new OutcomeUnknown(meaning.unknown);
    if ('again' in meaning) {
      await reschedule(deps.db, stored, meaning.again);
      return undefined;
    }
    const proof = how.isUnseen && ['unknown', 'notSent'].includes(answer.outcome) ? neverSeen : answer;
    const after = await afterEvents(deps, stored, meaning.events, how.at, proof, charge);
    if (after !== 'versionConflict') return written(after);
    const again = await loadPayment(deps.db, { invoiceId: payment.invoiceId, paymentId: payment.id });
    if (!again || !isSameAuthorisation(payment, again.payment)) {
      const asked = openExchangeOf(read.payment, how.at);
      if (asked) await hearLateAnswer(deps, asked.content.operationId, answer);
      return undefined;
    }
    stored = again;
    charge = undefined;
  }
  return undefined;
}

/** A response about any other operation must not be read in the state that another writer has left. */
function isSameAuthorisation(before: Payment, now: Payment): boolean {
  const { name } = before.state;
  const isAuthorisation = name === 'authorising' || name === 'challenged';
  const isSameOperation = operationIdOf(before, 'authorise') === operationIdOf(now, 'authorise');
  return (
    isAuthorisation && now.state.name === name && now.terminal.id === before.terminal.id && isSameOperation
  );
}

async function meaningOf(
  deps: PaymentJobDeps,
  payment: Payment,
  answer: BankResponse,
  at: Instant,
): Promise<Exclude<ReturnType<typeof interpret>, { inquire: unknown }>> {
  const meaning = interpret(payment, answer, at);
  if (!('inquire' in meaning)) return meaning;
  const bank = await deps.bankOf(payment);
  const standing = await bank.inquire({
    operationId: operationIdOf(payment, meaning.inquire),
    terminal: payment.terminal,
  });
  return interpretStanding(payment, standing, deps.clock.now());
}

/** The first refund in the shop's queue looks for money often; the others look whether they have become the first. */
const pauseMs = { first: 30_000, other: 10 * 60_000 } as const;

async function fundRefund(
  { db }: PaymentJobDeps,
  stored: StoredPayment,
  { id, until }: NextAction & { do: 'fundRefund' },
  now: Instant,
): Promise<StoredPayment | undefined> {
  const { payment } = stored;
  const first = await firstWaitingRefund(db, payment);
  const isFirst = first?.invoiceId === payment.invoiceId && first.paymentId === payment.id;
  const funded = isFirst
    ? await storeRefundFunding(db, stored, { type: 'refund_funded', refundId: id }, now)
    : 'insufficient';
  if (funded === 'versionConflict') return undefined;
  if (funded === 'insufficient') {
    await reschedule(db, stored, earliest(laterBy(now, pauseMs[isFirst ? 'first' : 'other']), until));
    return undefined;
  }
  await wakeFirstWaitingRefund(db, payment, now);
  return { payment: funded, version: stored.version + 1 };
}

async function afterEvents(
  { db, recurring, sendPayerEmail, pauseTerminal, nodeClock }: StepDeps,
  stored: StoredPayment,
  events: Parameters<typeof storeEvents>[2],
  now: Instant,
  answer?: BankResponse,
  charge?: PendingCharge,
): Promise<StoredPayment | 'over' | 'versionConflict'> {
  const effects = seriesEffectsOf(stored.payment, events.flat(), answer);
  const [first] = events.flat();
  if (first?.type === 'payment_stepped_up') {
    const declined = seriesWriteOf(stored.payment, effects, now, { recurring, pauseTerminal });
    return (await storeStepUp(db, stored, first, now, declined, answer)) ?? 'versionConflict';
  }
  const success = await successOf({ db, recurring }, stored.payment, effects, charge, now);
  const inOne = success && (await storeApprovedCharge(db, stored, events, success, now, answer));
  if (inOne?.payerEmail) sendPayerEmail(inOne.payerEmail, now);
  const alsoWrite = seriesWriteOf(stored.payment, effects, now, { recurring, pauseTerminal });
  const payment =
    inOne?.payment ?? (await storeEvents(db, stored, events, now, alsoWrite, true, nodeClock.now(), answer));
  if (!payment) return 'versionConflict';
  const continues = ['reversing', 'capturing', 'cancelling'].includes(payment.state.name);
  return continues ? { payment, version: stored.version + 1 } : 'over';
}

/** The payment if there is more to do immediately. After a version conflict, the other writer continues with it. */
function written(after: Awaited<ReturnType<typeof afterEvents>>): StoredPayment | undefined {
  return typeof after === 'string' ? undefined : after;
}

type Asking = Exclude<NextAction, { do: 'nothing' | 'wait' | 'write' | 'fundRefund' }>;

async function ask(
  deps: PaymentJobDeps,
  payment: Payment,
  next: Asking,
  how: { readonly attempt: number; readonly isNew: boolean },
): Promise<Asked> {
  const bank = await deps.bankOf(payment);
  const sending = { db: deps.db, bank, attempt: how.attempt, now: deps.clock.now() };
  switch (next.do) {
    case 'authorise':
      return authorise(deps, payment, sending, how.isNew);
    case 'inquire':
      return { answer: await bank.inquire(authorisationOf(payment, deps.returnUrlOf(payment))) };
    default:
      return { answer: await sendOrInquire({ ...sending, operation: followUpOf(payment, next) }) };
  }
}

/** `isUndone`: whatever this attempt sent is proved to have done nothing. */
type Asked = { readonly answer: BankResponse | 'consent revoked'; readonly isUndone?: boolean };

async function authorise(
  deps: PaymentJobDeps,
  payment: Payment,
  sending: Omit<Sending<never>, 'operation'>,
  isNew: boolean,
): Promise<Asked> {
  const { bank, attempt } = sending;
  const notAfter = sendUntilOf(payment);
  const returnUrl = deps.returnUrlOf(payment);
  const { payer, state } = payment;
  const seriesId = 'seriesId' in payer ? payer.seriesId : undefined;
  const mustNotSend = () =>
    deps.clock.now() >= notAfter || ('cancelReason' in state && state.cancelReason !== undefined);
  let isUndone = true;
  const answer = await sendOrInquire<BankResponse | 'consent revoked'>({
    ...sending,
    operation: authorisationOf(payment, returnUrl),
    inquiresFirst: mustNotSend() || (seriesId !== undefined && !isNew),
    send: async () => {
      if (seriesId !== undefined && attempt > 1) await doubtBeforeSending(deps.db, payment, attempt);
      const sent = await bank.send(authorisationOf(payment, returnUrl));
      isUndone = isProvedUndone(sent);
      return sent;
    },
    refuse: async (notFound) => {
      if (mustNotSend()) return notFound;
      const now = deps.clock.now();
      // Until the bank has the charge, the payer can still revoke their consent.
      if (seriesId === undefined) return undefined;
      if (await deps.recurring.canNeverCharge(deps.db, seriesId, now)) return 'consent revoked';
      if (await deps.isPaused(payment, now)) throw new OutcomeUnknown('the terminal is paused');
      return undefined;
    },
  });
  return { answer, isUndone };
}
