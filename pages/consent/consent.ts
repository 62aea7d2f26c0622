// The page on which a payer agrees to new terms. Its view follows from the state of the link, so that a page that is reloaded or
// opened twice shows the current one.
import type { ConsentFacts, ConsentState, ConsentView } from '../../src/checkout/domain/consent-link-page.ts';
import { fill } from '../../src/checkout/domain/translations.ts';
import { existing } from '../docs/elements.ts';
import { fingerprint } from '../checkout/browser-print.ts';
import { connectChallenge } from '../checkout/views/challenge.ts';
import { watchTicks } from '../checkout/views/consent-box.ts';
import { waitInWords } from '../checkout/views/wait-text.ts';

type Answer = {
  readonly status: number;
  /** Of status 429: how long to wait. */
  readonly state: ConsentState & { readonly waitSeconds?: number };
};

const soonMs = 300;
const everyMs = 1_000;
/** After a minute in which nothing happened. */
const slowEveryMs = 5_000;
const minuteMs = 60_000;
/** The service gives up after 30 seconds. */
const patienceMs = 35_000;

const facts = JSON.parse(existing('facts', HTMLElement).textContent) as ConsentFacts;
const { words } = facts;
const here = location.pathname;
const banner = existing('message', HTMLElement);
const usualLead = existing('waiting-lead', HTMLElement).textContent;

let shown: ConsentView = facts.view;
let latest: ConsentState = facts;
let hasLeftChallenge = false;
/** The payer has returned from their bank, so its page is not shown again. */
let hasConfirmed = false;
let isSending = false;
let followingSinceMs = 0;
let timer: number | undefined;

if (document.querySelector('#agree')) run();

function run(): void {
  const box = existing('consent', HTMLInputElement);
  const tickedAt = watchTicks(box);
  keepAddress();
  const bank = { frame: words.frame, starter: new URL('../../checkout/challenge', location.href).href };
  const challenge = connectChallenge({ ...bank, hasOpener: false }, () => {
    hasConfirmed = true;
    draw(latest);
    follow();
  });

  box.addEventListener('click', () => explain(''));
  existing('consent-form', HTMLFormElement).addEventListener('submit', (event) => {
    event.preventDefault();
    void agree();
  });
  existing('leave', HTMLButtonElement).addEventListener('click', () => {
    hasLeftChallenge = true;
    draw(latest);
  });
  existing('resume', HTMLButtonElement).addEventListener('click', () => {
    hasLeftChallenge = false;
    draw(latest);
  });
  addEventListener('online', () => follow());
  // A page restored from the browser's history shows an old state.
  addEventListener('pageshow', (event) => event.persisted && follow());
  draw(facts);

  async function agree(): Promise<void> {
    if (isSending) return;
    const agreedAt = tickedAt();
    explain(agreedAt === undefined ? words.consentMissing : '');
    if (agreedAt === undefined) return box.focus();
    isSending = true;
    hasConfirmed = false;
    warn('');
    show('waiting');
    const { locale, textHash } = facts;
    const agreement = { ticked: true, tickedAt: agreedAt, textHash, locale, fingerprint: fingerprint() };
    const answer = await ask(agreement);
    isSending = false;
    if (answer?.status === 200) return draw(answer.state);
    // The payer has to read what they agree to.
    if (answer?.status === 409) return location.reload();
    if (answer?.status === 404) return show('dead');
    show('form');
    warn(answer === undefined ? words.unreachable : refusalSaid(answer));
    banner.focus();
  }

  function draw(state: ConsentState): void {
    latest = state;
    const view = viewOf(state);
    if (view === 'challenge' && state.interaction) challenge.show(state.interaction);
    else challenge.hide();
    show(view);
    if (state.view === 'form' && state.problem) {
      warn(words[state.problem]);
      // A failed attempt needs a new tick.
      box.checked = false;
    }
    if (state.view === 'waiting' || state.view === 'challenge') follow(everyMs);
  }

  /** Looks again until nothing is in progress. A request that a lost connection swallows is repeated. */
  function follow(pauseMs = soonMs): void {
    clearTimeout(timer);
    if (followingSinceMs === 0) followingSinceMs = performance.now();
    timer = setTimeout(() => void look(), pauseMs);
  }

  async function look(): Promise<void> {
    const answer = await ask();
    const isSlow = performance.now() - followingSinceMs > minuteMs;
    existing('waiting-lead', HTMLElement).textContent = answer ? leadOf(isSlow) : words.offline;
    if (!answer) return follow(everyMs);
    if (isSending) return;
    if (answer.state.view === 'form') followingSinceMs = 0;
    draw(answer.state);
    if (isSlow) follow(slowEveryMs);
  }
}

function refusalSaid({ status, state: { waitSeconds = 1 } }: Answer): string {
  if (status !== 429) return words.shopCannot;
  return fill(words.tooMany, { when: waitInWords(waitSeconds, facts.locale) });
}

function viewOf({ view }: ConsentState): ConsentView {
  if (view !== 'challenge') return view;
  if (hasConfirmed) return 'waiting';
  return hasLeftChallenge ? 'left' : 'challenge';
}

function leadOf(isSlow: boolean): string {
  return isSlow ? words.slow : usualLead;
}

/** Undefined if no answer came. */
async function ask(agreement?: object): Promise<Answer | undefined> {
  const what = agreement
    ? { method: 'POST', body: JSON.stringify(agreement), headers: { 'Content-Type': 'application/json' } }
    : {};
  try {
    const response = await fetch(agreement ? here : `${here}/state`, {
      ...what,
      cache: 'no-store',
      credentials: 'omit',
      signal: AbortSignal.timeout(patienceMs),
    });
    if (response.status >= 500) return undefined;
    return { status: response.status, state: (await response.json()) as Answer['state'] };
  } catch {
    return undefined;
  }
}

function show(view: ConsentView): void {
  if (view === shown) return;
  const section = existing(view, HTMLElement);
  existing(shown, HTMLElement).hidden = true;
  section.hidden = false;
  document.documentElement.dataset['view'] = view;
  shown = view;
  if (view !== 'form') warn('');
  // A screen reader announces the new view by its heading.
  section.querySelector<HTMLElement>('h2')?.focus();
}

function warn(text: string): void {
  if (banner.textContent !== text) banner.textContent = text;
  banner.classList.toggle('shown', text !== '');
}

function explain(problem: string): void {
  existing('consent-problem', HTMLElement).textContent = problem;
  existing('consent', HTMLInputElement).ariaInvalid = problem === '' ? null : 'true';
}

/** For the way back from a bank's page that takes the whole window. */
function keepAddress(): void {
  try {
    sessionStorage.setItem('mandate.consent', location.href);
  } catch {
    // The payer then sees only that the bank has replied, and opens the link again.
  }
}
