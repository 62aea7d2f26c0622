// Attacks of card testers and payers who are none, over the API. The table is written from what operators are promised, not from the code.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Bank } from '../../../src/acquiring/domain/bank-port.ts';
import { startNode, type Node } from '../../support/service/nodes.ts';
import type { Answer } from '../../support/service/test-service.ts';
import { cardBody, paymentResourcesUrl, testCards } from '../../support/worlds/cards.ts';
import { invoicesUrl, makeInvoice, type CreatedInvoice } from '../../support/worlds/invoices.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';

const environment = { CARD_TESTING_LIMITS: 'on', TRUSTED_PROXIES: '127.0.0.1' };
/** With another bank every number counts, also by address and shop. */
const anotherBank = {
  BANK_URL: 'https://bank.example',
  BANK_SECRET: 'a secret that no bank knows at all',
  SANDBOX_REAL_CARDS: 'on',
};

const approved = '4242424242424242';
const wrongCode = '4003830171874018';
const withoutFunds = '4000000000000002';
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

let world: PaymentWorld;
let strict: PaymentWorld;
let second: Node;

beforeAll(async () => {
  world = await startPaymentWorld(environment);
  second = await startNode(world.service);
  strict = await startPaymentWorld({ ...environment, ...anotherBank });
});
afterAll(async () => {
  await second.stop();
  await world.close();
  await strict.close();
});

let addresses = 0;
const newAddress = () => `10.${++addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`;

type How = {
  address?: string;
  invoice?: CreatedInvoice;
  by?: 'token' | 'key';
  code?: string;
  node?: Pick<Node, 'call'>;
};

/** A payer enters a card and pays. The bank has not decided yet. */
async function send(
  { service, merchant }: PaymentWorld,
  cardNumber: string,
  { address = newAddress(), invoice, by = 'token', code = '123', node = service }: How = {},
): Promise<{ answer: Answer; invoice: CreatedInvoice }> {
  const paying = invoice ?? (await makeInvoice(service, merchant));
  const token = by === 'key' ? merchant.apiKey : paying.token;
  const headers = { 'x-forwarded-for': address };
  const body = cardBody({ cardNumber, cvv: code });
  const stored = await service.call('POST', paymentResourcesUrl, { token, body, headers });
  if (stored.status !== 201) return { answer: stored, invoice: paying };
  const payment = {
    flow: { type: 'PaymentFlowInstant' },
    payer: {
      payerType: 'PaymentResourcePayer',
      paymentToolToken: stored.body.paymentToolToken,
      paymentSession: stored.body.paymentSession,
      contactInfo: { email: 'payer@example.com' },
    },
  };
  const url = `${invoicesUrl}/${paying.id}/payments`;
  return { answer: await node.call('POST', url, { token, body: payment, headers }), invoice: paying };
}

async function pay(at: PaymentWorld, cardNumber: string, how: How = {}): Promise<Answer> {
  const { answer } = await send(at, cardNumber, how);
  await at.service.jobs.whenIdle();
  return answer;
}

const outcome = ({ status, body }: Answer) => (status === 201 ? 'sent' : body.code);
const reset = ({ service, merchant }: PaymentWorld) =>
  service.call('POST', '/sandbox/limits/reset', { token: merchant.apiKey });

describe('the two attacks', () => {
  test('of 60 security codes of one card from 60 addresses at once, three reach the bank', async () => {
    await reset(world);
    const guesses = Array.from({ length: 60 }, (_, guess) => String(100 + guess));
    const answers = await Promise.all(
      guesses.map(async (code, index) => {
        const node = index % 2 === 0 ? world.service : second;
        return (await send(world, wrongCode, { code, node })).answer;
      }),
    );
    await world.service.jobs.whenIdle();
    await second.jobs.whenIdle();
    const sent = answers.filter(({ status }) => status === 201);
    expect(sent).toHaveLength(3);
    const refused = answers.find(({ status }) => status !== 201)!;
    expect(refused).toMatchObject({ status: 429, body: { code: 'tooManyAttempts' } });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(outcome(await pay(world, wrongCode)), 'an hour is not over').toBe('tooManyAttempts');
    world.service.clock.advance(hourMs + 1_000);
    expect(outcome(await pay(world, wrongCode))).toBe('sent');
  });

  test('of 40 declined payments of one invoice with one token, ten reach the bank', async () => {
    await reset(world);
    const invoice = await makeInvoice(world.service, world.merchant);
    const cards = [withoutFunds, '5100000000000412', '4222222222222220'];
    const outcomes: string[] = [];
    for (let time = 0; time < 40; time++) {
      outcomes.push(outcome(await pay(world, cards[time % 3]!, { invoice, address: '10.9.9.9' })));
    }
    expect(outcomes.filter((one) => one === 'sent')).toHaveLength(10);
    expect(new Set(outcomes.slice(10))).toEqual(new Set(['invoiceAttemptsExceeded']));
  });
});

describe('attempts', () => {
  type Step = [card: string, times: number, expected: string, how?: How, waitMs?: number];
  /** As many of each card as it may have, but of the last. */
  const tenCodes = (address: string, by: How['by'] = 'token'): Step[] => [
    [wrongCode, 3, 'sent', { address, by }],
    ['5496198584584769', 3, 'sent', { address, by }],
    ['4000000000000069', 3, 'sent', { address, by }],
    ['5105105105105100', 1, 'sent', { address, by }],
  ];
  test.each<[what: string, at: 'simulated bank' | 'another bank', steps: Step[]]>([
    [
      'four declines of a card an hour, then none',
      'simulated bank',
      [
        [withoutFunds, 4, 'sent'],
        [withoutFunds, 2, 'tooManyAttempts'],
      ],
    ],
    [
      'by an API key as by a token',
      'simulated bank',
      [
        [withoutFunds, 4, 'sent', { by: 'key' }],
        [withoutFunds, 1, 'tooManyAttempts', { by: 'key' }],
      ],
    ],
    [
      'nine declines of a card a day, then none until tomorrow',
      'simulated bank',
      [
        [withoutFunds, 4, 'sent', {}, hourMs + 1_000],
        [withoutFunds, 4, 'sent', {}, hourMs + 1_000],
        [withoutFunds, 1, 'sent', {}, hourMs + 1_000],
        [withoutFunds, 1, 'tooManyAttempts', {}, 24 * hourMs],
        [withoutFunds, 1, 'sent'],
      ],
    ],
    [
      'three mismatches of a code an hour',
      'simulated bank',
      [
        [wrongCode, 3, 'sent'],
        [wrongCode, 1, 'tooManyAttempts'],
      ],
    ],
    [
      'three mismatches of an expiry an hour',
      'simulated bank',
      [
        ['4000000000000069', 3, 'sent'],
        ['4000000000000069', 1, 'tooManyAttempts'],
      ],
    ],
    ['any number of approved payments of a card', 'simulated bank', [[approved, 12, 'sent']]],
    [
      'every payer of an office, also after three who mistyped their code',
      'another bank',
      [
        [wrongCode, 1, 'sent', { address: '192.0.2.1' }],
        ['5496198584584769', 1, 'sent', { address: '192.0.2.1' }],
        ['4000000000000069', 1, 'sent', { address: '192.0.2.1' }],
        [approved, 1, 'sent', { address: '192.0.2.1' }],
      ],
    ],
    [
      'ten codes of any cards from one address, and other addresses as before',
      'another bank',
      [
        ...tenCodes('192.0.2.5'),
        [approved, 1, 'tooManyAttempts', { address: '192.0.2.5' }],
        [approved, 1, 'sent', { address: '192.0.2.2' }, hourMs + 1_000],
        [approved, 1, 'sent', { address: '192.0.2.5' }],
      ],
    ],
    [
      'one more for a card that pays, however often it does',
      'another bank',
      [
        [approved, 3, 'sent', { address: '192.0.2.6' }],
        ...tenCodes('192.0.2.6'),
        ['5105105105105100', 1, 'sent', { address: '192.0.2.6' }],
        ['5105105105105100', 1, 'tooManyAttempts', { address: '192.0.2.6' }],
      ],
    ],
    [
      'every payer of an office, whatever their cards',
      'another bank',
      [
        approved,
        '5555555555554444',
        '586824160825533338',
        '2201382000000013',
        '4300000000000777',
        '2222990905257051',
      ].map((card): Step => [card, 1, 'sent', { address: '192.0.2.3' }]),
    ],
    [
      'a merchant’s server as an address that declines',
      'another bank',
      [
        ...tenCodes('192.0.2.4', 'key'),
        [approved, 1, 'sent', { address: '192.0.2.4', by: 'key' }],
        [approved, 1, 'sent', { address: '192.0.2.4' }],
      ],
    ],
  ])('%s (%s)', async (_what, bank, steps) => {
    const at = bank === 'another bank' ? strict : world;
    await reset(at);
    for (const [card, times, expected, how, waitMs = 0] of steps) {
      for (let time = 0; time < times; time++) expect(outcome(await pay(at, card, how))).toBe(expected);
      at.service.clock.advance(waitMs);
    }
  });

  test('of both tables of the simulated bank from one address are never refused', async () => {
    await reset(world);
    for (const number of Object.keys(testCards)) {
      expect([number, outcome(await pay(world, number, { address: '192.0.2.9' }))]).toEqual([number, 'sent']);
    }
    for (const cardNumber of Object.keys(testCards)) {
      const body = { type: 'BankCard', cardNumber };
      const stored = await world.service.call('POST', '/payres/v0/bank-cards', {
        token: world.merchant.apiKey,
        body,
      });
      expect([cardNumber, stored.status]).toEqual([cardNumber, 201]);
    }
  });

  test('to save a card count as those to pay', async () => {
    await reset(world);
    const { service, merchant } = world;
    const url = '/v2/processing/customers';
    const customer = { shopID: 'TEST', contactInfo: { email: 'payer@example.com' }, metadata: {} };
    const bind = async () => {
      const { body } = await service.call('POST', url, { token: merchant.apiKey, body: customer });
      const { token: paymentToolToken, session: paymentSession } = await world.tokenize(withoutFunds);
      const binding = { paymentResource: { paymentToolToken, paymentSession } };
      const answer = await service.call('POST', `${url}/${body.customer.id}/bindings`, {
        token: merchant.apiKey,
        body: binding,
      });
      await service.jobs.whenIdle();
      return answer;
    };
    for (let time = 0; time < 2; time++) expect((await bind()).status).toBe(201);
    for (let time = 0; time < 2; time++) expect(outcome(await pay(world, withoutFunds))).toBe('sent');
    expect(outcome(await pay(world, withoutFunds))).toBe('tooManyAttempts');
    const refused = await bind();
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBe(60 * 60);
  });

  test('are forgotten by a reset, which a live key could not call', async () => {
    await reset(world);
    for (let time = 0; time < 4; time++) await pay(world, withoutFunds);
    expect(outcome(await pay(world, withoutFunds))).toBe('tooManyAttempts');
    expect((await reset(world)).status).toBe(204);
    expect(outcome(await pay(world, withoutFunds))).toBe('sent');
  });

  test('are deleted a day after the last, at a full hour', async () => {
    await reset(world);
    await pay(world, withoutFunds);
    const rows = () =>
      world.service.database.withClient((client) => client.query('select * from payer_attempt'));
    expect((await rows()).rows).toHaveLength(1);
    world.service.clock.advance(24 * hourMs - minuteMs);
    await world.service.purgeAttempts();
    expect((await rows()).rows).toHaveLength(1);
    world.service.clock.advance(hourMs + 2 * minuteMs);
    await world.service.purgeAttempts();
    expect((await rows()).rows).toHaveLength(0);
  });
});

describe('a shop where nearly everything is declined', () => {
  const guardNow = () => strict.service.guardShops();
  const alarms = () => strict.service.logged.filter((line) => line.includes('card testing suspected'));

  /** Cards of no issuer, each tried once. */
  async function test21Cards(first: number, binOf: (nth: number) => string = oneBin): Promise<string[]> {
    const outcomes = [];
    for (let nth = first; nth < first + 21; nth++)
      outcomes.push(outcome(await pay(strict, cardOf(nth, binOf(nth)))));
    return outcomes;
  }
  const oneBin = () => '400000';
  const twelveBins = (nth: number) => String(457100 + (nth % 12));
  function cardOf(nth: number, bin: string): string {
    const start = `${bin}00${String(nth).padStart(7, '0')}`;
    const sum = start.split('').reduce((total, digit, index) => {
      const weighted = index % 2 === 0 ? Number(digit) * 2 : Number(digit);
      return total + (weighted > 9 ? weighted - 9 : weighted);
    }, 0);
    return `${start}${(10 - (sum % 10)) % 10}`;
  }
  /** How payers with these cards are authenticated. */
  async function authenticationsOf(...cards: string[]): Promise<string[]> {
    const authentications: string[] = [];
    const recording = (bank: Bank): Bank => ({
      ...bank,
      send(operation) {
        if (operation.kind === 'authorise') authentications.push(operation.authentication);
        return bank.send(operation);
      },
    });
    const node = await startNode(strict.service, { bankOf: recording });
    for (const card of cards) {
      expect(outcome(await pay(strict, card, { node }))).toBe('sent');
      await node.jobs.whenIdle();
    }
    await node.stop();
    return authentications;
  }
  const payPastCache = async (card: string) => {
    strict.service.forgetGuards();
    return pay(strict, card);
  };

  test('challenges every payer, then refuses them, and tells the operator each time', async () => {
    await reset(strict);
    const before = alarms().length;
    expect(new Set(await test21Cards(1, twelveBins))).toEqual(new Set(['sent']));
    await guardNow();
    expect(alarms()).toHaveLength(before + 1);
    expect(alarms().at(-1)).toContain('"mode":"challenge"');
    expect(alarms().at(-1)).toContain('"bin":null');
    const metrics = await strict.service.call('GET', '/metrics');
    expect(metrics.text).toMatch(/^mandate_card_testing_shops 1$/m);
    await guardNow();
    expect(alarms(), 'the same declines alert once').toHaveLength(before + 1);
    expect(await authenticationsOf(approved)).toEqual(['required']);

    strict.service.clock.advance(2 * minuteMs);
    expect(new Set(await test21Cards(100, twelveBins))).toEqual(new Set(['sent']));
    await guardNow();
    expect(alarms().at(-1)).toContain('"mode":"refuse"');
    const refused = await payPastCache(approved);
    expect(refused).toMatchObject({ status: 429, body: { code: 'shopRefusesCards' } });
    expect(Number(refused.headers['retry-after'])).toBe(30 * 60);

    strict.service.clock.advance(30 * minuteMs);
    expect(outcome(await payPastCache(approved))).toBe('sent');
  });

  test('closes one BIN, and stays open, where made-up numbers are of that BIN', async () => {
    await reset(strict);
    await test21Cards(1);
    await guardNow();
    expect(alarms().at(-1)).toContain('"bin":"400000"');
    expect(await authenticationsOf(cardOf(50, oneBin()), approved)).toEqual(['required', 'preferred']);
    strict.service.clock.advance(2 * minuteMs);
    await test21Cards(100);
    await guardNow();
    expect(alarms().at(-1)).toContain('"mode":"refuse"');
    expect(outcome(await payPastCache(cardOf(51, oneBin())))).toBe('shopRefusesCards');
    expect(outcome(await pay(strict, approved))).toBe('sent');
    const metrics = await strict.service.call('GET', '/metrics');
    expect(metrics.text).toMatch(/^mandate_card_testing_shops 1$/m);
  });

  test.each([
    [
      'it is usually declined as often',
      async () => {
        await test21Cards(200, twelveBins);
        strict.service.clock.advance(15 * minuteMs);
      },
    ],
    [
      'others pay there too',
      async () => {
        for (let time = 0; time < 8; time++) await pay(strict, '4000000000005704');
      },
    ],
  ])('is left alone if %s', async (_why, prepare) => {
    await reset(strict);
    await prepare();
    await test21Cards(300, twelveBins);
    await guardNow();
    expect(outcome(await payPastCache(approved))).toBe('sent');
    expect((await strict.service.call('GET', '/metrics')).text).toMatch(/^mandate_card_testing_shops 0$/m);
  });

  test('is found by the declines of one BIN, whatever other cards pay there', async () => {
    await reset(strict);
    await test21Cards(400);
    for (let time = 0; time < 30; time++) await pay(strict, approved);
    await guardNow();
    expect(alarms().at(-1)).toContain('"bin":"400000"');
  });
});
