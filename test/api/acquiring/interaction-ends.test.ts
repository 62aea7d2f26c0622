// The end of a challenge as clients see it. A shop that polls sends its payer to the bank while a challenge is the last event.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';

const challenging = '4012888888881881';
const minute = 60_000;

let world: CustomerWorld;
beforeAll(async () => {
  world = await startCustomerWorld();
});
afterAll(() => world.close());

type Challenged = {
  /** The changes of each event since the challenge, as their types and statuses. */
  readonly since: () => Promise<string[][]>;
  readonly decide: (decision: 'confirm' | 'refuse') => Promise<void>;
  /** The path to which the payer's browser returns, without their tokens. */
  readonly path: string;
  readonly operationId: string;
  readonly status: () => Promise<string>;
};

async function feed(path: string): Promise<any[]> {
  const { body } = await world.service.call('GET', `/v2/processing/${path}/events?limit=1000`, {
    token: world.merchant.apiKey,
  });
  return body;
}

async function sinceChallenge(path: string): Promise<string[][]> {
  const events = (await feed(path)).map(({ changes }) =>
    changes.map(({ changeType, status }: any) => [changeType, status].filter(Boolean).join(' ')),
  );
  return events.slice(events.findIndex(([first]) => first.endsWith('InteractionRequested')) + 1);
}

async function payment(): Promise<Challenged> {
  const invoice = await world.paid(challenging);
  return {
    since: () => sinceChallenge(`invoices/${invoice.id}`),
    decide: (decision) => world.decide(invoice, decision),
    path: `/payer/return/${invoice.id}/1`,
    operationId: `${invoice.id}.1.a`,
    status: async () => (await world.payment(invoice)).status,
  };
}

async function binding(): Promise<Challenged> {
  const made = await world.bound(await world.createCustomer(), challenging);
  const [asked] = (await world.customerChanges(made)).filter(({ userInteraction }) => userInteraction);
  return {
    since: () => sinceChallenge(`customers/${made.id}`),
    decide: (decision) => world.decideAtIssuer(asked.userInteraction.request, decision),
    path: `/payer/return/customers/${made.id}/${made.bindingId}`,
    operationId: `${made.id}.${made.bindingId}.charge`,
    status: async () => (await world.binding(made)).status,
  };
}

describe.each([
  {
    what: 'payment',
    make: payment,
    completed: ['PaymentInteractionCompleted'],
    confirmed: [
      ['PaymentStatusChanged processed'],
      ['PaymentStatusChanged captured', 'InvoiceStatusChanged paid'],
    ],
    failed: ['PaymentStatusChanged failed'],
    good: 'captured',
  },
  {
    what: 'binding',
    make: binding,
    completed: ['CustomerBindingInteractionCompleted'],
    confirmed: [['CustomerBindingStatusChanged succeeded']],
    failed: ['CustomerBindingStatusChanged failed'],
    good: 'succeeded',
  },
])('the challenge of a $what', ({ make, completed, confirmed, failed, good }) => {
  test('ends with the return of the payer, who waits for the outcome', async () => {
    const challenged = await make();
    await challenged.decide('confirm');
    const { status } = await world.service.call('GET', challenged.path);
    expect([status, await challenged.status()]).toEqual([200, good]);
    expect(await challenged.since()).toEqual([completed, ...confirmed]);
  });

  test('ends with a refusal', async () => {
    const challenged = await make();
    await challenged.decide('refuse');
    await world.service.call('GET', challenged.path);
    expect(await challenged.status()).toBe('failed');
    expect(await challenged.since()).toEqual([completed, failed]);
  });

  test('ends when the bank decides, although no payer has returned', async () => {
    const challenged = await make();
    await challenged.decide('confirm');
    await world.callback(challenged.operationId);
    expect(await challenged.since()).toEqual([completed, ...confirmed]);
  });

  test('ends once, before the bank has decided, and the payer continues without it', async () => {
    const challenged = await make();
    for (let times = 0; times < 2; times++) {
      expect((await world.service.call('POST', challenged.path)).status).toBe(200);
      expect(await challenged.since()).toEqual([completed]);
    }
    expect(await challenged.status()).toBe('pending');
    await challenged.decide('confirm');
    await world.service.call('GET', challenged.path);
    expect(await challenged.since()).toEqual([completed, ...confirmed]);
  });

  test('ends when the time for it is over', async () => {
    const challenged = await make();
    await world.later(10 * minute);
    expect(await challenged.since()).toEqual([completed, failed]);
  });
});
