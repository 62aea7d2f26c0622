// Two runs of one payment's job: what the slower one hears must not be read in the state that the faster one has left.
import { expect, test } from 'vitest';
import { bankOfVersion1 } from '../../test/support/bank/bank-of-version-1.ts';
import type { BankOperation, BankResponse } from '../acquiring/domain/bank-port.ts';
import { parseInstant } from '../clock.ts';
import type { Currency, Money } from '../money.ts';
import type { Payment, PaymentState } from './domain/payment.ts';
import { rowOf } from './store/rows.ts';
import { runPaymentJob, type PaymentJobDeps } from './worker.ts';

const now = parseInstant('2026-01-19T10:00:00Z')!;
const clock = { now: () => now };
const jobOf = (attempt: number) => ({ key: ['I', '1'], clock, attempt });
const rub = (minor: bigint): Money => ({ minor, currency: 'RUB' as Currency });
const approval = { reference: '900000000001' };
const payment = {
  invoiceId: 'I',
  id: '1',
  partyId: 'P',
  shopId: 'S',
  createdAt: now,
  amount: rub(6_000n),
  flow: { type: 'instant' },
  payer: {
    type: 'resource',
    token: 'v1.t',
    session: 's',
    contactInfo: {},
    card: { bin: '424242', lastDigits: '4242', mask: '424242******4242', paymentSystem: 'visa' },
    clientInfo: { fingerprint: 'f', ip: '192.0.2.1' },
  },
  makeRecurrent: false,
  deadline: parseInstant('2026-01-19T10:30:00Z')!,
  terminal: { id: 'T', bankId: 'B', merchantId: 'M', descriptor: 'D' },
  livemode: false,
  fees: {},
} as const satisfies Omit<Payment, 'state'>;

type Sent = { readonly name: string };
type Parameters = { readonly version: number; readonly status: string; readonly state: unknown };

/** A row that only a writer with its version changes. */
function rowInMemory(state: PaymentState) {
  const row = { ...rowOf({ ...payment, state } as Payment, 5), changed_at: now, unsent_attempts: 0 };
  const written: string[] = [];
  const db = {
    run({ name }: Sent, given: Parameters) {
      if (name === 'read_payment') return Promise.resolve([{ ...row }]);
      if (given.version !== row.version) return Promise.resolve([]);
      Object.assign(row, given, { version: given.version + 1 });
      written.push(given.status);
      return Promise.resolve([{ version: 1, journal: 'ok' }]);
    },
  };
  const put = (next: PaymentState) =>
    Object.assign(row, rowOf({ ...payment, state: next } as Payment, row.version + 1));
  return { db, row, written, put };
}

const depsWith = (db: unknown, send: (operation: BankOperation) => Promise<BankResponse>) =>
  ({
    db,
    nodeClock: clock,
    charging: {},
    consents: {},
    bankOf: () =>
      Promise.resolve({
        ...bankOfVersion1,
        send,
        inquire: () => Promise.resolve({ outcome: 'approved', ...approval }),
      }),
    alternateTerminal: () => Promise.resolve(undefined),
    pauseTerminal: () => Promise.resolve(),
    hearCharge: () => Promise.resolve(),
    isPaused: () => Promise.resolve(false),
    returnUrlOf: () => 'https://pay.example',
    sendPayerEmail: () => undefined,
  }) as unknown as PaymentJobDeps;

function gate() {
  let open = () => {};
  const isOpen = new Promise<void>((resolve) => (open = resolve));
  return { isOpen, open: () => open() };
}

const declined: BankResponse = { outcome: 'declined', network: 'bank', code: '12' };
const approved: BankResponse = { outcome: 'approved', ...approval };

test('a refused reversal is not read as the refusal of the refund that follows it', async () => {
  const { db, row, written } = rowInMemory({ name: 'reversing', failure: ['timeout'] });
  const refunding = gate();
  const slowEnded = gate();
  const fast = depsWith(db, async ({ operationId }) => {
    if (operationId === 'I.1.r') return declined;
    refunding.open();
    await slowEnded.isOpen;
    return approved;
  });
  const slow = depsWith(db, () => refunding.isOpen.then(() => declined));
  const running = runPaymentJob(fast, jobOf(2));
  await runPaymentJob(slow, jobOf(3));
  slowEnded.open();
  await running;
  expect(written).toEqual(['reversing', 'failed']);
  expect(row.status).toBe('failed');
});

test('the response about one refund is not read as that about the next', async () => {
  const taken = { approval, amount: rub(6_000n) };
  const refund = (id: string, refundedMinor: bigint): PaymentState => ({
    name: 'refunding',
    ...taken,
    refundedMinor,
    refundsMade: Number(id) - 99,
    refund: { id, minor: 1_000n, feeMinor: 0n },
  });
  const { db, row, put } = rowInMemory(refund('100', 0n));
  const ended = gate();
  const slow = runPaymentJob(
    depsWith(db, () => ended.isOpen.then(() => approved)),
    jobOf(2),
  );
  put(refund('101', 1_000n));
  ended.open();
  await slow;
  expect(row.status).toBe('refunding');
});

test('the decline of a first charge is not read as that of the second, which another node has begun', async () => {
  const inMemory = rowInMemory({ name: 'authorising' });
  const { row } = inMemory;
  const db = { ...inMemory.db, transaction: (write: (tx: unknown) => unknown) => write(inMemory.db) };
  const ended = gate();
  const steppedUp = () =>
    Object.assign(
      row,
      rowOf({ ...payment, state: { name: 'authorising' }, isSteppedUp: true }, row.version + 1),
    );
  const deps = depsWith(db, async () => {
    steppedUp();
    await ended.isOpen;
    return { outcome: 'declined', network: 'visa', code: '1A' };
  });
  const charging = { recordDecline: () => Promise.resolve() } as unknown as PaymentJobDeps['charging'];
  ended.open();
  await runPaymentJob({ ...deps, charging }, jobOf(1));
  expect(row.status).toBe('authorising');
});
