// The mailbox: asks the demo shop again and again for the letters about this browser's orders, shows them with the newest first, and
// opens one in a frame of an origin of its own, where nothing is loaded and no script runs.
import { ordersOfThisBrowser } from '../demo/orders.ts';
import { existing, h } from '../docs/elements.ts';

type Letter = {
  invoiceID: string;
  paymentID: string;
  createdAt: string;
  to: string;
  status: 'waiting' | 'kept' | 'sent' | 'refused';
  subject?: string;
  text?: string;
};

const everyMs = 1_500;
const lookedForMs = 15 * 60_000;
const sandbox = 'allow-popups allow-popups-to-escape-sandbox';
const meanings: Readonly<Record<Letter['status'], string>> = {
  waiting: 'on its way',
  kept: 'kept here: no mail server is set',
  sent: 'sent',
  refused: 'the mail server knows nobody there',
};

const list = existing('letters', HTMLOListElement);
const shown = new Set<string>();

async function look(): Promise<void> {
  const orders = ordersOfThisBrowser();
  if (orders.length === 0) return;
  const response = await fetch(`demo/letters?orders=${orders.join(',')}`).catch(() => undefined);
  const letters = response?.ok ? ((await response.json()) as Letter[]) : [];
  const written = letters.filter((letter) => letter.text !== undefined && !shown.has(nameOf(letter)));
  for (const letter of written.sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1))) add(letter);
}

function add(letter: Letter): void {
  shown.add(nameOf(letter));
  existing('none', HTMLElement).hidden = true;
  const button: HTMLButtonElement = h(
    'button',
    { type: 'button', click: () => open(letter, button) },
    h('strong', {}, letter.subject),
    h('span', {}, `${timeOf(letter)} · ${letter.to}`),
  );
  list.prepend(h('li', {}, button));
  if (shown.size === 1) open(letter, button);
}

function open(letter: Letter, button: HTMLButtonElement): void {
  for (const other of list.querySelectorAll('[aria-current]')) other.removeAttribute('aria-current');
  button.setAttribute('aria-current', 'true');
  existing('subject', HTMLElement).textContent = letter.subject ?? '';
  existing('about', HTMLElement).textContent =
    `To ${letter.to}, ${timeOf(letter)}: ${meanings[letter.status]}.`;
  existing('text', HTMLElement).textContent = letter.text ?? '';
  const src = `demo/letters/${nameOf(letter)}`;
  // A new one each time: the way back in the browser leads to the page before, not to the letter before.
  existing('frame', HTMLElement).replaceChildren(
    h('iframe', { id: 'letter', title: 'The letter', sandbox, src }),
  );
  existing('opened', HTMLElement).hidden = false;
}

function nameOf({ invoiceID, paymentID }: Letter): string {
  return `${invoiceID}/${paymentID}`;
}

function timeOf({ createdAt }: Letter): string {
  return `${createdAt.slice(0, 10)} ${createdAt.slice(11, 16)} UTC`;
}

const untilMs = performance.now() + lookedForMs;
while (performance.now() < untilMs) {
  await look();
  await new Promise((resolve) => setTimeout(resolve, everyMs));
}
