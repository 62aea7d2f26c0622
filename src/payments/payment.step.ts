// The engine's step of a payment: look what is next, ask the bank without holding a connection, write what its answer means.
// Running it twice is harmless: the bank knows each operation by its id, and every write is guarded by the version.
import type { Bank, BankAnswer, BankOperation, Terminal } from '../bank/bank.ts';
import { epochMsOf, laterBy, type Clock, type Instant } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { meaningOf, nextOf, type NextStep } from './payment.bank.ts';
import { operationIdOf, type Payment } from './payment.ts';
import { storeMove } from './payment.terminal.store.ts';
import { mayMove, movedTo } from './payment.terminal.ts';
import { loadPayment, lookAgainAt, storeEvents, type StoredPayment } from './payment.store.ts';

/** The bank said nothing that proves anything. Tried again later and later, then in the operator's list. */
class OutcomeUnknown extends Error {}

const stepsInARow = 5;

export type PaymentSteps = {
  readonly db: Database;
  readonly clock: Clock;
  readonly bankOf: (payment: Payment) => Promise<Bank>;
  /** Another terminal of the shop, whose bank is not known to be away. */
  readonly terminalElsewhere: (payment: Payment) => Promise<Terminal | undefined>;
  /** Where the payer's browser returns to after a challenge. */
  readonly returnUrlOf: (payment: Payment) => string;
};

export async function stepPayment(
  tools: PaymentSteps,
  [invoiceId = '', paymentId = '']: readonly string[],
  now: Instant,
  attempt: number,
): Promise<void> {
  let stored = await loadPayment(tools.db, { invoiceId, paymentId });
  // One step often leads to the next at once, as the end of a hold leads to its reversal.
  for (let step = 0; stored && step < stepsInARow; step++) {
    stored = await takeStep(tools, stored, now, step === 0 ? attempt : 1);
  }
}

/** The payment after the step when there is more to do at once, else undefined. */
async function takeStep(
  tools: PaymentSteps,
  stored: StoredPayment,
  now: Instant,
  attempt: number,
): Promise<StoredPayment | undefined> {
  const { db } = tools;
  const next = nextOf(stored.payment, now);
  switch (next.do) {
    case 'nothing':
      await lookAgainAt(db, stored, null);
      return undefined;
    case 'wait':
      await lookAgainAt(db, stored, next.until);
      return undefined;
    case 'write':
      return afterEvents(db, stored, [[next.fact]], now);
    default: {
      const askedAt = tools.clock.now();
      const answer = await ask(tools, stored.payment, next, now, attempt);
      // A bank may take its time; what it says is true from when it says it.
      const answeredAt = laterBy(now, epochMsOf(tools.clock.now()) - epochMsOf(askedAt));
      if (mayMove(stored.payment, answer, attempt, answeredAt)) {
        const terminal = await tools.terminalElsewhere(stored.payment);
        const moved = terminal && (await storeMove(db, stored, movedTo(terminal, answer), answeredAt));
        if (moved) return moved;
      }
      const meaning = meaningOf(stored.payment, answer, answeredAt);
      if ('unknown' in meaning) throw new OutcomeUnknown(meaning.unknown);
      if ('again' in meaning) {
        await lookAgainAt(db, stored, meaning.again);
        return undefined;
      }
      return afterEvents(db, stored, meaning.events, answeredAt);
    }
  }
}

async function afterEvents(
  db: Database,
  stored: StoredPayment,
  events: Parameters<typeof storeEvents>[2],
  now: Instant,
): Promise<StoredPayment | undefined> {
  // Whoever was quicker has written what comes next, and does it.
  const payment = await storeEvents(db, stored, events, now);
  const goesOn = payment && ['reversing', 'capturing', 'cancelling'].includes(payment.state.name);
  return goesOn ? { payment, version: stored.version + 1 } : undefined;
}

async function ask(
  tools: PaymentSteps,
  payment: Payment,
  next: Exclude<NextStep, { do: 'nothing' | 'wait' | 'write' }>,
  now: Instant,
  attempt: number,
): Promise<BankAnswer> {
  const bank = await tools.bankOf(payment);
  const { terminal } = payment;
  const authorisation = operationIdOf(payment, 'authorise');
  switch (next.do) {
    case 'authorise': {
      // The security code can be sent once. After the first attempt the bank is asked whether it has the operation.
      if (attempt === 1 && now < payment.deadline)
        return bank.send(authorisationOf(payment, authorisation, tools.returnUrlOf(payment)));
      const answer = await bank.inquire(authorisation, terminal);
      if (answer.outcome !== 'notFound' || now >= payment.deadline) return answer;
      return bank.send(authorisationOf(payment, authorisation, tools.returnUrlOf(payment)));
    }
    case 'inquire':
      return bank.inquire(authorisation, terminal);
    case 'capture':
      return bank.send({
        kind: 'capture',
        operationId: operationIdOf(payment, 'capture'),
        terminal,
        originalOperationId: authorisation,
        amount: next.amount,
      });
    case 'reverse':
      return bank.send({
        kind: 'reverse',
        operationId: operationIdOf(payment, 'reverse'),
        terminal,
        originalOperationId: authorisation,
      });
  }
}

function authorisationOf(payment: Payment, operationId: string, returnUrl: string): BankOperation {
  const { payer, amount, terminal, flow, makeRecurrent } = payment;
  const { email } = payer.contactInfo;
  return {
    kind: 'authorise',
    operationId,
    terminal,
    amount,
    card: { token: payer.token, session: payer.session },
    capture: flow.type === 'instant',
    initiation: { by: 'payer', storesCard: makeRecurrent },
    authentication: makeRecurrent ? 'required' : 'preferred',
    returnUrl,
    payer: {
      ip: payer.clientInfo.ip,
      fingerprint: payer.clientInfo.fingerprint,
      ...(email === undefined ? {} : { email }),
    },
  };
}
