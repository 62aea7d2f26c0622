// Bytes on a real socket that no HTTP client would send. After any of them, the next honest request gets its response.
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { RequestDeadline } from '../../../src/platform/http/request/request-deadline.ts';
import { makeInvoice } from '../../support/worlds/invoices.ts';
import { startTestService, type Merchant, type TestService } from '../../support/service/test-service.ts';

let service: TestService;
let merchant: Merchant;
let port: number;

beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
  port = Number(new URL(await service.app.listen({ host: '127.0.0.1', port: 0 })).port);
});
afterAll(() => service.close());

/** Sends the bytes and reads until the other side hangs up or has sent what is waited for; then sends more, if there is more. */
function talk(
  bytes: string | Buffer,
  enough: (heard: string) => boolean = () => false,
  more?: { readonly when: RegExp; readonly then: string },
): Promise<string> {
  return new Promise((resolve, reject) => {
    let heard = '';
    let isMoreToSay = more !== undefined;
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    const end = () => {
      socket.destroy();
      resolve(heard);
    };
    socket.setTimeout(20_000, () => reject(new Error(`nothing followed after ${JSON.stringify(heard)}`)));
    socket.on('data', (chunk: Buffer) => {
      heard += chunk.toString('latin1');
      if (enough(heard)) return end();
      if (!isMoreToSay || !more?.when.test(heard)) return;
      isMoreToSay = false;
      socket.write(more.then);
    });
    socket.on('close', end);
    // A server may hang up while the client still sends.
    socket.on('error', end);
  });
}

const count = (text: string, part: RegExp) => text.match(part)?.length ?? 0;
const head = (line: string, ...headers: string[]) => [line, 'Host: x', ...headers, '', ''].join('\r\n');
const asMerchant = () => [`Authorization: Bearer ${merchant.apiKey}`, 'X-Request-ID: raw'];
const getMe = (...headers: string[]) => head('GET /v2/processing/me HTTP/1.1', ...asMerchant(), ...headers);

async function expectAlive(): Promise<void> {
  const answer = await talk(getMe('Connection: close'));
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(answer).toContain(merchant.partyId);
}

test('pipelined requests get their responses in order', async () => {
  const ids = Array.from({ length: 50 }, (_, index) => `pipelined-${index}`);
  const requests = ids.map((id) => getMe().replace('X-Request-ID: raw', `X-Request-ID: ${id}`));
  const answers = await talk(
    requests.join(''),
    (heard) => count(heard, /HTTP\/1\.1 /g) === 50 && heard.endsWith('}'),
  );
  expect([...answers.matchAll(/x-request-id: (\S+)/gi)].map(([, id]) => id)).toEqual(ids);
  expect(count(answers, /HTTP\/1\.1 200 OK/g)).toBe(50);
});

test('a body slower than its deadline gets 504, and the connection works once it has arrived', async () => {
  const start = head(
    'POST /v2/processing/invoices HTTP/1.1',
    ...asMerchant(),
    'X-Request-Deadline: 100ms',
    'Content-Type: application/json',
    'Content-Length: 100',
  );
  expect(await talk(`${start}{`, (heard) => heard.includes('\r\n\r\n'))).toMatch(/^HTTP\/1\.1 504 /);
  const rest = `${' '.repeat(98)}}${getMe('Connection: close')}`;
  const both = await talk(`${start}{`, undefined, { when: /^HTTP\/1\.1 504 [^]*\r\n\r\n/, then: rest });
  expect([...both.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['504', '200']);
  await expectAlive();
});

test('the deadline of a caller that hangs up ends immediately', async () => {
  const ended = vi.spyOn(RequestDeadline.prototype, 'end');
  try {
    const start = head(
      'POST /v2/processing/invoices HTTP/1.1',
      ...asMerchant(),
      'Expect: 100-continue',
      'Content-Type: application/json',
      'Content-Length: 100',
    );
    // The caller gets the interim response for its body, and does not send it.
    expect(await talk(start, (heard) => heard.includes('\r\n\r\n'))).toMatch(/^HTTP\/1\.1 100 /);
    await expect.poll(() => ended.mock.calls.length, { timeout: 30_000 }).toBeGreaterThan(0);
  } finally {
    ended.mockRestore();
  }
});

test('a body in chunks is put together', async () => {
  const body = JSON.stringify({
    shopID: 'TEST',
    dueDate: '2030-01-20T10:00:00Z',
    amount: 1,
    currency: 'RUB',
    product: '€',
  });
  const bytes = [...Buffer.from(body)].map((byte) =>
    Buffer.concat([Buffer.from('1\r\n'), Buffer.from([byte]), Buffer.from('\r\n')]),
  );
  const start = head(
    'POST /v2/processing/invoices HTTP/1.1',
    ...asMerchant(),
    'Content-Type: application/json',
    'Transfer-Encoding: chunked',
    'Connection: close',
  );
  const answer = await talk(Buffer.concat([Buffer.from(start), ...bytes, Buffer.from('0\r\n\r\n')]));
  expect(answer).toMatch(/^HTTP\/1\.1 201 /);
  expect(Buffer.from(answer, 'latin1').toString()).toContain('"product":"€"');
});

describe('no request is served, and the server stays up, for', () => {
  test.each<[string, string | Buffer]>([
    ['bytes without sense', Buffer.from([0, 255, 254, 1, 2, 3, 10, 13, 10, 10])],
    ['a TLS greeting', Buffer.from('16030100c4010000c00303', 'hex')],
    ['HTTP/2 without asking', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a request line alone', 'GET\r\n\r\n'],
    ['an unknown version', head('GET / HTTP/9.9')],
    ['an unknown method', head('STEAL /v2/processing/me HTTP/1.1')],
    ['a request without a host', 'GET /v2/processing/me HTTP/1.1\r\n\r\n'],
    ['a space in a header name', head('GET / HTTP/1.1', 'X Request ID: 1')],
    ['a NUL in a header', head('GET / HTTP/1.1', 'X-Request-ID: a\0b')],
    ['a bare line feed in a header', head('GET / HTTP/1.1', 'X-Request-ID: a\nb')],
    ['a folded header', head('GET / HTTP/1.1', 'X-Request-ID: a', ' b')],
    ['two lengths', head('POST / HTTP/1.1', 'Content-Length: 1', 'Content-Length: 2') + 'ab'],
    ['a negative length', head('POST / HTTP/1.1', 'Content-Length: -1')],
    [
      'a length and chunks',
      head('POST / HTTP/1.1', 'Content-Length: 5', 'Transfer-Encoding: chunked') + '0\r\n\r\n',
    ],
    [
      'chunks of no size',
      head('POST /v2/processing/invoices HTTP/1.1', 'Transfer-Encoding: chunked') + 'XYZ\r\n',
    ],
    ['an encoding it does not have', head('POST / HTTP/1.1', 'Transfer-Encoding: gzip')],
    ['a head of 100 KB', head('GET /v2/processing/me HTTP/1.1', `X-Much: ${'x'.repeat(100_000)}`)],
    ['a URL of 100 KB', head(`GET /${'x'.repeat(100_000)} HTTP/1.1`)],
    [
      'ten thousand headers',
      head('GET / HTTP/1.1', ...Array.from({ length: 10_000 }, (_, n) => `X-${n}: ${n}`)),
    ],
    ['a tunnel', head('CONNECT example.com:443 HTTP/1.1')],
  ])('%s', async (_, bytes) => {
    const answer = await talk(bytes, (heard) => heard.includes('\r\n\r\n'));
    if (answer !== '') expect(answer).toMatch(/^HTTP\/1\.1 (4\d\d|501|505) /);
    // The response must not reveal what the server is made of.
    expect(answer).not.toMatch(/fastify|node|HPE_|at .*\.[jt]s/i);
    // An error that has a message also says what to do.
    expect(answer).not.toMatch(/"message":"[^".]*\.?"/);
    await expectAlive();
  });

  test('a body above the limit, whatever length it declares', async () => {
    const post = (...headers: string[]) =>
      head(
        'POST /v2/processing/invoices HTTP/1.1',
        ...asMerchant(),
        'Content-Type: application/json',
        ...headers,
      );
    expect(await talk(post('Content-Length: 99999999999'))).toMatch(/^HTTP\/1\.1 413 /);
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
    expect(await talk(post('Transfer-Encoding: chunked') + chunk.repeat(8))).toMatch(/^HTTP\/1\.1 413 /);
    await expectAlive();
  });

  test('a hundred callers that hang up in the middle', async () => {
    const half =
      head('POST /v2/processing/invoices HTTP/1.1', ...asMerchant(), 'Content-Length: 100') + '{"a":';
    await Promise.all(
      Array.from(
        { length: 100 },
        () =>
          new Promise<void>((resolve) => {
            const socket = connect(port, '127.0.0.1', () => socket.write(half, () => socket.destroy()));
            socket.on('close', () => resolve());
            socket.on('error', () => resolve());
          }),
      ),
    );
    await expectAlive();
    expect(service.logged.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });
});

describe('a request that names its whole URL', () => {
  const says = async (line: string, ...headers: string[]) => {
    const answer = await talk(head(`${line} HTTP/1.1`, ...headers, 'Connection: close'));
    return { status: Number(answer.split(' ')[1]), allow: /^allow: (.*)\r$/im.exec(answer)?.[1], answer };
  };

  test.each([
    'http://shop.example/v2/processing/me',
    'http://shop.example:8080/v1/processing/me?x=1',
    'HTTPS://shop.example/v2/processing/me',
    'http://[::1]:80/%761/processing/me',
  ])('gets the response of its path: %s', async (address) => {
    const { status, answer } = await says(`GET ${address}`, ...asMerchant());
    expect(status).toBe(200);
    expect(answer).toContain(merchant.partyId);
    expect(await says(`DELETE ${address}`, ...asMerchant())).toMatchObject({ status: 405, allow: 'GET' });
  });

  test.each([
    ['http://shop.example', 302],
    ['http://shop.example/nothing', 404],
    ['http://shop.example//v2/processing/me', 404],
    ['http:/v2/processing/me', 400],
    ['ftp://shop.example/v2/processing/me', 404],
  ])('%s gets %i', async (address, status) => {
    expect((await says(`GET ${address}`, ...asMerchant())).status).toBe(status);
  });
});

test('an HTTP/1.0 client gets a response and is disconnected', async () => {
  const answer = await talk(getMe().replace('HTTP/1.1', 'HTTP/1.0'));
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
});

test('a caller may take 30 s for its headers, and late ones are looked for every second', () => {
  // Without a setting Node looks every 30 s, so that a caller would have 60.
  const expected = { headersTimeout: 30_000, requestTimeout: 30_000, connectionsCheckingInterval: 1_000 };
  expect(service.app.server).toMatchObject(expected);
});

test('a node has 4,000 connections at most', () => {
  expect(service.app.server.maxConnections).toBe(4_000);
});

test('a body in chunks above 32 KiB is refused with an access token', async () => {
  const { id, token } = await makeInvoice(service, merchant);
  const start = head(
    `POST /v2/processing/invoices/${id}/payments HTTP/1.1`,
    `Authorization: Bearer ${token}`,
    'X-Request-ID: raw',
    'Content-Type: application/json',
    'Transfer-Encoding: chunked',
    'Connection: close',
  );
  const body = `{}${' '.repeat(32 * 1024)}`;
  const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  expect(await talk(start + chunk)).toMatch(/^HTTP\/1\.1 413 [^]*larger than 32 KiB/);
});
