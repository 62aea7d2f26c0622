// Requests of shops: invoices, payments in one step and in two, refunds, recurring charges.
import type { Chance } from '../world/chance.ts';
import { silentAbout } from '../world/servers/bank.ts';
import { greylisted } from '../world/servers/mail.ts';
import { externalId, recent, type Action, type Knowledge, type Name, type Wish } from './knowledge.ts';

const base = '/v2/processing';
const payer = { email: 'payer@example.com' };

/** Most are approved. Some are declined, need a challenge, or cannot be authenticated. */
const cardNumbers = [
  ...Array.from({ length: 6 }, () => '4242424242424242'),
  '5555555555554444',
  '2201382000000013',
  '4012888888881881',
  '4556418324571052',
  '4929172190150505',
  '4987654321098769',
  '4342561111111118',
  '4000000000000002',
];

/** The bank declines these, each with another code. */
const declinedAmounts = [199_051, 199_054, 199_058, 199_101, 199_908, 199_914, 199_931];
/** The bank declines it because the payer has stopped the merchant. */
const stopped = 199_909;
/** The bank refuses for good to reverse these. */
const notReversed = 199_918;
/** The bank declines it unless the payer is challenged. */
const wantsChallenge = 199_935;
/** The same; two minutes later the bank reports that it has approved the first charge as well. */
const firstApprovedLate = 199_945;
/** Two minutes after a hold of this amount, the bank reports that it has ended. */
const holdEnds = 199_943;
/** The bank approves a capture or a refund of it, and reports later that it has failed. */
export const [captureFails, refundFails] = [199_940, 199_941];
/** More than the price after the first trial of a world. */
const ordinary = 250_000;
const amounts = [
  100,
  1_000,
  6_000,
  6_000,
  6_000,
  25_000,
  ordinary,
  ordinary,
  ordinary,
  1_000_000,
  notReversed,
  wantsChallenge,
  holdEnds,
  captureFails,
  refundFails,
  refundFails,
  silentAbout,
  silentAbout,
  silentAbout,
  stopped,
  ...declinedAmounts,
];
/** The bank also declines a capture or refund of this amount. */
const declinedPart = 99_051;

/** The payer of a saved card is there. */
const present = { present: true, clientInfo: { fingerprint: 'a browser' } };

const hourMs = 3_600_000;

const currencies: Record<string, string> = { TEST: 'RUB', TEST_USD: 'USD', TEST_EUR: 'EUR' };

const pathOf = ({ invoiceId, paymentId }: Name) => `${base}/invoices/${invoiceId}/payments/${paymentId}`;

function partOf(amount: number, chance: Chance): Record<string, unknown> {
  if (chance.isTrue(0.3)) return {};
  const declined = Math.min(amount, declinedPart);
  return { amount: chance.oneOf([1, Math.ceil(amount / 3), declined, declined, amount, amount + 1]) };
}

function forget<T>(things: T[], thing: T): void {
  const place = things.indexOf(thing);
  if (place >= 0) things.splice(place, 1);
}

/** Mostly less than was held, so that the rest has to be released. */
function partToCapture(amount: number, chance: Chance): Record<string, unknown> {
  const less = { amount: chance.oneOf([1, Math.ceil(amount / 3), Math.ceil(amount / 2)]) };
  return chance.isTrue(0.5) ? less : partOf(amount, chance);
}

export function newInvoice(
  known: Knowledge,
  now: () => string,
  { shop, amount, lifeMs, ...named }: { shop: string; amount: number; lifeMs: number; externalID?: string },
): Wish {
  const currency = currencies[shop] ?? 'RUB';
  const dueDate = new Date(Date.parse(now()) + lifeMs).toISOString();
  return {
    method: 'POST',
    path: `${base}/invoices`,
    body: { shopID: shop, dueDate, amount, currency, product: 'Order', ...named },
    learn: ({ invoice, invoiceAccessToken }) =>
      known.invoices.push({ id: invoice.id, token: invoiceAccessToken.payload, shop, currency, amount }),
  };
}

export function enteredCard(known: Knowledge, cardNumber: string, hasCode: boolean): Wish {
  return {
    method: 'POST',
    path: `${base}/payment-resources`,
    body: {
      paymentTool: {
        paymentToolType: 'CardData',
        cardNumber,
        expDate: '12/30',
        ...(hasCode ? { cvv: '123' } : {}),
        cardHolder: 'LEXA SVOTIN',
      },
      clientInfo: { fingerprint: 'a browser' },
    },
    learn: ({ paymentToolToken, paymentSession }) =>
      known.cards.push({ token: paymentToolToken, session: paymentSession }),
  };
}

function withCard(card: { token: string } | undefined) {
  return { payerType: 'PaymentResourcePayer', paymentToolToken: card?.token, contactInfo: payer };
}

export function withoutPayer(parent: Name | undefined) {
  const recurrentParentPayment = { invoiceID: parent?.invoiceId, paymentID: parent?.paymentId };
  return { payerType: 'RecurrentPayer', recurrentParentPayment, contactInfo: { email: greylisted } };
}

/** A payer with a card that was entered. */
function payerWithCard(known: Knowledge, chance: Chance) {
  const card = recent(known.cards, chance);
  return (
    card && {
      payerType: 'PaymentResourcePayer',
      paymentToolToken: card.token,
      ...(chance.isTrue(0.5) ? { paymentSession: card.session } : {}),
      contactInfo: payer,
      ...(chance.isTrue(0.2) ? { sessionInfo: { redirectUrl: 'https://shop.example/back' } } : {}),
    }
  );
}

/** Mostly an invoice without a payment, and of that shop if one is given: another shop cannot charge its series. */
function invoiceToPay(known: Knowledge, chance: Chance, shop?: string) {
  const tried = new Set(known.payments.map(({ invoiceId }) => invoiceId));
  const untried = known.invoices.filter(
    ({ id, shop: own }) => !tried.has(id) && (shop === undefined || own === shop),
  );
  return (chance.isTrue(0.8) ? recent(untried, chance) : undefined) ?? recent(known.invoices, chance);
}

const dayMs = 24 * hourMs;

/** A bank of the first version charges no instalments. */
const reasonOf: Readonly<Record<number, object>> = {
  100: { chargeReason: 'unscheduled' },
  25_000: { chargeReason: 'instalment' },
};

/** What a payer agrees to. Later charges are of any amount, so many are above it. */
function terms(chance: Chance, now: () => string): Record<string, unknown> {
  if (chance.isTrue(0.4)) return {};
  const amount = chance.oneOf([100, 6_000, 25_000, 200_000]);
  const trialEnd = new Date(Date.parse(now()) + chance.oneOf([0, 1, 3]) * dayMs).toISOString().slice(0, 10);
  const recurrentTerms = {
    ...(chance.isTrue(0.6) ? { schedule: chance.oneOf(['P1D', 'P1W', 'P1M', 'every month']) } : {}),
    ...(chance.isTrue(0.8) ? { amountRule: { kind: chance.oneOf(['fixed', 'upTo']), amount } } : {}),
    ...(chance.isTrue(0.5) ? { trialEnd, amountAfterTrial: chance.oneOf([100, 1_000, 25_000]) } : {}),
    ...reasonOf[amount],
  };
  return { recurrentTerms };
}

export function payment(
  known: Knowledge,
  chance: Chance,
  who: Readonly<Record<string, unknown>> | undefined,
  now: () => string,
  agreesToMore: number,
  invoice = invoiceToPay(known, chance),
) {
  if (!invoice || !who) return undefined;
  const { id: invoiceId, amount, currency } = invoice;
  const makeRecurrent = chance.isTrue(agreesToMore);
  const flow = chance.isTrue(0.6)
    ? { type: 'PaymentFlowInstant' }
    : { type: 'PaymentFlowHold', onHoldExpiration: chance.oneOf(['cancel', 'capture']) };
  const isEntered = who['payerType'] === 'PaymentResourcePayer';
  // Some that are approved, and some that are challenged all the same.
  const isExempt = amount === 1_000 || (amount === wantsChallenge && flow.type === 'PaymentFlowHold');
  return {
    method: 'POST' as const,
    path: `${base}/invoices/${invoiceId}/payments`,
    body: {
      flow,
      payer: who,
      ...(makeRecurrent ? { makeRecurrent } : {}),
      ...(isEntered && isExempt && !makeRecurrent ? { exemption: 'lowValue' } : {}),
      ...(makeRecurrent && isEntered ? terms(chance, now) : {}),
      ...(chance.isTrue(0.3) ? { processingDeadline: chance.oneOf(['1m', '1m', '30m']) } : {}),
      ...(amount === silentAbout ? { processingDeadline: '1m' } : {}),
      ...externalId(known, chance),
    },
    learn: ({ id }: { id: string }) => {
      const made = { invoiceId, paymentId: id, amount, currency };
      known.payments.push(made);
      if (flow.type === 'PaymentFlowHold') known.holds.push(made);
      if (makeRecurrent) known.parents.push({ invoiceId, paymentId: id });
    },
  };
}

/** A charge of a stored card, with the invoice it creates. A repeat may have another amount, and then it is refused. */
function charge(known: Knowledge, chance: Chance, now: () => string): Wish | undefined {
  const parent = recent(known.parents, chance);
  const customer = recent(known.customers, chance);
  const isOfParent = parent !== undefined && (customer === undefined || chance.isTrue(0.7));
  const who = isOfParent ? withoutPayer(parent) : { payerType: 'CustomerPayer', customerID: customer?.id };
  if (!parent && !customer) return undefined;
  const { shop = 'TEST' } = known.invoices.find(({ id }) => id === parent?.invoiceId) ?? {};
  const [amount, currency] = [chance.oneOf(amounts), currencies[shop] ?? 'RUB'];
  const dueDate = new Date(Date.parse(now()) + chance.oneOf([1, 24, 720]) * hourMs).toISOString();
  const makeRecurrent = isOfParent && chance.isTrue(0.3);
  // An external ID is required here.
  const { externalID = `name-${known.named++}` } = externalId(known, chance);
  return {
    method: 'POST',
    path: `${base}/charges`,
    body: {
      invoice: { shopID: shop, dueDate, amount, currency, product: 'Charge', externalID },
      payment: {
        payer: who,
        ...(makeRecurrent ? { makeRecurrent } : {}),
        ...(amount === silentAbout ? { processingDeadline: '1m' } : {}),
      },
    },
    learn: ({ invoice, payment: made }) => {
      const name = { invoiceId: invoice.id, paymentId: made.id };
      // The response has no token: the merchant's server has its key.
      known.invoices.push({ id: invoice.id, token: known.apiKey, shop, currency, amount });
      known.payments.push({ ...name, amount, currency });
      if (makeRecurrent) known.parents.push(name);
    },
  };
}

/** Of the invoices that a world starts with. */
const firstAmounts = [ordinary, refundFails, holdEnds, notReversed, captureFails, ordinary];
const dollars = { shop: 'TEST_USD', amount: ordinary };
/** The last invoices that a world of recurring charges starts with. */
const firstInvoices: Readonly<Record<number, { shop: string; amount: number }>> = {
  10: dollars,
  11: { shop: 'TEST_EUR', amount: 199_054 },
  12: { shop: 'TEST_EUR', amount: 199_931 },
  13: { shop: 'TEST_EUR', amount: 199_058 },
  14: { ...dollars, amount: stopped },
  15: { shop: 'TEST', amount: 6_000 },
  16: { shop: 'TEST', amount: ordinary },
  17: { shop: 'TEST', amount: 6_000 },
};

/** What the first payers of a world agree to, with the place of the invoice. */
function firstTerms(now: () => string) {
  const inDays = (days: number) => new Date(Date.parse(now()) + days * dayMs).toISOString().slice(0, 10);
  const upTo = (amount: number) => ({ amountRule: { kind: 'upTo', amount } });
  return [
    // On the next day its first price has ended in the shop's zone, and not yet in UTC.
    { at: 0, terms: { ...upTo(1_000_000), trialEnd: inDays(1), amountAfterTrial: 200_000 } },
    // This and the last are of a shop that refuses a second charge in a period.
    { at: 1, terms: { ...upTo(ordinary), schedule: 'P1W' } },
    { at: 2, terms: { ...upTo(1_000_000), trialEnd: inDays(1), amountAfterTrial: ordinary } },
    { at: 3, terms: {} },
    { at: 4, terms: {} },
    { at: 10, terms: {} },
    { at: 16, terms: { ...upTo(ordinary), schedule: 'P1W' } },
  ] as const;
}

/** The first charges, by the places of the invoice and of the parent. Without a parent the payer is present. */
const firstCharges: readonly { at: number; parent?: number; isHeld?: true }[] = [
  { at: 11, parent: 3 },
  { at: 12, parent: 4 },
  // Their receipts are sent once faults happen.
  { at: 5, parent: 2 },
  { at: 8, parent: 2 },
  { at: 17, parent: 6 },
  { at: 15, parent: 1, isHeld: true },
  { at: 14 },
  { at: 13, parent: 2 },
];
export const firstParents = 7;

/** Cards and amounts that the bank approves, for the start of a world. */
export const smoothShopActions: readonly Action[] = [
  {
    name: 'enter an ordinary card',
    weight: 0,
    // The second needs a challenge, the others are approved immediately.
    wish: (known) =>
      enteredCard(known, known.cards.length === 1 ? '4012888888881881' : '4242424242424242', true),
  },
  {
    name: 'create an ordinary invoice',
    weight: 0,
    // Most of a theme's own ones are of the shop whose refunds wait for money.
    wish: (known, _chance, now) =>
      newInvoice(known, now, {
        shop: known.invoices.length < 2 ? 'TEST' : 'TEST_EUR',
        amount: firstAmounts[known.invoices.length % firstAmounts.length] ?? ordinary,
        ...firstInvoices[known.invoices.length],
        lifeMs: 30 * 24 * hourMs,
      }),
  },
  {
    name: 'create an invoice whose first charge is approved late',
    weight: 0,
    wish: (known, _chance, now) =>
      newInvoice(known, now, { shop: 'TEST_EUR', amount: firstApprovedLate, lifeMs: 30 * 24 * hourMs }),
  },
  {
    name: 'agree to more',
    weight: 0,
    wish: (known, _chance, now) => {
      const card = known.cards[0];
      const { at = 0, terms: recurrentTerms = {} } = firstTerms(now)[known.parents.length] ?? {};
      const invoice = known.invoices[at];
      if (!card || !invoice) return undefined;
      const { id: invoiceId, amount, currency } = invoice;
      const flow = { type: 'PaymentFlowInstant' };
      return {
        method: 'POST',
        path: `${base}/invoices/${invoiceId}/payments`,
        body: { flow, payer: withCard(card), makeRecurrent: true, recurrentTerms },
        learn: ({ id }) => {
          known.payments.push({ invoiceId, paymentId: id, amount, currency });
          known.parents.push({ invoiceId, paymentId: id });
        },
      };
    },
  },
  {
    name: 'make a first charge',
    weight: 0,
    wish: (known) => {
      const { at = 0, parent, isHeld } = firstCharges[known.payments.length - firstParents] ?? {};
      const invoice = known.invoices[at];
      if (!invoice) return undefined;
      const who = parent === undefined ? withCard(known.cards.at(-1)) : withoutPayer(known.parents[parent]);
      return paid(known, invoice, who, isHeld ? 'hold' : 'sale');
    },
  },
  { name: 'hold money', weight: 0, wish: (known) => untriedInvoice(known, 'hold') },
  { name: 'sell', weight: 0, wish: (known) => untriedInvoice(known, 'sale') },
];

function untriedInvoice(known: Knowledge, kind: 'hold' | 'sale'): Wish | undefined {
  const card = known.cards[0];
  const tried = new Set(known.payments.map(({ invoiceId }) => invoiceId));
  const invoice = known.invoices.find(({ id }) => !tried.has(id));
  return card && invoice && paid(known, invoice, withCard(card), kind);
}

function paid(
  known: Knowledge,
  { id: invoiceId, amount, currency }: Knowledge['invoices'][number],
  who: Readonly<Record<string, unknown>>,
  kind: 'hold' | 'sale',
): Wish {
  const flow =
    kind === 'hold'
      ? { type: 'PaymentFlowHold', onHoldExpiration: 'cancel' }
      : { type: 'PaymentFlowInstant' };
  return {
    method: 'POST',
    path: `${base}/invoices/${invoiceId}/payments`,
    body: { flow, payer: who },
    learn: ({ id }) => {
      const made = { invoiceId, paymentId: id, amount, currency };
      known.payments.push(made);
      if (kind === 'hold') known.holds.push(made);
    },
  };
}

export const shopActions: readonly Action[] = [
  {
    name: 'create an invoice',
    weight: 10,
    wish: (known, chance, now) =>
      newInvoice(known, now, {
        shop: chance.oneOf(['TEST', 'TEST', 'TEST_USD', 'TEST_EUR', 'TEST_EUR']),
        amount: chance.oneOf(amounts),
        lifeMs: chance.oneOf([10 * 60_000, hourMs, 24 * hourMs, 30 * 24 * hourMs]),
        ...externalId(known, chance),
      }),
  },
  {
    name: 'enter a card',
    weight: 6,
    wish: (known, chance) => enteredCard(known, chance.oneOf(cardNumbers), chance.isTrue(0.8)),
  },
  {
    name: 'pay',
    weight: 14,
    wish: (known, chance, now) => payment(known, chance, payerWithCard(known, chance), now, 0.25),
  },
  {
    name: 'pay and agree to more',
    weight: 2,
    wish: (known, chance, now) => payment(known, chance, payerWithCard(known, chance), now, 1),
  },
  {
    name: 'pay and stop the merchant',
    weight: 0.3,
    wish: (known, chance, now) => {
      const tried = new Set(known.payments.map(({ invoiceId }) => invoiceId));
      const invoice = known.invoices.findLast(({ id, amount }) => amount === stopped && !tried.has(id));
      return invoice && payment(known, chance, payerWithCard(known, chance), now, 0, invoice);
    },
  },
  {
    name: 'charge without the payer',
    weight: 6,
    wish: (known, chance, now) => {
      // The first parents are approved payments.
      const first = chance.below(Math.min(chance.oneOf([3, firstParents]), known.parents.length));
      const parent = chance.isTrue(0.8) ? known.parents[first] : recent(known.parents, chance);
      if (!parent) return undefined;
      const shop = known.invoices.find(({ id }) => id === parent.invoiceId)?.shop;
      return payment(known, chance, withoutPayer(parent), now, 0.25, invoiceToPay(known, chance, shop));
    },
  },
  { name: 'charge at once', weight: 5, wish: charge },
  {
    name: 'charge a customer',
    weight: 5,
    wish: (known, chance, now) => {
      const customer = recent(known.customers, chance);
      return payment(
        known,
        chance,
        customer && {
          payerType: 'CustomerPayer',
          customerID: customer.id,
          ...(chance.isTrue(0.2) ? present : {}),
        },
        now,
        0.25,
      );
    },
  },
  ...(
    [
      ['capture', 5],
      ['cancel', 3],
    ] as const
  ).map(([what, weight]): Action => ({
    name: `${what} a payment`,
    weight,
    wish: (known, chance) => {
      // A few try to capture or cancel what is not held.
      const held = known.holds[chance.below(known.holds.length)];
      const paid = chance.isTrue(0.8) ? held : recent(known.payments, chance);
      if (!paid) return undefined;
      const isPart = what === 'capture' && paid.amount !== captureFails;
      const part = isPart ? partToCapture(paid.amount, chance) : {};
      const currency = 'amount' in part ? { currency: paid.currency } : {};
      return {
        method: 'POST',
        path: `${pathOf(paid)}/${what}`,
        body: { reason: `to ${what}`, ...part, ...currency },
        learn: () => void forget(known.holds, paid),
      };
    },
  })),
  {
    name: 'refund a payment',
    weight: 5,
    wish: (known, chance) => {
      // Only captured payments can be refunded, and capture takes a while.
      const paid = chance.isTrue(0.5) ? chance.oneOf(known.payments) : recent(known.payments, chance);
      if (!paid) return undefined;
      const part = partOf(paid.amount, chance);
      const currency = 'amount' in part ? { currency: paid.currency } : {};
      return {
        method: 'POST',
        path: `${pathOf(paid)}/refunds`,
        body: { reason: 'sent back', ...part, ...currency, ...externalId(known, chance) },
      };
    },
  },
  ...(
    [
      ['fulfill', 1.5],
      ['rescind', 1.5],
    ] as const
  ).map(([what, weight]): Action => ({
    name: `${what} an invoice`,
    weight,
    wish: (known, chance) => {
      const invoice = recent(known.invoices, chance);
      return (
        invoice && {
          method: 'POST',
          path: `${base}/invoices/${invoice.id}/${what}`,
          body: { reason: `to ${what}` },
        }
      );
    },
  })),
  {
    name: 'withdraw a consent',
    weight: 0.4,
    wish: (known, chance) => {
      const parent = recent(known.parents, chance);
      return (
        parent && { method: 'POST', path: `${pathOf(parent)}/recurring/withdraw`, body: { reason: 'no' } }
      );
    },
  },
  {
    name: 'look at a payment',
    weight: 3,
    wish: (known, chance) => {
      const paid = recent(known.payments, chance);
      const what = chance.oneOf([
        '',
        '/refunds',
        '/recurring',
        '/recurring/events',
        '/recurring/consent',
        '/recurring/consent/sheet',
        '/receipt',
        '/timeline',
        '/recurring/timeline',
      ]);
      return paid && { method: 'GET', path: pathOf(paid) + what };
    },
  },
  {
    name: 'look at an invoice',
    weight: 3,
    wish: (known, chance) => {
      const invoice = recent(known.invoices, chance);
      const what = chance.oneOf(['', '/events?limit=100', '/payments', '/payment-methods']);
      const token = chance.isTrue(0.3) ? { token: invoice?.token ?? '' } : {};
      return invoice && { method: 'GET', path: `${base}/invoices/${invoice.id}${what}`, ...token };
    },
  },
  {
    name: 'look for a name',
    weight: 1,
    wish: (known, chance) => ({
      method: 'GET',
      path: `${base}/${chance.oneOf(['invoices', 'payments', 'refunds', 'customers'])}?externalID=name-${chance.below(known.named + 1)}`,
    }),
  },
];
