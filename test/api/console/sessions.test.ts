// Entering the console: a link works once and for ten minutes, its session until it is idle, old or ended.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { defined } from '../../../src/defined.ts';
import { startTestService, type Merchant, type TestService } from '../../support/service/test-service.ts';

const minuteMs = 60_000;
const sessionUrl = '/console/api/session';
const own = { 'sec-fetch-site': 'same-origin' };

let service: TestService;
let merchant: Merchant;
beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
});
afterAll(() => service.close());

async function link(): Promise<{ id: string; credential: string }> {
  return service.consoleSessions.makeLink({ kind: 'party', partyId: merchant.partyId }, 'ada@desk');
}
const use = (credential: string, headers: Record<string, string | undefined> = own) =>
  service.call('POST', sessionUrl, { body: { link: credential }, headers });
async function enter(): Promise<{ id: string; cookie: string }> {
  const { id, credential } = await link();
  const { status, headers } = await use(credential);
  expect(status).toBe(200);
  return { id, cookie: String(headers['set-cookie']).split(';')[0] ?? '' };
}
const look = (cookie?: string, headers: Record<string, string> = {}) =>
  service.call('GET', sessionUrl, { headers: { ...own, ...headers, ...defined({ cookie }) } });

describe('a link', () => {
  test('opens a session of its party, once', async () => {
    const { credential } = await link();
    const first = await use(credential);
    expect(first).toMatchObject({ status: 200, body: { mode: 'test' } });
    expect(String(first.headers['set-cookie'])).toMatch(
      /^mandate-console-test=[0-9A-Za-z]{12}\.[0-9A-Za-z]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(await use(credential)).toMatchObject({ status: 410, body: { code: 'linkUnusable' } });
  });

  test('opens one session if two use it at the same time', async () => {
    const { credential } = await link();
    const statuses = (await Promise.all([use(credential), use(credential), use(credential)])).map(
      ({ status }) => status,
    );
    expect(statuses.toSorted()).toEqual([200, 410, 410]);
  });

  test('is not used up by a look at its address', async () => {
    const { credential } = await link();
    expect((await service.call('GET', `/console/enter#${credential}`)).status).toBe(200);
    expect((await service.call('GET', `/console/enter`)).status).toBe(200);
    expect((await use(credential)).status).toBe(200);
  });

  test('works for ten minutes', async () => {
    const [early, late] = [await link(), await link()];
    service.clock.advance(10 * minuteMs - 1);
    expect((await use(early.credential)).status).toBe(200);
    service.clock.advance(1);
    expect((await use(late.credential)).status).toBe(410);
  });

  test('that was ended before does not work', async () => {
    const { id, credential } = await link();
    expect(await service.consoleSessions.end(id)).toBe(true);
    expect((await use(credential)).status).toBe(410);
  });

  test.each(['', 'x', '{}', 'AAAAAAAAAAAA.AAAA', `AAAAAAAAAAAA.${'A'.repeat(43)}`, 'A'.repeat(900)])(
    'that is made up does not work: %s',
    async (credential) => expect((await use(credential)).status).toBe(410),
  );

  test('with another secret does not work, and stays usable', async () => {
    const { id, credential } = await link();
    expect((await use(`${id}.${'A'.repeat(43)}`)).status).toBe(410);
    expect((await use(credential)).status).toBe(200);
  });

  test.each([
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
    [{ 'sec-fetch-site': 'none' }],
    [{ origin: 'https://evil.example' }],
    [{}],
  ])('is refused from another site: %j', async (headers) => {
    const { credential } = await link();
    expect(await use(credential, headers)).toMatchObject({ status: 403, body: { code: 'otherSite' } });
    expect((await use(credential)).status).toBe(200);
  });

  test('works from a page at a plain address', async () => {
    const { credential } = await link();
    const plain = { origin: 'http://mandate.lan:8080', host: 'mandate.lan:8080' };
    expect((await use(credential, plain)).status).toBe(200);
  });
});

test('a body that is larger than a link is not read', async () => {
  const { cookie } = await enter();
  for (const path of [sessionUrl, `${sessionUrl}/end`]) {
    const answer = await service.call('POST', path, { body: 'x'.repeat(1_001), headers: { ...own, cookie } });
    expect(answer.status).toBe(413);
  }
  expect((await look(cookie)).status).toBe(200);
});

describe('a session', () => {
  test('says whose pages it shows', async () => {
    const { cookie } = await enter();
    const { status, body, headers } = await look(cookie);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      mode: 'test',
      isOperator: false,
      party: { id: merchant.partyId, name: 'Merchant' },
    });
    expect(headers['access-control-allow-origin']).toBeUndefined();
    expect(headers['cache-control']).toBe('no-store');
  });

  test('ends after 15 minutes without use', async () => {
    const { cookie } = await enter();
    service.clock.advance(15 * minuteMs - 1);
    expect((await look(cookie)).status).toBe(200);
    service.clock.advance(15 * minuteMs - 1);
    expect((await look(cookie)).status).toBe(200);
    service.clock.advance(15 * minuteMs);
    const over = await look(cookie);
    expect(over).toMatchObject({ status: 401, body: { code: 'sessionEnded' } });
    // It may be late, and the browser may have a newer session by now.
    expect(over.headers['set-cookie']).toBeUndefined();
  });

  test('is written once a minute, however often it is used', async () => {
    const { id, cookie } = await enter();
    const seenAt = async () =>
      (await service.consoleSessions.list()).find(({ sessionId }) => sessionId === id)?.seenAt;
    const opened = await seenAt();
    service.clock.advance(minuteMs - 1);
    await look(cookie);
    expect(await seenAt()).toBe(opened);
    service.clock.advance(1);
    await look(cookie);
    expect(await seenAt()).toBe(service.clock.now());
  });

  test('ends after 12 hours of use', async () => {
    const { cookie } = await enter();
    for (let minutes = 0; minutes < 12 * 60 - 10; minutes += 10) {
      service.clock.advance(10 * minuteMs);
      expect((await look(cookie)).status).toBe(200);
    }
    service.clock.advance(10 * minuteMs);
    expect((await look(cookie)).status).toBe(401);
  });

  test('ends when a person leaves, or an operator ends it', async () => {
    const [left, ended] = [await enter(), await enter()];
    const headers = { ...own, cookie: left.cookie };
    const leave = () => service.call('POST', `${sessionUrl}/end`, { headers });
    const gone = await leave();
    expect(gone.status).toBe(204);
    expect(String(gone.headers['set-cookie'])).toContain('Max-Age=0');
    expect((await leave()).status).toBe(401);
    expect((await look(left.cookie)).status).toBe(401);
    await service.consoleSessions.end(ended.id);
    expect((await look(ended.cookie)).status).toBe(401);
  });

  test('ends once another takes its place in the browser', async () => {
    const [old, other] = [await enter(), await enter()];
    const made = await link();
    expect((await use(made.credential, { ...own, cookie: old.cookie })).status).toBe(200);
    expect((await look(old.cookie)).status).toBe(401);
    expect((await use('x', { ...own, cookie: other.cookie })).status).toBe(410);
    expect((await look(other.cookie)).status).toBe(200);
  });

  test('leaves its ID in the log of each request', async () => {
    const from = service.logged.length;
    const { id, credential } = await service.consoleSessions.makeLink({ kind: 'operator' }, 'ada@desk');
    const { headers } = await use(credential);
    const cookie = String(headers['set-cookie']).split(';')[0] ?? '';
    const lines = () => service.logged.slice(from).map((line) => JSON.parse(line) as Record<string, unknown>);
    for (const path of ['/session', '/operator/banks']) {
      const before = lines().length;
      await service.call('GET', `/console/api${path}`, { headers: { ...own, cookie } });
      const requests = lines()
        .slice(before)
        .filter(({ msg }) => msg === 'request');
      expect(requests).toMatchObject([{ consoleSession: id, operation: 'console' }]);
    }
  });

  test('is not begun by its link, nor by a made-up secret', async () => {
    const { id, credential } = await link();
    await use(credential);
    const cookieOf = (text: string) => `mandate-console-test=${text}`;
    expect((await look(cookieOf(credential))).status).toBe(401);
    expect((await look(cookieOf(`${id}.${'A'.repeat(43)}`))).status).toBe(401);
    expect((await look()).status).toBe(401);
  });

  test('is not shown to another site', async () => {
    const { cookie } = await enter();
    expect((await look(cookie, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    const headers = { cookie, origin: 'https://evil.example' };
    expect((await service.call('POST', `${sessionUrl}/end`, { headers })).status).toBe(403);
    expect((await look(cookie)).status).toBe(200);
  });

  test('is stored without its secrets, logged without them, and deleted after 30 days', async () => {
    const { id, credential } = await link();
    const { headers } = await use(credential);
    const cookie = String(headers['set-cookie']);
    const secrets = [credential, cookie].map((text) => /\.([0-9A-Za-z]{43})/.exec(text)?.[1] ?? '');
    const stored = () =>
      service.testDatabase.database.withClient(async (client) => {
        const { rows } = await client.query('select * from console_session where session_id = $1', [id]);
        return rows as Record<string, unknown>[];
      });
    expect(await stored()).toMatchObject([{ made_by: 'ada@desk', party_id: merchant.partyId }]);
    const everywhere = JSON.stringify(await stored()) + service.logged.join('\n');
    for (const secret of secrets) expect(everywhere).not.toContain(secret);
    expect(service.logged.join('\n')).toContain('"console session opened"');
    const day = 24 * 60 * minuteMs;
    service.clock.advance(30 * day);
    await service.consoleSessions.purge();
    expect(await stored()).toHaveLength(1);
    service.clock.advance(1);
    await service.consoleSessions.purge();
    expect(await stored()).toEqual([]);
  });
});

test('a live console has a cookie of its own, which a browser keeps only from https', async () => {
  const live = await startTestService({
    MANDATE_MODE: 'live',
    PUBLIC_URL: 'https://pay.example',
    BANK_SECRET: 'a secret of the tests that is long enough',
  });
  try {
    const { partyId } = await live.createMerchant();
    const { credential } = await live.consoleSessions.makeLink({ kind: 'party', partyId }, 'ada@desk');
    const opened = await live.call('POST', sessionUrl, { body: { link: credential }, headers: own });
    expect(opened).toMatchObject({ status: 200, body: { mode: 'live' } });
    const cookie = String(opened.headers['set-cookie']);
    expect(cookie).toMatch(/^__Host-mandate-console-live=.*; Path=\/; HttpOnly; SameSite=Strict; Secure$/);
    const [named = ''] = cookie.split(';');
    expect((await live.call('GET', sessionUrl, { headers: { ...own, cookie: named } })).status).toBe(200);
    const renamed = named.replace('__Host-', '');
    expect((await live.call('GET', sessionUrl, { headers: { ...own, cookie: renamed } })).status).toBe(401);
  } finally {
    await live.close();
  }
});

test('a live console opens no link at a plain address of a network', async () => {
  const statusAt = async (publicUrl: string) => {
    const live = await startTestService({
      MANDATE_MODE: 'live',
      PUBLIC_URL: publicUrl,
      BANK_SECRET: 'a secret of the tests that is long enough',
    });
    try {
      const { partyId } = await live.createMerchant();
      const { credential } = await live.consoleSessions.makeLink({ kind: 'party', partyId }, 'ada@desk');
      const { status, headers } = await live.call('POST', sessionUrl, {
        body: { link: credential },
        headers: own,
      });
      return { status, hasCookie: headers['set-cookie'] !== undefined };
    } finally {
      await live.close();
    }
  };
  expect(await statusAt('http://pay.example')).toEqual({ status: 403, hasCookie: false });
  expect(await statusAt('http://127.0.0.1:8080')).toEqual({ status: 200, hasCookie: true });
});

describe('once there are too many made-up links and sessions', () => {
  const madeUp = `mandate-console-test=AAAAAAAAAAAA.${'A'.repeat(43)}`;
  let limited: TestService;
  let good: string;
  const lookAs = (cookie: string) => limited.call('GET', sessionUrl, { headers: { ...own, cookie } });
  const openLink = async () => {
    const { partyId } = await limited.createMerchant();
    const { credential } = await limited.consoleSessions.makeLink({ kind: 'party', partyId }, 'ada@desk');
    return limited.call('POST', sessionUrl, { body: { link: credential }, headers: own });
  };
  beforeAll(async () => {
    limited = await startTestService({ FAILED_AUTHENTICATIONS_PER_MINUTE: '1' });
    good = String((await openLink()).headers['set-cookie']).split(';')[0] ?? '';
  });
  afterAll(() => limited.close());

  test('more are refused unread, also those at the same time', async () => {
    const find = vi.spyOn(limited.consoleSessions, 'find');
    const answers = await Promise.all(Array.from({ length: 5 }, () => lookAs(madeUp)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([401, 429, 429, 429, 429]);
    expect(find).toHaveBeenCalledTimes(1);
    const late = await openLink();
    expect(late).toMatchObject({ status: 429, body: { code: 'tooManyRequests' } });
    expect(Number(late.headers['retry-after'])).toBeGreaterThan(0);
  });

  test('an open session keeps working until it ends', async () => {
    expect((await lookAs(good)).status).toBe(200);
    await limited.consoleSessions.end(/=(\w+)\./.exec(good)?.[1] ?? '');
    expect((await lookAs(good)).status).toBe(401);
    expect((await lookAs(good)).status).toBe(429);
  });
});

test.each(['/session', '/operator/banks', '/v2/processing/shops'])(
  'a session that asks too often is refused before the database is asked: %s',
  async (path) => {
    const limited = await startTestService({ REQUESTS_PER_SECOND: '1' });
    try {
      const { partyId } = await limited.createMerchant();
      const { credential } = await limited.consoleSessions.makeLink(
        { kind: 'operator', partyId },
        'ada@desk',
      );
      const opened = await limited.call('POST', sessionUrl, { body: { link: credential }, headers: own });
      const headers = { ...own, cookie: String(opened.headers['set-cookie']).split(';')[0] ?? '' };
      const find = vi.spyOn(limited.consoleSessions, 'find');
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => limited.call('GET', `/console/api${path}`, { headers })),
      );
      const passed = answers.filter(({ status }) => status === 200).length;
      const refused = answers.filter(({ status }) => status === 429);
      expect(passed).toBeGreaterThan(0);
      expect(passed + refused.length).toBe(20);
      expect(refused[0]).toMatchObject({ body: { code: 'tooManyRequests' } });
      expect(find).toHaveBeenCalledTimes(passed);
    } finally {
      await limited.close();
    }
  },
);
