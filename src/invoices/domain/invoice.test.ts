import { describe, expect, test } from 'vitest';
import { parseInstant } from '../../clock.ts';
import type { Party, Shop } from '../../merchants/domain/party.ts';
import { isKnownCurrency, type Currency } from '../../money.ts';
import {
  decideCreate,
  decideFulfill,
  decideRescind,
  evolve,
  invoiceLifecycle,
  nextAction,
  type CartLine,
  type CreateInvoice,
  type Invoice,
  type InvoiceFact,
  type InvoiceStatus,
} from './invoice.ts';

const now = at('2026-01-19T10:00:00Z');
const party: Party = { id: 'P', name: 'Merchant', isBlocked: false, isSuspended: false, clockOffsetMs: 0 };
const shop: Shop = {
  id: 'TEST',
  partyId: 'P',
  livemode: false,
  fees: {},
  whenShort: 'refuse',
  threeDSecure: 'whenTheBankSays',
  oneOffReceipts: false,
  name: 'Shop',
  url: 'https://shop.example',
  categoryId: 1,
  currency: currency('RUB'),
  isBlocked: false,
  isSuspended: false,
  origins: [],
  createdAt: now,
};
const command: CreateInvoice = {
  id: 'I',
  dueDate: at('2026-01-20T10:00:00Z'),
  amountMinor: 6000n,
  currency: 'RUB',
  product: 'Order',
  metadata: {},
};
const line = (priceMinor: bigint, quantity = 1n): CartLine => ({ product: 'Thing', priceMinor, quantity });

describe('creating an invoice', () => {
  test('returns a fact with all fields', () => {
    const cart = [line(2_000n, 2n), line(2_000n)];
    expect(decideCreate(party, shop, { ...command, cart, description: 'D', externalId: 'E' }, now)).toEqual({
      ok: true,
      value: {
        type: 'invoice_created',
        terms: {
          id: 'I',
          partyId: 'P',
          shopId: 'TEST',
          createdAt: now,
          dueDate: command.dueDate,
          amount: { minor: 6000n, currency: 'RUB' },
          product: 'Order',
          description: 'D',
          metadata: {},
          cart,
          externalId: 'E',
        },
      },
    });
  });

  test('takes the amount from the cart if none is given', () => {
    const { amountMinor: _, ...withoutAmount } = command;
    const decision = decideCreate(party, shop, { ...withoutAmount, cart: [line(7n, 3n)] }, now);
    expect(decision).toMatchObject({ ok: true, value: { terms: { amount: { minor: 21n } } } });
  });

  // Each row adds a broken rule of higher precedence, so the table is the order of the rules.
  const steps: [
    code: string,
    change: { party?: Partial<Party>; shop?: Partial<Shop> | null; command?: Partial<CreateInvoice> },
  ][] = [
    ['invalidInvoiceCost', { command: { cart: [line(5_999n)] } }],
    ['invalidInvoiceCart', { command: { cart: [] } }],
    ['allocationNotPermitted', { command: { allocation: [] } }],
    ['invalidRequest', { command: { currency: 'USD' } }],
    ['invalidShopStatus', { shop: { isSuspended: true } }],
    ['invalidPartyStatus', { party: { isBlocked: true } }],
    ['invalidShopID', { shop: null }],
    ['invalidPartyID', { command: { partyId: 'Q' } }],
  ];
  test.each(steps.map(([code], index) => [code, index] as const))(
    'is refused with %s before any later rule',
    (code, index) => {
      const broken = steps.slice(0, index + 1).map(([, change]) => change);
      const brokenParty = Object.assign({ ...party }, ...broken.map((change) => change.party ?? {})) as Party;
      const brokenShop = broken.some((change) => change.shop === null)
        ? undefined
        : (Object.assign({ ...shop }, ...broken.map((change) => change.shop ?? {})) as Shop);
      const brokenCommand = Object.assign(
        { ...command },
        ...broken.map((change) => change.command ?? {}),
      ) as CreateInvoice;
      expect(decideCreate(brokenParty, brokenShop, brokenCommand, now)).toMatchObject({
        ok: false,
        refusal: { code },
      });
    },
  );

  test.each([
    ['neither amount nor cart', undefined, undefined],
    ['a cart with a total above the largest amount', undefined, [line(999_999_999_999n), line(1n)]],
    ['a price times quantity that overflows', undefined, [line(999_999_999_999n, 999_999_999_999n)]],
    ['an amount above the cart', 6_000n, [line(5_999n)]],
    ['an amount below the cart', 6_000n, [line(6_001n)]],
  ])('is refused as invalidInvoiceCost with %s', (_case, amountMinor, cart) => {
    const { amountMinor: _, ...rest } = command;
    const asked = { ...rest, ...(amountMinor ? { amountMinor } : {}), ...(cart ? { cart } : {}) };
    expect(decideCreate(party, shop, asked, now)).toMatchObject({ refusal: { code: 'invalidInvoiceCost' } });
  });

  test('stores the given fields and no others', () => {
    const given = { bankAccount: { account: '1' }, clientInfo: { trustLevel: 'known' } };
    const terms = (more: object) => {
      const fact = decided(decideCreate(party, shop, { ...command, ...more }, now));
      return 'terms' in fact && fact.terms;
    };
    expect(terms(given)).toMatchObject(given);
    const { id, dueDate, product, metadata } = command;
    expect(terms({})).toStrictEqual({
      id,
      dueDate,
      product,
      metadata,
      partyId: 'P',
      shopId: 'TEST',
      createdAt: now,
      amount: { minor: 6_000n, currency: 'RUB' },
    });
  });

  test('names the field that differs from the shop', () => {
    expect(decideCreate(party, shop, { ...command, currency: 'USD' }, now)).toEqual({
      ok: false,
      refusal: { code: 'invalidRequest', message: 'Invalid currency', hint: 'The shop takes RUB.' },
    });
  });

  test('accepts a cart with the largest amount as its total', () => {
    const { amountMinor: _, ...rest } = command;
    expect(decideCreate(party, shop, { ...rest, cart: [line(999_999_999_999n)] }, now).ok).toBe(true);
  });

  test('accepts a cart of 100 lines and refuses one of 101', () => {
    const cartOf = (lines: number) => ({
      ...command,
      amountMinor: BigInt(lines),
      cart: Array(lines).fill(line(1n)),
    });
    expect(decideCreate(party, shop, cartOf(100), now).ok).toBe(true);
    expect(decideCreate(party, shop, cartOf(101), now)).toMatchObject({
      refusal: { code: 'invalidInvoiceCart' },
    });
  });

  test('accepts a due date in the past, and the invoice is overdue immediately', () => {
    const created = decideCreate(party, shop, { ...command, dueDate: at('2020-01-01T00:00:00Z') }, now);
    if (!created.ok) throw new Error('The invoice was refused.');
    expect(nextAction(evolve(undefined, created.value))!.at < now).toBe(true);
  });
});

describe('the invoice lifecycle', () => {
  const created: InvoiceFact = decided(decideCreate(party, shop, command, now));
  const facts: Record<InvoiceFact['type'], InvoiceFact> = {
    invoice_created: created,
    invoice_paid: { type: 'invoice_paid' },
    invoice_fulfilled: { type: 'invoice_fulfilled', reason: 'done' },
    invoice_cancelled: { type: 'invoice_cancelled', reason: 'no' },
  };
  const histories: Record<keyof typeof invoiceLifecycle, InvoiceFact[]> = {
    absent: [],
    unpaid: [created],
    paid: [created, facts.invoice_paid],
    fulfilled: [created, facts.invoice_paid, facts.invoice_fulfilled],
    cancelled: [created, facts.invoice_cancelled],
  };
  const after = (history: InvoiceFact[]) =>
    history.reduce<Invoice | undefined>((invoice, fact) => evolve(invoice, fact), undefined);
  // Written out instead of read from the table under test.
  const expected: Record<string, Record<string, InvoiceStatus>> = {
    absent: { invoice_created: 'unpaid' },
    unpaid: { invoice_paid: 'paid', invoice_cancelled: 'cancelled' },
    paid: { invoice_fulfilled: 'fulfilled' },
    fulfilled: {},
    cancelled: {},
  };

  for (const [from, history] of Object.entries(histories)) {
    for (const [type, fact] of Object.entries(facts)) {
      const to = expected[from]?.[type];
      if (to)
        test(`${type} in state ${from} leads to ${to}`, () =>
          expect(evolve(after(history), fact).status).toBe(to));
      else
        test(`${type} is not allowed in state ${from}`, () =>
          expect(() => evolve(after(history), fact)).toThrow(/cannot have/));
    }
  }

  test.each([
    ['unpaid', 'invalidInvoiceStatus', undefined],
    ['paid', undefined, 'invalidInvoiceStatus'],
    ['fulfilled', 'invalidInvoiceStatus', 'invalidInvoiceStatus'],
    ['cancelled', 'invalidInvoiceStatus', 'invalidInvoiceStatus'],
  ] as const)('in state %s, fulfil returns %s and rescind returns %s', (status, fulfill, rescind) => {
    const invoice = after(histories[status])!;
    const rescinded = decideRescind(invoice, 'because');
    for (const [decision, code] of [
      [decideFulfill(invoice, 'because'), fulfill],
      [rescinded, rescind],
    ] as const) {
      if (code) {
        const since = { type: `invoice_${status}` };
        const refusal = { code, hint: `The invoice is ${status}.`, since };
        expect(decision).toEqual({ ok: false, refusal });
      } else {
        const type = decision === rescinded ? 'invoice_cancelled' : 'invoice_fulfilled';
        expect(decision).toEqual({ ok: true, value: { type, reason: 'because' } });
      }
    }
  });

  test('an invoice keeps its terms, and the reason for its end', () => {
    const terms = 'terms' in created && created.terms;
    const whole = { ...terms, paymentInProgress: false };
    expect(after(histories.unpaid)).toStrictEqual({ ...whole, status: 'unpaid' });
    expect(after(histories.paid)).toStrictEqual({ ...whole, status: 'paid' });
    expect(after(histories.fulfilled)).toStrictEqual({ ...whole, status: 'fulfilled', reason: 'done' });
    expect(after(histories.cancelled)).toStrictEqual({ ...whole, status: 'cancelled', reason: 'no' });
  });

  test('an invoice with a payment in progress is neither cancelled nor rescinded', () => {
    const paying = { ...after(histories.unpaid)!, paymentInProgress: true };
    expect(nextAction(paying)).toBeUndefined();
    expect(decideRescind(paying, 'because')).toEqual({
      ok: false,
      refusal: { code: 'invoicePaymentPending' },
    });
  });

  test('only an unpaid invoice has a next action: cancellation as overdue at its due date', () => {
    expect(nextAction(after(histories.unpaid)!)).toEqual({
      at: command.dueDate,
      fact: { type: 'invoice_cancelled', reason: 'overdue' },
    });
    for (const status of ['paid', 'fulfilled', 'cancelled'] as const) {
      expect(nextAction(after(histories[status])!)).toBeUndefined();
    }
  });
});

function at(text: string) {
  const instant = parseInstant(text);
  if (!instant) throw new Error(`${text} is not a date-time.`);
  return instant;
}

function currency(code: string): Currency {
  if (!isKnownCurrency(code)) throw new Error(`${code} is not a currency.`);
  return code;
}

function decided<Value>(outcome: { ok: true; value: Value } | { ok: false; refusal: unknown }): Value {
  if (!outcome.ok) throw new Error(`refused: ${JSON.stringify(outcome.refusal)}`);
  return outcome.value;
}
