// Emailed receipts: the sandbox outbox, and a mail server on a real socket with faults. A failed email never affects the
// payment.
import { createServer, type AddressInfo } from 'node:net';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { instantAt } from '../../../src/clock.ts';
import { openMailServer, type MailServerSettings } from '../../../src/platform/mail/mail-server.ts';
import { waitMs } from '../../../tools/tests/waits.ts';
import { setOneOffReceipts } from '../../../src/merchants/store/parties.ts';
import { receiptProblems } from '../../../src/receipts/domain/receipt.ts';
import { storeSettings } from '../../../src/recurring/store/settings.ts';
import { passesLuhn } from '../../../src/cards/domain/card.ts';
import { invoicesUrl, makeInvoice } from '../../support/worlds/invoices.ts';
import { startMailListener, type MailListener } from '../../support/receivers/mail-listener.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';
import {
  insufficientFunds,
  recurringWorld,
  type Parent,
  type RecurringWorld,
} from '../../support/worlds/recurring.ts';
import type { Merchant } from '../../support/service/test-service.ts';

let world: PaymentWorld;
let recurring: RecurringWorld;
let merchant: Merchant;

async function open(environment: Record<string, string> = {}): Promise<void> {
  world = await startPaymentWorld(environment);
  recurring = recurringWorld(world);
}
/** Runs jobs until none is due. */
async function look(): Promise<void> {
  await world.service.jobs.whenIdle();
  world.service.jobs.wake();
  await world.service.jobs.whenIdle();
}
const outbox = async (query = '', by = merchant): Promise<any[]> =>
  (await world.service.call('GET', `/sandbox/outbox${query}`, { token: by.apiKey })).body;
const mailOf = async ({ invoiceID }: Parent): Promise<any> => {
  const url = `${invoicesUrl}/${invoiceID}/payments/1/receipt`;
  return (await world.service.call('GET', url, { token: merchant.apiKey })).body.mail;
};
const parentOf = () => recurring.parent(undefined, {}, merchant);
async function charged(parent: Parent, amount = 4_200, contactInfo: object = {}): Promise<Parent> {
  const payer = { payerType: 'RecurrentPayer', recurrentParentPayment: parent, contactInfo };
  const made = await recurring.charge(parent, amount, { by: merchant, body: { payer } });
  await world.service.jobs.whenIdle();
  return { invoiceID: made.body.invoiceID, paymentID: '1' };
}
async function wishOneOffReceipts(): Promise<void> {
  const name = { party_id: merchant.partyId, shop_id: 'TEST' };
  await world.service.database.run(setOneOffReceipts, { ...name, one_off_receipts: true });
}
async function oneOff({
  contactInfo = { email: 'payer@example.com' } as object,
  card = '4242424242424242',
  more = {},
} = {}): Promise<Parent> {
  const { id: invoiceID } = await makeInvoice(world.service, merchant);
  const { token: paymentToolToken } = await world.tokenize(card, merchant.apiKey);
  const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo };
  const url = `${invoicesUrl}/${invoiceID}/payments`;
  const made = await world.service.call('POST', url, { token: merchant.apiKey, body: { payer, ...more } });
  expect(made.status).toBe(201);
  await look();
  return { invoiceID, paymentID: '1' };
}

describe('without a mail server', () => {
  beforeAll(() => open());
  afterAll(() => world.close());
  beforeEach(async () => void (merchant = await world.createMerchant()));

  test('the receipts of the first payment and of each charge are kept in the outbox', async () => {
    const parent = await parentOf();
    const charge = await charged(parent);
    await look();
    const emails = await outbox();
    expect(emails.map(({ invoiceID }) => invoiceID).sort()).toEqual(
      [parent.invoiceID, charge.invoiceID].sort(),
    );
    for (const email of emails) {
      expect(email).toMatchObject({ to: 'payer@example.com', status: 'kept', endedAt: expect.any(String) });
      for (const part of [email.text, email.html]) {
        expect(part).toContain('recurring transaction');
        expect(part).toContain('as agreed with the merchant');
        expect(part).toContain('until cancelled');
        expect(part).toContain('/recurring/withdraw/');
      }
    }
    expect(await outbox(`?invoiceID=${charge.invoiceID}`)).toMatchObject([
      { text: expect.stringContaining('42.00') },
    ]);
    expect(await outbox('?limit=1')).toHaveLength(1);
    expect(await outbox('', await world.createMerchant())).toEqual([]);
    expect(await mailOf(charge)).toMatchObject({ to: 'payer@example.com', status: 'kept' });
  });

  test('a failed or non-recurring payment has no receipt', async () => {
    const parent = await parentOf();
    await charged(parent, insufficientFunds);
    await oneOff();
    expect(await outbox()).toMatchObject([{ invoiceID: parent.invoiceID }]);
  });

  test('a one-off payment has a receipt of its own kind if its shop wishes it and the payer gave an address', async () => {
    const name = { partyId: merchant.partyId, shopId: 'TEST' };
    await storeSettings(world.service.database, name, { contact: 'help@shop.example' });
    await wishOneOffReceipts();
    await oneOff({ contactInfo: {} });
    await oneOff({ card: '4000000000000002' });
    const paid = await oneOff();
    const [email, ...more] = await outbox();
    expect(more).toEqual([]);
    expect(email).toMatchObject({ ...paid, to: 'payer@example.com', status: 'kept' });
    expect(email.subject).toBe('Receipt: TEST');
    expect(email.text).toContain('help@shop.example');
    expect(receiptProblems(email, 'en', 'oneOff')).toEqual([]);
    expect(await mailOf(paid)).toMatchObject({ to: 'payer@example.com', status: 'kept' });
  });

  test('a series of a shop that wishes the other kind has its own', async () => {
    await wishOneOffReceipts();
    const parent = await parentOf();
    const charge = await charged(parent);
    await look();
    const emails = await outbox();
    const ids = [parent.invoiceID, charge.invoiceID];
    expect(emails.map(({ invoiceID }) => invoiceID).sort()).toEqual(ids.sort());
    for (const email of emails) expect(receiptProblems(email, 'en', 'recurring')).toEqual([]);
  });

  test('a hold has a one-off receipt once it is captured', async () => {
    await wishOneOffReceipts();
    const held = await oneOff({ more: { flow: { type: 'PaymentFlowHold' } } });
    expect(await outbox()).toEqual([]);
    await world.service.call('POST', `${invoicesUrl}/${held.invoiceID}/payments/1/capture`, {
      token: merchant.apiKey,
      body: { reason: 'shipped' },
    });
    await look();
    expect(await outbox()).toMatchObject([held]);
  });

  test('goes to the address of the charge, else of the consent, and needs one of them', async () => {
    const parent = await parentOf();
    const own = await charged(parent, 100, { email: 'new@example.com' });
    const none = await charged(parent, 200);
    await look();
    expect(await outbox(`?invoiceID=${own.invoiceID}`)).toMatchObject([{ to: 'new@example.com' }]);
    expect(await outbox(`?invoiceID=${none.invoiceID}`)).toMatchObject([{ to: 'payer@example.com' }]);

    const invoice = await makeInvoice(world.service, merchant);
    const { token: paymentToolToken } = await world.tokenize('4242424242424242', merchant.apiKey);
    const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
    await world.service.call('POST', `${invoicesUrl}/${invoice.id}/payments`, {
      token: merchant.apiKey,
      body: { payer, makeRecurrent: true },
    });
    await look();
    expect(await outbox(`?invoiceID=${invoice.id}`)).toEqual([]);
    expect(await mailOf({ invoiceID: invoice.id, paymentID: '1' })).toBeUndefined();
  });

  test.each([
    ['alone', {}],
    ['when the charge is to be a parent', { makeRecurrent: true }],
  ])('goes to the address of the consent if an invoice token starts the charge: %s', async (_, more) => {
    const parent = await parentOf();
    const { id, token } = await recurring.invoice(4_200, {}, merchant);
    const contactInfo = { email: 'stranger@example.com' };
    const payer = { payerType: 'RecurrentPayer', recurrentParentPayment: parent, contactInfo };
    const made = await world.service.call('POST', `${invoicesUrl}/${id}/payments`, {
      token,
      body: { payer, ...more },
    });
    expect(made).toMatchObject({ status: 201, body: { payer: { contactInfo } } });
    await look();
    expect(await outbox(`?invoiceID=${id}`)).toMatchObject([{ to: 'payer@example.com' }]);
    // The holder of the token must not see whose card it was.
    for (const path of ['payments/1', 'events?limit=100']) {
      const { status, text } = await world.service.call('GET', `${invoicesUrl}/${id}/${path}`, { token });
      expect(status).toBe(200);
      expect(text).toContain('stranger@example.com');
      expect(text).not.toMatch(/payer@example\.com|lastDigits|cardNumberMask/);
    }
  });

  test('is not sent if an invoice token starts the charge and the consent has no address', async () => {
    const invoice = await makeInvoice(world.service, merchant);
    const { token: paymentToolToken } = await world.tokenize('4242424242424242', merchant.apiKey);
    const present = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
    await world.service.call('POST', `${invoicesUrl}/${invoice.id}/payments`, {
      token: merchant.apiKey,
      body: { payer: present, makeRecurrent: true },
    });
    await look();
    const { id, token } = await recurring.invoice(4_200, {}, merchant);
    const payer = {
      payerType: 'RecurrentPayer',
      recurrentParentPayment: { invoiceID: invoice.id, paymentID: '1' },
      contactInfo: { email: 'stranger@example.com' },
    };
    const url = `${invoicesUrl}/${id}/payments`;
    expect((await world.service.call('POST', url, { token, body: { payer } })).status).toBe(201);
    await look();
    expect((await world.service.call('GET', `${url}/1`, { token })).body.status).toBe('captured');
    expect(await outbox(`?invoiceID=${id}`)).toEqual([]);
  });

  test('uses the shop’s settings if the payer’s language is unknown, whichever node takes the charge', async () => {
    const name = { partyId: merchant.partyId, shopId: 'TEST' };
    await storeSettings(world.service.database, name, { language: 'ru', contact: 'help@shop.example' });
    const parent = await parentOf();
    // One charge by the node that started it, and one by a node that continues after a crash.
    const charge = await charged(parent);
    const jobs = vi.spyOn(world.service.jobs, 'run').mockImplementation(() => {});
    const left = await charged(parent);
    jobs.mockRestore();
    world.service.clock.advance(61_000);
    await look();
    const emails = await outbox();
    expect(emails.map(({ invoiceID }) => invoiceID).sort()).toEqual(
      [parent, charge, left].map(({ invoiceID }) => invoiceID).sort(),
    );
    for (const { text } of emails) {
      expect(text).toContain('регулярный платёж');
      expect(text).toContain('help@shop.example');
    }
  });
});

describe('with a mail server', () => {
  let server: MailListener;
  beforeAll(async () => {
    server = await startMailListener();
    await open({
      SMTP_URL: `smtp://127.0.0.1:${server.port}`,
      SMTP_FROM: 'Example <receipts@shop.example>',
      SMTP_TIMEOUT_SECONDS: String(waitMs / 1_000),
    });
  });
  afterAll(async () => {
    await world.close();
    await server.close();
  });
  beforeEach(async () => void (merchant = await world.createMerchant()));
  afterEach(() => {
    server.behave({});
    server.emails.length = 0;
  });

  test('a receipt is sent once, complete, with only the last digits of the card', async () => {
    const parent = await parentOf();
    await look();
    await look();
    expect(server.emails).toHaveLength(1);
    const [email] = server.emails;
    expect(email).toMatchObject({ from: 'receipts@shop.example', to: ['payer@example.com'] });
    expect(email?.headers).toMatchObject({
      from: 'Example <receipts@shop.example>',
      to: 'payer@example.com',
      subject: 'Receipt: recurring transaction, TEST',
      'message-id': `<receipt.${parent.invoiceID}.1@shop.example>`,
      'auto-submitted': 'auto-generated',
      date: new Date(world.service.clock.now()).toUTCString().replace('GMT', '+0000'),
    });
    const [kept] = await outbox();
    expect(kept).toMatchObject({ status: 'sent' });
    expect(email?.parts['text/plain']).toBe(kept.text);
    expect(email?.parts['text/html']).toBe(kept.html);
    const numbers = (JSON.stringify(email).match(/\d{13,19}/g) ?? []).filter(passesLuhn);
    expect(numbers).toEqual([]);
    expect(await mailOf(parent)).toMatchObject({ status: 'sent' });
  });

  test('a one-off receipt is sent once', async () => {
    await wishOneOffReceipts();
    const paid = await oneOff();
    world.service.jobs.run('payer_email', [paid.invoiceID, paid.paymentID], world.service.clock.now());
    await look();
    expect(server.emails.map(({ headers }) => headers.subject)).toEqual(['Receipt: TEST']);
    expect(await mailOf(paid)).toMatchObject({ status: 'sent' });
  });

  test('is sent again with the same message ID if the server’s response was lost', async () => {
    server.behave({ hangsUpAfterEmail: true });
    const parent = await parentOf();
    await look();
    expect(await mailOf(parent)).toMatchObject({ status: 'waiting' });
    server.behave({});
    world.service.clock.advance(1_000);
    await look();
    expect(await mailOf(parent)).toMatchObject({ status: 'sent' });
    const [lost, again] = server.emails;
    expect(server.emails).toHaveLength(2);
    expect(again?.headers['message-id']).toBe(lost?.headers['message-id']);
    expect(again?.headers.date).toBe(lost?.headers.date);
    expect(again?.parts).toEqual(lost?.parts);
  });

  test('is not retried for an address that does not exist', async () => {
    server.behave({ toRecipient: '550 5.1.1 <payer@example.com>: no such mailbox' });
    const parent = await parentOf();
    await look();
    expect(await mailOf(parent)).toMatchObject({ status: 'refused' });
    expect(await outbox()).toMatchObject([{ refusal: 'EENVELOPE 550 RCPT TO' }]);
    expect((await world.service.jobs.stuckJobs()).filter(({ kind }) => kind === 'payer_email')).toEqual([]);
    expect(await recurring.charged(parent, 100, { by: merchant })).toBe('captured');
  });

  test.each([
    ['denies relaying', { toRecipient: '550 5.7.1 <payer@example.com>: relay access denied' }],
    ['returns a temporary error', { toRecipient: '451 4.7.1 <payer@example.com>: later' }],
  ])(
    'is stuck after fifteen attempts at a server that %s, and is sent when the operator retries',
    async (_, mood) => {
      server.behave(mood);
      const parent = await parentOf();
      for (let tries = 0; tries < 15; tries++) {
        await look();
        world.service.clock.advance(600_000);
      }
      const emails = async () =>
        (await world.service.jobs.stuckJobs()).filter(
          ({ kind, partyId }) => kind === 'payer_email' && partyId === merchant.partyId,
        );
      expect(await mailOf(parent)).toMatchObject({ status: 'waiting' });
      const logged = world.service.logged.filter((line) => line.includes('did not accept the email'));
      expect(logged.length).toBeGreaterThan(0);
      for (const line of logged) expect(line).not.toContain('payer@example.com');
      server.behave({});

      const [stuck] = await emails();
      expect(stuck).toMatchObject({ id: `${parent.invoiceID}/1`, partyId: merchant.partyId });
      expect(stuck?.reason).toMatch(/^EmailNotAccepted: /);
      expect(stuck?.reason).not.toContain('payer@example.com');
      expect(await world.service.jobs.retry('payer_email', `${parent.invoiceID}/1`)).toBe(true);
      await look();
      expect(await mailOf(parent)).toMatchObject({ status: 'sent' });
      expect(await emails()).toEqual([]);
      expect(server.emails).toHaveLength(1);
    },
  );

  test('does not block the payment, and is retried after a silent server', async () => {
    // The time limit ends as soon as the server has the connection.
    const limit = new AbortController();
    const limits = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(limit.signal);
    onTestFinished(() => limits.mockRestore());
    server.behave({ saysNothing: () => limit.abort() });
    const parent = await parentOf();
    expect(await recurring.charged(parent, 100, { by: merchant })).toBe('captured');
    await look();
    expect(await mailOf(parent)).toMatchObject({ status: 'waiting' });
    limits.mockRestore();
    server.behave({});
    world.service.clock.advance(1_000);
    await look();
    expect(await mailOf(parent)).toMatchObject({ status: 'sent' });
  });
});

describe('the connection to the mail server', () => {
  const email = {
    id: 'receipt.1.1',
    at: instantAt(0),
    to: 'payer@example.com',
    subject: 'a',
    text: 'b',
    html: 'c',
  };
  const settings: Omit<MailServerSettings, 'port'> = {
    host: '127.0.0.1',
    tls: 'ifOffered',
    from: { address: 'receipts@shop.example' },
    credentials: { user: 'shop', password: 'a secret word' },
    timeoutMs: waitMs,
  };
  let server: MailListener;
  beforeEach(
    async () =>
      void (server = await startMailListener({ wants: { user: 'shop', password: 'a secret word' } })),
  );
  afterEach(() => server.close());

  test('requires the password', async () => {
    const { port } = server;
    expect(await openMailServer({ ...settings, port }).send(email)).toEqual({ taken: true });
    const credentials = { user: 'shop', password: 'another secret word' };
    const failure = await openMailServer({ ...settings, port, credentials })
      .send(email)
      .catch((error: unknown) => error);
    expect(String(failure)).toContain('EAUTH 535');
    expect(String(failure)).not.toContain('secret word');
  });

  test('sends neither password nor email unencrypted if TLS is demanded', async () => {
    const { port } = server;
    const demanding = openMailServer({ ...settings, port, tls: 'demanded' });
    await expect(demanding.send(email)).rejects.toThrow('ETLS');
    expect(server.said.join()).not.toContain('AUTH');
    expect(server.emails).toEqual([]);
  });

  test('times out if the server never finishes', async () => {
    const dripping = createServer((socket) => {
      socket.write('220 mail.example\r\n');
      const timer = setInterval(() => socket.write('250-SIZE\r\n'), 50);
      socket.on('close', () => clearInterval(timer)).on('error', () => socket.destroy());
    });
    await new Promise<void>((resolve) => dripping.listen(0, '127.0.0.1', resolve));
    const { port } = dripping.address() as AddressInfo;
    const began = performance.now();
    await expect(openMailServer({ ...settings, port, timeoutMs: 300 }).send(email)).rejects.toThrow(
      'not accept',
    );
    expect(performance.now() - began).toBeLessThan(30_000);
    await new Promise((resolve) => dripping.close(resolve));
  });
});
