// The mailbox: polls the demo shop for emails about this browser's orders and subscriptions, and lists the newest first.
// An email opens in a sandboxed frame without scripts.
import { ordersOfThisBrowser } from '../demo/orders.ts';
import { openPace } from '../demo/pace.ts';
import { existing, h } from '../docs/elements.ts';

type Email = {
  id: string;
  /** What it is about: the order or the subscription. */
  order: string;
  createdAt: string;
  to: string;
  status: 'waiting' | 'kept' | 'sent' | 'refused';
  subject?: string;
  text?: string;
};

const sandbox = 'allow-popups allow-popups-to-escape-sandbox';
const meanings: Readonly<Record<Email['status'], string>> = {
  waiting: 'on its way',
  kept: 'kept here, because no mail server is set',
  sent: 'sent',
  refused: 'refused by the mail server, which does not know the address',
};

const list = existing('emails', HTMLOListElement);
const shown = new Set<string>();

async function poll(): Promise<void> {
  const orders = ordersOfThisBrowser();
  if (orders.length === 0) return;
  const response = await fetch(`demo/letters?orders=${orders.join(',')}`).catch(() => undefined);
  const emails = response?.ok ? ((await response.json()) as Email[]) : [];
  const written = emails.filter((email) => email.text !== undefined && !shown.has(email.id));
  const isFirst = shown.size === 0;
  if (written.length > 0) pace.quicken();
  for (const email of written.sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1))) add(email);
  // The newest is what a payer looks for.
  if (isFirst) list.querySelector('button')?.click();
}

function add(email: Email): void {
  shown.add(email.id);
  existing('none', HTMLElement).hidden = true;
  const button: HTMLButtonElement = h(
    'button',
    { type: 'button', click: () => open(email, button) },
    h('strong', {}, email.subject),
    h('span', {}, `${timeOf(email)} · ${email.to}`),
  );
  list.prepend(h('li', {}, button));
}

function open(email: Email, button: HTMLButtonElement): void {
  for (const other of list.querySelectorAll('[aria-current]')) other.removeAttribute('aria-current');
  button.setAttribute('aria-current', 'true');
  existing('subject', HTMLElement).textContent = email.subject ?? '';
  existing('about', HTMLElement).textContent = `To ${email.to}, ${timeOf(email)}: ${meanings[email.status]}.`;
  existing('text', HTMLElement).textContent = email.text ?? '';
  const src = `demo/letters/${email.order}/${email.id}`;
  // A new frame each time, so that the browser's Back button leaves the mailbox.
  existing('frame', HTMLElement).replaceChildren(
    h('iframe', { id: 'email', title: 'The email', sandbox, src }),
  );
  existing('opened', HTMLElement).hidden = false;
}

function timeOf({ createdAt }: Email): string {
  return `${createdAt.slice(0, 10)} ${createdAt.slice(11, 16)} UTC`;
}

const pace = openPace(1_500);
for (;;) {
  await poll();
  await pace.pause();
}
