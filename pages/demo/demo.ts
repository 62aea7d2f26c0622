// A click in the demo shop creates an invoice or a customer and opens the checkout with its token.
// The page shows each request and webhook event of the shop's server.
import { existing, h, type Child } from '../docs/elements.ts';
import { exchangeEntry, note, show, webhookEntry, type Exchange, type WebhookEvent } from './entries.ts';
import { rememberOrder } from './orders.ts';

type InvoiceAndToken = { invoice: { id: string }; invoiceAccessToken: { payload: string } };
type CustomerAndToken = { customer: { id: string }; customerAccessToken: { payload: string } };
type Checkout = { configure(options: Record<string, unknown>): { open(): void } };

const { MandateCheckout } = globalThis as unknown as { MandateCheckout: Checkout };
const everyMs = 500;
const followedMs = 15 * 60_000;
const shopName = 'Bean & Leaf';

/** Checkout options of each kind of order. */
const wishes: Readonly<Record<string, Record<string, unknown>>> = {
  once: {},
  subscribe: {},
  hold: { paymentFlowHold: true, holdExpiration: 'cancel' },
};

/** Before the first order, so that the shop gets its first webhook event. */
const subscribed = subscribe();

for (const button of document.querySelectorAll<HTMLButtonElement>('[data-kind]')) {
  const kind = button.dataset['kind'] ?? '';
  button.addEventListener('click', () => void (kind === 'bind' ? saveCard() : order(kind)));
}
for (const button of document.querySelectorAll<HTMLButtonElement>('[data-card]')) {
  button.addEventListener('click', () => void copy(button.dataset['card'] ?? ''));
}

async function subscribe(): Promise<void> {
  for (const exchange of await askShop('POST', 'demo/webhooks')) {
    show(exchangeEntry('The shop registers its webhooks, once.', exchange));
  }
}

async function order(kind: string): Promise<void> {
  await subscribed;
  const [exchange] = await askShop('POST', `demo/orders/${kind}`);
  show(exchangeEntry('The shop creates an invoice.', exchange));
  if (exchange.status !== 201) return;
  const { invoice, invoiceAccessToken } = exchange.answer as InvoiceAndToken;
  const options = { name: shopName, ...wishes[kind] };
  show(note('The shop’s page opens the checkout with the invoice’s access token.', options));
  openCheckout({ invoiceID: invoice.id, invoiceAccessToken: invoiceAccessToken.payload, ...options });
  await followOrder(invoice.id, kind);
}

async function saveCard(): Promise<void> {
  await subscribed;
  const [exchange] = await askShop('POST', 'demo/customers');
  show(exchangeEntry('The shop creates a customer.', exchange));
  if (exchange.status !== 201) return;
  const { customer, customerAccessToken } = exchange.answer as CustomerAndToken;
  const options = { name: shopName };
  show(note('The shop’s page opens the checkout with the customer’s access token.', options));
  openCheckout({ customerID: customer.id, customerAccessToken: customerAccessToken.payload, ...options });
  await follow(
    `demo/customers/${customer.id}`,
    ({ eventType }) =>
      eventType === 'CustomerReady' ? chargeButton('Next purchase: charge the card', charge) : undefined,
    ({ eventType }) => eventType === 'CustomerReady',
  );
  function charge(): Promise<void> {
    return chargeAgain(`demo/customers/${customer.id}/charges`);
  }
}

function openCheckout(options: Record<string, unknown>): void {
  MandateCheckout.configure({
    ...options,
    finished: () =>
      show(note('The checkout reports that it has finished. The shop relies on its webhooks only.')),
    closed: () => show(note('The payer has closed the checkout.')),
  }).open();
}

async function followOrder(id: string, kind = 'charge'): Promise<void> {
  rememberOrder(id);
  await follow(
    `demo/orders/${id}`,
    ({ eventType, payment }) => {
      const path = `demo/orders/${id}/payments/${payment?.id}`;
      if (kind === 'hold' && eventType === 'PaymentProcessed') return holdButtons(path);
      if (kind !== 'subscribe' || eventType !== 'PaymentCaptured') return undefined;
      return chargeButton('A month later: charge again', () => chargeAgain(`${path}/charges`));
    },
    ({ eventType }) => ['InvoicePaid', 'InvoiceCancelled', 'PaymentCancelled'].includes(eventType),
  );
}

/** Shows webhook events until the last one. */
async function follow(
  path: string,
  actionsFor: (body: WebhookEvent['body']) => Child,
  isLast: (body: WebhookEvent['body']) => boolean,
): Promise<void> {
  const untilMs = performance.now() + followedMs;
  let shown = 0;
  while (performance.now() < untilMs) {
    const received = (await fromShop<WebhookEvent[]>(`${path}/notices?after=${shown}`)) ?? [];
    for (const event of received) show(webhookEntry(event, actionsFor(event.body)));
    if (received.some(({ body }) => isLast(body))) return;
    shown += received.length;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
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
    show(
      exchangeEntry(
        verb === 'capture' ? 'The shop captures the money.' : 'The shop cancels the hold.',
        exchange,
      ),
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
  const [made, paid] = await askShop('POST', path);
  show(exchangeEntry('The shop creates an invoice for the charge.', made));
  if (!paid) return;
  show(
    exchangeEntry(
      'The shop’s server charges the saved card. No checkout opens, and the payer is not asked.',
      paid,
    ),
  );
  if (paid.status === 201) await followOrder((made.answer as { invoice: { id: string } }).invoice.id);
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
