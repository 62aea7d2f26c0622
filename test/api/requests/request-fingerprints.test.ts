// The fingerprint of a create request is stored permanently with its externalID. These are the fingerprints of one request of each kind,
// because a repeat of a request to an earlier version must be recognised.
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { createBinding } from '../../../src/customers/api/create-binding.ts';
import { createCustomer } from '../../../src/customers/api/create-customer.ts';
import { createDestination } from '../../../src/payouts/api/create-destination.ts';
import { createIdentity } from '../../../src/identities/api/create-identity.ts';
import { createInvoice } from '../../../src/invoices/api/create-invoice.ts';
import { createPayment } from '../../../src/payments/api/create-payment.ts';
import { createRefund } from '../../../src/payments/api/create-refund.ts';
import { createTransfer } from '../../../src/wallets/api/transfers.ts';
import { createWallet } from '../../../src/wallets/api/create-wallet.ts';
import { createWithdrawal } from '../../../src/payouts/api/create-withdrawal.ts';
import type { AnyEndpoint } from '../../../src/platform/http/endpoint.ts';
import { cardMatchHash } from '../../../src/cards/card-hash.ts';
import { declaredReader, noUnknownMembers } from '../../../src/platform/http/request/declared-members.ts';
import { typeOf, type Statement } from '../../../src/platform/database/statement.ts';

/** A value for each type of column. */
const values: Record<string, unknown> = {
  text: 'id',
  bool: false,
  int4: 1,
  int8: 1n,
  json: {},
  timestamptz: '',
};
const statuses = { customer: 'unready', withdrawal: 'sending' };
const members = (statement: string): Record<string, unknown> => ({
  status: Object.entries(statuses).find(([of]) => statement.includes(of))?.[1] ?? 'unpaid',
  terms: { fees: {}, realm: 'test' },
});

/** A database in which every externalID is taken. It records the fingerprints it is asked to compare. */
function databaseOfRepeats() {
  const compared: string[] = [];
  const fingerprint = Object.assign(Buffer.alloc(32), {
    equals(other: Buffer) {
      compared.push(other.toString('hex'));
      return false;
    },
  });
  const db: Record<string, unknown> = {
    run({ name, row }: Statement) {
      if (name.startsWith('insert_')) return Promise.resolve([]);
      const columns = Object.entries(row).map(([column, type]) => [
        column,
        column === 'request_fingerprint'
          ? fingerprint
          : (members(name)[column] ?? values[typeOf(type)] ?? null),
      ]);
      return Promise.resolve([Object.fromEntries(columns)]);
    },
    afterCommit: () => undefined,
    transaction: (work: (tx: unknown) => unknown) => work(db),
    withSavepoint: (work: (tx: unknown) => unknown) => work(db),
  };
  return { db, compared };
}

const card = {
  cardMatchHash: Buffer.alloc(32, 7),
  fingerprint: { hash: Buffer.alloc(32, 8) },
  token: 'v1.token',
  session: 'v1.session',
  card: {},
};
const shop = { id: 'SHOP', partyId: 'PARTY', currency: 'RUB' };
const deps = {
  ids: { next: () => 'made' },
  merchants: {
    party: () => Promise.resolve({ id: 'PARTY' }),
    shop: () => Promise.resolve(shop),
    trading: () => Promise.resolve({ ok: true, value: shop }),
  },
  cards: {
    use: () => Promise.resolve({ ok: true, value: card }),
    findForPayout: () => Promise.resolve(card),
  },
};

/** The fingerprint that the endpoint compares with the earlier request of the same externalID. */
async function fingerprintOf(endpoint: unknown, request: { params?: object; body: object }) {
  const { db, compared } = databaseOfRepeats();
  const { handle, body: schema = Type.Object({}) } = endpoint as AnyEndpoint<object>;
  const caller = { kind: 'apiKey', partyId: 'PARTY' } as never;
  const now = '2030-01-01T00:00:00.000000Z' as never;
  const { params = {}, body: sentBody } = request;
  const body = declaredReader(schema)(sentBody, noUnknownMembers());
  const all = { caller, now, address: undefined, params, query: {}, body, sentBody } as never;
  const outcome = await handle(all, { ...deps, db }, undefined);
  expect(outcome).toMatchObject({ ok: false, refusal: { code: 'externalIDConflict' } });
  return [...new Set(compared)];
}

const externalID = 'order 17';
const metadata = { b: 1, a: { d: [1, { f: null, e: 2 }], c: 'x' } };
const cart = [
  { product: 'Thing', quantity: 2, price: 1_000 },
  { product: 'Other', price: 4_000, taxMode: { type: 'InvoiceLineTaxVAT', rate: '20%' } },
];
const money = { amount: 10_000, currency: 'RUB' };

const requests: Record<string, [endpoint: unknown, request: { params?: object; body: object }, hex: string]> =
  {
    invoice: [
      createInvoice,
      {
        body: {
          externalID,
          shopID: 'SHOP',
          dueDate: '2030-01-02T00:00:00Z',
          amount: 6_000,
          currency: 'RUB',
          product: 'Order',
          cart,
          bankAccount: { account: '12345678901234567890', bankBik: '123456789' },
          metadata,
        },
      },
      '098c1de704d614398bb0722decf8b85e13089e3b9353ced38319569c9ae10f61',
    ],
    'invoice with few members': [
      createInvoice,
      {
        body: {
          externalID,
          shopID: 'SHOP',
          dueDate: '2030-01-02T00:00:00Z',
          currency: 'RUB',
          product: 'Order',
        },
      },
      '0e005f4710a91e5298c13ce0e132c514ed9a1fd52f76bb124b3688e212ffa350',
    ],
    payment: [
      createPayment,
      {
        params: { invoiceID: 'INVOICE' },
        body: {
          externalID,
          payer: { payerType: 'PaymentResourcePayer', paymentToolToken: 't', contactInfo: {} },
        },
      },
      'e5ea02d276d50f2a5fe9b683b6689f89633efd3297062bf84469e39a477dc070',
    ],
    'payment with a hold': [
      createPayment,
      {
        params: { invoiceID: 'INVOICE' },
        body: {
          externalID,
          flow: { type: 'PaymentFlowHold', onHoldExpiration: 'capture' },
          makeRecurrent: true,
          payer: { payerType: 'PaymentResourcePayer', paymentToolToken: 't', contactInfo: {} },
        },
      },
      'a2f2fb80c051ac3ed67170dec4ee9d1bde002e856026f9d9e353d7f1f4e4133b',
    ],
    'payment of a customer': [
      createPayment,
      {
        params: { invoiceID: 'INVOICE' },
        body: { externalID, payer: { payerType: 'CustomerPayer', customerID: 'CUSTOMER' } },
      },
      'e687d958c93763915907de9a1c426adbb23b8f4d1583133435eea20bbcbd66a5',
    ],
    'payment after a parent': [
      createPayment,
      {
        params: { invoiceID: 'INVOICE' },
        body: {
          externalID,
          payer: {
            payerType: 'RecurrentPayer',
            recurrentParentPayment: { invoiceID: 'PARENT', paymentID: '1' },
            contactInfo: {},
          },
        },
      },
      '7dd79d9890980d3346571fea7fc1007cd95c3295201925c0eec5894133993d4a',
    ],
    refund: [
      createRefund,
      { params: { invoiceID: 'INVOICE', paymentID: '1' }, body: { externalID, ...money, cart } },
      '04fd8f9681fe88c15306b95b11a6249ac76344ed94c03d1969bc846d252f39ed',
    ],
    'refund of the rest': [
      createRefund,
      { params: { invoiceID: 'INVOICE', paymentID: '1' }, body: { externalID } },
      'ece1fcc27f1467e9f7d57e4f6848f7b608360e967e8a1aea6af93d31039515ce',
    ],
    customer: [
      createCustomer,
      { body: { externalID, shopID: 'SHOP', contactInfo: { phoneNumber: '+7', email: 'a@example.com' } } },
      '0e9e97df2470d69c781b6771c7ad171c265e07afcc15185abc991b4912f3b1c9',
    ],
    'customer with an undeclared member': [
      createCustomer,
      { body: { externalID, shopID: 'SHOP', contactInfo: { email: 'a@example.com', mail: 'undeclared' } } },
      '39778620a617b42d33679a1373504826c5df60165d4a034744705803ba113467',
    ],
    binding: [
      createBinding,
      {
        params: { customerID: 'CUSTOMER' },
        body: { externalID, paymentResource: { paymentToolToken: 't', paymentSession: 's' } },
      },
      'eae742b92f319cdb54634c935286444c6f3dac5f428d05092aa3175028e17e29',
    ],
    identity: [
      createIdentity,
      { body: { externalID, name: ' Ada ', provider: 'test', class: 'person', metadata } },
      'bf539d646d7ab7ba4bdb633e12253260a498e1fd7170e3c94c7d7c58c481fe0c',
    ],
    wallet: [
      createWallet,
      { body: { externalID, name: 'Payouts', identity: 'IDENTITY', currency: 'RUB', metadata } },
      '86b2ec89f0157a633633b56daf1e7b5289337b769e1b32b19510d8589473e4f9',
    ],
    destination: [
      createDestination,
      {
        body: {
          externalID,
          name: 'Card',
          identity: 'IDENTITY',
          currency: 'RUB',
          resource: { type: 'BankCardDestinationResource', token: 'v1.token' },
        },
      },
      '5874416b5a9d7eb96006ff5e7ea67390f67c733e7498016fa704b0d8c1984663',
    ],
    withdrawal: [
      createWithdrawal,
      {
        body: { externalID, wallet: 'WALLET', destination: 'DESTINATION', body: money, walletGrant: 'grant' },
      },
      'b6e1fb3c67fcd0d5ee7a156ecf671c17f1dcdf682ca27bca825ee19ef9576517',
    ],
    transfer: [
      createTransfer,
      { body: { externalID, sender: 'WALLET', receiver: 'OTHER', body: money } },
      '5922b906027dc54bb4af4f7971ca878903b589a1e0142a43756230fec6e16f12',
    ],
  };

describe('the stored fingerprint of a request', () => {
  test.each(Object.entries(requests))('does not change for a %s', async (_kind, [endpoint, request, hex]) => {
    expect(await fingerprintOf(endpoint, request)).toEqual([hex]);
  });

  test('does not change for a card', () => {
    const hash = cardMatchHash(Buffer.alloc(32, 1), { number: '4242424242424242', expiry: '2030-12' });
    expect(hash.toString('hex')).toBe('8148701c25524fe25dc3122b4590d80b79182e858fd5b3b4a36705c9df0e4dbc');
  });
});
