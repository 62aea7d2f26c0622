// What the demo shop shows of its server's side: requests, webhooks and remarks, one below the other.
import { existing, h, type Child } from '../docs/elements.ts';

export type Exchange = { method: string; path: string; body?: unknown; status: number; answer: unknown };
/** A webhook, as the shop's server got it. */
export type Notice = {
  path: string;
  headers: Record<string, string>;
  body: {
    eventType: string;
    payment?: { id: string; payer: { payerType: string } };
  };
};

const log = existing('log', HTMLOListElement);

const meanings: Readonly<Record<string, string>> = {
  InvoiceCreated: 'There is something to pay.',
  InvoicePaid: 'Paid. Now the shop delivers.',
  InvoiceCancelled: 'Nobody paid in time.',
  'PaymentStarted PaymentResourcePayer': 'The payer has entered a card. The bank is being asked.',
  'PaymentStarted RecurrentPayer': 'The card of the subscription is charged. The payer is not asked.',
  'PaymentStarted CustomerPayer': 'The saved card is charged. The payer is not asked.',
  PaymentProcessed: 'The bank has approved.',
  PaymentCaptured: 'The money is taken.',
  PaymentFailed: 'It came to nothing; the payer may try another card.',
  PaymentCancelled: 'What was reserved is given back.',
  CustomerCreated: 'There is somebody whose card can be saved.',
  CustomerBindingStarted: 'The payer has entered a card and agreed that it is kept. A small sum is charged.',
  CustomerBindingSucceeded: 'The small sum is given back and the card is saved.',
  CustomerReady: 'The customer can be charged.',
  CustomerBindingFailed: 'The card is not saved; the payer may try another.',
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
    h('div', { class: 'folds' }, details('Request', body), details('Answer', answer)),
  );
}

export function noticeEntry({ path, headers, body }: Notice, actions: Child): HTMLElement {
  const { eventType, payment } = body;
  const meaning = meanings[`${eventType} ${payment?.payer.payerType}`] ?? meanings[eventType];
  return h(
    'li',
    { class: 'notice' },
    h('p', {}, meaning ?? 'Something has happened.'),
    h(
      'p',
      { class: 'line' },
      h('b', {}, 'webhook'),
      ` ${path} ${eventType} `,
      h('span', { class: 'signed' }, '✓ signed'),
    ),
    h('div', { class: 'folds' }, details('Notice', body), details('Headers', headers)),
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

/** A token in full says nothing to people. */
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
