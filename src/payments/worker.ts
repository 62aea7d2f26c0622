// Runs the job of a payment. Running it twice is harmless: the bank knows each operation by its ID, and each write is
// guarded by the version.
import type { Bank, BankResponse, BankOperation, Terminal } from '../acquiring/domain/bank-port.ts';
import { runningFrom, type Clock, type Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { interpret, nextAction, type NextAction } from './domain/bank-actions.ts';
import { operationIdOf, type Payment } from './domain/payment.ts';
import { consentOver } from './domain/payment-failure.ts';
import { seriesEffectsOf } from './domain/series-effects.ts';
import { storeEvents, storeApprovedCharge } from './store/payment-changes.ts';
import type { StoredPayment } from './store/rows.ts';
import type { PreloadedEmail, PendingCharge } from '../recurring/store/charge-fragments.ts';
import { seriesWriteOf, successOf } from './series-writes.ts';
import { loadPayment, reschedule, type NewPayment } from './store/payments.ts';
import { storeReroute } from './store/reroute.ts';
import { mayReroute, rerouted } from '../acquiring/domain/reroute.ts';
import { OutcomeUnknown, sendOrInquire } from '../acquiring/send-or-inquire.ts';
import { defined } from '../defined.ts';
import type { Recurring } from '../recurring/port.ts';

const stepsInARow = 5;

export type PaymentJobDeps = {
  readonly db: Database;
  readonly clock: Clock;
  readonly recurring: Recurring;
  readonly bankOf: (payment: Payment) => Promise<Bank>;
  /** Another terminal of the shop whose bank is not known to be unavailable. */
  readonly alternateTerminal: (payment: Payment) => Promise<Terminal | undefined>;
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
  const onItsClock = { ...deps, clock: runningFrom(now, deps.clock) };
  // One step often makes the next one due, as when a hold ends and is reversed.
  for (let step = 0; stored && step < stepsInARow; step++) {
    stored = await takeStep(onItsClock, stored, step === 0 ? attempt : 1, preloaded);
  }
}

/** The payment if there is more to do immediately, else undefined. */
async function takeStep(
  deps: PaymentJobDeps,
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
    case 'write':
      return afterEvents(deps, stored, [[next.fact]], now);
    default: {
      const answer = await ask(deps, stored.payment, next, now, { attempt, isNew: preloaded !== undefined });
      const answeredAt = clock.now();
      if (answer === 'consent revoked') {
        const fact = { type: 'payment_reversal_started', failure: consentOver } as const;
        return afterEvents(deps, stored, [[fact]], answeredAt, { outcome: 'notFound' });
      }
      if (mayReroute(stored.payment, answer, attempt, answeredAt)) {
        const terminal = await deps.alternateTerminal(stored.payment);
        const fact = terminal && ({ type: 'payment_rerouted', ...rerouted(terminal, answer) } as const);
        const moved = fact && (await storeReroute(db, stored, fact, answeredAt));
        if (moved) return moved;
      }
      const meaning = interpret(stored.payment, answer, answeredAt);
      if ('unknown' in meaning) throw new OutcomeUnknown(meaning.unknown);
      if ('again' in meaning) {
        await reschedule(db, stored, meaning.again);
        return undefined;
      }
      return afterEvents(deps, stored, meaning.events, answeredAt, answer, preloaded?.charge);
    }
  }
}

async function afterEvents(
  { db, recurring, sendPayerEmail }: PaymentJobDeps,
  stored: StoredPayment,
  events: Parameters<typeof storeEvents>[2],
  now: Instant,
  answer?: BankResponse,
  charge?: PendingCharge,
): Promise<StoredPayment | undefined> {
  const effects = seriesEffectsOf(stored.payment, events.flat(), answer);
  const success = await successOf({ db, recurring }, stored.payment, effects, charge, now);
  const inOne = success && (await storeApprovedCharge(db, stored, events, success, now));
  if (inOne?.payerEmail) sendPayerEmail(inOne.payerEmail, now);
  const alsoWrite = seriesWriteOf(stored.payment, effects, now, recurring);
  // After a version conflict, the other writer continues with the payment.
  const payment = inOne?.payment ?? (await storeEvents(db, stored, events, now, alsoWrite, true));
  const continues = payment && ['reversing', 'capturing', 'cancelling'].includes(payment.state.name);
  return continues ? { payment, version: stored.version + 1 } : undefined;
}

async function ask(
  deps: PaymentJobDeps,
  payment: Payment,
  next: Exclude<NextAction, { do: 'nothing' | 'wait' | 'write' }>,
  now: Instant,
  { attempt, isNew }: { readonly attempt: number; readonly isNew: boolean },
): Promise<BankResponse | 'consent revoked'> {
  const bank = await deps.bankOf(payment);
  const { terminal } = payment;
  const authorisation = operationIdOf(payment, 'authorise');
  const of = (operation: Parameters<typeof operationIdOf>[1]) => ({
    operationId: operationIdOf(payment, operation),
    terminal,
    originalOperationId: authorisation,
  });
  switch (next.do) {
    case 'authorise': {
      const { payer, deadline } = payment;
      const seriesId = 'seriesId' in payer ? payer.seriesId : undefined;
      const isFirst = attempt === 1 && now < deadline && (isNew || seriesId === undefined);
      return sendOrInquire<BankResponse | 'consent revoked'>(isFirst, {
        send: () => bank.send(authorisationOf(payment, authorisation, deps.returnUrlOf(payment))),
        inquire: () => bank.inquire(authorisation, terminal),
        refuse: async (notFound) => {
          if (now >= deadline) return notFound;
          // Until the bank has the charge, the payer can still revoke their consent.
          const isRevoked = seriesId !== undefined && deps.recurring.canNeverCharge(deps.db, seriesId, now);
          return (await isRevoked) ? 'consent revoked' : undefined;
        },
      });
    }
    case 'inquire':
      return bank.inquire(authorisation, terminal);
    case 'capture':
      return bank.send({ ...of('capture'), kind: 'capture', amount: next.amount });
    case 'refund':
      return bank.send({ ...of({ refund: next.id }), kind: 'refund', amount: next.amount });
    case 'reverse':
      return bank.send({ ...of('reverse'), kind: 'reverse' });
  }
}

function authorisationOf(payment: Payment, operationId: string, returnUrl: string): BankOperation {
  const { payer, amount, terminal, flow, makeRecurrent } = payment;
  const { email } = payer.contactInfo;
  const contact = defined({ email });
  const common = {
    kind: 'authorise',
    operationId,
    terminal,
    amount,
    capture: flow.type === 'instant',
    returnUrl,
  } as const;
  if ('seriesId' in payer) {
    const { token, rootNetworkTransactionId: root, previousNetworkTransactionId: previous } = payer;
    return {
      ...common,
      card: { token },
      initiation: {
        by: 'merchant',
        reason: 'recurring',
        ...defined({ rootNetworkTransactionId: root, previousNetworkTransactionId: previous }),
      },
      authentication: 'none',
      payer: contact,
    };
  }
  const { ip, fingerprint } = payer.clientInfo;
  return {
    ...common,
    card: { token: payer.token, session: payer.session },
    initiation: { by: 'payer', storesCard: makeRecurrent },
    authentication: makeRecurrent ? 'required' : 'preferred',
    payer: { ip, fingerprint, ...contact },
  };
}
