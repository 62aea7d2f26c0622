// The payer on the issuer's pages: the challenge, the decision and the way back, by GET and POST.
// The outcome is what the bank reports to an inquiry and by callback.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openHttpBank } from '../../src/acquiring/adapters/http/http-bank.ts';
import { authorise, bankSecret, reverse, startBank, type TestBank } from '../support/bank/simulated-bank.ts';
import { waitMs } from '../../tools/tests/waits.ts';
import { eventually } from '../support/processes/program.ts';

const byPost = '4012888888881881';
const byGet = '4556418324571052';
const secondByPost = '4929172190150505';
const secondByGet = '4556724110260093';
const returnUrl = 'https://merchant.example/return?order=7';

type Page = {
  status: number;
  html: string;
  headers: Headers;
  fields: Record<string, string>;
  action: string;
};

async function pageOf(answer: Response): Promise<Page> {
  const html = await answer.text();
  const inputs = [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)];
  return {
    status: answer.status,
    html,
    headers: answer.headers,
    fields: Object.fromEntries(inputs.map(([, name, value]) => [name, unescape(value!)])),
    action: unescape(/<form [^>]*action="([^"]*)"/.exec(html)?.[1] ?? ''),
  };
}
const unescape = (text: string) =>
  text.replace(/&#(\d+);/g, (_all, code) => String.fromCharCode(Number(code)));

async function submit(
  url: string,
  fields: Record<string, string>,
): Promise<Page & { location: string | null }> {
  const answer = await fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
  return { ...(await pageOf(answer)), location: answer.headers.get('location') };
}

/** Opens the page as a browser does, from the bank's response. */
async function enter(body: any, changes: Record<string, string> = {}): Promise<Page> {
  const { interaction } = body;
  if (interaction.method === 'GET') return pageOf(await fetch(interaction.url));
  const fields = Object.fromEntries(interaction.form.map(({ name, value }: any) => [name, value]));
  return submit(interaction.url, { ...fields, ...changes });
}

async function challenge(bank: TestBank, number = byPost, changes: Parameters<typeof authorise>[0] = {}) {
  const { body } = await bank.put('a', authorise({ returnUrl, ...changes }, number));
  const page = await enter(body);
  const decide = (decision: string, otp = '', different: Record<string, string> = {}) =>
    submit(new URL(page.action, `${bank.url}/issuer/challenge`).href, {
      ...page.fields,
      otp,
      decision,
      ...different,
    });
  return { body, page, decide };
}

describe('the request to the page', () => {
  test('of a POST card has the fields of 3-D Secure 1, with the return address', async () => {
    const { body } = await challenge(await startBank());
    const { method, url, form } = body.interaction;
    expect([method, new URL(url).pathname]).toEqual(['POST', '/issuer/challenge']);
    expect(form.map(({ name }: any) => name)).toEqual(['PaReq', 'MD', 'TermUrl']);
    expect(form[2].value).toBe(returnUrl);
  });

  test('of a 3-D Secure 2 card has a challenge request of that protocol', async () => {
    const { body } = await challenge(await startBank(), secondByPost);
    expect(body.interaction.form.map(({ name }: any) => name)).toEqual(['creq', 'threeDSSessionData']);
    const request = JSON.parse(Buffer.from(body.interaction.form[0].value, 'base64url').toString());
    expect(request).toMatchObject({ messageType: 'CReq', messageVersion: '2.2.0' });
    expect(request.acsTransID).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });

  test.each([byGet, secondByGet])('of GET card %s is a URL', async (number) => {
    const { body, page } = await challenge(await startBank(), number);
    expect(body.interaction.method).toBe('GET');
    expect(page.status).toBe(200);
  });
});

test('the page shows merchant and amount, works without JavaScript and escapes its content', async () => {
  const merchant = { id: 'SHOP', terminal: 'T1', descriptor: 'Tea & "Cake" <b>' };
  const { page } = await challenge(await startBank(), byPost, { merchant, amount: 123_456 });
  expect(page.html).toContain('Tea &#38; &#34;Cake&#34; &#60;b&#62;');
  expect(page.html).toContain('RUB');
  expect(page.html).toContain('1,234.56');
  expect(page.html).toContain('401288******1881');
  expect(page.html).not.toContain(byPost);
  expect(page.html).not.toContain('<script');
  expect(page.html).toContain('<label for="otp">');
  expect(page.html).toMatch(/<html lang="en">/);
  const policy = page.headers.get('content-security-policy');
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("form-action 'self' https://merchant.example");
  expect(policy).not.toContain('unsafe');
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect(page.headers.get('referrer-policy')).toBe('no-referrer');
});

describe('the payer', () => {
  test('confirms with the code and returns by POST; the payment is approved and in the report', async () => {
    const bank = await startBank();
    const { decide } = await challenge(bank);
    expect((await bank.get('a')).body.outcome).toBe('payerNeeded');
    const back = await decide('confirm', '1234');
    expect(back.action).toBe(returnUrl);
    expect(Object.keys(back.fields)).toEqual(['PaRes', 'MD']);
    expect(back.html).toContain('<button>Continue</button>');
    expect((await bank.get('a')).body).toMatchObject({ outcome: 'approved', eci: '05' });
    expect(await bank.book()).toMatchObject([{ operationId: 'a', sign: 1, amount: 6_000 }]);
  });

  test('returns by GET after arriving by GET', async () => {
    const bank = await startBank();
    const { decide } = await challenge(bank, byGet);
    expect(await decide('confirm', ' 1234 ')).toMatchObject({ status: 303, location: returnUrl });
    expect((await bank.get('a')).body.outcome).toBe('approved');
  });

  test('returns with a CRes and the session data in 3-D Secure 2', async () => {
    const bank = await startBank();
    const { body, decide } = await challenge(bank, secondByPost);
    const back = await decide('confirm', '1234');
    expect(Object.keys(back.fields)).toEqual(['cres', 'threeDSSessionData']);
    expect(back.fields['threeDSSessionData']).toBe(body.interaction.form[1].value);
  });

  test.each([
    ['refuses', 'refuse', 'declined', '3ds-failed'],
    ['cancels', 'cancel', 'declined', '3ds-not-finished'],
  ])('%s', async (_what, decision, outcome, code) => {
    const bank = await startBank();
    const { decide } = await challenge(bank);
    expect((await decide(decision)).action).toBe(returnUrl);
    expect((await bank.get('a')).body).toMatchObject({ outcome, code, network: 'visa' });
    expect(await bank.book()).toEqual([]);
  });

  test('has three tries for the code', async () => {
    const bank = await startBank();
    const { decide } = await challenge(bank);
    expect((await decide('confirm', '1111')).html).toContain('Tries left: 2');
    expect((await decide('confirm', '')).html).toContain('Tries left: 1');
    expect((await bank.get('a')).body.outcome).toBe('payerNeeded');
    expect((await decide('confirm', '12345')).action).toBe(returnUrl);
    expect((await bank.get('a')).body.code).toBe('3ds-failed');
  });

  test('cannot change the decision', async () => {
    const bank = await startBank();
    const { decide } = await challenge(bank);
    await decide('refuse');
    await decide('confirm', '1234');
    expect((await bank.get('a')).body.code).toBe('3ds-failed');
  });

  test('has 10 minutes', async () => {
    const bank = await startBank();
    const { decide } = await challenge(bank);
    bank.clock.advance(599_999);
    expect((await bank.get('a')).body.outcome).toBe('payerNeeded');
    bank.clock.advance(1);
    expect((await decide('confirm', '1234')).action).toBe(returnUrl);
    expect((await bank.get('a')).body.code).toBe('3ds-not-finished');
  });

  test('confirms nothing after a reversal', async () => {
    const bank = await startBank();
    const { decide } = await challenge(bank);
    expect(await bank.outcome('r', reverse('a'))).toBe('approved');
    await decide('confirm', '1234');
    expect((await bank.get('a')).body).toMatchObject({ outcome: 'declined', code: '3ds-not-finished' });
    expect(await bank.book()).toEqual([]);
  });

  test('gets the outcome of the amount after confirming', async () => {
    const bank = await startBank();
    const { decide } = await challenge(bank, byPost, { amount: 99_051 });
    await decide('confirm', '1234');
    expect((await bank.get('a')).body).toMatchObject({ outcome: 'declined', code: '51' });
  });
});

describe('the way back', () => {
  test('keeps a query that the page added to the return address', async () => {
    const bank = await startBank();
    const { body } = await bank.put('a', authorise({ returnUrl }, byPost));
    const longer = `${returnUrl}&termination_uri=https%3A%2F%2Fshop.example`;
    const page = await enter(body, { TermUrl: longer });
    const back = await submit(new URL(page.action, `${bank.url}/issuer/challenge`).href, {
      ...page.fields,
      decision: 'cancel',
    });
    expect(back.action).toBe(longer);
  });

  test('by GET passes on the termination_uri', async () => {
    const bank = await startBank();
    const { body } = await bank.put('a', authorise({ returnUrl }, byGet));
    const url = `${body.interaction.url}&termination_uri=https%3A%2F%2Fshop.example`;
    const page = await pageOf(await fetch(url));
    const back = await submit(new URL(page.action, `${bank.url}/issuer/challenge`).href, {
      ...page.fields,
      decision: 'cancel',
    });
    expect(back.location).toBe(`${returnUrl}&termination_uri=https%3A%2F%2Fshop.example`);
  });

  test.each([
    'https://evil.example/',
    `${returnUrl.replace('.example', '.example.evil')}`,
    'javascript:alert(1)',
  ])('never leads to %s', async (TermUrl) => {
    const bank = await startBank();
    const { body } = await bank.put('a', authorise({ returnUrl }, byPost));
    const page = await enter(body, { TermUrl });
    const back = await submit(new URL(page.action, `${bank.url}/issuer/challenge`).href, {
      ...page.fields,
      decision: 'cancel',
    });
    expect(back.action).toBe(returnUrl);
  });

  test('ends on the issuer’s page without a return address', async () => {
    const bank = await startBank();
    const { returnUrl: _none, ...message } = authorise({}, byPost);
    const { body } = await bank.put('a', message);
    const page = await enter(body);
    const back = await submit(new URL(page.action, `${bank.url}/issuer/challenge`).href, {
      ...page.fields,
      decision: 'cancel',
    });
    expect(back.html).toContain('You can close this window');
  });
});

test.each(['', 'x', '00000000-0000-4000-8000-000000000000', '../../etc/passwd', '<script>'])(
  'no challenge is found with the ticket %j',
  async (ticket) => {
    const bank = await startBank();
    await bank.put('a', authorise({}, byPost));
    const answers = [
      await pageOf(await fetch(`${bank.url}/issuer/challenge?ticket=${encodeURIComponent(ticket)}`)),
      await submit(`${bank.url}/issuer/decision`, { ticket, decision: 'confirm', otp: '1234' }),
      await submit(`${bank.url}/issuer/challenge`, { PaReq: ticket }),
      await submit(`${bank.url}/issuer/challenge`, {
        creq: Buffer.from(JSON.stringify(ticket)).toString('base64url'),
      }),
    ];
    for (const { status, html } of answers) {
      expect(status).toBe(404);
      expect(html).not.toContain('<script>');
    }
    expect((await bank.get('a')).body.outcome).toBe('payerNeeded');
  },
);

describe('the bank sends a callback', () => {
  async function listener(answer: (times: number) => number = () => 204) {
    const heard: { headers: IncomingMessage['headers']; body: Buffer; url: string }[] = [];
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { headers, url = '' } = request;
        heard.push({ headers, body: Buffer.concat(chunks), url });
        response.writeHead(answer(heard.length)).end();
      });
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close().closeAllConnections());
    return {
      heard,
      callbackUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/bank/callbacks/one`,
    };
  }

  test('after the payer’s decision, signed and with only the operation ID, which the adapter accepts', async () => {
    const bank = await startBank();
    const { heard, callbackUrl } = await listener();
    const { decide } = await challenge(bank, byPost, { callbackUrl });
    expect(heard).toEqual([]);
    await decide('confirm', '1234');
    const [{ headers, body, url }] = (await eventually(
      async () => heard[0] && heard,
      waitMs,
      'the callback',
    )) as [any];
    expect(url).toBe('/bank/callbacks/one');
    expect(JSON.parse(body.toString())).toEqual({ operationId: 'a' });
    const adapter = openHttpBank({
      url: bank.url,
      secret: bankSecret,
      clock: bank.clock,
      log: { warn: () => {} },
      detokeniseCard: () => Promise.reject(new Error('not needed')),
      callbackUrl,
    });
    onTestFinished(() => adapter.stop());
    expect(adapter.verifyCallback(headers, body)).toBe('a');
    expect(adapter.verifyCallback(headers, Buffer.from('{"operationId":"b"}'))).toBeUndefined();
  });

  test('and repeats it until the response is a 2xx', async () => {
    const bank = await startBank();
    const { heard, callbackUrl } = await listener((times) => (times === 1 ? 500 : 200));
    const { decide } = await challenge(bank, byPost, { callbackUrl });
    await decide('refuse');
    expect(await eventually(async () => heard[1]?.url, waitMs, 'the second callback')).toContain(
      '/bank/callbacks',
    );
  });

  test('automatically after 10 minutes without a decision', async () => {
    const bank = await startBank();
    const { heard, callbackUrl } = await listener();
    await challenge(bank, byPost, { callbackUrl });
    bank.clock.advance(600_000);
    await eventually(async () => heard.length === 1 || undefined, waitMs, 'the callback');
    expect((await bank.get('a')).body.code).toBe('3ds-not-finished');
  });

  test('twice for one special amount, and never for another', async () => {
    const bank = await startBank();
    const { heard, callbackUrl } = await listener();
    const lost = await bank.put('lost', authorise({ callbackUrl, amount: 99_926 }, byPost));
    const lostPage = await enter(lost.body);
    await submit(new URL(lostPage.action, `${bank.url}/issuer/challenge`).href, {
      ...lostPage.fields,
      decision: 'refuse',
    });
    const { decide } = await challenge(bank, byPost, { callbackUrl, amount: 99_905 });
    await decide('refuse');
    await eventually(async () => heard.length === 2 || undefined, waitMs, 'both callbacks');
    expect(heard.map(({ body }) => JSON.parse(body.toString()).operationId)).toEqual(['a', 'a']);
  });
});
