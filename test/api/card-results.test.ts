// Every test card in both flows with every ending.
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
import { defined } from '../../src/defined.ts';
import { notFinal } from '../support/checks/ledger-check.ts';
import { cardBody, paymentResourcesUrl } from '../support/worlds/cards.ts';
import { invoicesUrl, makeInvoice } from '../support/worlds/invoices.ts';
import { startPaymentWorld, type PaymentWorld } from '../support/worlds/payment-world.ts';

/** Endings of one payment. Refused ones change nothing, so one payment can test all of them. */
type Scene = {
  readonly payer: Pick<CardRun, 'card' | 'decision' | 'flow'>;
  readonly endings: readonly Ending[];
};
type Seen = { readonly invoiceId: string; readonly result: Omit<CardResult, 'atBankMinor'> };
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
async function play(
  { payer: { card, decision, flow }, endings }: Scene,
  world: PaymentWorld,
): Promise<Seen[]> {
  const { service, merchant } = world;
  const call = (method: 'GET' | 'POST', path: string, body?: unknown, token = merchant.apiKey) =>
    service.call(method, path, { token, ...defined({ body }) });
  const invoice = await makeInvoice(service, merchant, { amount: heldMinor });
  const tokenized = await call('POST', paymentResourcesUrl, cardBody({ cardNumber: card }), invoice.token);
  const { paymentToolToken } = tokenized.body;
  const payments = `${invoicesUrl}/${invoice.id}/payments`;
  const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
  const type = flow === 'instant' ? 'PaymentFlowInstant' : 'PaymentFlowHold';
  const made = await call('POST', payments, { flow: { type }, payer }, invoice.token);
  expect(made.status, JSON.stringify(made.body)).toBe(201);

  /** Until it has another status, for some minutes of the service. */
  const leaves = async (path: string, left: string) => {
    for (let second = 0; second < 600; second++) {
      await service.jobs.whenIdle();
      if ((await call('GET', path)).body.status !== left) return;
      service.clock.advance(1_000);
      service.jobs.wake();
    }
    throw new Error(`still ${left}: ${card} ${flow} ${endings.join(', ')}`);
  };

  await service.jobs.whenIdle();
  if (decision !== undefined) await world.authenticate(invoice, decision);
  await leaves(`${payments}/1`, 'pending');

  let refused: string | undefined;
  const wish = async (path: string, body: object, isDone: () => Promise<unknown>) => {
    const answer = await call('POST', `${payments}/1/${path}`, body);
    if (answer.status >= 300) return void (refused = answer.body.code);
    await isDone();
  };
  const isOver = () => leaves(`${payments}/1`, 'processed');
  const capture = (body: object = {}) => wish('capture', { reason: 'r', ...body }, isOver);
  const refund = (body: object = {}) =>
    wish('refunds', body, () => leaves(`${payments}/1/refunds/100`, 'pending'));
  const end = {
    nothing: () => Promise.resolve(),
    capture: () => capture(),
    'capture part': () => capture({ amount: capturedPartMinor, currency: 'RUB' }),
    cancel: () => wish('cancel', { reason: 'r' }, isOver),
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
    const { body: forPayer } = await call('GET', `${payments}/1`, undefined, invoice.token);
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
  const world = await startPaymentWorld();
  onTestFinished(() => world.close());
  const seen = new Map<string, Seen>();
  const nameOf = ({ card, decision, flow, ending }: CardRun) => [card, decision, flow, ending].join(' ');
  for (const scene of scenes()) {
    const results = await play(scene, world);
    for (const [place, ending] of scene.endings.entries()) {
      seen.set(nameOf({ ...scene.payer, ending }), results[place]!);
    }
  }

  const book = await world.book();
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
  expect(await notFinal(world.service.database)).toEqual([]);
  expect(await world.differences()).toEqual([]);
});
