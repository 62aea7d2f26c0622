// Every test card in both flows with every ending, on a real service and a real bank.
// The expected results are those of docs/test-cards-results.md, which is printed from the same table.
import { expect, onTestFinished, test } from 'vitest';
import {
  cardRuns,
  capturedPartMinor,
  expectedResult,
  heldMinor,
  refundedPartMinor,
  type CardResult,
  type CardRun,
  type Ending,
} from '../../tools/documents/card-results.ts';
import { readSandboxFacts } from '../../src/sandbox/sandbox-setup.ts';
import { differences, readBook, notFinal } from '../support/checks/ledger-check.ts';
import { cardBody, paymentResourcesUrl } from '../support/worlds/cards.ts';
import { visitIssuer } from '../support/bank/issuer-page.ts';
import { invoicesUrl, order } from '../support/worlds/invoices.ts';
import { eventually, request, startBank, startServer } from '../support/processes/program.ts';
import { temporaryFolder } from '../support/database/test-cluster.ts';
import { createTestDatabase } from '../support/database/test-database.ts';
import { defined } from '../../src/defined.ts';

const secret = 'a secret of the tests that is long enough';
const atOnce = 6;
const timeoutMs = 60_000;

/** Endings of one payment. Refused ones change nothing, so one payment can test all of them. */
type Scene = {
  readonly payer: Pick<CardRun, 'card' | 'decision' | 'flow'>;
  readonly endings: readonly Ending[];
};
type Seen = { readonly invoiceId: string; readonly result: Omit<CardResult, 'atBankMinor'> };
type Client = (
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
  token?: string,
) => ReturnType<typeof request>;

function scenes(): Scene[] {
  const byPayer = new Map<string, Scene>();
  const alone: Scene[] = [];
  for (const run of cardRuns()) {
    const { ending, ...payer } = run;
    const changesNothing = ending === 'nothing' || expectedResult(run).refused !== undefined;
    const name = JSON.stringify(payer);
    if (!changesNothing) alone.push({ payer, endings: [ending] });
    else byPayer.set(name, { payer, endings: [...(byPayer.get(name)?.endings ?? []), ending] });
  }
  return [...byPayer.values(), ...alone];
}

/** Plays a payment as a merchant's server and a payer's browser, and answers the results after each ending. */
async function play({ payer: { card, decision, flow }, endings }: Scene, call: Client): Promise<Seen[]> {
  const created = await call('POST', invoicesUrl, { ...order, amount: heldMinor });
  const { invoice, invoiceAccessToken } = created.body;
  const payerToken = invoiceAccessToken.payload as string;
  const tokenized = await call('POST', paymentResourcesUrl, cardBody({ cardNumber: card }), payerToken);
  const { paymentToolToken } = tokenized.body;
  const payments = `${invoicesUrl}/${invoice.id}/payments`;
  const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
  const type = flow === 'instant' ? 'PaymentFlowInstant' : 'PaymentFlowHold';
  const made = await call('POST', payments, { flow: { type }, payer }, payerToken);
  expect(made.status, JSON.stringify(made.body)).toBe(201);

  const until = (path: string, isDone: (body: any) => unknown) =>
    eventually(
      async () => {
        const { body } = await call('GET', path);
        return isDone(body) ? body : undefined;
      },
      timeoutMs,
      `${card} ${flow} ${endings.join(', ')}`,
    );
  const leaves = (...statuses: string[]) =>
    until(`${payments}/1`, ({ status }) => !statuses.includes(status));

  if (decision !== undefined) {
    const asked = (changes: any[]) =>
      changes.find(({ changeType }) => changeType === 'PaymentInteractionRequested');
    const feed = `${invoicesUrl}/${invoice.id}/events?limit=100`;
    const flat = (events: any[]) => events.flatMap(({ changes }) => changes);
    const events = await until(feed, (body) => asked(flat(body)));
    const goBack = await visitIssuer(asked(flat(events)).userInteraction.request, decision);
    expect((await goBack()).status).toBe(200);
  }
  await leaves('pending');

  let refused: string | undefined;
  const wish = async (path: string, body: object, isDone: () => Promise<unknown>) => {
    const answer = await call('POST', `${payments}/1/${path}`, body);
    if (answer.status >= 300) return void (refused = answer.body.code);
    await isDone();
  };
  const capture = (body: object = {}) => wish('capture', { reason: 'r', ...body }, () => leaves('processed'));
  const refund = (body: object = {}) =>
    wish('refunds', body, () => until(`${payments}/1/refunds/100`, ({ status }) => status !== 'pending'));
  const end = {
    nothing: () => Promise.resolve(),
    capture: () => capture(),
    'capture part': () => capture({ amount: capturedPartMinor, currency: 'RUB' }),
    cancel: () => wish('cancel', { reason: 'r' }, () => leaves('processed')),
    refund: () => refund(),
    'refund part': () => refund({ amount: refundedPartMinor }),
  } satisfies Record<Ending, () => Promise<void>>;

  const seen: Seen[] = [];
  for (const ending of endings) {
    refused = undefined;
    const isLocked = (await call('GET', `${payments}/1`)).body.status === 'processed';
    if (isLocked && (ending === 'refund' || ending === 'refund part')) await capture();
    await end[ending]();
    const { body: payment } = await call('GET', `${payments}/1`);
    const { body: forPayer } = await call('GET', `${payments}/1`, undefined, payerToken);
    const { body: after } = await call('GET', `${invoicesUrl}/${invoice.id}`);
    const result = {
      status: payment.status,
      invoice: after.status,
      ...defined({ refused }),
      ...(payment.error ? { error: payment.error, payerError: forPayer.error } : {}),
    };
    seen.push({ invoiceId: invoice.id, result });
  }
  return seen;
}

test('every card, flow and ending gives the documented result, and rows, ledger and the bank’s report agree', async () => {
  const testDatabase = await createTestDatabase('empty');
  onTestFinished(() => testDatabase.drop());
  const folders = [temporaryFolder(), temporaryFolder()] as const;
  for (const { remove } of folders) onTestFinished(remove);
  const bank = await startBank({ MANDATE_DATA: folders[0].folder, BANK_SECRET: secret });
  const environment = {
    MANDATE_DATA: folders[1].folder,
    DATABASE_URL: testDatabase.url,
    MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    REQUESTS_PER_SECOND: '0',
    BANK_URL: bank.url,
    BANK_SECRET: secret,
  };
  const service = await startServer(environment);
  const apiKey = readSandboxFacts(folders[1].folder)!.apiKey;
  const call: Client = (method, path, body, token = apiKey) =>
    request(method, `${service.url}${path}`, { token, ...(body === undefined ? {} : { body }) });

  const seen = new Map<string, Seen>();
  const nameOf = ({ card, decision, flow, ending }: CardRun) => [card, decision, flow, ending].join(' ');
  const waiting = scenes()[Symbol.iterator]();
  const worker = async () => {
    for (const scene of waiting) {
      const results = await play(scene, call);
      for (const [place, ending] of scene.endings.entries()) {
        seen.set(nameOf({ ...scene.payer, ending }), results[place]!);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));

  const book = await readBook(bank.url, secret, Date.now());
  const atBank = new Map<string, number>();
  for (const { operationId, sign, amount } of book) {
    const [invoiceId = ''] = operationId.split('.');
    atBank.set(invoiceId, (atBank.get(invoiceId) ?? 0) + sign * amount);
  }
  for (const run of cardRuns()) {
    const { invoiceId, result } = seen.get(nameOf(run))!;
    const kept = { ...result, atBankMinor: atBank.get(invoiceId) ?? 0 };
    expect(kept, nameOf(run)).toEqual(expectedResult(run));
  }
  expect(await notFinal(testDatabase.database)).toEqual([]);
  expect(await differences(testDatabase.database, book)).toEqual([]);
  expect(await service.stop()).toBe(0);
  expect(await bank.stop()).toBe(0);
}, 300_000);
