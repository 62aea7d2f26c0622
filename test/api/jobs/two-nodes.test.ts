// Two nodes and one payment: a bank that is slower than a lease makes both send, and a merchant may call one of each. In any order, the
// bank does each operation once, and both nodes reach the same result.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { BankOperation } from '../../../src/acquiring/domain/bank-port.ts';
import { notFinal } from '../../support/checks/ledger-check.ts';
import { invoicesUrl, makeInvoice, type CreatedInvoice } from '../../support/worlds/invoices.ts';
import { startNode, type Node } from '../../support/service/nodes.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';
import type { Answer } from '../../support/service/test-service.ts';

const card = '4242424242424242';
const pastTheLeaseMs = 61_000;
const minute = 60_000;

type Slowness = { readonly kind: BankOperation['kind']; readonly where: 'to the bank' | 'from the bank' };
type Gate = Slowness & { reached(): void; readonly opened: Promise<void> };

let world: PaymentWorld;
/** Its messages to the bank can be delayed; those of the other cannot. */
let slow: Node;
let quick: Node;
let gate: Gate | undefined;
/** What both nodes sent to the bank. */
let sent: string[] = [];

beforeAll(async () => {
  world = await startPaymentWorld();
  const watched = (isSlow: boolean): Promise<Node> =>
    startNode(world.service, {
      bankOf: (bank) => ({
        ...bank,
        async send(operation) {
          const held = isSlow && gate?.kind === operation.kind ? gate : undefined;
          if (held?.where === 'to the bank') {
            held.reached();
            await held.opened;
          }
          sent.push(operation.operationId);
          const answer = await bank.send(operation);
          if (held?.where === 'from the bank') {
            held.reached();
            await held.opened;
          }
          return answer;
        },
      }),
    });
  [slow, quick] = await Promise.all([watched(true), watched(false)]);
});
afterAll(async () => {
  await Promise.all([slow.stop(), quick.stop()]);
  await world.close();
});

function holdUp(slowness: Slowness): { reached: Promise<void>; open(): void } {
  let open!: () => void;
  let reached!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const isReached = new Promise<void>((resolve) => (reached = resolve));
  gate = { ...slowness, opened, reached };
  sent = [];
  return {
    reached: isReached,
    open() {
      gate = undefined;
      open();
    },
  };
}

function post(node: Node, invoice: CreatedInvoice, path: string, body: object): Promise<Answer> {
  const url = `${invoicesUrl}/${invoice.id}/payments${path}`;
  return node.call('POST', url, { token: world.merchant.apiKey, body });
}

async function pay(node: Node, invoice: CreatedInvoice, flow: string, cardNumber = card): Promise<Answer> {
  const { token } = await world.tokenize(cardNumber);
  const payer = { payerType: 'PaymentResourcePayer', paymentToolToken: token, contactInfo: {} };
  return post(node, invoice, '', { flow: { type: flow }, payer });
}

async function poll(node: Node, afterMs: number): Promise<void> {
  world.service.clock.advance(afterMs);
  node.jobs.wake();
  await node.jobs.whenIdle();
}

const bothSettled = () => Promise.all([slow.jobs.whenIdle(), quick.jobs.whenIdle()]);

/** The loser of a race may have locked the row while the winner polled: then the next poll finds it a second later. */
async function nextSecond(): Promise<void> {
  await bothSettled();
  await Promise.all([poll(slow, 1_000), poll(quick, 0)]);
}

const newInvoice = () => makeInvoice(world.service, world.merchant);

async function expectNoDifference(): Promise<void> {
  expect(await notFinal(world.service.database)).toEqual([]);
  expect(await world.differences()).toEqual([]);
}

async function readyTo(kind: BankOperation['kind']): Promise<CreatedInvoice> {
  const invoice = await newInvoice();
  if (kind === 'authorise') return invoice;
  await pay(quick, invoice, kind === 'refund' ? 'PaymentFlowInstant' : 'PaymentFlowHold');
  await quick.jobs.whenIdle();
  return invoice;
}

const asked = {
  authorise: (invoice: CreatedInvoice) => pay(slow, invoice, 'PaymentFlowInstant'),
  capture: (invoice: CreatedInvoice) => post(slow, invoice, '/1/capture', { reason: 'r' }),
  reverse: (invoice: CreatedInvoice) => post(slow, invoice, '/1/cancel', { reason: 'r' }),
  refund: (invoice: CreatedInvoice) => post(slow, invoice, '/1/refunds', { amount: 6000 }),
};
const ends = { authorise: 'captured', capture: 'captured', reverse: 'cancelled', refund: 'refunded' };

describe.each(['to the bank', 'from the bank'] as const)('a lease that expires on the way %s', (where) => {
  test.each(['authorise', 'capture', 'reverse', 'refund'] as const)(
    'lets another node continue the %s, which the bank does once, and ignores the late response',
    async (kind) => {
      const invoice = await readyTo(kind);
      const wait = holdUp({ kind, where });
      expect((await asked[kind](invoice)).status).toBeLessThan(300);
      await wait.reached;

      // Before the lease expires, the other node sends nothing.
      await poll(quick, 1_000);
      expect(sent).toHaveLength(where === 'to the bank' ? 0 : 1);

      await poll(quick, pastTheLeaseMs);
      expect(await world.payment(invoice)).toMatchObject({ status: ends[kind] });
      const changes = await world.changes(invoice);

      wait.open();
      await bothSettled();
      expect(new Set(sent).size).toBe(1);
      expect(await world.changes(invoice)).toEqual(changes);
      await expectNoDifference();
    },
  );
});

describe('a late approval', () => {
  test.each([
    ['to the bank', 0],
    ['from the bank', 2],
  ] as const)('after the deadline, on its way %s, does not undo the reversal', async (where, lines) => {
    const invoice = await newInvoice();
    const before = (await world.book()).length;
    const wait = holdUp({ kind: 'authorise', where });
    await pay(slow, invoice, 'PaymentFlowInstant');
    await wait.reached;
    if (where === 'from the bank') {
      // Otherwise the quick node would learn of the approval and use it.
      world.bank.faults.order({ kind: 'error-before-booking', rate: 1, operationKind: 'inquire' });
    }
    await poll(quick, 31 * minute);
    world.bank.faults.clear();
    const failed = { status: 'failed', error: { subError: { code: 'processing_deadline_reached' } } };
    expect(await world.payment(invoice)).toMatchObject(failed);

    wait.open();
    await bothSettled();
    expect(await world.payment(invoice)).toMatchObject(failed);
    expect(await world.book()).toHaveLength(before + lines);
    await expectNoDifference();
  });
});

describe('concurrent requests on two nodes', () => {
  const rounds = Array.from({ length: 10 }, (_, round) => round);
  const inTurn = (round: number): readonly [Node, Node] => (round % 2 ? [slow, quick] : [quick, slow]);

  /** Both requests read the payment before either writes it, and the given one writes first. */
  function writtenInOrder(first: 'capture' | 'cancel') {
    const { database } = world.service;
    const { run } = database;
    const firstStatus = first === 'capture' ? 'capturing' : 'cancelling';
    let bothCame = () => {};
    let firstWrote = () => {};
    const whenBothCame = new Promise<void>((resolve) => (bothCame = resolve));
    const whenFirstWrote = new Promise<void>((resolve) => (firstWrote = resolve));
    let came = 0;
    return vi.spyOn(database, 'run').mockImplementation(async (statement, parameters) => {
      const { status } = parameters as { status?: unknown };
      if (statement.name !== 'change_payment' || ++came > 2) return run(statement, parameters);
      if (came === 2) bothCame();
      await (status === firstStatus ? whenBothCame : whenFirstWrote);
      return run(statement, parameters).finally(firstWrote);
    });
  }

  test.each([
    ['capture', 'cancel'],
    ['cancel', 'capture'],
  ] as const)(
    'for a capture and a cancel: the %s, written first, succeeds and the other is refused',
    async (...ends) => {
      for (const round of rounds) {
        const invoice = await readyTo('capture');
        const [one, other] = inTurn(round);
        const [won, lost] = ends;
        const written = writtenInOrder(won);
        const answers = await Promise.all([
          post(one, invoice, `/1/${won}`, { reason: 'r' }),
          post(other, invoice, `/1/${lost}`, { reason: 'r' }),
        ]);
        written.mockRestore();
        expect(answers.map(({ status }) => status)).toEqual([202, 400]);
        expect(answers[1].body.code).toBe('invalidPaymentStatus');
        await nextSecond();
        const status = won === 'capture' ? 'captured' : 'cancelled';
        expect(await world.payment(invoice)).toMatchObject({ status });
      }
      await expectNoDifference();
    },
  );

  test('for two refunds of more than was captured together: one succeeds', async () => {
    for (const round of rounds) {
      const invoice = await readyTo('refund');
      const answers = await Promise.all(
        inTurn(round).map((node) => post(node, invoice, '/1/refunds', { amount: 4000 })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
      expect(answers.find(({ status }) => status === 400)?.body.code).toMatch(
        /^(operationNotPermitted|invoicePaymentAmountExceeded)$/,
      );
      await nextSecond();
      expect(await post(quick, invoice, '/1/refunds', { amount: 2001 })).toMatchObject({
        body: { code: 'invoicePaymentAmountExceeded' },
      });
    }
    await expectNoDifference();
  });

  test('for two payments of an invoice: one is created', async () => {
    for (const round of rounds) {
      const invoice = await newInvoice();
      const answers = await Promise.all(
        inTurn(round).map((node) => pay(node, invoice, 'PaymentFlowInstant')),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
      expect(answers.find(({ status }) => status === 400)?.body.code).toMatch(
        /^(invoicePaymentPending|invalidInvoiceStatus)$/,
      );
      await nextSecond();
    }
    await expectNoDifference();
  });

  test('when a hold expires: one node captures it', async () => {
    const invoices = await Promise.all(rounds.map(newInvoice));
    const flow = { type: 'PaymentFlowHold', onHoldExpiration: 'capture' };
    for (const invoice of invoices) {
      const { token } = await world.tokenize(card);
      const payer = { payerType: 'PaymentResourcePayer', paymentToolToken: token, contactInfo: {} };
      await post(quick, invoice, '', { flow, payer });
    }
    await bothSettled();
    sent = [];
    world.service.clock.advance(72 * 60 * minute);
    slow.jobs.wake();
    quick.jobs.wake();
    await nextSecond();
    for (const invoice of invoices)
      expect(await world.payment(invoice)).toMatchObject({ status: 'captured' });
    expect(sent.sort()).toEqual(invoices.map(({ id }) => `${id}.1.c`).sort());
    await expectNoDifference();
  });
});
