// A click in the demo shop creates an invoice or a customer and opens the checkout with its token.
// The page shows each request and webhook event of the shop's server.
import { existing, h, type Child } from '../docs/elements.ts';
import {
  clearLog,
  exchangeEntry,
  note,
  show,
  webhookEntry,
  type Exchange,
  type WebhookEvent,
} from './entries.ts';
import { rememberOrder } from './orders.ts';
import { openPace } from './pace.ts';
import { forgetStory, remember, storySoFar, type Followed, type Told } from './story.ts';
import { actMeaning, sayTimePasses, showSubscription, type State } from './subscription.ts';

type InvoiceAndToken = { invoice: { id: string }; invoiceAccessToken: { payload: string } };
type CustomerAndToken = { customer: { id: string }; customerAccessToken: { payload: string } };
type Subscription = { id: string; firstInvoiceID: string };
type Checkout = { configure(options: Record<string, unknown>): { open(): void } };

const { MandateCheckout } = globalThis as unknown as { MandateCheckout: Checkout };
const shopName = 'Bean & Leaf';
const cards = existing('cards', HTMLElement);
const cardsPlace = existing('cards-place', HTMLElement);

/** Checkout options of each kind of order. */
const wishes: Readonly<Record<string, Record<string, unknown>>> = {
  once: {},
  subscribe: {},
  hold: { paymentFlowHold: true, holdExpiration: 'cancel' },
};

const lastEvents: Readonly<Record<string, readonly string[]>> = {
  // The payer may end it at any time.
  subscribe: ['InvoiceCancelled', 'ConsentWithdrawn', 'SeriesStopped'],
  bind: ['ConsentWithdrawn', 'SeriesStopped'],
  tea: ['SubscriptionEnded'],
};
/** By the path of what they are about. */
const shownEvents = new Map<string, number>();
/** The newest one. */
let subscriptionPath: string | undefined;
let isTimePassing = false;
const lastOfOrder = ['InvoicePaid', 'InvoiceCancelled', 'PaymentCancelled'];

// The mailbox links back to this tab.
window.name ||= 'mandate-demo';
for (const told of storySoFar()) draw(told);
for (const told of storySoFar()) if (told.is === 'followed') void follow(told.followed);

/** Before the first order, so that the shop gets its first webhook event. */
const subscribed = subscribe();

const sales: Readonly<Record<string, () => Promise<void>>> = { bind: saveCard, tea: sellSubscription };

for (const button of document.querySelectorAll<HTMLButtonElement>('[data-kind]')) {
  const kind = button.dataset['kind'] ?? '';
  button.addEventListener('click', () => void (sales[kind] ?? (() => order(kind)))());
}
for (const button of document.querySelectorAll<HTMLButtonElement>('[data-act]')) {
  button.addEventListener('click', () => void actOnSubscription(button.dataset['act'] ?? ''));
}
for (const button of document.querySelectorAll<HTMLButtonElement>('[data-card]')) {
  button.addEventListener('click', () => void copy(button.dataset['card'] ?? ''));
}

existing('clear', HTMLButtonElement).addEventListener('click', () => {
  forgetStory();
  clearLog();
  // The subscription continues, also after a reload.
  const path = subscriptionPath;
  if (path)
    remember({ is: 'followed', followed: { path, kind: 'tea', cleared: shownEvents.get(path) ?? 0 } });
});

function tell(told: Told): void {
  draw(told);
  remember(told);
}

function draw(told: Told): void {
  if (told.is === 'exchange') show(exchangeEntry(told.meaning, told.exchange));
  if (told.is === 'note') show(note(told.text, told.options));
  if (told.is === 'event') show(webhookEntry(told.event, actionsOf(told.of, told.event.body)));
}

function tellExchange(meaning: string, exchange: Exchange): void {
  tell({ is: 'exchange', meaning, exchange });
}

async function subscribe(): Promise<void> {
  for (const exchange of await askShop('POST', 'demo/webhooks')) {
    tellExchange('The shop registers its webhooks, once.', exchange);
  }
}

async function order(kind: string): Promise<void> {
  await subscribed;
  const [exchange] = await askShop('POST', `demo/orders/${kind}`);
  tellExchange('The shop creates an invoice.', exchange);
  if (exchange.status !== 201) return;
  const { invoice, invoiceAccessToken } = exchange.answer as InvoiceAndToken;
  const options = { name: shopName, ...wishes[kind] };
  const text = 'The shop’s page opens the checkout with the invoice’s access token.';
  tell({ is: 'note', text, options });
  openCheckout({ invoiceID: invoice.id, invoiceAccessToken: invoiceAccessToken.payload, ...options });
  await followOrder(invoice.id, kind);
}

async function saveCard(): Promise<void> {
  await subscribed;
  const [exchange] = await askShop('POST', 'demo/customers');
  tellExchange('The shop creates a customer.', exchange);
  if (exchange.status !== 201) return;
  const { customer, customerAccessToken } = exchange.answer as CustomerAndToken;
  const options = { name: shopName };
  const text = 'The shop’s page opens the checkout with the customer’s access token.';
  tell({ is: 'note', text, options });
  openCheckout({ customerID: customer.id, customerAccessToken: customerAccessToken.payload, ...options });
  await begin({ path: `demo/customers/${customer.id}`, kind: 'bind' });
}

/** The service charges it, so the shop only follows its events. */
async function sellSubscription(): Promise<void> {
  await subscribed;
  const [created, token] = await askShop('POST', 'demo/subscriptions');
  tellExchange('The shop creates a subscription, which starts with a payment.', created);
  if (!token) return;
  tellExchange('The shop gets an access token for the first invoice.', token);
  const { id, firstInvoiceID } = created.answer as Subscription;
  const { payload } = token.answer as { payload: string };
  openCheckout({ invoiceID: firstInvoiceID, invoiceAccessToken: payload, name: shopName });
  rememberOrder(id);
  await begin({ path: `demo/subscriptions/${id}`, kind: 'tea' });
}

function openCheckout(options: Record<string, unknown>): void {
  MandateCheckout.configure({
    ...options,
    opened: showCards,
    finished: () =>
      tell({
        is: 'note',
        text: 'The checkout reports that it has finished. The shop relies on its webhooks only.',
      }),
    closed: () => {
      cardsPlace.append(cards);
      tell({ is: 'note', text: 'The payer has closed the checkout.' });
    },
  }).open();
}

/** What lies outside of an open dialog is hidden and cannot be clicked. On a phone the checkout has a window of its own. */
function showCards(): void {
  document.querySelector('dialog')?.append(cards);
}

async function followOrder(id: string, kind = 'charge'): Promise<void> {
  rememberOrder(id);
  await begin({ path: `demo/orders/${id}`, kind });
}

async function begin(followed: Followed): Promise<void> {
  remember({ is: 'followed', followed });
  await follow(followed);
}

/** What the shop can do after an event. */
function actionsOf({ path, kind }: Followed, { eventType, payment }: WebhookEvent['body']): Child {
  const ofPayment = `${path}/payments/${payment?.id}`;
  if (kind === 'bind' && eventType === 'CustomerReady')
    return chargeButton('Next purchase: charge the card', () => chargeAgain(`${path}/charges`));
  if (kind === 'hold' && eventType === 'PaymentProcessed') return holdButtons(ofPayment);
  if (kind === 'subscribe' && eventType === 'PaymentCaptured')
    return chargeButton('A month later: charge again', () => chargeAgain(`${ofPayment}/charges`));
  return undefined;
}

/** Shows webhook events from the first that was not shown before, until the last one. */
async function follow(followed: Followed): Promise<void> {
  const pace = openPace(500);
  const { path, kind } = followed;
  const isLast = ({ body }: WebhookEvent) => (lastEvents[kind] ?? lastOfOrder).includes(body.eventType);
  const known = storySoFar().flatMap((told) =>
    told.is === 'event' && told.of.path === path ? [told.event] : [],
  );
  shownEvents.set(path, (followed.cleared ?? 0) + known.length);
  if (kind === 'tea') await refresh((subscriptionPath = path));
  if (known.some(isLast)) return;
  for (;;) {
    const shown = shownEvents.get(path) ?? 0;
    const received = (await fromShop<WebhookEvent[]>(`${path}/notices?after=${shown}`)) ?? [];
    shownEvents.set(path, shown + received.length);
    for (const event of received) tell({ is: 'event', event, of: followed });
    if (received.length > 0) {
      pace.quicken();
      await refresh(path);
    }
    if (received.some(isLast)) return;
    await pace.pause();
  }
}

/** The page shows the newest subscription alone. */
async function refresh(path: string | undefined): Promise<void> {
  if (path === undefined || path !== subscriptionPath) return;
  const state = await fromShop<State>(path);
  if (state) showSubscription(path, state);
}

async function actOnSubscription(act: string): Promise<void> {
  const path = subscriptionPath;
  if (path === undefined || isTimePassing) return;
  isTimePassing = true;
  if (act !== 'end') sayTimePasses();
  const exchanges = await askShop('POST', `${path}/${act}`);
  for (const [index, exchange] of exchanges.entries())
    tellExchange(actMeaning(act, exchange, index), exchange);
  await refresh(path);
  isTimePassing = false;
}

async function fromShop<Answer>(path: string): Promise<Answer | undefined> {
  try {
    const response = await fetch(path);
    return response.ok ? ((await response.json()) as Answer) : undefined;
  } catch {
    return undefined;
  }
}

/** Captures or cancels a hold. */
function holdButtons(path: string): Child {
  const verbs = [
    ['capture', 'It is built: capture the money'],
    ['cancel', 'It cannot be built: cancel the hold'],
  ] as const;
  const buttons: HTMLButtonElement[] = verbs.map(([verb, label]) =>
    h('button', { type: 'button', click: () => void end(verb) }, label),
  );
  async function end(verb: string): Promise<void> {
    for (const button of buttons) button.disabled = true;
    const [exchange] = await askShop('POST', `${path}/${verb}`);
    tellExchange(
      verb === 'capture' ? 'The shop captures the money.' : 'The shop cancels the hold.',
      exchange,
    );
  }
  return h('p', { class: 'actions' }, buttons);
}

/** Any number of times, but one at a time. */
function chargeButton(label: string, charge: () => Promise<void>): Child {
  const button: HTMLButtonElement = h('button', { type: 'button', click: () => void press() }, label);
  async function press(): Promise<void> {
    button.disabled = true;
    await charge();
    button.disabled = false;
  }
  return h('p', { class: 'actions' }, button);
}

/** The shop's server charges the card without a checkout. */
async function chargeAgain(path: string): Promise<void> {
  const exchanges = await askShop('POST', path);
  for (const exchange of exchanges) tellExchange(chargeMeaning(exchange), exchange);
  await refresh(subscriptionPath);
  const paid = exchanges.at(-1);
  if (paid?.status === 201 && paid.path.endsWith('/payments'))
    await followOrder((paid.answer as { invoiceID: string }).invoiceID);
}

function chargeMeaning({ path }: Exchange): string {
  if (path.endsWith('/clock')) return 'A month passes: the shop moves the test clock of the sandbox.';
  return path.endsWith('/payments')
    ? 'The shop’s server charges the saved card. No checkout opens, and the payer is not asked.'
    : 'The shop creates an invoice for the charge.';
}

/** The API requests the shop's server made, in order. */
async function askShop(method: string, path: string): Promise<[Exchange, ...Exchange[]]> {
  const failed = (status: number, answer: string): [Exchange] => [{ method, path, status, answer }];
  try {
    const response = await fetch(path, { method });
    if (!response.ok) return failed(response.status, 'The demo shop returned an error. Try again.');
    const asked = (await response.json()) as Exchange | [Exchange, ...Exchange[]];
    return Array.isArray(asked) ? asked : [asked];
  } catch {
    return failed(0, 'The demo shop cannot be reached. Check that Mandate is running.');
  }
}

async function copy(card: string): Promise<void> {
  const copied = existing('copied', HTMLElement);
  try {
    await navigator.clipboard.writeText(card);
    copied.textContent = `Copied ${card}.`;
  } catch {
    copied.textContent = 'This browser blocks copying. Select the number instead.';
  }
}
