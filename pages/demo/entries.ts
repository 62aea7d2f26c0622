// The log of the demo shop's server: requests, webhook events and remarks.
import { existing, h, type Child } from '../docs/elements.ts';
import { shortened } from './story.ts';

export type Exchange = { method: string; path: string; body?: unknown; status: number; answer: unknown };
/** A webhook event as the shop's server received it. */
export type WebhookEvent = {
  path: string;
  headers: Record<string, string>;
  body: {
    eventType: string;
    payment?: { id: string; payer?: { payerType: string } };
    period?: { number: number };
    /** Who paid the period, or paused. */
    by?: string;
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
  ConsentWithdrawn: 'The payer has ended the recurring charges. The shop can no longer charge the card.',
  SubscriptionStarted:
    'The subscription starts. From now on Mandate charges each month. The shop asks for nothing.',
  SubscriptionPeriodPaid: 'Paid. The shop sends the tea.',
  'SubscriptionPeriodPaid payer': 'The payer has paid. Later months are charged to this card.',
  SubscriptionChargeFailed: 'The bank has declined the charge. Mandate writes to the payer.',
  SubscriptionUnpaid: 'The tries are over. Nothing is charged until the payer has paid.',
  SubscriptionPaused: 'The subscription is paused. Nothing is charged.',
  SubscriptionResumed: 'The subscription continues.',
  SubscriptionEndScheduled: 'The subscription ends after the period that is paid.',
  SubscriptionEndTakenBack: 'The subscription continues after all.',
  SubscriptionEnded: 'The subscription has ended. Nothing is charged any more.',
  SeriesStopped: 'The card’s bank has ended the recurring charges. The payer has to agree again.',
};

export function exchangeEntry(
  meaning: string,
  { method, path, body, status, answer }: Exchange,
): HTMLElement {
  const isRefused = status < 200 || status >= 300;
  return h(
    'li',
    { class: isRefused ? 'request refused' : 'request' },
    h('p', {}, meaning),
    isRefused && h('p', { class: 'refusal' }, refusalText(status, answer)),
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

/** The words of the API, or of the page if the shop's server did not answer. */
function refusalText(status: number, answer: unknown): string {
  if (typeof answer === 'string') return answer;
  const { message, hint } = (answer ?? {}) as { message?: string; hint?: string };
  const said = [message, hint].flatMap((text) => (text ? [text.replace(/\.?$/, '.')] : []));
  return `Refused. ${said.length > 0 ? said.join(' ') : `The response is ${status}, without a body.`}`;
}

export function webhookEntry({ path, headers, body }: WebhookEvent, actions: Child): HTMLElement {
  const { eventType, payment, period, by } = body;
  const cause = payment?.payer?.payerType ?? by;
  const meaning = meanings[`${eventType} ${cause}`] ?? meanings[eventType] ?? 'A new event.';
  return h(
    'li',
    { class: 'event' },
    h('p', {}, period ? `Month ${period.number}: ${meaning}` : meaning),
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
    h('pre', { tabindex: 0 }, JSON.stringify(value, shortened, 2)),
  );
}

export function show(entry: HTMLElement): void {
  log.querySelector('.empty')?.remove();
  log.append(entry);
  log.scrollTop = log.scrollHeight;
}

export function clearLog(): void {
  log.replaceChildren(h('li', { class: 'empty' }, 'Nothing yet. Buy something.'));
}
