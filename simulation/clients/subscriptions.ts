// A merchant who sells subscriptions to customers with a saved card. Cards fail in their own ways, payers pay what is open, and the test
// clock moves from period to period.
import { withoutCredit } from '../checks/subscriptions/changes.ts';
import { eventNames } from '../checks/subscriptions/told.ts';
import type { Chance } from '../world/chance.ts';
import { silentAbout } from '../world/servers/bank.ts';
import { captureFails, enteredCard, refundFails } from './shop.ts';
import { externalId, recent, type Action, type Knowledge, type Wish } from './knowledge.ts';
import { clockMove } from './reads.ts';
import { nextAddress } from './webhooks.ts';

const base = '/v2/processing';
const dayMs = 24 * 3_600_000;
/** So few that a world with moves of the clock has hundreds of periods, and not thousands. */
const [maxSubscriptions, maxMoves] = [8, 12];

/** Approved for the payer. Without the payer they are declined twice, always, or not answered for an hour. */
const unreliable = [
  '4000000000511008',
  '4000000000511008',
  '4000000000519993',
  '4000000000549990',
  '4000000000919193',
  '4000000000119992',
  '4000000000003600',
];

const prices = [
  100,
  6_000,
  6_000,
  25_000,
  49_900,
  199_051,
  refundFails,
  refundFails,
  captureFails,
  silentAbout,
];

/** Of the subscriptions that a world starts with. */
const firstPrices = [refundFails, 6_000];

/** Every kind of schedule: counted in days, weeks, months, with a fixed day and without, near and far from UTC. */
function schedule(chance: Chance): Record<string, unknown> {
  const every = chance.oneOf(['P3D', 'P3D', 'P10D', 'P1W', 'P1M', 'P1M', 'P3M', 'P1Y']);
  const isOfMonths = /[MY]$/.test(every);
  const anchor = {
    anchorDay: chance.oneOf([1, 15, 29, 31]),
    ...(every === 'P1Y' ? { anchorMonth: 1 } : {}),
    ...(chance.isTrue(0.6) ? { firstPeriod: chance.oneOf(['free', 'full', 'proRata']) } : {}),
  };
  return {
    every,
    timeZone: chance.oneOf(['UTC', 'Europe/Moscow', 'Pacific/Kiritimati', 'Pacific/Honolulu']),
    ...(isOfMonths && chance.isTrue(0.4) ? anchor : {}),
    ...(chance.isTrue(0.2) ? { chargeFrom: '22:00', chargeUntil: '23:59' } : {}),
    ...(chance.isTrue(0.2) ? trial(chance) : {}),
    ...(chance.isTrue(0.2) ? { periods: 3 } : {}),
  };
}

function trial(chance: Chance): Record<string, unknown> {
  const withoutCard = { trialWithoutCard: chance.oneOf(['unpaid', 'end', 'pause']) };
  return { trialDays: chance.oneOf([1, 7]), ...(chance.isTrue(0.5) ? withoutCard : {}) };
}

/** Different windows, so that a period with a wrong version ends at a wrong time. Some stack, so that a version changes while one fails. */
function policy(chance: Chance): Record<string, unknown> {
  const windowDays = chance.oneOf([1, 5, 6, 7]);
  return {
    tries: chance.oneOf([[], [1]]),
    windowDays,
    ifUnpaid: chance.oneOf(['unpaid', 'end', 'pause']),
    ...(chance.isTrue(0.6) ? { stack: true } : {}),
    ...(chance.isTrue(0.3) ? { at: { from: '00:00', until: '23:59' } } : {}),
    ...(chance.isTrue(0.3) ? { byClass: { funds: { onDays: [1, 15, 31] }, technical: { tries: [1] } } } : {}),
    ...(chance.isTrue(0.2) ? { trial: { policy: 'gentle', percent: 50 } } : {}),
  };
}

const policyNames = ['default', 'gentle', 'other'];

/** A customer's card, also of a subscription that ran elsewhere, or a payment of the payer. */
function start(known: Knowledge, chance: Chance, now: string): Record<string, unknown> {
  const customer = recent(known.customers, chance);
  if (!customer || chance.isTrue(0.4))
    return { shopID: 'TEST', ...(chance.isTrue(0.5) ? { firstAmount: chance.oneOf([100, 6_000]) } : {}) };
  const startsOn = new Date(Date.parse(now) + chance.oneOf([-10, 3, 20]) * dayMs).toISOString().slice(0, 10);
  const moved = { continuesWith: { number: chance.oneOf([1, 7]), startsOn } };
  return { customerID: customer.id, ...(chance.isTrue(0.2) ? moved : {}) };
}

function subscribe(known: Knowledge, chance: Chance, now: () => string): Wish | undefined {
  if (known.subscriptions.length >= maxSubscriptions) return undefined;
  return {
    method: 'POST',
    path: `${base}/subscriptions`,
    body: {
      ...start(known, chance, now()),
      ...(chance.isTrue(0.2) ? { uniqueKey: chance.oneOf(['tea', 'coffee']) } : {}),
      items: [{ product: 'Tea', price: chance.oneOf(prices), quantity: 1 }],
      ...schedule(chance),
      ...(chance.isTrue(0.8) ? { catchUp: chance.oneOf(['current', 'all', 'none']) } : {}),
      ...(chance.isTrue(0.5)
        ? { ifUnpaid: chance.oneOf(['unpaid', 'end', 'pause']) }
        : chance.isTrue(0.5)
          ? { dunningPolicy: chance.oneOf(policyNames) }
          : {}),
      ...externalId(known, chance),
    },
    learn: learnSubscription(known),
  };
}

function learnSubscription(known: Knowledge) {
  return ({ id, firstInvoiceID }: { readonly id: string; readonly firstInvoiceID?: string }): void => {
    known.subscriptions.push(id);
    if (firstInvoiceID !== undefined && !known.openPeriods.includes(firstInvoiceID))
      known.openPeriods.push(firstInvoiceID);
  };
}

type Card = Knowledge['cards'][number];

/** Another one for each payment. */
function recentCard({ cards, payments }: Knowledge): Card | undefined {
  return cards.at(-1 - payments.length);
}

function paymentWith({ token, session }: Card): Record<string, unknown> {
  const contactInfo = { email: 'payer@example.com' };
  const payer = { payerType: 'PaymentResourcePayer', paymentToolToken: token, paymentSession: session };
  return { payer: { ...payer, contactInfo } };
}

type Subscription = {
  readonly openPeriods: readonly { readonly invoiceID: string }[];
  readonly pendingChange?: { readonly invoiceID: string };
};

const topic = 'SubscriptionsTopic';

/** What the buttons of the page send, and what payers may answer after they have ended it. */
const payerActs = [
  'agree',
  'pay',
  'newCard',
  'pause',
  'pause',
  'resume',
  'resume',
  'end',
  'takeBack',
  'reason',
];

const payerActions: readonly Action[] = [
  {
    name: "make a link to the payer's page",
    weight: 0.5,
    wish: (known, chance) => {
      const id = recent(known.subscriptions, chance);
      if (id === undefined) return undefined;
      return {
        method: 'POST',
        path: `${base}/subscriptions/${id}/links`,
        learn: ({ url }) => known.payerPages.push({ path: new URL(url).pathname }),
      };
    },
  },
  {
    name: "open the payer's page",
    weight: 1,
    wish: (known, chance) => {
      const page = recent(known.payerPages, chance);
      if (!page) return undefined;
      const learn = (shown?: { readonly token: string }) => void (page.token = shown?.token ?? '');
      return { method: 'GET', path: page.path, isOfPayer: true, learn };
    },
  },
  {
    name: "press a button of the payer's page",
    weight: 1,
    wish: (known, chance) => {
      const page = recent(
        known.payerPages.filter(({ token }) => token !== undefined),
        chance,
      );
      if (!page) return undefined;
      const { path, token } = page;
      const body = { act: chance.oneOf(payerActs), token, reason: 'tooExpensive' };
      return { method: 'POST', path, isOfPayer: true, isForm: true, body };
    },
  },
];

export const subscriptionActions: readonly Action[] = [
  { name: 'subscribe', weight: 2, wish: subscribe },
  {
    name: 'subscribe and pay later',
    weight: 0,
    wish: (known, chance) => ({
      method: 'POST',
      path: `${base}/subscriptions`,
      body: {
        shopID: 'TEST',
        items: [{ product: 'Tea', price: firstPrices[known.subscriptions.length] ?? 6_000, quantity: 1 }],
        every: chance.oneOf(['P10D', 'P1M']),
        timeZone: 'UTC',
      },
      learn: learnSubscription(known),
    }),
  },
  {
    name: 'pay for the first period',
    weight: 0,
    wish(known) {
      const [invoice, card] = [known.openPeriods[known.payments.length], recentCard(known)];
      if (invoice === undefined || !card) return undefined;
      return {
        method: 'POST',
        path: `${base}/invoices/${invoice}/payments`,
        body: { ...paymentWith(card), flow: { type: 'PaymentFlowInstant' }, makeRecurrent: true },
        learn: ({ id, amount }) =>
          known.payments.push({ invoiceId: invoice, paymentId: id, amount, currency: 'RUB' }),
      };
    },
  },
  {
    name: 'enter an unreliable card',
    weight: 0.5,
    wish: (known, chance) => enteredCard(known, chance.oneOf(unreliable), true),
  },
  {
    name: 'change a subscription',
    weight: 1,
    wish: (known, chance, now) => {
      const id = recent(known.subscriptions, chance);
      if (id === undefined) return undefined;
      const inDays = (days: number) => new Date(Date.parse(now()) + days * dayMs).toISOString();
      const openPeriods = chance.oneOf(['keepTrying', 'forgive']);
      const [verb, body] = chance.oneOf<[string, Record<string, unknown> | undefined]>([
        ['cancel', { when: chance.oneOf(['now', 'periodEnd', 'periodEnd']), by: 'payer' }],
        ['cancel', { when: 'now', refund: chance.oneOf(['none', 'unused', 'last']) }],
        ['pause', { openPeriods }],
        ['pause', { openPeriods, resumesAt: inDays(chance.oneOf([0.01, 4, 10])), by: 'payer' }],
        ['resume', undefined],
        ['resume', undefined],
        ['resume?shiftAnchor=true', undefined],
        ['uncancel', undefined],
        ['periods/1/charge', { afterDays: chance.oneOf([0, 2]) }],
        ['periods/1/charge', { at: inDays(chance.oneOf([0.1, 1.5])) }],
        ['periods/1/close', { as: chance.oneOf(['forgiven', 'paidElsewhere']) }],
      ]);
      return { method: 'POST', path: `${base}/subscriptions/${id}/${verb}`, ...(body ? { body } : {}) };
    },
  },
  {
    name: 'end a subscription and give back',
    weight: 0.1,
    wish: (known, chance) => {
      // The refund of the first one fails later, so most of them end that one.
      const id = chance.isTrue(0.85) ? known.subscriptions[0] : recent(known.subscriptions, chance);
      if (id === undefined) return undefined;
      const body = { when: 'now', refund: chance.oneOf(['unused', 'last', 'last']) };
      return { method: 'POST', path: `${base}/subscriptions/${id}/cancel`, body };
    },
  },
  {
    name: 'change the details of a subscription',
    weight: 0.3,
    wish: (known, chance, now) => {
      const id = recent(known.subscriptions, chance);
      if (id === undefined) return undefined;
      const endsOn = new Date(Date.parse(now()) + chance.oneOf([10, 40]) * dayMs).toISOString().slice(0, 10);
      const body = {
        detailsVersion: chance.oneOf([1, 1, 2]),
        ...chance.oneOf([
          { metadata: { plan: chance.oneOf(['tea', 'coffee']) } },
          { catchUp: chance.oneOf(['current', 'all', 'none']) },
          { endsOn },
        ]),
      };
      return { method: 'PATCH', path: `${base}/subscriptions/${id}`, body };
    },
  },
  {
    name: 'save a dunning policy',
    weight: 0.5,
    wish: (known, chance) => {
      const id = recent(known.subscriptions, chance);
      const name = chance.oneOf(policyNames);
      const path = `${base}/shops/TEST/dunning-policies`;
      if (chance.isTrue(0.1)) return { method: 'GET', path };
      if (chance.isTrue(0.1)) return { method: 'GET', path: `${path}/${name}` };
      if (id !== undefined && chance.isTrue(0.3))
        return {
          method: 'PUT',
          path: `${base}/subscriptions/${id}/dunning-policy`,
          body: { policy: name },
        };
      return { method: 'PUT', path: `${path}/${name}`, body: policy(chance) };
    },
  },
  {
    name: 'change the items',
    weight: 1,
    wish: (known, chance, now) => {
      const id = recent(known.subscriptions, chance);
      if (id === undefined) return undefined;
      const [price, quantity] = [chance.oneOf(prices), chance.oneOf([1, 3])];
      const hasItems = chance.isTrue(0.9);
      const when = chance.oneOf(['now', 'now', 'now', 'auto', 'nextPeriod', 'anchorNow']);
      const isCredited = !chance.isTrue(0.2);
      const items = [{ product: isCredited ? 'Other tea' : withoutCredit, price, quantity }];
      const change = {
        ...(hasItems ? { items } : {}),
        when,
        ...(isCredited || !hasItems ? {} : { credit: 'none' }),
        ...(chance.isTrue(0.1) ? { timeZone: chance.oneOf(['UTC', 'Asia/Tokyo']) } : {}),
        ...(chance.isTrue(0.2) ? { asOf: now() } : {}),
      };
      const verb = chance.oneOf(['preview', 'change', 'change', 'change', 'change', 'unchange']);
      const body = verb === 'unchange' ? {} : { body: change };
      return { method: 'POST', path: `${base}/subscriptions/${id}/${verb}`, ...body };
    },
  },
  ...payerActions,
  {
    name: 'look at subscriptions',
    weight: 1,
    wish: (known, chance) => {
      const id = recent(known.subscriptions, chance);
      const customer = recent(known.customers, chance);
      if (id === undefined || !customer) return undefined;
      const path = chance.oneOf([
        `subscriptions/${id}/periods?limit=5`,
        `subscriptions/${id}/upcoming`,
        `subscriptions/${id}/events?limit=5&eventID=2`,
        `subscriptions?externalID=own-1`,
        `customers/${customer.id}/subscriptions`,
        'shops/TEST/subscriptions?limit=3',
        'shops/TEST/subscriptions?limit=3&status=pastDue&parked=false',
      ]);
      return { method: 'GET', path: `${base}/${path}` };
    },
  },
  {
    name: 'look for an open period',
    weight: 1,
    wish: (known, chance) => {
      const id = recent(known.subscriptions, chance);
      if (id === undefined) return undefined;
      return {
        method: 'GET',
        path: `${base}/subscriptions/${id}`,
        learn({ openPeriods, pendingChange }: Subscription) {
          for (const { invoiceID } of pendingChange ? [...openPeriods, pendingChange] : openPeriods)
            if (!known.openPeriods.includes(invoiceID)) known.openPeriods.push(invoiceID);
        },
      };
    },
  },
  {
    name: 'settle an open period',
    weight: 1,
    wish: (known, chance) => {
      const invoice = recent(known.openPeriods, chance);
      const card = recent(known.cards, chance);
      if (invoice === undefined || !card) return undefined;
      const path = `${base}/invoices/${invoice}`;
      if (chance.isTrue(0.2))
        return { method: 'POST', path: `${path}/rescind`, body: { reason: 'not wanted any more' } };
      const flow = chance.isTrue(0.8)
        ? { type: 'PaymentFlowInstant' }
        : { type: 'PaymentFlowHold', onHoldExpiration: chance.oneOf(['cancel', 'capture']) };
      const agrees = chance.isTrue(0.8) ? { makeRecurrent: true } : {};
      return {
        method: 'POST',
        path: `${path}/payments`,
        body: { ...paymentWith(card), flow, ...agrees },
        learn({ id, amount }: { readonly id: string; readonly amount: number }) {
          const made = { invoiceId: invoice, paymentId: id, amount, currency: 'RUB' };
          if (flow.type === 'PaymentFlowHold') known.holds.push(made);
        },
      };
    },
  },
  {
    name: 'move the clock to other periods',
    weight: 0.1,
    wish: (known, chance, now) =>
      known.clockMoves.length < maxMoves
        ? clockMove(known, now, chance.oneOf([6, 25, 25, 3 * 24, 8 * 24, 32 * 24]))
        : undefined,
  },
  {
    name: 'create a webhook of subscriptions',
    weight: 0.1,
    wish: (known) =>
      known.webhooks.length > 5
        ? undefined
        : {
            method: 'POST',
            path: `${base}/webhooks`,
            body: { scope: { topic, shopID: 'TEST', eventTypes: eventNames }, url: nextAddress() },
            isUnique: true,
            learn: ({ id }) => known.webhooks.push(id),
          },
  },
];
