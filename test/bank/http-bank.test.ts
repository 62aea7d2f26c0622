// The HTTP adapter against faulty servers and the simulated bank.
// It must never report `notSent` for a message that may have arrived, and never leak a card.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { BankOperation } from '../../src/acquiring/domain/bank-port.ts';
import { openHttpBank, type HttpBankOptions } from '../../src/acquiring/adapters/http/http-bank.ts';
import { isSigned, sign } from '../../src/acquiring/adapters/http/signature.ts';
import { epochMsOf, laterBy } from '../../src/clock.ts';
import { defined } from '../../src/defined.ts';
import type { Currency } from '../../src/money.ts';
import { waitMs } from '../../tools/tests/waits.ts';
import { outcomeOf, startBank } from '../support/bank/simulated-bank.ts';
import { eventually } from '../support/processes/program.ts';
import { testClock } from '../support/service/test-service.ts';
import { whenTimeIsUp } from '../support/service/time-limit.ts';

const secret = 'a secret that only this test knows.';
const clock = testClock();
const nowSeconds = () => Math.floor(epochMsOf(clock.now()) / 1_000);
const card = { number: '4242424242424242', expiry: '2030-12', holder: 'LEXA SVOTIN', securityCode: '987' };
const terminal = { id: 'T1', bankId: 'BANK', merchantId: 'M1', descriptor: 'A shop' };
/** No server listens there. A port that one has left may be another's at once. */
const nowhere = 'http://127.0.0.1:9';
const callbackUrl = 'https://pay.example/prefix/bank/callbacks/one?a=1';
/** Longer than a busy machine takes. What is about a time limit sets its own. */
const patient = { connectMs: waitMs, answerMs: waitMs, unattendedAnswerMs: waitMs };

const logged: unknown[] = [];

function open(url: string, options: Partial<HttpBankOptions> = {}) {
  const log = { warn: (...line: unknown[]) => void logged.push(line) };
  const detokeniseCard = () => Promise.resolve(card);
  const bank = openHttpBank({
    url,
    secret,
    clock,
    log,
    detokeniseCard,
    callbackUrl,
    timeouts: patient,
    ...options,
  });
  onTestFinished(() => bank.stop());
  return bank;
}

function authorise(changes: Partial<BankOperation & { kind: 'authorise' }> = {}): BankOperation {
  return {
    kind: 'authorise',
    operationId: 'inv1.1.a',
    terminal,
    amount: { minor: 6_000n, currency: 'RUB' as Currency },
    card: { token: 'tok', session: 'ses' },
    capture: true,
    initiation: { by: 'payer', storesCard: true },
    authentication: 'required',
    returnUrl: 'https://pay.example/return',
    payer: { ip: '192.0.2.1', email: 'a@example.com', fingerprint: '' },
    ...changes,
  };
}

const originalOperationId = 'inv1.1.a';
/** What an operation of each kind has that an authorisation has not. */
const restOf = {
  authorise: {},
  capture: { kind: 'capture', originalOperationId },
  refund: { kind: 'refund', originalOperationId },
  reverse: { kind: 'reverse', originalOperationId, amount: undefined },
  payout: { kind: 'payout' },
  verify: { kind: 'verify', currency: 'RUB' },
} as const;
const kinds = Object.keys(restOf) as (keyof typeof restOf)[];

type Heard = { method: string; url: string; headers: IncomingMessage['headers']; body: string };

async function serve(
  answer: (heard: Heard, response: ServerResponse) => void,
  onConnection = () => {},
): Promise<{ url: string; heard: Heard[] }> {
  const heard: Heard[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, body };
      heard.push(one);
      answer(one, response);
    });
  });
  server.on('connection', onConnection);
  return { url: await listen(server), heard };
}

async function listen(server: Server | ReturnType<typeof createTcpServer>): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => void sockets.add(socket));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function reply(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** The time limit ends as soon as the server has the message. */
async function unanswered<T>(
  heard: readonly Heard[],
  work: () => Promise<T>,
  limitMs = patient.answerMs,
): Promise<T> {
  const before = heard.length;
  return whenTimeIsUp(limitMs, () => heard.length > before, work);
}

const approval = { operationId: 'inv1.1.a', outcome: 'approved', reference: '900000000001' };

describe('a message', () => {
  test('is signed, has a version and matches the protocol', async () => {
    const { url, heard } = await serve((_heard, response) => reply(response, 200, approval));
    expect(await open(`${url}/base/`).send(authorise())).toEqual({
      outcome: 'approved',
      reference: '900000000001',
    });
    const [{ method, url: target, headers, body }] = heard as [Heard];
    expect([method, target]).toEqual(['PUT', '/base/operations/inv1.1.a']);
    expect(headers['mandate-bank-version']).toBe('1');
    const signed = { method, target, body: Buffer.from(body) };
    expect(isSigned(secret, signed, String(headers['mandate-bank-signature']), nowSeconds())).toBe(true);
    expect(JSON.parse(body)).toEqual({
      kind: 'authorise',
      merchant: { id: 'M1', terminal: 'T1', descriptor: 'A shop' },
      callbackUrl,
      amount: 6000,
      currency: 'RUB',
      capture: true,
      card,
      initiation: { by: 'payer', storesCard: true },
      authentication: 'required',
      returnUrl: 'https://pay.example/return',
      payer: { ip: '192.0.2.1', email: 'a@example.com', fingerprint: '' },
    });
  });

  test('has the facts of the merchant that the operator gave with the terminal', async () => {
    const { url, heard } = await serve((_heard, response) => reply(response, 200, approval));
    const merchant = { mcc: '5734', name: 'EXAMPLE', city: 'MOSCOW', country: 'RUS', subMerchant: 'S-1' };
    await open(url).send({ ...authorise(), terminal: { ...terminal, merchant } });
    const [{ body }] = heard as [Heard];
    expect(JSON.parse(body).merchant).toEqual({
      ...merchant,
      id: 'M1',
      terminal: 'T1',
      descriptor: 'A shop',
    });
  });

  test('has no security code in a payout or when the payer is not present', async () => {
    const { url, heard } = await serve((_heard, response) => reply(response, 200, approval));
    const bank = open(url);
    const initiation = { by: 'merchant', reason: 'recurring', rootNetworkTransactionId: 'n1' } as const;
    await bank.send(authorise({ initiation, authentication: 'none' }));
    const amount = { minor: 999_999_999_999n, currency: 'USD' as Currency };
    await bank.send({ kind: 'payout', operationId: 'inv1.1.a', terminal, amount, card: { token: 'tok' } });
    const [charge, payout] = heard.map(({ body }) => JSON.parse(body));
    expect(charge.initiation).toEqual(initiation);
    expect(charge.card).toEqual({ number: card.number, expiry: card.expiry, holder: card.holder });
    expect(payout).toMatchObject({ kind: 'payout', amount: 999_999_999_999, currency: 'USD' });
    expect(payout.card).toEqual({ number: card.number, expiry: card.expiry, holder: card.holder });
  });

  test('for a capture, a refund or a reversal names the original operation', async () => {
    const { url, heard } = await serve((_heard, response) => reply(response, 200, approval));
    const bank = open(url);
    const amount = { minor: 5n, currency: 'RUB' as Currency };
    const common = { operationId: 'inv1.1.a', terminal, originalOperationId: 'o' };
    await bank.send({ kind: 'capture', ...common, amount });
    await bank.send({ kind: 'refund', ...common, amount });
    await bank.send({ kind: 'reverse', ...common });
    const merchant = { id: 'M1', terminal: 'T1', descriptor: 'A shop' };
    const money = { amount: 5, currency: 'RUB' };
    expect(heard.map(({ body }) => JSON.parse(body))).toEqual([
      { kind: 'capture', merchant, callbackUrl, ...money, originalOperationId: 'o' },
      { kind: 'refund', merchant, callbackUrl, ...money, originalOperationId: 'o' },
      { kind: 'reverse', merchant, callbackUrl, originalOperationId: 'o' },
    ]);
  });

  test('reuses connections', async () => {
    let connections = 0;
    const { url } = await serve(
      (_heard, response) => reply(response, 200, approval),
      () => (connections += 1),
    );
    const bank = open(url);
    for (let times = 0; times < 10; times++) await bank.send(authorise());
    // The next message may leave before the previous one has ended, so there can be two.
    expect(connections).toBeLessThanOrEqual(2);
  });

  test('for an inquiry is signed and has no body', async () => {
    const { url, heard } = await serve((_heard, response) => reply(response, 200, approval));
    await open(url).inquire({ operationId: 'inv1.1.a', terminal });
    const [{ method, url: target, headers, body }] = heard as [Heard];
    expect([method, target, body]).toEqual(['GET', '/operations/inv1.1.a', '']);
    const signed = { method, target, body: Buffer.alloc(0) };
    expect(isSigned(secret, signed, String(headers['mandate-bank-signature']), nowSeconds())).toBe(true);
  });
});

describe('the outcome is notSent when', () => {
  test('no server listens', async () => {
    const bank = open(nowhere);
    expect(await bank.send(authorise())).toEqual({
      outcome: 'notSent',
      why: 'ECONNREFUSED',
      noBytesSent: true,
    });
    expect(await bank.inquire({ operationId: 'inv1.1.a', terminal })).toEqual({
      outcome: 'unknown',
      why: 'ECONNREFUSED',
    });
  });

  test('the host name of the bank is unknown', async () => {
    const bank = open('http://bank.invalid', { allowPlainHttp: true });
    expect((await bank.send(authorise())).outcome).toBe('notSent');
  });

  test('the server does not use TLS', async () => {
    const server = createTcpServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const url = (await listen(server)).replace('http:', 'https:');
    expect((await open(url).send(authorise())).outcome).toBe('notSent');
  });

  test('a connection was free only after the operation may begin', async () => {
    const waiting: ServerResponse[] = [];
    const { url, heard } = await serve((_heard, response) => {
      if (heard.length > 200) reply(response, 200, approval);
      else waiting.push(response);
    });
    let givenBack = 0;
    const returnCode = async () => void (givenBack += 1);
    const detokeniseCard = () => Promise.resolve({ ...card, returnCode });
    const ticking = testClock();
    const bank = open(url, { clock: ticking, detokeniseCard });
    const notAfter = laterBy(ticking.now(), 180_000);
    const inTime = Array.from({ length: 200 }, () => bank.send(authorise({ notAfter })));
    await eventually(async () => heard.length === 200 || undefined, waitMs, '200 at work');
    const late = bank.send(authorise({ operationId: 'inv2.1.a', notAfter }));
    // An inquiry has no such time, so it is sent.
    const inquiry = bank.inquire({ operationId: 'inv1.1.a', terminal });
    // By then both wait for a connection.
    await new Promise(setImmediate);
    ticking.advance(180_000);
    for (const response of waiting) reply(response, 200, approval);
    expect(await late).toEqual({
      outcome: 'notSent',
      why: 'its time to be sent has passed',
      turnedAway: true,
    });
    expect(givenBack).toBe(1);
    expect((await Promise.all([...inTime, inquiry])).every(({ outcome }) => outcome === 'approved')).toBe(
      true,
    );
    expect(heard.map(({ url: target }) => target)).not.toContain('/operations/inv2.1.a');
  });

  test.each(kinds)('it is too late for a %s right before its first byte', async (kind) => {
    const { url, heard } = await serve((_heard, response) => reply(response, 200, approval));
    const bank = open(url);
    let asked = 0;
    const isTooLate = () => (asked += 1) > 0;
    const answer = await bank.send(
      { ...authorise(), ...restOf[kind] } as BankOperation,
      undefined,
      isTooLate,
    );
    expect(answer).toMatchObject({ outcome: 'notSent', turnedAway: true });
    expect([asked, heard]).toEqual([1, []]);
  });

  test('it was too late, and the bank still counts as well', async () => {
    const { url } = await serve((_heard, response) => reply(response, 200, approval));
    const bank = open(url);
    for (let times = 0; times < 20; times++) await bank.send(authorise(), undefined, () => true);
    expect(await bank.send(authorise())).toMatchObject({ outcome: 'approved' });
  });

  test('all connections were busy until the time limit', async () => {
    const waiting: ServerResponse[] = [];
    const { url, heard } = await serve((_heard, response) => void waiting.push(response));
    const bank = open(url, { timeouts: { ...patient, answerMs: 150 } });
    const initiation = { by: 'merchant', reason: 'recurring' } as const;
    const waitingLong = Array.from({ length: 200 }, () => bank.send(authorise({ initiation })));
    await eventually(async () => heard.length === 200 || undefined, waitMs, '200 at work');

    const answer = await bank.send(authorise({ operationId: 'inv2.1.a' }));
    expect(answer).toEqual({
      outcome: 'notSent',
      why: 'no answer within 150 ms',
      noBytesSent: true,
    });
    for (const response of waiting) reply(response, 200, approval);
    expect((await Promise.all(waitingLong)).every(({ outcome }) => outcome === 'approved')).toBe(true);
    await bank.send(authorise());
    expect(
      heard.some(({ url }) => url.includes('inv2')),
      'the message was not sent later either',
    ).toBe(false);
  });

  test.each([
    [429, { error: 'notDone' }, { 'retry-after': '1' }, { notDone: true }],
    [503, { error: 'notDone' }, { 'retry-after': '1' }, { notDone: true }],
    [401, { error: 'unauthorised' }, {}, { isUnauthorised: true }],
  ])('the bank reports it with status %i', async (status, body, headers, said) => {
    const { url } = await serve((_heard, response) => reply(response, status, body, headers));
    const answer = await open(url).send(authorise());
    expect(answer).toEqual({ outcome: 'notSent', why: expect.any(String), ...said });
  });

  test('the card cannot be read, and the reason is not revealed', async () => {
    const { url, heard } = await serve((_heard, response) => reply(response, 200, approval));
    const detokeniseCard = () => Promise.reject(new Error(`no such card as ${card.number}`));
    const answer = await open(url, { detokeniseCard }).send(authorise());
    expect(answer).toEqual({ outcome: 'notSent', why: 'the card could not be read', notBuilt: true });
    expect(heard).toEqual([]);
  });

  test('the operation ID is not valid', async () => {
    const { url, heard } = await serve((_heard, response) => reply(response, 200, approval));
    for (const operationId of ['', '..', 'a/b', 'a b', 'x'.repeat(65)]) {
      expect((await open(url).send(authorise({ operationId }))).outcome).toBe('notSent');
      expect((await open(url).inquire({ operationId, terminal })).outcome).toBe('unknown');
    }
    expect(heard).toEqual([]);
  });
});

describe('the security code', () => {
  /** Counts how often the code was returned. */
  function counting() {
    let times = 0;
    const returnCode = async () => void (times += 1);
    return { detokeniseCard: () => Promise.resolve({ ...card, returnCode }), givenBack: () => times };
  }

  test('is returned when no server listens', async () => {
    const { detokeniseCard, givenBack } = counting();
    await open(nowhere, { detokeniseCard }).send(authorise());
    expect(givenBack()).toBe(1);
  });

  test('is not returned when there is no response', async () => {
    const { detokeniseCard, givenBack } = counting();
    const { url, heard } = await serve(() => {});
    await unanswered(heard, () => open(url, { detokeniseCard }).send(authorise()));
    expect([heard.length, givenBack()]).toEqual([1, 0]);
  });

  test.each<[string, (heard: Heard, response: ServerResponse) => void]>([
    ['the connection breaks', (_h, response) => void (response.socket as Socket).resetAndDestroy()],
    [
      'the bank is busy',
      (_h, response) => reply(response, 503, { error: 'notDone' }, { 'retry-after': '1' }),
    ],
    ['the bank rejects the signature', (_h, response) => reply(response, 401, { error: 'unauthorised' })],
    ['the bank approves', (_h, response) => reply(response, 200, approval)],
  ])('is not returned when %s', async (_when, answer) => {
    const { detokeniseCard, givenBack } = counting();
    const { url, heard } = await serve(answer);
    await open(url, { detokeniseCard }).send(authorise());
    expect([heard.length, givenBack()]).toEqual([1, 0]);
  });

  test('is not returned while a connection is still awaited', async () => {
    // The server accepts the connection but never answers the TLS handshake.
    const server = createTcpServer(() => {});
    const url = (await listen(server)).replace('http:', 'https:');
    const { detokeniseCard, givenBack } = counting();
    const timeouts = { ...patient, connectMs: 300, answerMs: 150 };
    const sending = open(url, { detokeniseCard, timeouts }).send(authorise());
    expect(givenBack()).toBe(0);
    expect(await sending).toMatchObject({ outcome: 'notSent', noBytesSent: true });
    expect(givenBack()).toBe(1);
  });

  test('that cannot be returned is lost, and the outcome does not change', async () => {
    const returnCode = () => Promise.reject(new Error(`no way to keep ${card.securityCode}`));
    const bank = open(nowhere, { detokeniseCard: () => Promise.resolve({ ...card, returnCode }) });
    expect(await bank.send(authorise())).toMatchObject({ outcome: 'notSent', noBytesSent: true });
    expect(JSON.stringify(logged.at(-1))).toContain('unused security code could not be returned');
    expect(JSON.stringify(logged.at(-1))).not.toContain(card.securityCode);
  });
});

describe('the outcome is unknown when', () => {
  const noResponse = 'there is no response';
  const halfResponse = 'the response stops in the middle';
  test.each<[string, (heard: Heard, response: ServerResponse) => void, isSilence?: true]>([
    [noResponse, () => {}, true],
    [halfResponse, (_h, response) => void response.writeHead(200).write('{"operationId":'), true],
    ['the connection breaks', (_h, response) => void (response.socket as Socket).resetAndDestroy(), true],
    ['the connection ends', (_h, response) => void response.socket?.end(), true],
    [
      'the response ends too early',
      (_h, response) => {
        response.writeHead(200, { 'content-length': '500' }).write('{');
        response.socket?.end();
      },
      true,
    ],
    ['the bank answers 500', (_h, response) => reply(response, 500, 'Internal Server Error')],
    ['a gateway answers 502', (_h, response) => reply(response, 502, '<html>Bad Gateway</html>')],
    ['a gateway answers 504', (_h, response) => reply(response, 504, 'Gateway Timeout'), true],
    [
      'a gateway answers 503',
      (_h, response) => reply(response, 503, 'no healthy upstream', { 'retry-after': '5' }),
    ],
    ['the bank answers with invalid JSON', (_h, response) => reply(response, 200, '{"outcome":"appro')],
    [
      'the bank answers about another operation',
      (_h, response) => reply(response, 200, { ...approval, operationId: 'x' }),
    ],
    [
      'the bank redirects the message',
      (_h, response) => reply(response, 307, '', { location: '/elsewhere' }),
    ],
    [
      'the bank knows the ID with other content',
      (_h, response) => reply(response, 409, { error: 'conflict' }),
    ],
    [
      'the response is endless',
      (_h, response) => {
        response.writeHead(200);
        const fill = () =>
          void (response.destroyed || response.write('x'.repeat(65_536), () => setImmediate(fill)));
        fill();
      },
    ],
    ['the response is not HTTP', (_h, response) => void response.socket?.end('SSH-2.0-OpenSSH_9.2\r\n')],
  ])('%s', async (when, answer, isSilence) => {
    const { url, heard } = await serve(answer);
    const bank = open(url);
    const isSilent = [noResponse, halfResponse].includes(when);
    const over = <T>(work: () => Promise<T>) => (isSilent ? unanswered(heard, work) : work());
    const why: unknown = expect.any(String);
    const unknown = { outcome: 'unknown', why, ...defined({ isSilence }) };
    expect(await over(() => bank.send(authorise()))).toEqual(unknown);
    const inquiry = () => bank.inquire({ operationId: 'inv1.1.a', terminal });
    expect(await over(inquiry)).toMatchObject({ outcome: 'unknown' });
    expect(heard.length, 'the message and the inquiry were sent once each').toBe(2);
  });
});

test('a response that is too long is aborted immediately', async () => {
  const { url } = await serve((_heard, response) => reply(response, 200, `"${'x'.repeat(140_000)}"`));
  expect(await open(url).send(authorise())).toEqual({
    outcome: 'unknown',
    why: 'the response exceeds 131072 bytes',
  });
});

test('a 400 is declined as a format error, and the log names the field', async () => {
  const { url } = await serve((_heard, response) =>
    reply(response, 400, { error: 'invalid', field: 'card.expiry' }),
  );
  expect(await open(url).send(authorise())).toEqual({ outcome: 'declined', network: 'bank', code: '30' });
  expect(JSON.stringify(logged.at(-1))).toContain('card.expiry');
});

test('a charge without the payer has a longer time limit', async () => {
  const { url, heard } = await serve(() => {});
  const unattendedAnswerMs = patient.answerMs + 1_000;
  const bank = open(url, { timeouts: { ...patient, unattendedAnswerMs } });
  const initiation = { by: 'merchant', reason: 'recurring' } as const;
  const silence = (ms: number) => ({
    outcome: 'unknown',
    why: `no answer within ${ms} ms`,
    isSilence: true,
  });
  const attended = await unanswered(heard, () => bank.send(authorise()));
  expect(attended).toEqual(silence(patient.answerMs));
  const send = () => bank.send(authorise({ initiation }));
  expect(await unanswered(heard, send, unattendedAnswerMs)).toEqual(silence(unattendedAnswerMs));
});

describe('the circuit breaker', () => {
  test('opens after 20 failures, does not use the security code, and closes when the bank is back', async () => {
    let isDown = true;
    const { url, heard } = await serve((_heard, response) =>
      isDown ? reply(response, 500, '') : reply(response, 200, approval),
    );
    let revealed = 0;
    const bank = open(url, { detokeniseCard: () => Promise.resolve((revealed += 1)).then(() => card) });
    for (let times = 0; times < 20; times++) await bank.send(authorise());
    expect(await bank.send(authorise())).toEqual({
      outcome: 'notSent',
      why: 'the circuit to the bank is open',
      noBytesSent: true,
    });
    expect(await bank.inquire({ operationId: 'inv1.1.a', terminal })).toMatchObject({ outcome: 'unknown' });
    expect([heard.length, revealed]).toEqual([20, 20]);

    isDown = false;
    clock.advance(15_000);
    expect((await bank.send(authorise())).outcome).toBe('approved');
    expect((await bank.send(authorise())).outcome).toBe('approved');
  });

  test('is not opened by declines, conflicts or notFound', async () => {
    const answers: [number, object][] = [
      [200, { operationId: 'inv1.1.a', outcome: 'declined', network: 'visa', code: '91' }],
      [409, { error: 'conflict' }],
      [404, { operationId: 'inv1.1.a', outcome: 'notFound' }],
    ];
    const { url, heard } = await serve(({ method }, response) => {
      const [status, body] = answers[method === 'GET' ? 2 : heard.length % 2]!;
      reply(response, status, body);
    });
    const bank = open(url);
    for (let times = 0; times < 40; times++) await bank.send(authorise());
    for (let times = 0; times < 40; times++) await bank.inquire({ operationId: 'inv1.1.a', terminal });
    expect(heard.length).toBe(80);
  });
});

describe('a callback', () => {
  const bank = () => open('http://127.0.0.1:1');
  const body = Buffer.from('{"operationId":"inv1.1.a"}');
  const target = '/prefix/bank/callbacks/one?a=1';
  const signed = (parts: { secret?: string; target?: string; body?: Buffer; seconds?: number } = {}) => ({
    'mandate-bank-signature': sign(
      parts.secret ?? secret,
      { method: 'POST', target: parts.target ?? target, body: parts.body ?? body },
      parts.seconds ?? nowSeconds(),
    ),
  });

  test('from the bank names an operation', () =>
    expect(bank().verifyCallback(signed(), body)).toBe('inv1.1.a'));

  test('is ignored unless this bank signed this address, body and time', () => {
    for (const headers of [
      {},
      { 'mandate-bank-signature': ['a', 'b'] },
      signed({ secret: 'the secret of another bank is this.' }),
      signed({ target: '/prefix/bank/callbacks/two?a=1' }),
      signed({ body: Buffer.from('{}') }),
      signed({ seconds: nowSeconds() - 301 }),
    ]) {
      expect(bank().verifyCallback(headers, body)).toBeUndefined();
    }
  });

  test('is ignored when it is signed but names no operation', () => {
    for (const text of ['', '{}', 'null', '{"operationId":1}', '{"operationId":"a/b"}', '[]', '{']) {
      const odd = Buffer.from(text);
      expect(bank().verifyCallback(signed({ body: odd }), odd)).toBeUndefined();
    }
  });
});

describe('a bank adapter is refused', () => {
  test.each([
    ['with http on another machine', { url: 'http://bank.example' }, 'https'],
    ['with a query in its address', { url: 'https://bank.example/?a=1' }, 'query'],
    ['with a secret that is too short', { secret: 'short' }, 'at least 32'],
  ])('%s', (_how, options, complaint) => {
    expect(() => open('https://bank.example', options)).toThrow(new RegExp(complaint));
  });
});

test('with the simulated bank, a payment is authorised, queried, repeated and reversed', async () => {
  const simulated = await startBank({ secret, clock });
  const bank = open(simulated.url);
  const first = await bank.send(authorise());
  expect(first).toMatchObject({ outcome: 'approved', eci: '05', networkTransactionId: expect.any(String) });
  expect(await bank.inquire({ operationId: 'inv1.1.a', terminal })).toEqual(first);
  expect(await bank.send(authorise())).toEqual(first);
  expect(await bank.inquire({ operationId: 'inv1.2.a', terminal })).toEqual({ outcome: 'notFound' });
  const reversal = {
    kind: 'reverse',
    operationId: 'inv1.1.r',
    terminal,
    originalOperationId: 'inv1.1.a',
  } as const;
  expect((await bank.send(reversal)).outcome).toBe('approved');
  expect((await simulated.book()).map(({ sign }) => sign)).toEqual([1, -1]);
  expect(outcomeOf((await simulated.get('inv1.1.a')).body)).toBe('approved');
});

test('no outcome and no log line of these tests contains card data', () => {
  const text = JSON.stringify(logged);
  expect(logged.length).toBeGreaterThan(0);
  for (const part of [card.number, card.securityCode, card.holder]) expect(text).not.toContain(part);
});
