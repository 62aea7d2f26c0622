// The floor of a charge, with the payer present or recurring: invoice, card, payment, capture.
import { createHash, randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { randomIds } from '../../src/ids.ts';
import {
  askBank,
  cardDetails,
  contactInfo,
  hash,
  inBackground,
  shardOf,
  openAccount,
  run,
} from './externals.ts';
import {
  capture,
  captureCharge,
  insertCard,
  insertCharge,
  insertInvoice,
  insertPayment,
  insertSeries,
  keepReceipt,
  bankId,
  readPayment,
  settlement,
  takeCode,
  uncleared,
} from './charge-statements.ts';

const amountMinor = 6_000;
/** As long as what the service writes. */
const ciphertext = randomBytes(92);
/** Subject, text and page. */
const receipt = ['Receipt: recurring transaction, Test shop', 'x'.repeat(420), 'x'.repeat(1_250)];
const clientInfo = JSON.stringify({ fingerprint: 'bench', ip: '127.0.0.1' });
const place = {
  terminal: { id: bankId, bankId, merchantId: 'TEST', descriptor: 'Test shop' },
  realm: 'test',
  fees: {},
};
const flow = { type: 'instant' };

function termsOf(token: string, seriesId: string | undefined, makeRecurrent: boolean) {
  const payer = seriesId
    ? {
        type: 'recurrent',
        token,
        seriesId,
        parent: { invoiceId: seriesId.slice(0, -2), paymentId: '1' },
        warnings: [],
        rootNetworkTransactionId: agreement,
        previousNetworkTransactionId: agreement,
        contactInfo,
      }
    : {
        type: 'resource',
        token,
        session: token,
        card: cardDetails,
        clientInfo: { fingerprint: 'bench', ip: '127.0.0.1' },
        contactInfo,
      };
  return { flow, payer, makeRecurrent, deadline: new Date().toISOString(), ...place };
}

type Charge = {
  readonly invoiceId: string;
  readonly token: string;
  readonly seriesId?: string;
  readonly makeRecurrent: boolean;
};

async function charge({ invoiceId, token, seriesId, makeRecurrent }: Charge): Promise<void> {
  if (!seriesId) await run('take', takeCode, [token]);
  const { reference, approvalCode, networkTransactionId } = await askBank(
    `${invoiceId}.1.a`,
    messageOf(seriesId !== undefined),
  );
  agreement ??= networkTransactionId;
  const approval = { reference, approvalCode, networkTransactionId };
  const values = [
    invoiceId,
    JSON.stringify({ approval, refundsMade: 0 }),
    shardOf(invoiceId, 16),
    shardOf(invoiceId, 8),
    amountMinor,
    JSON.stringify([{ type: 'payment_processed', approval, paymentId: '1' }]),
    JSON.stringify([
      { type: 'payment_captured', amount: { minor: amountMinor, currency: 'RUB' }, paymentId: '1' },
      { type: 'invoice_paid' },
    ]),
  ];
  if (!seriesId) await run('capture', capture, values);
  else {
    const change = seriesChange(invoiceId, 'succeeded');
    await run('capture charge', captureCharge, [...values, seriesId, ...change, reference]);
    await run('receipt', keepReceipt, [invoiceId, ...receipt]);
  }
  if (makeRecurrent) {
    const terms = JSON.stringify({ ...termsOf(token, undefined, true), approval });
    await run('series', insertSeries, [
      `${invoiceId}.1`,
      hash,
      token,
      hash.toString('hex'),
      terms,
      seriesState,
    ]);
  }
}

/** Chain, state and fact. */
function seriesChange(invoiceId: string, what: 'started' | 'succeeded'): string[] {
  const fact = {
    type: `recurring_charge_${what}`,
    invoiceId,
    paymentId: '1',
    createdAt: new Date().toISOString(),
  };
  const more =
    what === 'started' ? { packs: ['house@2026-11-23', 'visa@2026-10-25.2', 'advice@2025-01-01.2'] } : {};
  return [
    createHash('sha256').update(invoiceId).digest('hex'),
    seriesState,
    JSON.stringify([{ ...fact, ...more }]),
  ];
}

const seriesState = JSON.stringify({
  state: { name: 'active' },
  latest: { invoiceId: '1xUtVwWMcJy7B8yrdFKDS4p', paymentId: '1' },
  lastSuccessAt: '2026-11-21T22:25:01.019000Z',
  chargesMade: 2,
  noticedUntil: '2026-11-21T22:24:57.331000Z',
});

/** The network transaction ID of the first payment, which recurring charges refer to. */
let agreement: string | undefined;

function messageOf(recurring: boolean) {
  return {
    kind: 'authorise',
    merchant: { id: 'TEST', terminal: bankId, descriptor: 'Test shop' },
    amount: amountMinor,
    currency: 'RUB',
    capture: true,
    card: {
      number: '4242424242424242',
      expiry: '2030-12',
      holder: 'JOHN DOE',
      ...(recurring ? {} : { securityCode: '123' }),
    },
    initiation: recurring
      ? {
          by: 'merchant',
          reason: 'recurring',
          rootNetworkTransactionId: agreement,
          previousNetworkTransactionId: agreement,
        }
      : { by: 'payer', storesCard: true },
    authentication: recurring ? 'none' : 'preferred',
    returnUrl: 'http://127.0.0.1/return',
    payer: { ip: '127.0.0.1', fingerprint: 'bench', email: 'payer@example.com' },
  };
}

export async function answerCharges(app: FastifyInstance): Promise<void> {
  await openAccount(uncleared, bankId, 16);
  await openAccount(settlement, 'TEST', 8, true);

  app.post('/v2/processing/invoices', async (request, reply) => {
    const id = randomIds.next();
    const body = request.body as { amount: number; product: string };
    const created = { type: 'invoice_created', terms: { id, createdAt: new Date().toISOString(), ...body } };
    await run('invoice', insertInvoice, [id, body.amount, body.product, JSON.stringify([created])]);
    return reply
      .code(201)
      .send({ invoice: { id, ...body, status: 'unpaid' }, invoiceAccessToken: { payload: id } });
  });

  app.post('/v2/processing/payment-resources', async (_, reply) => {
    const id = randomIds.next();
    await run('card', insertCard, [id, clientInfo, ciphertext, hash]);
    return reply.code(201).send({ paymentToolToken: id, paymentSession: id });
  });

  app.post('/v2/processing/invoices/:id/payments', async (request, reply) => {
    const { id: invoiceId } = request.params as { id: string };
    const { payer, makeRecurrent = false } = request.body as {
      payer: { paymentToolToken?: string; recurrentParentPayment?: { invoiceID: string } };
      makeRecurrent?: boolean;
    };
    const parent = payer.recurrentParentPayment;
    const seriesId = parent && `${parent.invoiceID}.1`;
    const token = payer.paymentToolToken ?? invoiceId;
    const terms = termsOf(token, seriesId, makeRecurrent);
    const started = { type: 'payment_started', terms: { ...terms, invoiceId, id: '1' }, paymentId: '1' };
    const values = [invoiceId, amountMinor, JSON.stringify(terms), JSON.stringify([started])];
    if (!seriesId) await run('payment', insertPayment, [...values, token]);
    else await run('charge', insertCharge, [...values, seriesId, ...seriesChange(invoiceId, 'started')]);
    inBackground(charge({ invoiceId, token, makeRecurrent, ...(seriesId ? { seriesId } : {}) }));
    return reply.code(201).send({ id: '1', invoiceID: invoiceId, status: 'pending', payer: terms.payer });
  });

  app.get('/v2/processing/invoices/:id/payments/1', async (request, reply) => {
    const { id } = request.params as { id: string };
    const { rows } = await run('read', readPayment, [id]);
    return reply.send({ id: '1', invoiceID: id, status: rows[0].status, payer: rows[0].terms.payer });
  });
}
