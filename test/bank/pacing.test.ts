// A bank that declares how much it takes: the adapter sends no more, and what waits has sent nothing.
import { describe, expect, onTestFinished, test } from 'vitest';
import type { BankOperation } from '../../src/acquiring/domain/bank-port.ts';
import { openHttpBank } from '../../src/acquiring/adapters/http/http-bank.ts';
import type { Exchange } from '../../src/acquiring/adapters/http/link.ts';
import { laterBy } from '../../src/clock.ts';
import { defined } from '../../src/defined.ts';
import type { Currency } from '../../src/money.ts';
import { authorise, bankSecret, startBank } from '../support/bank/simulated-bank.ts';
import { testClock } from '../support/service/test-service.ts';

const terminal = { id: 'T1', bankId: 'B1', merchantId: 'M1', descriptor: 'SHOP' };
const turnedAway = { outcome: 'notSent', turnedAway: true };

/** A bank that answers when the test wants it to. */
function start(declared: string) {
  const clock = testClock();
  const asked: { readonly target: string; readonly answer: (exchange: Exchange) => void }[] = [];
  let revealed = 0;
  const bank = openHttpBank({
    url: 'https://bank.example',
    secret: bankSecret,
    clock,
    log: { warn: () => {} },
    lastSaid: declared,
    openLink: () => ({
      ask: ({ target }) => new Promise((answer) => void asked.push({ target, answer })),
      stop: () => Promise.resolve(),
    }),
    detokeniseCard() {
      revealed += 1;
      return Promise.resolve({ number: '4242424242424242', expiry: '2049-12' });
    },
  });
  onTestFinished(() => bank.stop());
  return { clock, bank, asked, revealed: () => revealed };
}

function charge(operationId: string, notAfter?: BankOperation['notAfter']): BankOperation {
  return {
    operationId,
    terminal,
    kind: 'authorise',
    amount: { minor: 6_000n, currency: 'RUB' as Currency },
    card: { token: 't', session: 's' },
    capture: true,
    initiation: { by: 'payer', storesCard: false },
    authentication: 'none',
    returnUrl: 'https://pay.example/return',
    payer: {},
    ...defined({ notAfter }),
  };
}

function approvalOf(target: string): Exchange {
  const operationId = target.slice(target.lastIndexOf('/') + 1);
  const body = Buffer.from(
    JSON.stringify({ operationId, outcome: 'approved', reference: '900000000017', approvalCode: '134623' }),
  );
  return { kind: 'answer', status: 200, headers: {}, body };
}

test('what a bank does not take yet is sent when an answer makes place for it', async () => {
  const { bank, asked, revealed } = start('{"atOnce":1}');
  const first = bank.send(charge('a'));
  const second = bank.send(charge('b'));
  await expect.poll(() => bank.waiting()).toBe(1);
  await expect.poll(() => asked.length).toBe(1);
  // The card and its code stay in the vault while a message waits.
  expect(revealed()).toBe(1);
  asked[0]?.answer(approvalOf('/operations/a'));
  expect(await first).toMatchObject({ outcome: 'approved' });
  await expect.poll(() => asked.length).toBe(2);
  expect(bank.waiting()).toBe(0);
  asked[1]?.answer(approvalOf('/operations/b'));
  expect(await second).toMatchObject({ outcome: 'approved' });
  expect(asked.map(({ target }) => target)).toEqual(['/operations/a', '/operations/b']);
});

test('a herd of charges without the payer leaves place for a payer, and a repeated one goes after it', async () => {
  const { bank, asked } = start('{"atOnce":4,"resubmission":true}');
  const alone = (operationId: string, more: object = {}) => {
    const initiation = { by: 'merchant', reason: 'recurring', ...more } as const;
    return bank.send({ ...charge(operationId), initiation } as BankOperation);
  };
  const herd = [alone('a'), alone('b'), alone('c'), alone('repeat', { resubmission: true }), alone('d')];
  await expect.poll(() => bank.waiting()).toBe(2);
  const payer = bank.send(charge('payer'));
  await expect.poll(() => asked.length).toBe(4);
  const ids = () => asked.map(({ target }) => target.slice(target.lastIndexOf('/') + 1));
  expect(ids()).toEqual(['a', 'b', 'c', 'payer']);
  for (let number = 0; number < 6; number++) {
    await expect.poll(() => asked.length).toBeGreaterThan(number);
    asked[number]?.answer(approvalOf(asked[number]?.target ?? ''));
  }
  await Promise.all([payer, ...herd]);
  expect(ids()).toEqual(['a', 'b', 'c', 'payer', 'd', 'repeat']);
});

test('an answer that never comes makes place too', async () => {
  const { bank, asked } = start('{"atOnce":1}');
  const first = bank.send(charge('a'));
  const second = bank.send(charge('b'));
  await expect.poll(() => asked.length).toBe(1);
  asked[0]?.answer({ kind: 'nothing', written: true, why: 'no answer' });
  expect(await first).toMatchObject({ outcome: 'unknown', isSilence: true });
  await expect.poll(() => asked.length).toBe(2);
  asked[1]?.answer(approvalOf('/operations/b'));
  expect(await second).toMatchObject({ outcome: 'approved' });
});

test('what would have to wait beyond its time is certainly not done, and its card is not read', async () => {
  const { bank, asked, clock, revealed } = start('{"atOnce":1}');
  void bank.send(charge('a'));
  await expect.poll(() => asked.length).toBe(1);
  expect(await bank.send(charge('b', laterBy(clock.now(), 0)))).toMatchObject(turnedAway);
  expect(revealed()).toBe(1);
  expect(asked).toHaveLength(1);
});

test('what waits when the adapter stops is certainly not done', async () => {
  const { bank, asked } = start('{"perSecond":1}');
  void bank.send(charge('a'));
  const waiting = bank.send(charge('b'));
  await expect.poll(() => bank.waiting()).toBe(1);
  await bank.stop();
  expect(bank.waiting()).toBe(0);
  expect(await waiting).toMatchObject(turnedAway);
  expect(asked).toHaveLength(1);
});

test('nothing waits for a bank whose circuit is open', async () => {
  const { bank, asked } = start('{"atOnce":1}');
  void bank.send(charge('a'));
  await expect.poll(() => asked.length).toBe(1);
  const inquiries = Array.from({ length: 20 }, () => bank.inquire({ operationId: 'a', terminal }));
  await expect.poll(() => asked.length).toBe(21);
  for (const { answer } of asked.slice(1)) answer({ kind: 'nothing', written: true, why: 'no answer' });
  await Promise.all(inquiries);
  const answers: unknown[] = [];
  void bank.send(charge('b')).then((answer) => answers.push(answer));
  await expect.poll(() => answers.length + bank.waiting()).toBe(1);
  expect(answers).toMatchObject([{ outcome: 'notSent', noBytesSent: true }]);
});

test('what waits is turned away before the adapter stops, and what is in progress is answered', async () => {
  const { bank, asked } = start('{"atOnce":1}');
  const first = bank.send(charge('a'));
  const waiting = bank.send(charge('b'));
  await expect.poll(() => bank.waiting()).toBe(1);
  bank.stopWaiting();
  expect(await waiting).toMatchObject(turnedAway);
  asked[0]?.answer(approvalOf('/operations/a'));
  expect(await first).toMatchObject({ outcome: 'approved' });
});

test('inquiries wait for nothing', async () => {
  const { bank, asked } = start('{"atOnce":1}');
  void bank.send(charge('a'));
  void bank.inquire({ operationId: 'b', terminal });
  await expect.poll(() => asked.length).toBe(2);
});

describe('the simulated bank', () => {
  test('declares what was ordered, and does nothing beyond', async () => {
    const bank = await startBank();
    bank.faults.order({ kind: 'limits', perSecond: 2 });
    const answers = [];
    for (const id of ['a', 'b', 'c']) answers.push((await bank.put(id, authorise())).status);
    expect(answers).toEqual([200, 200, 429]);
    expect((await bank.get('c')).status).toBe(404);
    bank.clock.advance(1_000);
    expect((await bank.put('c', authorise())).status).toBe(200);
    bank.faults.clear();
    for (const id of ['d', 'e', 'f']) expect((await bank.put(id, authorise())).status).toBe(200);
  });
});
