// mandate console: a link opens the pages of a party, or of all; it is listed and can be ended.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandLine } from '../../../test/support/processes/command-line.ts';
import {
  startTestService,
  type Merchant,
  type TestService,
} from '../../../test/support/service/test-service.ts';

let service: TestService;
let merchant: Merchant;
beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
  service.clock.set(Date.now());
});
afterAll(() => service.close());

const run = (...words: string[]) => runWith({}, ...words);
const runWith = (settings: Record<string, string>, ...words: string[]) =>
  commandLine(['console', ...words], {
    DATABASE_URL: service.testDatabase.url,
    MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    MANDATE_DATA: '/nonexistent',
    PUBLIC_URL: 'https://pay.example',
    ...settings,
  });
const open = (output: string) => service.consoleSessions.open(output.trim().split('#')[1] ?? '');

test('a link shows the pages of a party', async () => {
  const { code, output, errors } = await run('link', '--party', merchant.partyId);
  expect(code).toBe(0);
  expect(output).toMatch(/^https:\/\/pay\.example\/console\/enter#[0-9A-Za-z]{12}\.[0-9A-Za-z]{43}\n$/);
  expect(errors).toMatch(
    /^It opens once, within ten minutes\. End it with "mandate console end \w{12}"\.\n$/,
  );
  expect(await open(output)).toMatchObject({ viewer: { kind: 'party', partyId: merchant.partyId } });
});

test('a link of an operator shows all parties, and can begin with one', async () => {
  expect(await open((await run('link', '--operator')).output)).toMatchObject({
    viewer: { kind: 'operator' },
  });
  const { output } = await run('link', '--operator', '--party', merchant.partyId);
  expect(await open(output)).toMatchObject({ viewer: { kind: 'operator', partyId: merchant.partyId } });
});

test.each([
  [['link'], /Whose pages\? Give --party <partyID>, or --operator/],
  [['link', '--party', 'NONE'], /Party NONE not found\. List parties with "mandate party list"/],
  [['end', 'X3nQ0bqGt7Vd'], /Session X3nQ0bqGt7Vd not found\. List sessions with "mandate console sessions"/],
])('console %j is refused', async (words, says) => {
  const { code, output, errors } = await run(...words);
  expect({ code, output }).toEqual({ code: 1, output: '' });
  expect(errors).toMatch(says);
});

test('a live link is made only for an address that is not plain', async () => {
  const masterKey = 'xIRmjtfwL9GGfTQrmVrYsTugHVIGYTJIdyaakdofOPk=';
  const mode = { MANDATE_MODE: 'live', BANK_SECRET: 'a secret of the tests that is long enough' };
  const live = await startTestService({ ...mode, MANDATE_MASTER_KEY: masterKey });
  const settings = { ...mode, DATABASE_URL: live.testDatabase.url, MANDATE_MASTER_KEY: masterKey };
  const linkAt = (url: string) => runWith({ ...settings, PUBLIC_URL: url }, 'link', '--operator');
  try {
    const { code, output, errors } = await linkAt('http://pay.example');
    expect({ code, output }).toEqual({ code: 1, output: '' });
    expect(errors).toContain('PUBLIC_URL is not https');
    expect(await live.consoleSessions.list()).toEqual([]);
    const made = await linkAt('http://127.0.0.1:8080');
    expect(made.code).toBe(0);
    const [session] = await live.consoleSessions.list();
    const [line = ''] = made.errors.split('\n');
    expect(JSON.parse(line)).toMatchObject({
      level: 'info',
      consoleSession: session?.sessionId,
      kind: 'operator',
      madeBy: session?.madeBy,
      msg: 'console link created',
    });
    expect(made.errors).not.toContain(made.output.trim().split('#')[1]);
  } finally {
    await live.close();
  }
});

test('links and sessions are listed with who made them, and end', async () => {
  const { output: link } = await run('link', '--party', merchant.partyId);
  const opened = await open(link);
  const listed = async () => JSON.parse((await run('sessions', '--json')).output) as { sessionId: string }[];
  const one = async () => (await listed()).find(({ sessionId }) => sessionId === opened?.id);
  expect(await one()).toMatchObject({
    partyId: merchant.partyId,
    isOperator: false,
    status: 'open',
    madeBy: expect.stringMatching(/.@./),
  });
  expect((await run('sessions')).output).toContain(opened?.id);
  expect((await run('end', opened?.id ?? '')).output).toBe(`Ended ${opened?.id}.\n`);
  expect(await one()).toMatchObject({ status: 'ended' });
});
