// Tokenisation over the API, and what must not be stored or logged.
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { reencryptCards } from '../../../src/cards/reencrypt.ts';
import { recordStatements } from '../../support/database/sent-statements.ts';
import { makeTemplate } from '../../support/worlds/invoices.ts';
import { accessTokens } from '../../../src/platform/keys/access-token.ts';
import { cardBody, paymentResourcesUrl as url, testCards } from '../../support/worlds/cards.ts';
import { scanDatabase, scanLines, scanValues } from '../../support/checks/pan-scanner.ts';
import {
  startTestService,
  type CallOptions,
  type Merchant,
  type TestService,
} from '../../support/service/test-service.ts';
import { noDestinations } from '../../support/worlds/old-cards.ts';

const hourMs = 3_600_000;
const proxies = { TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8' };

let service: TestService;
let merchant: Merchant;

beforeAll(async () => {
  service = await startTestService(proxies);
  merchant = await service.createMerchant();
});
afterAll(() => service.close());

const tokenise = (options: CallOptions = {}, on = service) =>
  on.call('POST', url, { token: merchant.apiKey, body: cardBody(), ...options });

/** A token like those of invoices and customers. */
function accessToken(kind: 'invoice' | 'customer', entityId: string, partyId = merchant.partyId): string {
  return accessTokens(service.keyring, service.clock).issue({ kind, entityId, partyId });
}

async function sql(text: string, values: unknown[] = []): Promise<any[]> {
  const { rows } = await service.database.withClient((client) => client.query(text, values));
  return rows;
}

const complaintAbout = async (card: Record<string, unknown>) =>
  (await tokenise({ body: cardBody(card) })).body;
const invalid = (message: unknown) => ({ code: 'invalidRequest', message });

describe('tokenising a card', () => {
  test('returns an opaque token and session, the mask and the client', async () => {
    const answer = await tokenise();
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      paymentToolToken: expect.stringMatching(/^v1\.[0-9A-Za-z]{23}$/),
      paymentSession: expect.stringMatching(/^s1\.[0-9A-Za-z]{23}$/),
      paymentToolDetails: {
        detailsType: 'PaymentToolDetailsBankCard',
        bin: '424242',
        lastDigits: '4242',
        first6: '424242',
        last4: '4242',
        cardNumberMask: '424242******4242',
        paymentSystem: 'visa',
      },
      clientInfo: { fingerprint: 'a browser', ip: '127.0.0.1' },
      validUntil: '2026-01-19T11:00:00.123000Z',
    });
  });

  test('returns a new token each time, also under /v1', async () => {
    const first = await tokenise();
    const second = await service.call('POST', url.replace('v2', 'v1'), {
      token: merchant.apiKey,
      body: cardBody(),
    });
    expect(second.status).toBe(201);
    expect(second.body.paymentToolToken).not.toBe(first.body.paymentToolToken);
    expect(second.body.paymentSession).not.toBe(first.body.paymentSession);
  });

  test.each([
    ['without a security code and a holder', { cvv: undefined, cardHolder: undefined }],
    ['with a year of four digits', { expDate: '12/2030' }],
    ['with a holder in another script', { cardHolder: 'Алёна О’Нил-Цой, мл.' }],
    ['with a holder of 100 characters beyond the first plane', { cardHolder: '𠀀'.repeat(100) }],
  ])('works %s', async (_how, card) => expect((await tokenise({ body: cardBody(card) })).status).toBe(201));

  test('returns a mask as long as the number', async () => {
    const { body } = await tokenise({ body: cardBody({ cardNumber: '586824160825533338' }) });
    expect(body.paymentToolDetails).toMatchObject({
      cardNumberMask: '586824********3338',
      paymentSystem: 'maestro',
    });
  });

  test('returns a token that is valid for an hour of the party’s clock', async () => {
    const { apiKey: token } = await service.createMerchant();
    await service.call('POST', '/sandbox/clock', { token, body: { now: '2028-02-29T23:30:00Z' } });
    const { body } = await tokenise({ token, body: cardBody({ expDate: '02/28' }) });
    expect(body.validUntil).toBe('2028-03-01T00:30:00.000000Z');
    const expired = await tokenise({ token, body: cardBody({ expDate: '01/28' }) });
    expect(expired.body).toEqual(invalid('Invalid expiration date'));
  });

  test('works for a blocked or suspended party', async () => {
    const blocked = await service.createMerchant();
    await sql('update party set is_blocked = true, is_suspended = true where party_id = $1', [
      blocked.partyId,
    ]);
    expect((await tokenise({ token: blocked.apiKey })).status).toBe(201);
  });

  test('takes one round trip, also with a security code and an externalID', async () => {
    await tokenise();
    const sent = recordStatements();
    onTestFinished(() => void vi.restoreAllMocks());
    await tokenise({ body: cardBody({}, { externalID: 'one round trip' }) });
    // The caller is cached for a second, which a slow machine may exceed.
    expect(sent.filter((name) => !/^read_(party|api_key)$/.test(name))).toEqual(['insert_card']);
  });
});

describe('an invalid card is refused:', () => {
  test.each([
    ['its network is unknown', { cardNumber: '9999999999999995' }, 'Unrecognized bank card issuer'],
    ['its checksum is wrong', { cardNumber: '4242424242424241' }, 'Invalid cardNumber checksum'],
    ['its length does not fit its network', { cardNumber: '42424242424242' }, 'Invalid cardNumber length'],
    ['its code is too long', { cvv: '1234' }, 'Invalid cvv length'],
    ['it has expired', { expDate: '12/25' }, 'Invalid expiration date'],
    ['its month does not exist', { expDate: '13/30' }, 'Invalid expiration date'],
  ])('%s', async (_why, card, message) => expect(await complaintAbout(card)).toEqual(invalid(message)));

  test.each([
    ['paymentTool.cardNumber', { cardNumber: undefined }, 'not_found'],
    ['paymentTool.cardNumber', { cardNumber: '4242 4242 4242 4242' }, 'no_match'],
    ['paymentTool.cardNumber', { cardNumber: '42424242424' }, 'no_match'],
    ['paymentTool.cardNumber', { cardNumber: '4'.repeat(20) }, 'no_match'],
    ['paymentTool.cardNumber', { cardNumber: 4242424242424 }, 'wrong_type'],
    ['paymentTool.expDate', { expDate: undefined }, 'not_found'],
    ['paymentTool.expDate', { expDate: '1/30' }, 'no_match'],
    ['paymentTool.expDate', { expDate: '12/030' }, 'no_match'],
    ['paymentTool.cvv', { cvv: '12' }, 'no_match'],
    ['paymentTool.cvv', { cvv: '12a' }, 'no_match'],
    ['paymentTool.cvv', { cvv: null }, 'wrong_type'],
    ['paymentTool.cardHolder', { cardHolder: '' }, 'no_match'],
    ['paymentTool.cardHolder', { cardHolder: 'LEXA 2' }, 'no_match'],
    ['paymentTool.cardHolder', { cardHolder: 'x'.repeat(101) }, 'no_match'],
    ['paymentTool.paymentToolType', { paymentToolType: 'DigitalWalletData' }, 'no_match'],
    ['paymentTool.paymentToolType', { paymentToolType: undefined }, 'not_found'],
  ])('%s in %j', async (where, card, type) => {
    const text = `Request parameter: ${where}, error type: ${type}, description: `;
    expect(await complaintAbout(card)).toMatchObject(invalid(expect.stringContaining(text)));
  });

  test('clientInfo and its fingerprint are required', async () => {
    for (const clientInfo of [undefined, {}, { fingerprint: 'x'.repeat(1_001) }]) {
      expect((await tokenise({ body: cardBody({}, { clientInfo }) })).status).toBe(400);
    }
  });
});

describe('the payer’s client info', () => {
  const clientInfoOf = async (options: CallOptions) => {
    const { body } = await tokenise(options);
    return body.clientInfo ?? body;
  };
  const forwarded = (header: string) => ({ headers: { 'x-forwarded-for': header } });

  test('has the address seen by the service, not one from the body', async () => {
    const clientInfo = { fingerprint: 'f', ip: '203.0.113.9' };
    expect(await clientInfoOf({ body: cardBody({}, { clientInfo }) })).toEqual({
      fingerprint: 'f',
      ip: '127.0.0.1',
    });
  });

  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['198.51.100.1, 203.0.113.7', '203.0.113.7'],
    ['203.0.113.7, 10.1.2.3', '203.0.113.7'],
    ['203.0.113.7,10.1.2.3 , 10.9.9.9', '203.0.113.7'],
    ['2a04:4a00:5:10:1:2:3:4', '2a04:4a00:5:10:1:2:3:4'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['10.1.2.3', '10.1.2.3'],
  ])('has the right-most address that is not a trusted proxy: %s', async (header, ip) =>
    expect(await clientInfoOf(forwarded(header))).toMatchObject({ ip }),
  );

  test.each([
    'unknown',
    '203.0.113.7, what',
    'what, 203.0.113.7',
    '203.0.113.7:80',
    '203.0.113.256',
    ',203.0.113.7',
  ])('is refused for the forwarded address %j', async (header) => {
    expect(await clientInfoOf(forwarded(header))).toEqual(invalid("Malformed 'x-forwarded-for' header"));
    const other = await service.call('GET', '/v2/processing/me', {
      token: merchant.apiKey,
      ...forwarded(header),
    });
    expect(other.status).toBe(200);
  });

  test.each([
    [{ 'x-real-ip': '203.0.113.8' }, '203.0.113.8'],
    [{ 'x-real-ip': '203.0.113.8', 'x-forwarded-for': '' }, '203.0.113.8'],
    [{ 'x-real-ip': '203.0.113.8', 'x-forwarded-for': '203.0.113.7' }, '203.0.113.7'],
    [{ 'x-real-ip': 'made up, 203.0.113.8' }, undefined],
    [{ 'x-real-ip': 'unknown' }, undefined],
  ])('takes X-Real-IP of a trusted proxy where no list comes: %j', async (headers, ip) => {
    const expected = ip === undefined ? invalid("Malformed 'x-forwarded-for' header") : { ip };
    expect(await clientInfoOf({ headers })).toMatchObject(expected);
  });

  test.each([
    ['no proxy', {}],
    ['only another', { TRUSTED_PROXIES: '10.0.0.0/8' }],
  ])('ignores a forwarded address if %s is trusted', async (_, environment) => {
    const alone = await startTestService(environment);
    onTestFinished(() => alone.close());
    const { apiKey: token } = await alone.createMerchant();
    for (const name of ['x-forwarded-for', 'x-real-ip'])
      for (const header of ['203.0.113.7', 'what']) {
        const { body } = await tokenise({ token, headers: { [name]: header } }, alone);
        expect(body.clientInfo.ip).toBe('127.0.0.1');
      }
  });

  test('has the page without its query', async () => {
    const page = 'https://user:pass@shop.example/pay?card=4242424242424242&x=1#top';
    const clientInfo = { fingerprint: 'f', url: page };
    expect(await clientInfoOf({ body: cardBody({}, { clientInfo }) })).toMatchObject({
      url: 'https://shop.example/pay',
    });
    const nonsense = cardBody({}, { clientInfo: { fingerprint: 'f', url: 'nonsense' } });
    expect(await clientInfoOf({ body: nonsense })).toEqual(
      invalid(
        'Request parameter: clientInfo.url, error type: no_match, description: must be an absolute URL',
      ),
    );
  });

  test.each([
    ['clientInfo.fingerprint', { clientInfo: { fingerprint: 'card 4242-4242 4242.4242' } }],
    ['clientInfo.url', { clientInfo: { fingerprint: 'f', url: 'https://shop.example/4242424242424242' } }],
    ['externalID', { externalID: '4242424242424242' }],
  ])('is refused if it contains the card number: %s', async (where, beside) => {
    const { body } = await tokenise({ body: cardBody({}, beside) });
    expect(body).toEqual(
      invalid(
        `Request parameter: ${where}, error type: schema_violated, description: must not contain the card number`,
      ),
    );
  });
});

describe('access to tokenisation', () => {
  test('is granted to a key with the scope and to tokens of invoices and customers of the party', async () => {
    for (const token of [merchant.apiKey, accessToken('invoice', 'I'), accessToken('customer', 'C')]) {
      expect((await tokenise({ token })).status).toBe(201);
    }
  });

  test('is denied to all other callers', async () => {
    const scopes = ['invoices:write', 'invoices:read'];
    const narrow = await service.apiKeys.create({ partyId: merchant.partyId, name: 'narrow', scopes });
    const { token: template } = await makeTemplate(service, merchant);
    const noParty = accessToken('invoice', 'I', 'unknown');
    for (const token of [narrow, template, noParty, 'garbage']) {
      const answer = await tokenise({ token });
      expect([answer.status, answer.text]).toEqual([401, '']);
    }
    expect((await service.call('POST', url, { body: cardBody() })).status).toBe(401);
  });

  test('limits who can use the card', async () => {
    const { cards } = service.vault;
    const ofI = { kind: 'invoice', entityId: 'I', partyId: merchant.partyId } as const;
    const { body } = await tokenise({ token: accessToken('invoice', 'I') });
    const now = service.clock.now();
    const use = (caller: Parameters<typeof cards.use>[1]) =>
      cards.use(
        service.database,
        caller,
        { token: body.paymentToolToken, session: body.paymentSession },
        now,
        { kind: 'invoice', id: 'I' },
      );
    expect((await use(ofI)).ok).toBe(true);
    expect((await use({ kind: 'apiKey', keyId: 'K', scopes: [], partyId: merchant.partyId })).ok).toBe(true);
    expect((await use({ ...ofI, entityId: 'J' })).ok).toBe(false);
    expect((await use({ ...ofI, kind: 'customer' })).ok).toBe(false);
  });
});

describe('an externalID', () => {
  const named = (externalID: string, card: Record<string, unknown> = {}, token = merchant.apiKey) =>
    tokenise({ token, body: cardBody(card, { externalID }) });

  test('returns the same resource for the same card and expiry', async () => {
    const first = await named('again');
    const second = await named('again', { expDate: '12/2030', cvv: '999', cardHolder: undefined });
    expect([second.status, second.body]).toEqual([201, first.body]);
  });

  test.each([
    ['number', { cardNumber: '5555555555554444' }],
    ['expiry', { expDate: '11/30' }],
  ])('conflicts for another %s, and creates nothing', async (what, card) => {
    const first = await named(`other ${what}`);
    const before = await sql('select count(*) as n from card');
    const conflict = await named(`other ${what}`, card);
    expect([conflict.status, conflict.body]).toEqual([
      409,
      {
        externalID: `other ${what}`,
        id: first.body.paymentToolToken,
        message: "This 'externalID' has been used by another request",
        hint: expect.stringMatching(/^The externalID belongs to /),
      },
    ]);
    expect(await sql('select count(*) as n from card')).toEqual(before);
  });

  test('stays unused after a refused request', async () => {
    expect((await named('refused', { cardNumber: '4242424242424241' })).status).toBe(400);
    expect((await named('refused')).status).toBe(201);
  });

  test('creates one resource for ten concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => named('at once')));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 201));
  });

  test('is scoped to a party', async () => {
    const other = await service.createMerchant();
    const [mine, theirs] = [
      await named('whose'),
      await named('whose', { cardNumber: '5555555555554444' }, other.apiKey),
    ];
    expect([mine.status, theirs.status]).toEqual([201, 201]);
  });

  test('shows a payer no resource of other callers, even with the right card', async () => {
    const [ofI, ofJ] = [accessToken('invoice', 'I'), accessToken('invoice', 'J')];
    const made = await named('of I', {}, ofI);
    expect((await named('of I', {}, ofI)).body).toEqual(made.body);
    expect((await named('of I')).body).toEqual(made.body);
    const stranger = await named('of I', {}, ofJ);
    expect(stranger.status).toBe(409);
    expect(stranger.body).toEqual({
      externalID: 'of I',
      message: expect.any(String),
      hint: expect.stringMatching(/^The externalID belongs to another object,/),
    });
  });

  test('returns the earlier resource even if the request would be refused now', async () => {
    const { apiKey } = await service.createMerchant();
    const made = await named('expired since', { expDate: '01/26' }, apiKey);
    await service.call('POST', '/sandbox/clock', { token: apiKey, body: { now: '2026-02-01T00:00:00Z' } });
    expect((await named('expired since', { expDate: '01/26' }, apiKey)).body).toEqual(made.body);
    expect((await named('another', { expDate: '01/26' }, apiKey)).status).toBe(400);
  });
});

test('an Idempotency-Key returns the first response, and its stored form reveals nothing', async () => {
  const headers = { 'idempotency-key': 'once' };
  const card = { cardNumber: '2201382000000013', cvv: '737' };
  const first = await tokenise({ headers, body: cardBody(card) });
  const again = await tokenise({ headers, body: cardBody(card) });
  expect(first.status).toBe(201);
  expect([again.text, again.headers['idempotent-replayed']]).toEqual([first.text, 'true']);
  expect((await tokenise({ headers, body: cardBody({ ...card, expDate: '11/30' }) })).status).toBe(422);

  const [row] = await sql(`select *, encode(body_ciphertext, 'escape') as text from idempotency_key`);
  expect(row.text).not.toContain(first.body.paymentToolToken);
  expect(row.text).not.toContain('220138');
  expect(row.request_hash).toHaveLength(32);
  expect(
    scanValues('idempotency_key', [row], { cardNumbers: [card.cardNumber], securityCodes: ['737'] }),
  ).toEqual([]);
});

test.each([
  ['another security code', '738'],
  ['none', undefined],
])(
  'with an Idempotency-Key, %s counts as the same request, because the code leaves no trace',
  async (what, cvv) => {
    const headers = { 'idempotency-key': `code.${what.replaceAll(' ', '-')}` };
    const first = await tokenise({ headers, body: cardBody({ cvv: '737' }) });
    const again = await tokenise({ headers, body: cardBody({ cvv }) });
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(again.headers['idempotent-replayed']).toBe('true');
    const { paymentToolToken, paymentSession } = first.body;
    const revealed = await service.vault.detokenise({ token: paymentToolToken, session: paymentSession });
    expect(revealed.securityCode, 'what came first counts').toBe('737');
  },
);

describe('card-testing limits', () => {
  const limited = async () => {
    const strict = await startTestService({ ...proxies, CARD_TESTING_LIMITS: 'on' });
    onTestFinished(() => strict.close());
    const { apiKey, partyId } = await strict.createMerchant();
    const tokens = accessTokens(strict.keyring, strict.clock);
    const invoice = (id: string) => tokens.issue({ kind: 'invoice', entityId: id, partyId });
    const send = (token: string, cardNumber: string, address: string, headers: Record<string, string> = {}) =>
      strict.call('POST', url, {
        token,
        body: cardBody({ cardNumber }, { clientInfo: { fingerprint: address } }),
        headers: { 'x-forwarded-for': address, ...headers },
      });
    return { strict, apiKey, invoice, send };
  };
  const numbers = Object.keys(testCards);

  test('refuse the fourth card of an invoice, with the time to retry', async () => {
    const { strict, invoice, send } = await limited();
    const token = invoice('I');
    for (const [place, number] of numbers.slice(0, 3).entries()) {
      expect((await send(token, number, `192.0.2.${place}`)).status).toBe(201);
    }
    const headers = { 'idempotency-key': 'fourth' };
    const fourth = await send(token, numbers[3]!, '192.0.2.9', headers);
    expect([fourth.status, fourth.body]).toEqual([
      429,
      { message: 'Too many requests. Wait for the seconds in Retry-After.' },
    ]);
    expect(Number(fourth.headers['retry-after'])).toBeGreaterThan(71 * 3_600);
    const { rows } = await strict.database.withClient((client) =>
      client.query('select 1 from idempotency_key'),
    );
    expect(rows).toEqual([]);
    expect((await send(token, numbers[0]!, '192.0.2.9')).status).toBe(201);
    expect((await send(invoice('J'), numbers[3]!, '192.0.2.9')).status).toBe(201);
  });

  test('do not count a mistyped card, nor a merchant’s server', async () => {
    const { apiKey, invoice, send } = await limited();
    for (let times = 0; times < 4; times++) {
      expect((await send(invoice('I'), `424242424242424${times + 3}`, '192.0.2.1')).status).toBe(400);
    }
    for (const number of numbers) expect((await send(apiKey, number, '192.0.2.1')).status).toBe(201);
  });

  test('are off where the setting says so', async () => {
    const token = accessToken('invoice', 'unlimited');
    for (const number of numbers.slice(0, 12)) {
      expect((await tokenise({ token, body: cardBody({ cardNumber: number }) })).status).toBe(201);
    }
  });
});

test('a rotation of the card key fails no request and leaves every card readable', async () => {
  let rotating = true;
  const statuses: number[] = [];
  const tokens: string[] = [];
  const payers = Array.from({ length: 4 }, async () => {
    while (rotating) {
      const { status, body } = await tokenise();
      statuses.push(status);
      tokens.push(body.paymentToolToken);
      await service.vault.detokenise({ token: body.paymentToolToken, session: body.paymentSession });
    }
  });
  const { database: db, keyring } = service;
  const result = await reencryptCards({ db, keyring, paidOutTo: noDestinations, nodesLearnWithinMs: 300 });
  rotating = false;
  await Promise.all(payers);
  expect(new Set(statuses)).toEqual(new Set([201]));
  expect(result.unreadable).toEqual([]);
  expect(await sql('select distinct key_version as g from card')).toEqual([{ g: result.keyVersion }]);
  for (const token of tokens.slice(0, 20)) {
    expect(await service.vault.detokenise({ token })).toMatchObject({ number: '4242424242424242' });
  }
});

describe('after tokenising every test card in every way', () => {
  const codes = ['737', '8317'];
  const cardNumbers = [...Object.keys(testCards), '378282246310005'];
  const holder = 'QUENTIN HOLDERMANN';
  let watched: TestService;

  const statuses: number[] = [];

  beforeAll(async () => {
    watched = await startTestService();
    const { apiKey, partyId } = await watched.createMerchant();
    const tokens = accessTokens(watched.keyring, watched.clock);
    const invoice = tokens.issue({ kind: 'invoice', entityId: 'I', partyId });
    const send = async (options: CallOptions) => {
      const { status } = await tokenise({ token: apiKey, ...options }, watched);
      statuses.push(status);
    };
    for (const [place, cardNumber] of cardNumbers.entries()) {
      const card = { cardNumber, cvv: cardNumber.startsWith('37') ? '8317' : '737', cardHolder: holder };
      const headers = { 'idempotency-key': `key-${place}` };
      await send({ headers, body: cardBody(card, { externalID: `name ${place}` }) });
      await send({ token: invoice, body: cardBody(card) });
      await send({ body: cardBody({ ...card, expDate: '01/20' }) });
      await send({ body: cardBody({ ...card, cardNumber: `${cardNumber}0` }) });
    }
    // Also an internal error, with the card in the request.
    await watched.testDatabase.database.withClient((client) =>
      client.query('alter table card rename to gone'),
    );
    await send({ body: cardBody({ cvv: '737' }) });
    await watched.testDatabase.database.withClient((client) =>
      client.query('alter table gone rename to card'),
    );
  });
  afterAll(() => watched.close());

  const secrets = { cardNumbers, securityCodes: codes };

  test('the responses are as expected', () => {
    expect(statuses).toEqual([...cardNumbers.flatMap(() => [201, 201, 400, 400]), 500]);
  });

  test('no table contains a number, a code or a holder', async () => {
    expect(await scanDatabase(watched.database, secrets)).toEqual([]);
    const { rows } = await watched.database.withClient((client) => client.query('select * from card'));
    expect(rows.length).toBe(cardNumbers.length * 2);
    expect(JSON.stringify(rows)).not.toContain('QUENTIN');
  });

  test('no log line contains one', () => {
    expect(watched.logged.length).toBeGreaterThan(cardNumbers.length * 4);
    expect(scanLines('log', watched.logged, secrets)).toEqual([]);
    expect(watched.logged.join('')).not.toContain('QUENTIN');
  });

  test('the scanner finds a planted number and a planted code', async () => {
    await watched.database.withClient((client) =>
      client.query(`insert into category (category_id, name, description) values (77, 'x', $1)`, [
        Buffer.from(`{"cardNumber":"${cardNumbers[3]}","cvv":"737"}`).toString('base64'),
      ]),
    );
    const found = await scanDatabase(watched.database, secrets);
    expect(found.map(({ where, what }) => [where, what])).toEqual([
      ['public.category.description, row 2', 'a card number'],
      ['public.category.description, row 2', 'a security code'],
    ]);
    expect(
      scanLines('log', [...watched.logged, `{"msg":"paid with ${cardNumbers[0]}"}`], secrets),
    ).toHaveLength(1);
  });

  test('an hour later cards, codes and their keys are purged', async () => {
    watched.clock.advance(hourMs + 1);
    await watched.vault.purge();
    for (const table of ['card', 'security_code', 'security_code_key', 'external_id']) {
      const { rows } = await watched.database.withClient((client) => client.query(`select 1 from ${table}`));
      expect(rows, table).toEqual([]);
    }
  });
});
