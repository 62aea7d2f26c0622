// The payer's subscription as the shop shows it: its state, its months, and what can be done next.
import { existing, h, type Child } from '../docs/elements.ts';
import type { Exchange } from './entries.ts';

type Period = { startsOn: string; outcome: string; number: number };
type Subscription = {
  status: string;
  items: { product: string }[];
  currency: string;
  paidThrough?: string;
  endsAfterPeriod?: number;
  openPeriods: { number: number; declineClass?: string; nextTryAt?: string }[];
};
export type State = {
  subscription: Subscription;
  /** The newest first. */
  periods: Period[];
  upcoming: { startsOn: string; dueAt: string; amount: number }[];
  now: string;
};

/** Fills two, three, four and six columns. */
const shownMonths = 12;
const panel = existing('subscription', HTMLElement);
const heading = existing('subscription-heading', HTMLElement);
const advice = existing('advice', HTMLElement);

let shown: string | undefined;

/** `path` is that of the subscription at the shop's server. */
export function showSubscription(path: string, state: State): void {
  const { subscription, periods, upcoming, now } = state;
  const { status, paidThrough = now } = subscription;
  const isFirst = panel.hidden || shown !== path;
  shown = path;
  // Until the payer has paid, there is only an invoice.
  panel.hidden = status === 'incomplete';
  panel.dataset['state'] = status;
  existing('state', HTMLElement).textContent = stateText(subscription);
  existing('next-charge', HTMLElement).textContent = nextChargeText(state);
  existing('paid-until', HTMLElement).textContent = dayOf(paidThrough);
  existing('today', HTMLElement).textContent = dayOf(now);
  const page = existing('payer-page', HTMLAnchorElement);
  page.href = `${path}/page`;
  const next = status === 'active' ? upcoming : [];
  existing('months', HTMLOListElement).replaceChildren(
    ...periods
      .slice(0, shownMonths - next.length)
      .reverse()
      .map((period) => monthOf(period, subscription)),
    ...next.map(({ startsOn }) => month(startsOn, 'next')),
  );
  say(adviceOf(subscription));
  const isEnded = status === 'ended';
  for (const button of panel.querySelectorAll<HTMLElement>('[data-act]'))
    setHidden(button, isEnded || !isUseful(button.dataset['act'], subscription));
  existing('clock', HTMLElement).hidden = isEnded;
  if (isFirst) panel.scrollIntoView({ block: 'nearest' });
}

/** While a charge has failed the next one is no first charge, and a second decline would meet another sale. */
function isUseful(act: string | undefined, { status, endsAfterPeriod }: Subscription): boolean {
  if (act === 'decline') return status === 'active';
  return act !== 'end' || endsAfterPeriod === undefined;
}

export function sayTimePasses(): void {
  say('Time passes …');
}

export function actMeaning(act: string, { path }: Exchange, index: number): string {
  if (path.endsWith('/faults'))
    return 'The shop asks the simulated bank to decline the next charge: the card has expired.';
  if (act === 'end') return 'The shop ends the subscription, after the period that is paid.';
  if (act === 'year')
    return 'A year passes: the shop moves the test clock past twelve charges. Mandate makes each on its day.';
  if (act === 'month') return 'A month passes: the shop moves the test clock past the next charge.';
  return index === 0
    ? 'The shop moves the test clock to a second before the next charge.'
    : 'The day of the charge comes.';
}

/** A screen reader hears it once. */
function say(...words: Child[]): void {
  const next = h('span', {}, ...words);
  if (advice.textContent !== next.textContent) advice.replaceChildren(next);
}

function setHidden(button: HTMLElement, isHidden: boolean): void {
  if (isHidden && document.activeElement === button) heading.focus();
  button.hidden = isHidden;
}

function stateText({ status, endsAfterPeriod, paidThrough = '' }: Subscription): string {
  if (status !== 'ended' && endsAfterPeriod !== undefined) return `Ends on ${dayOf(paidThrough)}`;
  const words: Readonly<Record<string, string>> = {
    active: 'Active',
    pastDue: 'Charge failed',
    unpaid: 'Unpaid',
    paused: 'Paused',
    ended: 'Ended',
  };
  return words[status] ?? status;
}

function nextChargeText({ subscription, upcoming: [next] }: State): string {
  const { status, openPeriods, currency } = subscription;
  const [open] = openPeriods;
  if (open)
    return open.nextTryAt === undefined ? 'when the payer has paid' : `again on ${dayOf(open.nextTryAt)}`;
  if (status !== 'active' || !next) return 'none';
  const amount = new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay: 'code' });
  return `${dayOf(next.dueAt)}, ${amount.format(next.amount / 100)}`;
}

function monthOf({ startsOn, outcome, number }: Period, { openPeriods }: Subscription): HTMLElement {
  const isDeclined = openPeriods.some((open) => open.number === number && open.declineClass !== undefined);
  return month(startsOn, isDeclined ? 'declined' : outcome);
}

function month(startsOn: string, outcome: string): HTMLElement {
  const name = new Date(startsOn).toLocaleDateString('en', {
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
  });
  return h('li', { class: outcome }, h('span', {}, `${name} `), h('b', {}, outcome));
}

function adviceOf({ status, openPeriods: [open], endsAfterPeriod }: Subscription): Child[] {
  if (status === 'ended') return ['Nothing is charged any more.'];
  if (status === 'paused') return ['Nothing is charged until the payer resumes it on their page.'];
  if (open && open.nextTryAt !== undefined)
    return ['The bank has declined the charge. Let time pass: Mandate tries again.'];
  if (open)
    return [
      'The bank says that the card cannot be charged any more. Mandate has written to the payer: open ',
      h('a', { href: 'mailbox', target: 'mandate-mailbox' }, 'their mailbox'),
      ', follow the link in the email, and pay with another card. Try 4012 8888 8888 1881, and the code 1234.',
    ];
  if (endsAfterPeriod !== undefined)
    return ['The payer can keep it on their page. Or let a month pass: it ends, and nothing is charged.'];
  return ['The shop has nothing to do. Let time pass, and Mandate charges each month on its day.'];
}

function dayOf(instant: string): string {
  return new Date(instant).toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
}
