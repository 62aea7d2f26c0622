// The job of a payment: its authorisation, and what follows from it. How the bank is asked is in acquiring/authorisation/job.ts.
import {
  runAuthorisationJob,
  type AuthorisationJob,
  type Heard,
  type NextStep,
} from '../acquiring/authorisation/job.ts';
import { isUndecided } from '../acquiring/authorisation/domain/challenge.ts';
import { consentOver } from '../acquiring/authorisation/domain/payment-failure.ts';
import type { Bank, BankOperation, BankResponse, Terminal } from '../acquiring/domain/bank-port.ts';
import type { OperationUpdate } from '../acquiring/domain/bank-updates.ts';
import { hearLateAnswer } from '../acquiring/exchange-log/hear-late-answer.ts';
import { OutcomeUnknown } from '../acquiring/send-or-inquire.ts';
import { earliest, laterBy, type Clock, type Instant } from '../clock.ts';
import { defined } from '../defined.ts';
import type { Database } from '../platform/database/database.ts';
import { NoPlaceNow, type Job } from '../platform/jobs/job-table.ts';
import type { Logger } from '../platform/log.ts';
import type { PayerEmail } from '../emails/domain/payer-email.ts';
import {
  interpret,
  interpretInquiry,
  nextAction,
  type Interpretation,
  type NextAction,
  type PaymentChange,
} from './domain/bank-actions.ts';
import { authorisationOf, followUpOf } from './domain/bank-operations.ts';
import { openExchangeOf } from './domain/exchanges/exchanges.ts';
import { operationIdOf, sendUntilOf, type Payment } from './domain/payment.ts';
import { zoneOfConsent } from '../recurring/port.ts';
import { seriesEffectsOf } from './domain/series-effects.ts';
import { applyUpdate } from './updates/apply-update.ts';
import { seriesWriteOf, successOf, type SeriesWriteDeps } from './series-writes.ts';
import { storeApprovedCharge, storeEvents, storeRefundFunding } from './store/payment-changes.ts';
import { loadPayment, reschedule, type NewPayment } from './store/payments.ts';
import { storeReroute } from './store/pending/reroute.ts';
import { storeStepUp } from './store/pending/step-up.ts';
import { doubtBeforeSending, storeUnsent } from './store/pending/unsent.ts';
import type { StoredPayment } from './store/rows.ts';
import { firstWaitingRefund, wakeFirstWaitingRefund } from './store/waiting-refunds.ts';

export type PaymentJobDeps = SeriesWriteDeps & {
  readonly db: Database;
  /** Limits against card testing count by it, because no test clock moves it. */
  readonly nodeClock: Clock;
  readonly log: Pick<Logger, 'error'>;
  readonly bankOf: (payment: Payment) => Promise<Bank>;
  /** Another terminal of the shop whose bank is not known to be unavailable. */
  readonly alternateTerminal: (payment: Payment, now: Instant) => Promise<Terminal | undefined>;
  /** For a charge without the payer that another node may have sent. */
  readonly isPaused: (payment: Payment, now: Instant) => Promise<boolean>;
  /** How long to put it back, because its bank gets no charges that Mandate begins automatically. */
  readonly heldMs: (payment: Payment, now: Instant) => Promise<number | undefined>;
  /** How an attempt to send a charge to its bank has ended. It does not fail. */
  readonly hearCharge: (payment: Payment, answer: BankResponse, at: Instant) => Promise<void>;
  /** Where the payer's browser returns after a challenge. */
  readonly returnUrlOf: (payment: Payment) => string;
  /** A payment for a subscription has ended. If this is lost, the subscription looks later. */
  readonly wakeSubscription: (subscriptionId: string, at: Instant) => Promise<void>;
  /** Does not block. The email is already claimed by this node. */
  readonly sendPayerEmail: (payerEmail: PayerEmail, now: Instant) => void;
};

/** A payment with what this node knows of its creation, until that may have changed. */
type Loaded = StoredPayment & { readonly created?: NewPayment };

type JobDeps = PaymentJobDeps & { readonly clock: Clock };

export function runPaymentJob(
  deps: PaymentJobDeps,
  { key: [invoiceId = '', paymentId = ''], clock, attempt, row }: Job<NewPayment>,
): Promise<void> {
  const job = jobOf({ ...deps, clock }, { invoiceId, paymentId });
  return runAuthorisationJob(job, { db: deps.db, clock, attempt }, row && { ...row.stored, created: row });
}

function jobOf(
  deps: JobDeps,
  name: { readonly invoiceId: string; readonly paymentId: string },
): AuthorisationJob<Loaded, PaymentChange> {
  const { db } = deps;
  return {
    name: `payment ${name.invoiceId}/${name.paymentId}`,
    load: () => loadPayment(db, name),
    nextStep: (stored, now) => nextStepOf(deps, stored, now),
    bankOf: ({ payment }) => deps.bankOf(payment),
    interpret: ({ payment }, heard) => interpretHeard(deps, payment, heard),
    write: (stored, { events }, at, heard) => write(deps, stored, events, at, heard),
    // If the merchant cancelled the payment meanwhile, the response means something else. Any other writer continues with it.
    async reread({ payment }, heard) {
      const current = await loadPayment(db, name);
      if (current && isSameAuthorisation(payment, current.payment)) return current;
      const asked = heard && openExchangeOf(heard.asked.payment, heard.at);
      const applyLate = (update: OperationUpdate) =>
        db.transaction((tx) => applyUpdate({ ...deps, db: tx }, update, update.at));
      if (asked) await hearLateAnswer({ ...deps, applyLate }, asked.content.operationId, heard.answer);
      return undefined;
    },
    reschedule: (stored, at) => reschedule(db, stored, at),
    alternateTerminal: ({ payment }, now) => deps.alternateTerminal(payment, now),
    async storeReroute(stored, to, at) {
      const moved = await storeReroute(db, stored, { type: 'payment_rerouted', ...to }, at);
      return moved && { ...moved, ...defined({ created: stored.created }) };
    },
    hearSent: ({ payment }, answer, at) => deps.hearCharge(payment, answer, at),
  };
}

async function nextStepOf(
  deps: JobDeps,
  stored: Loaded,
  now: Instant,
): Promise<NextStep<Loaded, PaymentChange>> {
  const { payment } = stored;
  const next = nextAction(payment, now);
  switch (next.do) {
    case 'nothing':
      return { do: 'wait', until: null };
    case 'wait':
      return next;
    case 'write':
      return { do: 'write', change: { events: [[next.fact]] } };
    case 'fundRefund':
      return { do: 'run', run: () => fundRefund(deps, stored, next, now) };
    case 'authorise':
      return { do: 'authorise', ...authorising(deps, stored, await authorisationBy(deps, payment)) };
    case 'inquire':
      return { do: 'inquire', operation: await authorisationBy(deps, payment) };
    default:
      return { do: 'followUp', operation: followUpOf(payment, next) };
  }
}

async function authorisationBy(deps: JobDeps, payment: Payment): Promise<BankOperation> {
  return authorisationOf(payment, deps.returnUrlOf(payment), await zoneOfConsent(deps, payment));
}

function authorising(deps: JobDeps, { payment, created }: Loaded, operation: BankOperation) {
  const { db, charging } = deps;
  const { payer, state } = payment;
  const authorisation = {
    charge: payment,
    operation,
    sendUntil: sendUntilOf(payment),
    isUnwanted: 'cancelReason' in state && state.cancelReason !== undefined,
  };
  if (!('seriesId' in payer)) return authorisation;
  return {
    ...authorisation,
    inquiresFirst: !created,
    async beforeSending(attempt: number) {
      if (attempt > 1) await doubtBeforeSending(db, payment, attempt);
    },
    /** Until the bank has the charge, the payer can still revoke their consent. */
    async refuse(now: Instant): Promise<PaymentChange | undefined> {
      if (await charging.canNeverCharge(db, payer.seriesId, now))
        return { events: [[{ type: 'payment_reversal_started', failure: consentOver }]] };
      if (await deps.isPaused(payment, now)) throw new OutcomeUnknown('the terminal is paused');
      const heldMs = await deps.heldMs(payment, now);
      if (heldMs !== undefined) throw new NoPlaceNow('the charges of the bank are held', heldMs);
      return undefined;
    },
  };
}

/** A response about any other operation must not be read in the state that another writer has left. */
function isSameAuthorisation(before: Payment, now: Payment): boolean {
  const isSameOperation = operationIdOf(before, 'authorise') === operationIdOf(now, 'authorise');
  const isSameState = isUndecided(before.state) && now.state.name === before.state.name;
  return isSameState && now.terminal.id === before.terminal.id && isSameOperation;
}

async function interpretHeard(
  deps: JobDeps,
  payment: Payment,
  heard: Heard<Loaded>,
): Promise<Exclude<Interpretation, { inquire: unknown }>> {
  const meaning = interpret(payment, heard.answer, heard.at);
  if ('unknown' in meaning && 'seriesId' in payment.payer && isUnseen(heard))
    await storeUnsent(deps.db, payment, heard.attempt, 'turnedAway' in heard.answer);
  if (!('inquire' in meaning)) return meaning;
  const bank = await deps.bankOf(payment);
  const inquired = await bank.inquire({
    operationId: operationIdOf(payment, meaning.inquire),
    terminal: payment.terminal,
  });
  return interpretInquiry(payment, inquired, deps.clock.now(), meaning.code);
}

/** No attempt up to this one has reached a bank. */
function isUnseen({ asked, attempt, isUndone }: Heard<Loaded>): boolean {
  return isUndone && (asked.unsentAttempts ?? 0) === attempt - 1;
}

/** What the response proves about a charge that no bank has seen. */
function proofOf(heard: Heard<Loaded>) {
  const { answer } = heard;
  const provesNothing = answer.outcome === 'unknown' || answer.outcome === 'notSent';
  return provesNothing && isUnseen(heard) ? ({ outcome: 'notFound' } as const) : answer;
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

async function write(
  deps: JobDeps,
  stored: Loaded,
  events: PaymentChange['events'],
  at: Instant,
  heard: Heard<Loaded> | undefined,
): Promise<Loaded | 'over' | 'versionConflict'> {
  const { db, sendPayerEmail, nodeClock } = deps;
  const { payment, version, created } = stored;
  const answer = heard && proofOf(heard);
  const effects = seriesEffectsOf(payment, events.flat(), answer);
  const alsoWrite = await seriesWriteOf(payment, effects, at, deps);
  const [first] = events.flat();
  if (first?.type === 'payment_stepped_up')
    return (await storeStepUp(db, stored, first, at, alsoWrite, answer)) ?? 'versionConflict';
  const success = await successOf(deps, payment, effects, created?.pendingCharge, at);
  const inOne = success && (await storeApprovedCharge(db, stored, events, success, at, answer));
  if (inOne?.payerEmail) sendPayerEmail(inOne.payerEmail, at);
  const after =
    inOne?.payment ??
    (await storeEvents(db, stored, events, at, {
      alsoWrite,
      keepClaim: true,
      decidedAt: nodeClock.now(),
      answer,
    }));
  if (!after) return 'versionConflict';
  const continues = ['reversing', 'capturing', 'cancelling'].includes(after.state.name);
  const { subscriptionId } = payment.payer;
  if (!continues && subscriptionId !== undefined) await deps.wakeSubscription(subscriptionId, at);
  return continues ? { payment: after, version: version + 1 } : 'over';
}
