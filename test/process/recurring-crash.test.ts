// kill -9 during recurring charges: afterwards every charge has ended once in its series, with the outcome of its payment.
// A series is failing if and only if its last charge failed.
import { onTestFinished, expect, test } from 'vitest';
import { often } from '../support/service/campaign.ts';
import { cardBody } from '../support/worlds/cards.ts';
import { insufficientFunds } from '../support/worlds/recurring.ts';
import { eventually, request, sandboxKey, startServer } from '../support/processes/program.ts';
import { temporaryFolder } from '../support/database/test-cluster.ts';

const clients = 6;
const kills = 2;
const chargesBeforeKill = often(24, 40);
const cards = [
  '4242424242424242',
  '5555555555554444',
  '2201382000000013',
  '4300000000000777',
  '2222990905257051',
];

type Name = { readonly invoiceID: string; readonly paymentID: string };

test('a service killed during recurring charges has correct counters afterwards', async () => {
  const { folder, remove } = temporaryFolder();
  onTestFinished(remove);
  const environment = { MANDATE_DATA: folder, LOG_LEVEL: 'info', REQUESTS_PER_SECOND: '0' };
  let server = await startServer(environment);
  const token = sandboxKey(environment);
  const invoices = () => `${server.url}/v2/processing/invoices`;
  const get = async (path: string) => (await request('GET', `${invoices()}/${path}`, { token })).body;
  const post = (url: string, body: object) => request('POST', url, { token, body });

  async function invoiceOf(amount: number): Promise<string> {
    const order = { shopID: 'TEST', dueDate: '2040-01-01T00:00:00Z', amount, currency: 'RUB', product: 'x' };
    return (await post(invoices(), order)).body.invoice.id;
  }

  async function payment(amount: number, payer: object): Promise<Name | undefined> {
    const invoiceID = await invoiceOf(amount);
    const made = await post(`${invoices()}/${invoiceID}/payments`, {
      payer: { contactInfo: {}, ...payer },
      makeRecurrent: true,
    });
    return made.status === 201 ? { invoiceID, paymentID: '1' } : undefined;
  }

  async function parent(): Promise<Name> {
    const cardNumber = cards[parents.length % cards.length];
    const card = await post(`${server.url}/v2/processing/payment-resources`, cardBody({ cardNumber }));
    const payer = { payerType: 'PaymentResourcePayer', paymentToolToken: card.body.paymentToolToken };
    const name = await payment(100, payer);
    if (!name) throw new Error('no parent payment was created');
    const url = `${name.invoiceID}/payments/1`;
    await eventually(async () => (await get(url)).status === 'captured' || undefined, 60_000, 'a parent');
    return name;
  }

  const parents: Name[] = [];
  for (let round = 0; round < kills; round++) {
    let charged = 0;
    let running = true;
    const client = async () => {
      while (running) {
        const mine = await parent();
        parents.push(mine);
        // A card may have nine declines a day, so failures are few and cards are many.
        for (const amount of [100, 200, 300, 400, 500, insufficientFunds]) {
          const payer = { payerType: 'RecurrentPayer', recurrentParentPayment: mine };
          if (running && (await payment(amount, payer))) charged += 1;
        }
      }
    };
    const all = Array.from({ length: clients }, () => client().catch(() => undefined));
    await eventually(async () => charged >= chargesBeforeKill || undefined, 120_000, 'enough charges');
    await server.stop('SIGKILL');
    running = false;
    await Promise.all(all);
    server = await startServer(environment);
  }

  // Jobs in progress are resumed when the lease of the killed node expires.
  const { now } = (await request('GET', `${server.url}/sandbox/clock`, { token })).body;
  const later = new Date(Date.parse(now) + 120_000).toISOString();
  expect((await post(`${server.url}/sandbox/clock`, { now: later })).status).toBe(200);

  let charges = 0;
  for (const name of parents) {
    const about = `${name.invoiceID}/payments/1/recurring`;
    const events = await get(`${about}/events?limit=1000`);
    const changes = events.flatMap((event: any) => event.changes);
    const of = (type: string) =>
      changes
        .filter(({ changeType }: any) => changeType === type)
        .map(({ payment: { invoiceID } }: any) => invoiceID)
        .sort();
    const started = of('RecurringChargeStarted');
    const status: Record<string, string> = {};
    for (const invoiceID of started) status[invoiceID] = (await get(`${invoiceID}/payments/1`)).status;
    const having = (wanted: string) => started.filter((invoiceID: string) => status[invoiceID] === wanted);
    expect([...having('captured'), ...having('failed')].sort(), 'nothing is left pending').toEqual(started);
    expect(of('RecurringChargeSucceeded')).toEqual(having('captured'));
    expect(of('RecurringChargeFailed')).toEqual(having('failed'));
    const series = await get(about);
    expect(series.chargesMade).toBe(having('captured').length);
    const endings = changes.filter(({ changeType }: any) => /Succeeded|Failed/.test(changeType));
    const isFailing = endings.at(-1)?.changeType === 'RecurringChargeFailed';
    expect(series.failingSince !== undefined).toBe(isFailing);
    charges += started.length;
  }
  expect(charges).toBeGreaterThanOrEqual(chargesBeforeKill * kills);
  expect(await server.stop()).toBe(0);
}, 400_000);
