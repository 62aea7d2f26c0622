// What the demo shop shows of its server's side: requests, events and remarks, one below the other.
import { existing, h, type Child } from '../docs/elements.ts';

export type Exchange = { method: string; path: string; body?: unknown; status: number; answer: unknown };
export type Change = {
  changeType: string;
  status?: string;
  paymentID?: string;
  customerBindingID?: string;
  payment?: { id: string; flow: { type: string }; makeRecurrent?: boolean; payer: { payerType: string } };
};
export type FeedEvent = { id: number; createdAt: string; changes: Change[] };

const log = existing('log', HTMLOListElement);

const meanings: Readonly<Record<string, string>> = {
  InvoiceCreated: 'There is something to pay.',
  'PaymentStarted PaymentResourcePayer': 'The payer has entered a card. The bank is being asked.',
  'PaymentStarted RecurrentPayer': 'The card of the subscription is charged. The payer is not asked.',
  'PaymentStarted CustomerPayer': 'The saved card is charged. The payer is not asked.',
  PaymentInteractionRequested: 'The payer’s bank wants him to confirm. The checkout shows its page.',
  'PaymentStatusChanged processed': 'The bank has approved.',
  'PaymentStatusChanged captured': 'The money is taken.',
  'PaymentStatusChanged failed': 'It came to nothing; the payer may try another card.',
  'PaymentStatusChanged cancelled': 'What was reserved is given back.',
  'InvoiceStatusChanged paid': 'Paid. Now the shop delivers.',
  CustomerBindingStarted: 'The payer has entered a card and agreed that it is kept. A small sum is charged.',
  CustomerBindingInteractionRequested: 'The payer’s bank wants him to confirm. The checkout shows its page.',
  'CustomerBindingStatusChanged succeeded':
    'The small sum is given back and the card is saved. The customer can be charged.',
  'CustomerBindingStatusChanged failed': 'The card is not saved; the payer may try another.',
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
    details('Request', body),
    details('Answer', answer),
  );
}

export function eventEntry({ id }: FeedEvent, change: Change, actions: Child): HTMLElement {
  const { changeType, status, payment } = change;
  const name = status === undefined ? changeType : `${changeType} ${status}`;
  const meant = payment === undefined ? name : `${name} ${payment.payer.payerType}`;
  return h(
    'li',
    { class: 'event' },
    h('p', {}, meanings[meant] ?? 'Something has happened.'),
    h('p', { class: 'line' }, h('b', {}, `event ${id}`), ` ${name}`),
    details('Event', change),
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
