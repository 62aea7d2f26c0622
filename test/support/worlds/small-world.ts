// One of each kind of object in its final state, with the clients' responses, the deliveries and the bank's report. For tests of what
// reads all of that.
import type { Acknowledged, BankEntry, CheckWorld, Delivery } from '../../../simulation/checks/index.ts';
import { epochMsOf, instantAt } from '../../../src/clock.ts';
import { readBook } from '../checks/ledger-check.ts';
import { cardBody } from './cards.ts';
import { startPayoutWorld, type PayoutWorld } from './payout-world.ts';
import { invoicesUrl } from './invoices.ts';
import { consentLinkWorld } from './consent-links.ts';
import type { Paying } from './payment-world.ts';
import { startReceiver } from '../receivers/receiver.ts';
import { recurringWorld } from './recurring.ts';
import type { TestDatabase } from '../database/test-database.ts';
import type { Answer, TestService } from '../service/test-service.ts';

const good = '4242424242424242';
const hold = { flow: { type: 'PaymentFlowHold' } };
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

export type SmallWorld = PayoutWorld & {
  readonly acknowledged: Acknowledged[];
  readonly received: Delivery[];
  readonly entries: readonly BankEntry[];
  /** These payments: sold and partly refunded, partly captured, released, and a recurring charge. */
  readonly sold: Paying;
  readonly shipped: Paying;
  readonly released: Paying;
  readonly recurring: string;
  /** The series of the recurring charges, which has new terms by a consent link, and the customer that carried its check. */
  readonly renewed: { readonly series: string; readonly customer: string };
  readonly customer: string;
  readonly otherWallet: string;
};

export async function startSmallWorld(database?: TestDatabase): Promise<SmallWorld> {
  const world = await startPayoutWorld({}, database);
  const { service, merchant } = world;
  const token = merchant.apiKey;
  const acknowledged = hearing(service);
  const receiver = await startReceiver();

  const made = async (path: string, body: unknown, by = token): Promise<any> => {
    const answer = await service.call('POST', path, { token: by, body });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`);
    await service.jobs.whenIdle();
    return answer.body;
  };
  const subscribe = (topic: string, eventTypes: string[]) =>
    made('/v2/processing/webhooks', { scope: { topic, shopID: 'TEST', eventTypes }, url: receiver.url });
  const webhooks = [
    await subscribe('InvoicesTopic', [
      'InvoicePaid',
      'PaymentCaptured',
      'PaymentCancelled',
      'PaymentFailed',
      'PaymentRefundSucceeded',
    ]),
    await subscribe('CustomersTopic', ['CustomerCreated', 'CustomerReady', 'CustomerBindingSucceeded']),
  ];

  const later = async (ms: number) => {
    service.clock.advance(ms);
    service.jobs.wake();
    await service.jobs.whenIdle();
  };
  // What happens within a minute of a webhook's creation may count as older than it.
  await later(2 * minuteMs);
  const post = (paying: Paying, what: string, body: object) =>
    made(`${invoicesUrl}/${paying.id}/payments/1/${what}`, { reason: 'r', ...body });
  const sold = await world.paid(good);
  await post(sold, 'refunds', { amount: 1_000 });
  await made(`${invoicesUrl}/${sold.id}/fulfill`, { reason: 'delivered' });
  const shipped = await world.paid(good, hold);
  await post(shipped, 'capture', { amount: 2_500, currency: 'RUB' });
  const released = await world.paid(good, hold);
  await post(released, 'cancel', {});
  await world.paid('4000000000000002');
  for (const { id } of [sold, shipped, released]) {
    await service.call('GET', `${invoicesUrl}/${id}`, { token });
    await service.call('GET', `${invoicesUrl}/${id}/payments/1`, { token });
  }

  const { parent, charged } = recurringWorld(world);
  const first = await parent();
  await charged(first);
  await later(hourMs);
  await charged(first);
  const recurring = first.invoiceID;
  const links = consentLinkWorld(world);
  const link = await links.made(`${recurring}.1`);
  await links.agree(link);
  const { binding: renewedBy } = await links.read(link);

  const { customer, customerAccessToken } = await made('/v2/processing/customers', {
    shopID: 'TEST',
    contactInfo: { email: 'payer@example.com' },
    metadata: {},
  });
  const card = await made('/v2/processing/payment-resources', cardBody(), customerAccessToken.payload);
  const { paymentToolToken, paymentSession } = card;
  await made(`/v2/processing/customers/${customer.id}/bindings`, {
    paymentResource: { paymentToolToken, paymentSession },
  });

  const { id: destination } = await world.destinationFor(good);
  await world.withdraw(7_000, destination);
  await world.withdraw(999_999_999, destination);
  // As every second: the receipt of the last charge is due.
  service.jobs.wake();
  await service.jobs.whenIdle();
  const wallet = { name: 'Other', identity: world.identity, currency: 'RUB' };
  const { id: otherWallet } = await made('/wallet/v0/wallets', wallet);
  const body = { amount: 300, currency: 'RUB' };
  await made('/wallet/v0/w2w/transfers', { sender: world.wallet, receiver: otherWallet, body });
  await made('/wallet/v0/test/deposits', { wallet: otherWallet, body });

  // The last receipts.
  await later(0);
  await service.webhooks.whenIdle();
  const received = receiver.deliveries.map(({ body: told }) => ({
    webhookID: webhooks[told.topic === 'InvoicesTopic' ? 0 : 1].id as string,
    eventID: told.eventID as number,
    body: told as unknown,
  }));
  const entries = await readBook(world.bank.url, world.bankSecret, epochMsOf(service.clock.now()));
  return {
    ...world,
    acknowledged,
    received,
    entries,
    sold,
    shipped,
    released,
    recurring,
    renewed: { series: `${recurring}.1`, customer: renewedBy.customerID },
    customer: customer.id,
    otherWallet,
    async close() {
      await receiver.stop();
      await world.close();
    },
  };
}

/** Records every response from now on. */
function hearing(service: TestService): Acknowledged[] {
  const heard: Acknowledged[] = [];
  const { call } = service;
  const hear: TestService['call'] = async (method = 'GET', url, options) => {
    const answer: Answer = await call(method, url, options);
    const [path = ''] = url.split('?');
    heard.push({ method, path, status: answer.status, body: answer.body, at: instantAt(heard.length) });
    return answer;
  };
  Object.assign(service, { call: hear });
  return heard;
}

/** The world in the form of the checks; `query` runs their statements. */
export function checkWorldOf(
  query: CheckWorld['query'],
  {
    acknowledged,
    received,
    entries,
    asked = [],
    left = [],
    unwritten = () => [],
    silences = () => [],
    shownAsWaiting = () => Promise.resolve([]),
  }: Pick<SmallWorld, 'acknowledged' | 'received' | 'entries'> &
    Pick<CheckWorld, 'asked' | 'left' | 'unwritten' | 'silences' | 'shownAsWaiting'>,
): CheckWorld {
  const heard = { acknowledged, received, asked, left, unwritten, silences, shownAsWaiting };
  return { query, ...heard, bankBook: () => Promise.resolve(entries) };
}
