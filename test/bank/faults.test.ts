// Faults on demand: the outcome the HTTP adapter reports for each, and whether the bank did the operation.
import { describe, expect, onTestFinished, test } from 'vitest';
import type { BankOperation } from '../../src/acquiring/domain/bank-port.ts';
import { openHttpBank, type HttpBank } from '../../src/acquiring/adapters/http/http-bank.ts';
import type { Currency } from '../../src/money.ts';
import { delayMs, openFaults, type FaultKind } from '../../src/sandbox/bank/faults.ts';
import { seededRandom } from '../../src/sandbox/bank/random.ts';
import { waitMs } from '../../tools/tests/waits.ts';
import { temporaryFolder } from '../support/database/test-cluster.ts';
import {
  authorise as message,
  bankSecret,
  refund,
  startBank,
  type TestBank,
} from '../support/bank/simulated-bank.ts';
import { whenTimeIsUp } from '../support/service/time-limit.ts';

const terminal = { id: 'T1', bankId: 'BANK', merchantId: 'SHOP', descriptor: 'A shop' };

/** Its time limits are longer than a busy machine takes. */
function adapterOf(bank: TestBank): HttpBank {
  const adapter = openHttpBank({
    url: bank.url,
    secret: bankSecret,
    clock: bank.clock,
    log: { warn: () => {} },
    detokeniseCard: () => Promise.resolve({ number: '4242424242424242', expiry: '2030-12' }),
    timeouts: { connectMs: waitMs, answerMs: waitMs, unattendedAnswerMs: waitMs },
  });
  onTestFinished(() => adapter.stop());
  return adapter;
}

function authorise(operationId: string, minor = 6_000n): BankOperation {
  return {
    kind: 'authorise',
    operationId,
    terminal,
    amount: { minor, currency: 'RUB' as Currency },
    card: { token: 't' },
    capture: true,
    initiation: { by: 'payer', storesCard: false },
    authentication: 'none',
    returnUrl: 'https://merchant.example/return',
    payer: {},
  };
}

/** The time limit ends as soon as the bank has read the message and has, if it does the operation, done it. */
function unanswered<T>(bank: TestBank, isDone: boolean, work: () => Promise<T>): Promise<T> {
  const { faults } = bank;
  const { ofRequest } = faults;
  let isRead = false;
  faults.ofRequest = (concerned) => {
    isRead = true;
    return ofRequest(concerned);
  };
  const isReached = async () => isRead && (!isDone || (await bank.get('a')).status === 200);
  return whenTimeIsUp(waitMs, isReached, work);
}

async function order(bank: TestBank, body: unknown): Promise<Response> {
  return fetch(`${bank.url}/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

const seen: [FaultKind, outcome: string, isDone: boolean][] = [
  ['no-answer-before-booking', 'unknown', false],
  ['no-answer-after-booking', 'unknown', true],
  ['reset-before-booking', 'unknown', false],
  ['reset-after-booking', 'unknown', true],
  ['error-before-booking', 'unknown', false],
  ['error-after-booking', 'unknown', true],
  ['garbage-after-booking', 'unknown', true],
  ['foreign-answer-after-booking', 'unknown', true],
  ['slow-answer', 'unknown', true],
  ['split-answer', 'approved', true],
  ['not-done', 'notSent', false],
  ['too-many-requests', 'notSent', false],
  ['unauthorised', 'notSent', false],
];

test.each(seen)('%s gives the outcome %s, and the operation was done: %s', async (kind, outcome, isDone) => {
  const bank = await startBank();
  const adapter = adapterOf(bank);
  expect((await order(bank, { kind })).status).toBe(200);
  const send = () => adapter.send(authorise('a'));
  const isSilent = kind.startsWith('no-answer') || kind === 'slow-answer';
  expect((await (isSilent ? unanswered(bank, isDone, send) : send())).outcome).toBe(outcome);
  expect((await adapter.inquire({ operationId: 'a', terminal })).outcome).toBe(
    isDone ? 'approved' : 'notFound',
  );
  expect((await bank.book()).length).toBe(isDone ? 1 : 0);
  // A repeat does the operation once and is answered.
  expect((await adapter.send(authorise('a'))).outcome).toBe('approved');
  expect((await bank.book()).length).toBe(1);
});

test('a right signature that is refused proves that nothing was done, and says nothing of an inquiry', async () => {
  const bank = await startBank();
  const adapter = adapterOf(bank);
  await order(bank, { kind: 'unauthorised', next: 2 });
  expect(await adapter.send(authorise('a'))).toMatchObject({ outcome: 'notSent', isUnauthorised: true });
  const about = await adapter.inquire({ operationId: 'a', terminal });
  expect(about).toMatchObject({ outcome: 'unknown', isUnauthorised: true });
  expect((await adapter.inquire({ operationId: 'a', terminal })).outcome).toBe('notFound');
});

test.each([
  [99_901, 'unknown', true],
  [99_903, 'unknown', false],
  [99_904, 'unknown', true],
  [99_906, 'approved', true],
  [99_920, 'unknown', false],
  [99_921, 'unknown', true],
  [99_922, 'unknown', false],
  [99_923, 'unknown', true],
  [99_924, 'unknown', true],
  [99_925, 'notSent', false],
])(
  'the amount %i gives %s first, the operation was done: %s, and a repeat is answered',
  async (amount, outcome, isDone) => {
    const bank = await startBank();
    const adapter = adapterOf(bank);
    const send = () => adapter.send(authorise('a', BigInt(amount)));
    const isSilent = [99_901, 99_920].includes(amount);
    expect((await (isSilent ? unanswered(bank, isDone, send) : send())).outcome).toBe(outcome);
    expect((await adapter.inquire({ operationId: 'a', terminal })).outcome).toBe(
      isDone ? 'approved' : 'notFound',
    );
    expect((await adapter.send(authorise('a', BigInt(amount)))).outcome).toBe('approved');
    expect((await bank.book()).length).toBe(1);
  },
);

test('the reversal of 99913 is done on the first send and answered on the third', async () => {
  const bank = await startBank();
  const adapter = adapterOf(bank);
  await adapter.send(authorise('a', 99_913n));
  const reversal = { kind: 'reverse', operationId: 'r', terminal, originalOperationId: 'a' } as const;
  expect((await adapter.send(reversal)).outcome).toBe('unknown');
  expect((await adapter.inquire({ operationId: 'r', terminal })).outcome).toBe('approved');
  expect((await adapter.send(reversal)).outcome).toBe('unknown');
  expect((await adapter.send(reversal)).outcome).toBe('approved');
});

describe('a fault order', () => {
  test('applies to the next requests of one kind', async () => {
    const bank = await startBank();
    const adapter = adapterOf(bank);
    await order(bank, { kind: 'error-before-booking', next: 2, operationKind: 'reverse' });
    const reversal = { kind: 'reverse', operationId: 'r', terminal, originalOperationId: 'a' } as const;
    expect((await adapter.send(authorise('a'))).outcome).toBe('approved');
    expect((await adapter.send(reversal)).outcome).toBe('unknown');
    expect((await adapter.inquire({ operationId: 'a', terminal })).outcome).toBe('approved');
    expect((await adapter.send(reversal)).outcome).toBe('unknown');
    expect((await adapter.send(reversal)).outcome).toBe('approved');
  });

  test('can apply to inquiries', async () => {
    const bank = await startBank();
    const adapter = adapterOf(bank);
    await order(bank, { kind: 'reset-before-booking', operationKind: 'inquire' });
    await adapter.send(authorise('a'));
    expect((await adapter.inquire({ operationId: 'a', terminal })).outcome).toBe('unknown');
    expect((await adapter.inquire({ operationId: 'a', terminal })).outcome).toBe('approved');
  });

  test('is listed until it is used up or cleared', async () => {
    const bank = await startBank();
    const adapter = adapterOf(bank);
    const list = async () => (await fetch(`${bank.url}/faults`)).json();
    await order(bank, { kind: 'error-after-booking' });
    await order(bank, { kind: 'lost-callback', rate: 0.5 });
    await order(bank, { kind: 'latency', curve: { shape: 'fixed', ms: 1 } });
    await order(bank, { kind: 'limits', perSecond: 100 });
    expect(await list()).toEqual({
      outage: false,
      latency: { shape: 'fixed', ms: 1 },
      limits: { perSecond: 100 },
      faults: [
        { kind: 'error-after-booking', left: 1 },
        { kind: 'lost-callback', rate: 0.5 },
      ],
    });
    await adapter.send(authorise('a'));
    expect((await list()) as unknown).toMatchObject({ faults: [{ kind: 'lost-callback' }] });
    await fetch(`${bank.url}/faults`, { method: 'DELETE' });
    expect(await list()).toEqual({ outage: false, latency: { shape: 'none' }, limits: {}, faults: [] });
  });

  test.each([
    {},
    { kind: 'nonsense' },
    { kind: 'not-done', rate: 2 },
    { kind: 'not-done', next: 0 },
    { kind: 'not-done', operationKind: 'steal' },
    { kind: 'latency', curve: { shape: 'square' } },
    { kind: 'outage' },
    { kind: 'decline' },
    { kind: 'decline', code: '00' },
    { kind: 'decline', code: 'insufficient funds' },
    { kind: 'decline', code: '51', card: '242' },
    { kind: 'decline', code: '51', terminal: 7 },
  ])('like %j is refused', async (body) => {
    const bank = await startBank();
    expect((await order(bank, body)).status).toBe(400);
  });

  test('declines the next operations that the bank has not received before, for good', async () => {
    const { folder, remove } = temporaryFolder();
    onTestFinished(remove);
    const bank = await startBank({ folder });
    expect(await bank.outcome('before', message())).toBe('approved');
    await order(bank, { kind: 'decline', code: '51', next: 2 });
    expect(await bank.outcome('before', message()), 'a repeat').toBe('approved');
    expect(await bank.outcome('a', message())).toBe('declined 51');
    expect(await bank.outcome('a', message()), 'a repeat').toBe('declined 51');
    expect(await bank.outcome('r', refund('before'))).toBe('declined 51');
    expect(await bank.outcome('b', message())).toBe('approved');
    expect((await bank.put('a', message())).body).toMatchObject({ network: 'visa' });
    await bank.stop();
    const again = await startBank({ folder });
    expect((await again.get('a')).body).toMatchObject({ outcome: 'declined', code: '51' });
  });

  test('can be for a card, by its number or its end, and is listed without the number', async () => {
    const bank = await startBank();
    const [visa, mastercard] = ['4242424242424242', '5555555555554444'];
    await order(bank, { kind: 'decline', code: '05', card: mastercard });
    expect(await bank.outcome('a', message({}, visa))).toBe('approved');
    expect(JSON.stringify(bank.faults.list())).not.toContain(mastercard);
    expect(bank.faults.list().faults).toEqual([{ kind: 'decline', code: '05', card: '4444', left: 1 }]);
    expect(await bank.outcome('b', message({}, mastercard))).toBe('declined 05');
    await order(bank, { kind: 'decline', code: '05', card: '4242' });
    expect(await bank.outcome('c', message({}, mastercard))).toBe('approved');
    expect(await bank.outcome('d', message({}, visa))).toBe('declined 05');
  });

  test('can be for a terminal, or for the merchants of one party', async () => {
    const bank = await startBank();
    const merchant = (id: string, terminal: string) => ({ merchant: { id, terminal, descriptor: 'x' } });
    await order(bank, { kind: 'decline', code: '05', terminal: 'T2' });
    expect(await bank.outcome('a', message(merchant('SHOP', 'T1')))).toBe('approved');
    expect(await bank.outcome('b', message(merchant('SHOP', 'T2')))).toBe('declined 05');
    await order(bank, { kind: 'decline', code: '05', merchants: [{ id: 'SHOP', terminal: 'T1' }] });
    expect(await bank.outcome('c', message(merchant('OTHER', 'T1')))).toBe('approved');
    expect(await bank.outcome('d', message(merchant('SHOP', 'T2')))).toBe('approved');
    expect(await bank.outcome('e', message(merchant('SHOP', 'T1')))).toBe('declined 05');
  });

  test('for a card breaks no inquiry', async () => {
    const bank = await startBank();
    await bank.put('a', message());
    await order(bank, { kind: 'error-before-booking', card: '4242' });
    expect((await bank.get('a')).body.outcome).toBe('approved');
    expect(bank.faults.list().faults).toHaveLength(1);
  });

  test('cannot come from a web page', async () => {
    const bank = await startBank();
    const body = JSON.stringify({ kind: 'outage', on: true });
    expect((await fetch(`${bank.url}/faults`, { method: 'POST', body })).status).toBe(415);
  });
});

test('an outage breaks every connection until it ends, and no operation is done', async () => {
  const bank = await startBank();
  const adapter = adapterOf(bank);
  await order(bank, { kind: 'outage', on: true });
  expect((await adapter.send(authorise('a'))).outcome).toBe('unknown');
  expect((await adapter.inquire({ operationId: 'a', terminal })).outcome).toBe('unknown');
  await expect(bank.book()).rejects.toThrow();
  await order(bank, { kind: 'outage', on: false });
  expect((await adapter.inquire({ operationId: 'a', terminal })).outcome).toBe('notFound');
});

test('a slow bank acts after the delay, so that an abandoned operation can be reversed first', async () => {
  const bank = await startBank();
  const adapter = adapterOf(bank);
  await order(bank, { kind: 'latency', curve: { shape: 'fixed', ms: 120_000 } });
  const late = await unanswered(bank, false, () => adapter.send(authorise('a')));
  expect(late.outcome).toBe('unknown');
  await order(bank, { kind: 'latency', curve: { shape: 'none' } });
  const reversal = { kind: 'reverse', operationId: 'r', terminal, originalOperationId: 'a' } as const;
  expect((await adapter.send(reversal)).outcome).toBe('approved');
  // A repeat is the same operation, whichever of the two arrives first.
  expect(await adapter.send(authorise('a'))).toMatchObject({ outcome: 'declined', code: '17' });
  expect(await bank.book()).toEqual([]);
});

test('a slow bank delays many requests in parallel without a listener warning', async () => {
  const warnings: string[] = [];
  const listen = ({ message }: Error) => void warnings.push(message);
  process.on('warning', listen);
  onTestFinished(() => void process.off('warning', listen));
  const bank = await startBank();
  const adapter = adapterOf(bank);
  await order(bank, { kind: 'latency', curve: { shape: 'fixed', ms: 50 } });
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => adapter.send(authorise(`many-${n}`))),
  );
  expect(new Set(answers.map(({ outcome }) => outcome))).toEqual(new Set(['approved']));
  expect(warnings).toEqual([]);
});

describe('the seed', () => {
  test('gives the same faults again, and another seed gives others', () => {
    const run = (seed: number) => {
      const faults = openFaults(seed);
      faults.order({ kind: 'not-done', rate: 0.3 });
      return Array.from({ length: 200 }, () => (faults.ofRequest('authorise') ? 1 : 0)).join('');
    };
    expect(run(7)).toBe(run(7));
    expect(run(7)).not.toBe(run(8));
  });

  test('gives the ordered rate approximately', () => {
    const faults = openFaults(1);
    faults.order({ kind: 'not-done', rate: 0.3 });
    const hits = Array.from({ length: 10_000 }, () => faults.ofRequest('capture')).filter(Boolean).length;
    expect(hits).toBeGreaterThan(2_800);
    expect(hits).toBeLessThan(3_200);
  });

  test('gives delays of the ordered shape', () => {
    const delays = (latency: Parameters<typeof delayMs>[0]) => {
      const random = seededRandom(3);
      return Array.from({ length: 10_001 }, () => delayMs(latency, random)).sort((a, b) => a - b);
    };
    const even = delays({ shape: 'uniform', leastMs: 50, mostMs: 150 });
    expect(even[0]).toBeGreaterThanOrEqual(50);
    expect(even.at(-1)).toBeLessThan(150);
    expect(even[5_000]).toBeGreaterThan(97);
    expect(even[5_000]).toBeLessThan(103);
    const skewed = delays({ shape: 'lognormal', medianMs: 100, sigma: 0.5 });
    expect(skewed[5_000]).toBeGreaterThan(97);
    expect(skewed[5_000]).toBeLessThan(103);
    // 84 % of the delays are below median × e^sigma.
    expect(skewed[8_413]! / 100).toBeCloseTo(Math.exp(0.5), 0);
    expect(delays({ shape: 'fixed', ms: 7 }).every((delay) => delay === 7)).toBe(true);
    expect(delays({ shape: 'none' })[0]).toBe(0);
  });
});
