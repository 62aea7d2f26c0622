// The log of the demo shop's server: requests, webhook events and remarks.
import { existing, h, type Child } from '../docs/elements.ts';

export type Exchange = { method: string; path: string; body?: unknown; status: number; answer: unknown };
/** A webhook event as the shop's server received it. */
export type WebhookEvent = {
  path: string;
  headers: Record<string, string>;
  body: {
    eventType: string;
    payment?: { id: string; payer: { payerType: string } };
  };
};

const log = existing('log', HTMLOListElement);

const meanings: Readonly<Record<string, string>> = {
  InvoiceCreated: 'The invoice can be paid.',
  InvoicePaid: 'Paid. Now the shop delivers.',
  InvoiceCancelled: 'The invoice was not paid in time.',
  'PaymentStarted PaymentResourcePayer': 'The payer has entered a card. Mandate sends it to the bank.',
  'PaymentStarted RecurrentPayer': 'The card of the subscription is charged. The payer is not asked.',
  'PaymentStarted CustomerPayer': 'The saved card is charged. The payer is not asked.',
  PaymentProcessed: 'The bank has approved.',
  PaymentCaptured: 'The money is captured.',
  PaymentFailed: 'The payment failed. The payer may try another card.',
  PaymentCancelled: 'The hold is released.',
  CustomerCreated: 'The customer can save a card.',
  CustomerBindingStarted: 'The payer has entered a card and agreed to save it. A small sum is charged.',
  CustomerBindingSucceeded: 'The small sum is refunded and the card is saved.',
  CustomerReady: 'The customer can be charged.',
  CustomerBindingFailed: 'The card is not saved. The payer may try another.',
};

export function exchangeEntry(
  meaning: string,
  { method, path, body, status, answer }: Exchange,
): HTMLElement {
  return h(
    'li',
    { class: 'request' },
    h('p', {}, meaning),
    h(
      'p',
      { class: 'line' },
      h('b', {}, method),
      ` ${path} `,
      h('span', { class: 'status' }, String(status)),
    ),
    h('div', { class: 'folds' }, details('Request', body), details('Response', answer)),
  );
}

export function webhookEntry({ path, headers, body }: WebhookEvent, actions: Child): HTMLElement {
  const { eventType, payment } = body;
  const meaning = meanings[`${eventType} ${payment?.payer.payerType}`] ?? meanings[eventType];
  return h(
    'li',
    { class: 'event' },
    h('p', {}, meaning ?? 'A new event.'),
    h(
      'p',
      { class: 'line' },
      h('b', {}, 'webhook'),
      ` ${path} ${eventType} `,
      h('span', { class: 'signed' }, '✓ signed'),
    ),
    h('div', { class: 'folds' }, details('Event', body), details('Headers', headers)),
    actions,
  );
}

export function note(text: string, options?: object): HTMLElement {
  return h('li', { class: 'note' }, h('p', {}, text), options && details('Options', options));
}

function details(name: string, value: unknown): Child {
  if (value === undefined) return undefined;
  return h(
    'details',
    {},
    h('summary', {}, name),
    h('pre', { tabindex: 0 }, JSON.stringify(shortened(value), null, 2)),
  );
}

/** Readers need no token in full. */
function shortened(value: unknown): unknown {
  if (typeof value === 'string') return value.length > 80 ? `${value.slice(0, 24)}…` : value;
  if (Array.isArray(value)) return value.map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shortened(member)]));
}

export function show(entry: HTMLElement): void {
  log.querySelector('.empty')?.remove();
  log.append(entry);
  log.scrollTop = log.scrollHeight;
}
