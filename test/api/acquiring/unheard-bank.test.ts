// A node asks a bank what it can do, and the bank says nothing: no request and no transaction waits for it.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Exchange, OpenLink } from '../../../src/acquiring/adapters/http/link.ts';
import type { BankOperation } from '../../../src/acquiring/domain/bank-port.ts';
import type { Currency } from '../../../src/money.ts';
import { buildService } from '../../../src/app/compose.ts';
import { openDatabase, type DatabasePool } from '../../../src/platform/database/database.ts';
import { openSender } from '../../../src/webhooks/delivery/http-sender.ts';
import { createTestDatabase } from '../../support/database/test-database.ts';
import { startTestService, type Merchant, type TestService } from '../../support/service/test-service.ts';
import { cardBody, paymentResourcesUrl } from '../../support/worlds/cards.ts';
import { invoicesUrl, makeInvoice } from '../../support/worlds/invoices.ts';

const unreachable: Exchange = { kind: 'nothing', written: false, why: 'ECONNREFUSED' };
const otherSecret = 'another secret of the tests that is long enough';
/** With them, one request at a time has a transaction. */
const fewestConnections = 3;

let service: TestService;
let merchant: Merchant;
let small: DatabasePool;
/** The questions about abilities that are not answered yet. */
let unanswered: ((exchange: Exchange) => void)[] = [];

const openLink: OpenLink = () => ({
  ask: ({ target }) =>
    target === '/abilities'
      ? new Promise((answer) => void unanswered.push(answer))
      : Promise.resolve(unreachable),
  stop: () => Promise.resolve(),
});

beforeAll(async () => {
  const made = await createTestDatabase();
  small = openDatabase({ connection: { url: made.url }, maxConnections: fewestConnections });
  const drop = () => small.end().then(made.drop);
  service = await startTestService(
    {},
    undefined,
    { ...made, database: small, drop },
    { openLink, openSender },
  );
});
afterAll(() => service.close());
/** Ends what waits, so that a request that waited for the bank fails alone. */
afterEach(() => unanswered.forEach((answer) => answer(unreachable)));
beforeEach(async () => {
  unanswered = [];
  merchant = await service.createMerchant();
  const { partyId } = merchant;
  const terminal = { partyId, merchantId: 'M', descriptor: 'SHOP', bankId: partyId, priority: 1 };
  const secret = 'a secret of the tests that is long enough';
  await service.banks.putBank({ id: partyId, url: 'https://bank.example', secret });
  await service.banks.putTerminal({ ...terminal, id: 'T1', shopId: 'TEST' });
  await service.banks.putPayoutTerminal({ ...terminal, id: 'P1' });
});

async function pay(key: string): Promise<number> {
  const token = merchant.apiKey;
  const invoice = await makeInvoice(service, merchant);
  const card = await service.call('POST', paymentResourcesUrl, { token, body: cardBody() });
  const { paymentToolToken } = card.body;
  const { status } = await service.call('POST', `${invoicesUrl}/${invoice.id}/payments`, {
    token,
    headers: { 'idempotency-key': key },
    body: { payer: { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} } },
  });
  return status;
}

test('payments under Idempotency-Keys are answered while the bank is asked', async () => {
  expect(await Promise.all([pay('first'), pay('second')])).toEqual([201, 201]);
  expect(unanswered).toHaveLength(1);
});

const wanted = { currency: 'RUB', isHold: false, savesCard: true, authentication: 'hosted' } as const;
const shopOf = ({ partyId }: Merchant) => ({ partyId, id: 'TEST' });
const refund = (): BankOperation => ({
  kind: 'refund',
  operationId: 'a.1.f',
  terminal: { id: 'T1', bankId: merchant.partyId, merchantId: 'M', descriptor: 'SHOP' },
  amount: { minor: 1n, currency: 'RUB' as Currency },
  originalOperationId: 'a.1.a',
});

describe('in a transaction, while the bank is silent,', () => {
  test.each<[string, () => Promise<{ readonly ok: boolean }>]>([
    ['a payment', () => service.banks.terminalFor(shopOf(merchant), { ...wanted, by: 'payer' })],
    [
      'a charge',
      () =>
        service.banks.terminalOfCharge(shopOf(merchant), { ...wanted, by: 'merchant' }, service.clock.now()),
    ],
    ['a payout', () => service.banks.payoutRouteOf(merchant.partyId, { currency: 'RUB', minor: 1n })],
    ['a refund', () => service.banks.takes(refund())],
  ])('%s is taken at once', async (_what, decide) => {
    expect(await small.transaction(decide)).toMatchObject({ ok: true });
    expect(unanswered).toHaveLength(1);
  });
});

test('what the bank says later counts from then on', async () => {
  const decide = () => service.banks.payoutRouteOf(merchant.partyId, { currency: 'RUB', minor: 1n });
  expect(await decide()).toMatchObject({ ok: true });
  const heard = service.banks.bankNamed(merchant.partyId).then((bank) => bank?.abilities());
  const body = Buffer.from(JSON.stringify({ kinds: ['authorise'] }));
  unanswered[0]!({ kind: 'answer', status: 200, headers: {}, body });
  expect(await heard).toMatchObject({ kinds: ['authorise'] });
  expect(await decide()).toMatchObject({ ok: false, refusal: { code: 'noPayoutTerminal' } });
});

describe('what a bank has said', () => {
  const bankOn = ({ banks }: Pick<TestService, 'banks'>) => banks.bankNamed(merchant.partyId);
  const mayPayOut = ({ banks }: Pick<TestService, 'banks'>) =>
    banks.payoutRouteOf(merchant.partyId, { currency: 'RUB', minor: 1n }).then(({ ok }) => ok);

  async function says(abilities: object): Promise<void> {
    const heard = bankOn(service).then((bank) => bank?.abilities());
    await expect.poll(() => unanswered.length).toBe(1);
    const body = Buffer.from(JSON.stringify(abilities));
    unanswered[0]!({ kind: 'answer', status: 200, headers: {}, body });
    await heard;
    const stored = async () => (await service.banks.settingsOf(merchant.partyId))?.abilities;
    await expect.poll(stored).toBe(body.toString());
  }

  test('counts on a node that starts while the bank is silent', async () => {
    await says({ kinds: ['authorise'] });
    const other = buildService(service);
    try {
      expect(await mayPayOut(other)).toBe(false);
      expect(unanswered).toHaveLength(2);
    } finally {
      await other.stop();
    }
  });

  test('counts no more once a program of before has given the bank another address', async () => {
    await says({ kinds: ['authorise'] });
    const { partyId: id } = merchant;
    const query = (text: string, values: unknown[]) =>
      small.withClient((client) => client.query(text, values));
    const { rows } = await query('select abilities from bank where bank_id = $1', [id]);
    await service.banks.putBank({ id, url: 'https://other.example', secret: otherSecret });
    // It does not know the column, and leaves it as it is.
    await query('update bank set abilities = $2 where bank_id = $1', [id, rows[0].abilities]);
    const other = buildService(service);
    try {
      expect(await mayPayOut(other)).toBe(true);
    } finally {
      await other.stop();
    }
  });

  test('counts no more once the bank has another address, which is asked at once', async () => {
    await says({ kinds: ['authorise'] });
    const url = 'https://other.example';
    await service.banks.putBank({ id: merchant.partyId, url, secret: otherSecret });
    await bankOn(service);
    expect(unanswered).toHaveLength(2);
    expect(await mayPayOut(service)).toBe(true);
  });
});
