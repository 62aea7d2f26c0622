// What a world is mostly about: most seeds have one theme, and the others are a mixture.
// In a short mixture few objects get far, because a payout needs an identity, a wallet and a checked card.
import type { Knowledge } from './knowledge.ts';

/** A first action, the objects it creates, and how many of them are needed, by default two. */
type Beginning = readonly [action: string, thing: Things, count?: number];
type Things = {
  [Name in keyof Knowledge]: Knowledge[Name] extends readonly unknown[] ? Name : never;
}[keyof Knowledge];

export type Theme = {
  readonly name: string;
  readonly beginnings: readonly Beginning[];
  /** How much likelier than usual an action is. The others are `otherwise` times as likely. */
  readonly likelier: Readonly<Record<string, number>>;
  readonly otherwise: number;
};

const forPayments: readonly Beginning[] = [
  ['enter an ordinary card', 'cards'],
  ['create an ordinary invoice', 'invoices'],
];
const forPayouts: readonly Beginning[] = [
  ['create an identity', 'identities'],
  ['open a wallet', 'wallets'],
  ['store a card to pay out to', 'payoutCards'],
  ['create a destination', 'destinations'],
];
const forCustomers: readonly Beginning[] = [['create a customer', 'customers']];

export const holdsAndRefunds: Theme = {
  name: 'holds and refunds',
  beginnings: [
    ...forPayments,
    ['agree to more', 'parents'],
    ['create an ordinary invoice', 'invoices', 10],
    ['create an invoice whose first charge is approved late', 'invoices', 12],
    ['hold money', 'holds', 4],
    ['sell', 'payments', 12],
  ],
  likelier: {
    'create an invoice': 1.5,
    pay: 1.5,
    'capture a payment': 3,
    'cancel a payment': 2,
    'refund a payment': 6,
    'fulfill an invoice': 2,
    'rescind an invoice': 2,
    'enter a card': 1,
    'look at a payment': 1,
  },
  otherwise: 0.1,
};

export const payouts: Theme = {
  name: 'payouts',
  beginnings: forPayouts,
  likelier: {
    withdraw: 4,
    transfer: 1.5,
    deposit: 0.3,
    'open a wallet': 0.7,
    'store a card to pay out to': 1,
    'create a destination': 1,
    'look at a wallet or a withdrawal': 1,
  },
  otherwise: 0.05,
};

export const recurring: Theme = {
  name: 'recurring charges',
  beginnings: [
    ...forPayments,
    ['create an ordinary invoice', 'invoices', 18],
    ['agree to more', 'parents', 7],
    ...forCustomers,
    ['bind a card', 'bindings'],
    // Most rules are about a second charge on another day.
    ['make a first charge', 'payments', 9],
    ['begin the next day', 'clockMoves', 1],
    ['enter an ordinary card', 'cards', 3],
    ['make a first charge', 'payments', 15],
    ['look up a series', 'series'],
    ['ask for new terms', 'consentLinks'],
  ],
  likelier: {
    'create an invoice': 1.5,
    'enter a card': 0.7,
    'pay and agree to more': 1,
    'pay and stop the merchant': 3,
    'charge without the payer': 6,
    'charge at once': 4,
    'charge a customer': 1.5,
    'bind a card': 0.7,
    'move the test clock': 6,
    'withdraw a consent': 1,
    'look up a series': 0.7,
    // Otherwise its series would not come to rest.
    subscribe: 0,
    'ask for new terms': 1.5,
    'open a consent link': 3,
    'agree to new terms': 3,
  },
  otherwise: 0.1,
};

export const webhooks: Theme = {
  name: 'webhooks',
  beginnings: [['create a webhook', 'webhooks'], ...forPayments, ...forCustomers],
  likelier: {
    'create a webhook': 2,
    'create a webhook of an identity': 0.5,
    'change a webhook': 0.5,
    'create an invoice': 1.5,
    'enter a card': 0.7,
    pay: 1.5,
    'capture a payment': 1,
    'cancel a payment': 1,
    'refund a payment': 1,
    'create a customer': 0.5,
    'bind a card': 1,
    'withdraw a binding': 0.5,
  },
  otherwise: 0.1,
};

export const subscriptions: Theme = {
  name: 'subscriptions',
  beginnings: [
    ['enter an ordinary card', 'cards', 1],
    ['create a customer', 'customers', 1],
    ['bind a card', 'bindings', 1],
    ['create a webhook of subscriptions', 'webhooks', 1],
    ['enter an unreliable card', 'cards', 2],
    ['create a customer', 'customers', 2],
    ['bind a card', 'bindings', 2],
    ['subscribe and pay later', 'subscriptions', 2],
    ['enter an ordinary card', 'cards', 4],
    ['pay for the first period', 'payments', 2],
  ],
  likelier: {
    subscribe: 2,
    'change a subscription': 3,
    'end a subscription and give back': 2,
    'change the items': 4,
    'look at subscriptions': 1,
    'save a dunning policy': 1,
    "make a link to the payer's page": 1,
    "open the payer's page": 2,
    "press a button of the payer's page": 4,
    'look for an open period': 2,
    'settle an open period': 4,
    'capture a payment': 1.5,
    'move the clock to other periods': 50,
    'move the test clock': 0,
    'enter an unreliable card': 2,
    'enter a card': 0.3,
    'create a customer': 0.5,
    'bind a card': 1,
    'withdraw a binding': 0.3,
    'delete a customer': 0.2,
    'charge a customer': 0.3,
    'withdraw a consent': 0.3,
    'change a webhook': 1,
  },
  otherwise: 0.05,
};

const mixture: Theme = {
  name: 'a bit of everything',
  beginnings: [...forPayments, ...forPayouts, ...forCustomers, ['create a webhook', 'webhooks']],
  likelier: {},
  otherwise: 1,
};

/** In turn, so that a few consecutive seeds have them all. Mixtures and subscriptions come half as often. */
export const themes: readonly Theme[] = [
  mixture,
  holdsAndRefunds,
  payouts,
  recurring,
  webhooks,
  subscriptions,
  holdsAndRefunds,
  payouts,
  recurring,
  webhooks,
];

/** The first seed from that one on with the theme; the next ones follow at a distance of the number of themes. */
export function firstSeedOf(theme: Theme, from: number): number {
  for (let seed = from; ; seed++) if (themeOf(seed) === theme) return seed;
}

export function themeOf(seed: number): Theme {
  return themes[Math.abs(seed) % themes.length] ?? mixture;
}
