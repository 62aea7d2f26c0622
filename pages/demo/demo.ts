// The demo shop. A click makes an order at the shop's server, which makes an invoice; the checkout opens with its token; and what
// then happens to the invoice is shown as the shop's server hears it.
import { existing, h, type Child } from '../docs/elements.ts';

type Exchange = { method: string; path: string; body?: unknown; status: number; answer: unknown };
type InvoiceAndToken = { invoice: { id: string }; invoiceAccessToken: { payload: string } };
type Change = {
  changeType: string;
  status?: string;
  paymentID?: string;
  payment?: { id: string; flow: { type: string } };
};
type FeedEvent = { id: number; createdAt: string; changes: Change[] };
type Checkout = { configure(options: Record<string, unknown>): { open(): void } };

const { MandateCheckout } = globalThis as unknown as { MandateCheckout: Checkout };
const everyMs = 1_000;
const orderFollowedMs = 15 * 60_000;

const log = existing('log', HTMLOListElement);

/** What each kind of order asks of the checkout, besides its invoice. */
const wishes: Readonly<Record<string, Record<string, unknown>>> = {
  once: {},
  subscribe: { recurring: true, recurringSchedule: 'P1M' },
  hold: { paymentFlowHold: true, holdExpiration: 'cancel' },
};

const meanings: Readonly<Record<string, string>> = {
  InvoiceCreated: 'There is something to pay.',
  PaymentStarted: 'The payer has entered a card. The bank is being asked.',
  PaymentInteractionRequested: 'The payer’s bank wants him to confirm. The checkout shows its page.',
  'PaymentStatusChanged processed': 'The bank has approved.',
  'PaymentStatusChanged captured': 'The money is taken.',
  'PaymentStatusChanged failed': 'It came to nothing; the payer may try another card.',
  'PaymentStatusChanged cancelled': 'What was reserved is given back.',
  'InvoiceStatusChanged paid': 'Paid. Now the shop delivers.',
};

for (const button of document.querySelectorAll<HTMLButtonElement>('[data-kind]')) {
  button.addEventListener('click', () => void order(button.dataset['kind'] ?? ''));
}
for (const button of document.querySelectorAll<HTMLButtonElement>('[data-card]')) {
  button.addEventListener('click', () => void copy(button.dataset['card'] ?? ''));
}

async function order(kind: string): Promise<void> {
  const exchange = await askShop('POST', `demo/orders/${kind}`);
  show(exchangeEntry('The shop makes an invoice.', exchange));
  if (exchange.status !== 201) return;
  const { invoice, invoiceAccessToken } = exchange.answer as InvoiceAndToken;
  const options = { name: 'Bean & Leaf', ...wishes[kind] };
  show(note('The shop’s page opens the checkout with the invoice’s own token.', options));
  MandateCheckout.configure({
    invoiceID: invoice.id,
    invoiceAccessToken: invoiceAccessToken.payload,
    ...options,
    finished: () => show(note('The checkout says it is finished. The shop believes its own server alone.')),
    closed: () => show(note('The payer has closed the checkout.')),
  }).open();
  await followOrder(invoice.id, performance.now() + orderFollowedMs);
}

async function followOrder(id: string, untilMs: number, after = 0, isHold = false): Promise<void> {
  const exchange = await askShop('GET', `demo/orders/${id}/events?after=${after}`);
  const events = exchange.status === 200 ? (exchange.answer as FeedEvent[]) : [];
  let isHeld = isHold;
  for (const event of events) {
    for (const change of event.changes) {
      isHeld = change.payment ? change.payment.flow.type === 'PaymentFlowHold' : isHeld;
      show(
        eventEntry(
          event,
          change,
          isHeld && change.status === 'processed' ? holdButtons(id, change) : undefined,
        ),
      );
    }
  }
  const isOver = events.some(({ changes }) =>
    changes.some(({ changeType, status }) => changeType === 'InvoiceStatusChanged' && status !== 'unpaid'),
  );
  if (isOver || performance.now() > untilMs) return;
  await new Promise((resolve) => setTimeout(resolve, everyMs));
  await followOrder(id, untilMs, events.at(-1)?.id ?? after, isHeld);
}

/** What a shop does with money that is reserved. */
function holdButtons(id: string, { paymentID = '' }: Change): Child {
  const verbs = [
    ['capture', 'It is built: take the money'],
    ['cancel', 'It cannot be built: give it back'],
  ] as const;
  const buttons: HTMLButtonElement[] = verbs.map(([verb, label]) =>
    h('button', { type: 'button', click: () => void end(verb) }, label),
  );
  async function end(verb: string): Promise<void> {
    for (const button of buttons) button.disabled = true;
    const exchange = await askShop('POST', `demo/orders/${id}/payments/${paymentID}/${verb}`);
    show(
      exchangeEntry(verb === 'capture' ? 'The shop takes the money.' : 'The shop gives it back.', exchange),
    );
  }
  return h('p', { class: 'actions' }, buttons);
}

async function askShop(method: string, path: string): Promise<Exchange> {
  try {
    const response = await fetch(path, { method });
    if (response.ok) return (await response.json()) as Exchange;
    return { method, path, status: response.status, answer: 'The demo shop does not answer as it should.' };
  } catch {
    return { method, path, status: 0, answer: 'The demo shop cannot be reached.' };
  }
}

function exchangeEntry(meaning: string, { method, path, body, status, answer }: Exchange): HTMLElement {
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

function eventEntry({ id }: FeedEvent, change: Change, actions: Child): HTMLElement {
  const { changeType, status } = change;
  const name = status === undefined ? changeType : `${changeType} ${status}`;
  return h(
    'li',
    { class: 'event' },
    h('p', {}, meanings[name] ?? 'Something happened to the invoice.'),
    h('p', { class: 'line' }, h('b', {}, `event ${id}`), ` ${name}`),
    details('Event', change),
    actions,
  );
}

function note(text: string, options?: object): HTMLElement {
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

function show(entry: HTMLElement): void {
  log.querySelector('.empty')?.remove();
  log.append(entry);
  log.scrollTop = log.scrollHeight;
}

async function copy(card: string): Promise<void> {
  const copied = existing('copied', HTMLElement);
  try {
    await navigator.clipboard.writeText(card);
    copied.textContent = `${card} is copied.`;
  } catch {
    copied.textContent = 'This browser does not let a page copy.';
  }
}
