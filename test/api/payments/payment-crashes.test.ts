// A node dies after each write and around each bank message, in turn; another continues when the lease expires. In the end
// payments, ledger and bank report agree.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { notFinal } from '../../support/checks/ledger-check.ts';
import { invoicesUrl, makeInvoice, type CreatedInvoice } from '../../support/worlds/invoices.ts';
import { openFuse, startNode, type Node } from '../../support/service/nodes.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';
import type { Answer } from '../../support/service/test-service.ts';

const card = '4242424242424242';
const challengedCard = '4012888888881881';
const pastTheLeaseMs = 61_000;
const maxMoments = 40;

const fuse = openFuse();
let world: PaymentWorld;
let mortal: Node;

beforeAll(async () => {
  world = await startPaymentWorld();
  mortal = await startNode(world.service, { fuse });
});
afterAll(async () => {
  fuse.set(0);
  await mortal.stop();
  await world.close();
});

/** The node that is alive: the crashable one, or the one that continues after it. */
function living(): Node {
  return fuse.blownAt() === undefined ? mortal : world.service;
}

/** A merchant who repeats an unanswered request on the other node. */
async function ask(path: string, body: object): Promise<Answer> {
  const send = (node: Node) =>
    node.call('POST', `${invoicesUrl}/${path}`, { token: world.merchant.apiKey, body });
  const first = await send(living());
  const answer = first.status < 500 ? first : await send(world.service);
  await calm();
  return answer;
}

/** Waits until nothing is due. After a crash, first lets the lease of the dead node expire. */
async function calm(): Promise<void> {
  await mortal.jobs.whenIdle();
  if (fuse.blownAt() === undefined) return;
  const { clock, jobs } = world.service;
  for (let round = 0; round < 3; round++) {
    clock.advance(pastTheLeaseMs);
    jobs.wake();
    await jobs.whenIdle();
  }
}

/** Moves the clock, and the living node runs what is due. */
async function pass(minutes: number): Promise<void> {
  world.service.clock.advance(minutes * 60_000);
  living().jobs.wake();
  await calm();
}

async function pay(invoice: CreatedInvoice, token: string, flow: string): Promise<void> {
  const payer = { payerType: 'PaymentResourcePayer', paymentToolToken: token, contactInfo: {} };
  const answer = await ask(`${invoice.id}/payments`, {
    externalID: invoice.id,
    flow: { type: flow },
    payer,
  });
  expect(answer, answer.text).toMatchObject({ status: 201, body: { id: '1' } });
}

/** Ending a hold has no external ID. If the first attempt succeeded, the second one is refused. */
async function end(invoice: CreatedInvoice, verb: 'capture' | 'cancel', body: object): Promise<void> {
  const answer = await ask(`${invoice.id}/payments/1/${verb}`, { reason: 'r', ...body });
  if (answer.status !== 202) expect(answer.body.code).toBe('invalidPaymentStatus');
}

const authorised = [
  'before authorise',
  'after take_card_and_security_code',
  'after authorise',
  'after change_payment',
];
const instantly = ['after insert_payment', ...authorised];
/** The job runner claims the job, the bank is sent the operation, and the response is written. */
const swept = (verb: string, write = 'change_payment') => [
  'after claim_due_payment',
  `before ${verb}`,
  `after ${verb}`,
  `after ${write}`,
];

type Flow = {
  readonly card?: string;
  readonly ends: object;
  /** Where the node crashed, in order. */
  readonly moments: readonly string[];
  act(invoice: CreatedInvoice, token: string): Promise<void>;
};

const flows: Record<string, Flow> = {
  'an instant payment': {
    ends: { status: 'captured', amount: 6000 },
    moments: instantly,
    act: (invoice, token) => pay(invoice, token, 'PaymentFlowInstant'),
  },
  'an instant payment that is declined': {
    card: '4000000000000002',
    ends: { status: 'failed' },
    // The networks' counters of the card are written with the payment.
    moments: [...instantly.slice(0, -1), 'after a commit'],
    act: (invoice, token) => pay(invoice, token, 'PaymentFlowInstant'),
  },
  'a hold that is captured in part': {
    ends: { status: 'captured', amount: 2500 },
    moments: [...instantly, 'after change_payment', ...swept('capture')],
    async act(invoice, token) {
      await pay(invoice, token, 'PaymentFlowHold');
      await end(invoice, 'capture', { amount: 2500, currency: 'RUB' });
    },
  },
  'a hold that is cancelled': {
    ends: { status: 'cancelled' },
    moments: [...instantly, 'after change_payment', ...swept('reverse')],
    async act(invoice, token) {
      await pay(invoice, token, 'PaymentFlowHold');
      await end(invoice, 'cancel', {});
    },
  },
  'a hold that expires': {
    ends: { status: 'cancelled' },
    moments: [...instantly, 'after claim_due_payment', 'after change_payment', ...swept('reverse').slice(1)],
    async act(invoice, token) {
      await pay(invoice, token, 'PaymentFlowHold');
      await pass(72 * 60);
    },
  },
  'a payment that is refunded in two parts': {
    ends: { status: 'refunded' },
    moments: [
      ...instantly,
      'after a commit',
      ...swept('refund', 'end_refund'),
      'after a commit',
      ...swept('refund', 'end_refund'),
    ],
    async act(invoice, token) {
      await pay(invoice, token, 'PaymentFlowInstant');
      for (const amount of [1000, 5000]) {
        const externalID = `${invoice.id}.${amount}`;
        const answer = await ask(`${invoice.id}/payments/1/refunds`, { externalID, amount });
        expect(answer, answer.text).toMatchObject({ status: 201, body: { amount } });
      }
    },
  },
  'a payment with 3-D Secure': {
    card: challengedCard,
    ends: { status: 'captured' },
    moments: [...instantly, 'after change_payment', 'after expedite_payment', ...swept('inquiry')],
    async act(invoice, token) {
      await pay(invoice, token, 'PaymentFlowInstant');
      await world.decide(invoice, 'confirm');
      await living().call('GET', `/payer/return/${invoice.id}/1`);
      await calm();
    },
  },
  'a payment with 3-D Secure that the payer abandons': {
    card: challengedCard,
    ends: { status: 'failed' },
    moments: [...instantly, ...swept('inquiry')],
    async act(invoice, token) {
      await pay(invoice, token, 'PaymentFlowHold');
      await pass(10);
    },
  },
  'a payment whose bank approved it but does not respond before the deadline': {
    ends: { status: 'failed', error: { subError: { code: 'processing_deadline_reached' } } },
    moments: [
      ...instantly.slice(0, -1),
      'after postpone_payment',
      ...swept('inquiry'),
      ...swept('reverse').slice(1),
    ],
    async act(invoice, token) {
      world.bank.faults.order({ kind: 'reset-after-booking', rate: 1, operationKind: 'authorise' });
      world.bank.faults.order({ kind: 'error-before-booking', rate: 1, operationKind: 'inquire' });
      await pay(invoice, token, 'PaymentFlowInstant');
      await pass(30);
      world.bank.faults.clear();
    },
  },
};

describe.each(Object.entries(flows))('%s', (_name, flow) => {
  test('survives a crash at every step', async () => {
    const died: string[] = [];
    for (;;) {
      const invoice = await makeInvoice(world.service, world.merchant);
      const { token } = await world.tokenize(flow.card ?? card);
      fuse.set(died.length + 1);
      await flow.act(invoice, token);
      const death = fuse.blownAt();
      expect(await world.payment(invoice), `crashed ${death}`).toMatchObject(flow.ends);
      if (death === undefined) break;
      died.push(death);
      expect(died.length, died.join(', ')).toBeLessThan(maxMoments);
    }
    expect(died).toEqual(flow.moments);
    expect(await notFinal(world.service.database)).toEqual([]);
    expect(await world.differences()).toEqual([]);
  });
});
