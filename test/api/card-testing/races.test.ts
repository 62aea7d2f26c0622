// Card testers who send everything at once, or from behind one proxy: what is not decided yet counts too, on all nodes.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startNode, type Node } from '../../support/service/nodes.ts';
import type { Answer } from '../../support/service/test-service.ts';
import { cardBody, paymentResourcesUrl } from '../../support/worlds/cards.ts';
import { invoicesUrl, makeInvoice } from '../../support/worlds/invoices.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';

const limits = { CARD_TESTING_LIMITS: 'on' };
const anotherBank = {
  ...limits,
  TRUSTED_PROXIES: '127.0.0.1',
  BANK_URL: 'https://bank.example',
  BANK_SECRET: 'a secret that no bank knows at all',
  SANDBOX_REAL_CARDS: 'on',
};
const wrongCode = '4003830171874018';
const hourMs = 3_600_000;

let world: PaymentWorld;
let second: Node;
beforeAll(async () => {
  world = await startPaymentWorld(anotherBank);
  second = await startNode(world.service);
});
afterAll(async () => {
  await second.stop();
  await world.close();
});

/** A number of no issuer. */
function cardOf(nth: number): string {
  const start = `4571${String(nth).padStart(11, '0')}`;
  const sum = start.split('').reduce((total, digit, index) => {
    const weighted = index % 2 === 0 ? Number(digit) * 2 : Number(digit);
    return total + (weighted > 9 ? weighted - 9 : weighted);
  }, 0);
  return start + String((10 - (sum % 10)) % 10);
}

type Stored = { readonly pay: (node: Pick<Node, 'call'>) => Promise<Answer> };

/** A payer has entered a card, and is about to pay. */
async function enter(
  { service, merchant }: PaymentWorld,
  cardNumber: string,
  headers: Record<string, string>,
  code = '123',
): Promise<Stored> {
  const { id, token } = await makeInvoice(service, merchant);
  const body = cardBody({ cardNumber, cvv: code });
  const stored = await service.call('POST', paymentResourcesUrl, { token, body, headers });
  expect([cardNumber, stored.status]).toEqual([cardNumber, 201]);
  const { paymentToolToken, paymentSession } = stored.body;
  const payer = {
    payerType: 'PaymentResourcePayer',
    paymentToolToken,
    paymentSession,
    contactInfo: { email: 'payer@example.com' },
  };
  const payment = { flow: { type: 'PaymentFlowInstant' }, payer };
  const url = `${invoicesUrl}/${id}/payments`;
  return { pay: (node) => node.call('POST', url, { token, body: payment, headers }) };
}

async function race(entered: readonly Stored[]): Promise<Answer[]> {
  const answers = await Promise.all(
    entered.map(({ pay }, index) => pay(index % 2 === 0 ? world.service : second)),
  );
  await world.service.jobs.whenIdle();
  await second.jobs.whenIdle();
  return answers;
}
const sentOf = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 201);
const rows = async () => {
  const text = `select cardinality(open) as open, cardinality(declined) as declined from payer_attempt order by subject`;
  const read = await world.service.database.withClient((client) =>
    client.query<{ open: number; declined: number }>(text),
  );
  return read.rows;
};

describe('of fifty at once on two nodes', () => {
  test('with cards of one address, ten are sent, and the rest learn when to try again', async () => {
    const from = { 'x-forwarded-for': '192.0.2.1' };
    const entered: Stored[] = [];
    for (let nth = 0; nth < 50; nth++) entered.push(await enter(world, cardOf(nth), from));
    const answers = await race(entered);
    expect(sentOf(answers)).toHaveLength(10);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(new Set(refused.map(({ body }) => body.code))).toEqual(new Set(['tooManyAttempts']));
    for (const { headers } of refused) expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    const [address, ...cards] = await rows();
    expect([address, cards.length]).toEqual([{ open: 0, declined: 10 }, 10]);
    const late = await enter(world, cardOf(50), from);
    expect((await late.pay(world.service)).status).toBe(429);
    world.service.clock.advance(hourMs + 1_000);
    expect((await late.pay(world.service)).status).not.toBe(429);
  });

  test('with codes of one card from one address, three are sent, and the address keeps nothing open', async () => {
    const from = { 'x-forwarded-for': '192.0.2.2' };
    const entered: Stored[] = [];
    for (let nth = 0; nth < 50; nth++) entered.push(await enter(world, wrongCode, from, String(100 + nth)));
    expect(sentOf(await race(entered))).toHaveLength(3);
    for (const { open } of await rows()) expect(open).toBe(0);
  });
});

test('payers who authenticate leave their address to others after a minute', async () => {
  const from = { 'x-forwarded-for': '192.0.2.3' };
  const entered: Stored[] = [];
  for (let nth = 100; nth < 111; nth++) entered.push(await enter(world, cardOf(nth), from));
  const last = entered.pop()!;
  const idle = await startNode(world.service, {
    bankOf: (bank) => ({ ...bank, send: () => new Promise(() => {}) }),
  });
  for (const { pay } of entered) expect((await pay(idle)).status).toBe(201);
  const refused = await last.pay(world.service);
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '10']);
  world.service.clock.advance(60_000);
  expect((await last.pay(world.service)).status).toBe(201);
});

test('an address where more than ten cards have paid is that of many payers, for an hour', async () => {
  const { service } = world;
  const from = { 'x-forwarded-for': '192.0.2.7' };
  const send = async (nth: number) => {
    const { status } = await (await enter(world, cardOf(nth), from)).pay(service);
    await service.jobs.whenIdle();
    return status;
  };
  /** While others authenticate. */
  const setPaid = (cards: number, open: number) =>
    service.testDatabase.database.withClient((client) =>
      client.query(
        `update payer_attempt set paid = array_fill($1::timestamptz, array[$2::int]),
           open = array_fill($1::timestamptz, array[$3::int])
         where subject = convert_to('address 192.0.2.7', 'UTF8')`,
        [service.clock.now(), cards, open],
      ),
    );
  expect(await send(600)).toBe(201);
  await setPaid(11, 10);
  for (let nth = 601; nth < 613; nth++) expect(await send(nth)).toBe(201);
  await setPaid(3, 0);
  expect(await send(613), '13 declines').toBe(429);
  await setPaid(4, 0);
  expect(await send(613)).toBe(201);
});

test('an attempt is over once the bank has decided, and nothing of it is kept', async () => {
  const stored = await enter(world, cardOf(200), { 'x-forwarded-for': '192.0.2.4' });
  expect((await stored.pay(world.service)).status).toBe(201);
  await world.service.jobs.whenIdle();
  const text = `select count(*)::int as n from payment where attempted_card is not null or attempted_address is not null
    or attempted_bin is not null or attempted_at is not null`;
  const left = await world.service.database.withClient((client) => client.query<{ n: number }>(text));
  // Those of the node whose bank never responds.
  expect(left.rows[0]?.n).toBe(10);
});

test('a reset reaches what other nodes have in memory', async () => {
  const { service, merchant } = world;
  await second.followResets();
  const { token } = await makeInvoice(service, merchant);
  const headers = { 'x-forwarded-for': '192.0.2.6' };
  const storeFourth = async () => {
    const body = cardBody({ cardNumber: cardOf(404) });
    return (await second.call('POST', paymentResourcesUrl, { token, body, headers })).status;
  };
  for (let nth = 401; nth < 404; nth++) {
    const body = cardBody({ cardNumber: cardOf(nth) });
    await second.call('POST', paymentResourcesUrl, { token, body, headers });
  }
  expect(await storeFourth()).toBe(429);
  await service.call('POST', '/sandbox/limits/reset', { token: merchant.apiKey });
  await second.followResets();
  expect(await storeFourth()).toBe(201);
});

test('a reader of the database sees no hash of a card', async () => {
  const text = `select table_name, column_name from information_schema.columns
    where (column_name in ('attempted_card', 'attempted_address') or table_name = 'payer_attempt' and column_name = 'subject')
      and data_type <> 'bytea'`;
  const { rows: readable } = await world.service.database.withClient((client) => client.query(text));
  expect(readable).toEqual([]);
});

test('a card that is purged at the same moment leaves nothing open', async () => {
  const stored = await enter(world, cardOf(300), { 'x-forwarded-for': '192.0.2.5' });
  const openBefore = (await rows()).map(({ open }) => open);
  const sql = (text: string) =>
    world.service.testDatabase.database.withClient((client) => client.query(text));
  // For the statement that retains the card it is gone, and not for the one that has found it.
  await sql(`create function keep_none() returns trigger language plpgsql as 'begin return null; end'`);
  await sql('create trigger gone before update on card for each row execute function keep_none()');
  expect((await stored.pay(world.service)).body.code).toBe('invalidPaymentToolToken');
  await sql('drop trigger gone on card');
  const sum = (counts: readonly number[]) => counts.reduce((total, one) => total + one, 0);
  expect(sum((await rows()).map(({ open }) => open))).toBe(sum(openBefore));
});

describe('behind an undeclared proxy in live mode', () => {
  let live: PaymentWorld;
  beforeAll(async () => {
    live = await startPaymentWorld({ MANDATE_MODE: 'live', PUBLIC_URL: 'https://pay.example', ...limits });
  });
  afterAll(() => live.close());

  test('declines of one payer lock no other out', async () => {
    const send = async (card: string, payer: string) => {
      const { pay } = await enter(live, card, { 'x-forwarded-for': payer });
      const { status } = await pay(live.service);
      await live.service.jobs.whenIdle();
      return status;
    };
    for (let nth = 500; nth < 510; nth++) expect(await send(cardOf(nth), '203.0.113.1')).toBe(201);
    expect(await send('4242424242424242', '203.0.113.1')).toBe(429);
    expect(await send('4242424242424242', '203.0.113.2')).toBe(201);
  });
});
