// The page where people pay and bind cards. It shows one view at a time; which one follows from what the service says has happened and from
// what the payer is doing, so that a page that is loaded again, or opened twice, shows the truth.
import type { CheckoutFacts, View } from '../../src/checkout/domain/checkout-page.ts';
import { printMoney, sizeOfPrinted } from '../../src/checkout/domain/format-money.ts';
import { fill } from '../../src/checkout/domain/translations.ts';
import { existing } from '../docs/elements.ts';
import { openApi, randomHex } from './api.ts';
import { fingerprint } from './browser-print.ts';
import { connectCardForm } from './views/card-form.ts';
import { connectChallenge } from './views/challenge.ts';
import { follow } from './follow.ts';
import { bindingToFollow, nothingYet, ofBinding, type Progress } from './progress.ts';
import { showReceipt } from './views/receipt.ts';
import { openSession } from './session.ts';
import { hasShopPage, isInFrame, tellShop } from './shop-page.ts';
import { taskOf, type Entered, type Resource } from './task.ts';
import { viewOf, type Ending } from './view-of.ts';
import { waitInWords } from './views/wait-text.ts';

const backAfterMs = 5_000;
const sendAgainMs = [500, 1_000, 2_000];
const sendAgainLastMs = 4_000;
/** Longer than that nobody waits in front of a page. */
const maxWaitSeconds = 60;

const facts = JSON.parse(existing('facts', HTMLElement).textContent) as CheckoutFacts;
const { words } = facts;
const session = openSession(facts.kind, facts.id);
const notice = existing('notice', HTMLElement);
const amount = document.querySelector<HTMLElement>('#amount');

let shown: View = facts.view;
let heard: Progress = nothingYet;
/** As this page is about it. */
let progress: Progress = nothingYet;
/** Of a customer: the binding that began here, or was under way when the page was opened. */
let followed: string | undefined;
let hasHeard = false;
/** Of this page's own making: */
let isSending = false;
/** Until the service has said that it has begun nothing goes on without the page. */
let isUnsent = false;
let begunHere = false;
let hasLeftChallenge = false;
/** The payer has been to his bank about this attempt. */
let confirmedAttempt: string | undefined;
/** The attempt whose end the payer has been told of. */
let toldAttempt: string | undefined;
let isFinished = false;

tellShop(facts, { type: 'opened' });
const sheet = document.querySelector('.sheet') ?? document.body;
new ResizeObserver(() => tellShop(facts, { type: 'resized', height: sheet.scrollHeight })).observe(sheet);
if (hasShopPage(facts)) showCloseButton();
// A window that a shop's frame opened for the bank has not what the frame keeps: it is for nothing but the way back.
if (session.token === undefined) show(session.returned ? 'heard' : 'dead');
else if (shown !== 'dead' && shown !== 'cancelled') run(session.token);

function run(token: string): void {
  const api = openApi(token);
  const task = taskOf(facts, session, api);
  const form = connectCardForm(facts, session.email);
  const challenge = connectChallenge(facts, () => {
    confirmedAttempt = progress.attempt?.id;
    draw();
    follower.hurry();
  });
  const follower = follow(task, {
    progressed(latest) {
      heard = latest;
      const isFirst = !hasHeard;
      hasHeard = true;
      if (isFirst) followed ??= bindingToFollow(latest, session.followed, session.returned);
      progress = ofBinding(heard, followed);
      if (isFirst) {
        // What began before this page did is taken up where it is.
        const { attempt } = progress;
        begunHere = attempt?.state === 'pending' || session.returned;
        if (session.returned) confirmedAttempt = attempt?.id;
        if (!begunHere) toldAttempt = attempt?.id;
      }
      draw();
    },
    connected(isConnected) {
      if (!isConnected) warn(words.notices.offline);
      else if (notice.textContent === words.notices.offline) warn('');
      sayWhileWaiting(isConnected ? 'lead' : 'offlineLead');
    },
    slow: () => sayWhileWaiting('slow'),
    stranger: () => show('dead'),
  });

  existing('card-form', HTMLFormElement).addEventListener('submit', (event) => {
    event.preventDefault();
    void pay();
  });
  existing('leave', HTMLButtonElement).addEventListener('click', () => {
    hasLeftChallenge = true;
    draw();
  });
  existing('resume', HTMLButtonElement).addEventListener('click', () => {
    hasLeftChallenge = false;
    confirmedAttempt = undefined;
    draw();
  });
  // What was typed does not wait in memory for whoever comes back to this tab.
  addEventListener('pagehide', () => form.clearCard());
  if (isInFrame && shown === 'form') form.focus();

  async function pay(): Promise<void> {
    // Nobody pays before he has seen how much.
    if (isSending || amount?.textContent === '') return;
    warn('');
    const read = form.read();
    if (!read) return;
    isSending = true;
    draw();
    const attemptBefore = progress.attempt?.id;
    sayWhileWaiting('lead');
    isUnsent = true;
    const problem = await begin(read.paymentTool, read.entered);
    isUnsent = false;
    form.clearCode();
    progress = ofBinding(heard, followed);
    const { attempt = { id: attemptBefore } } = progress;
    isSending = problem === undefined && attempt.id === attemptBefore;
    if (problem === undefined) begunHere = true;
    sayWhileWaiting('lead');
    draw();
    if (problem === undefined) return follower.hurry();
    warn(problem);
    notice.focus();
  }

  /** Undefined when it has begun, as far as anybody knows; else what to say. */
  async function begin(paymentTool: object, entered: Entered): Promise<string | undefined> {
    const clientInfo = { fingerprint: fingerprint(), url: location.origin + location.pathname };
    const made = await api.post<Resource>('payment-resources', { paymentTool, clientInfo });
    if (made.came === 'nothing') return words.notices.unreachable;
    if (made.came === 'wait')
      return fill(words.notices.tooMany, { when: waitInWords(made.seconds, facts.locale) });
    if (made.came === 'refusal') return words.notices.tryAgain;
    if (made.came === 'stranger') return void show('dead');

    const { paymentToolToken, paymentSession } = made.body;
    const resource = { paymentToolToken, paymentSession };
    const key = randomHex(16);
    // Asked again under one key it is done once, so a lost answer is no reason to give up.
    for (let turn = 0; ; turn++) {
      const begun = await task.begin(resource, entered, key);
      if (begun.came === 'stranger') return void show('dead');
      if (begun.came === 'refusal') return refusalSaid(begun.code);
      if (begun.came === 'body') {
        if (facts.kind === 'customer') session.follow((followed = begun.body.id));
        return undefined;
      }
      if (begun.came === 'wait' && begun.seconds > maxWaitSeconds) return words.notices.tooManyCards;
      sayWhileWaiting('unsent');
      const pauseMs = begun.came === 'wait' ? begun.seconds * 1_000 : (sendAgainMs[turn] ?? sendAgainLastMs);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  function draw(): void {
    const { attempt } = progress;
    // The service knows of it now: its events say the rest.
    if (attempt && attempt.id !== toldAttempt && begunHere) isSending = false;
    const doing = { isSending, begunHere, hasLeftChallenge, confirmedAttempt };
    const { view, ending, declined } = viewOf(facts.kind, progress, doing);
    if (view === 'challenge' && attempt?.interaction) challenge.show(attempt.interaction);
    else challenge.hide();
    showOrder();
    form.lock(amount?.textContent === '');
    if (ending) finish(ending);
    if (view === 'form' || view === 'done' || view === 'cancelled') follower.rest();
    show(view);
    if (declined !== undefined && toldAttempt !== attempt?.id) {
      toldAttempt = attempt?.id;
      warn(declineSaid(declined));
      notice.focus();
    }
  }
}

/** An accepted payment that is told to be impossible is one that was begun before, here or in another window. */
function refusalSaid(code: string): string | undefined {
  if (code === 'invalidInvoiceStatus' || code === 'invoicePaymentPending') return undefined;
  // The card itself was taken before; what else is wrong the payer cannot mend.
  const isCard = ['invalidPaymentToolToken', 'invalidPaymentSession'].includes(code);
  if (isCard) return words.notices.tryAgain;
  return facts.kind === 'customer' ? words.notices.shopCannotBind : words.notices.shopCannot;
}

/** A binding says more plainly than a payment why it has failed. */
const bindingSaid: Readonly<Record<string, string>> = {
  preauthorization_failed: 'bindUnconfirmed',
  timeout: 'bindTimeout',
};

function declineSaid(code: string): string {
  const said: Readonly<Record<string, string>> = words.notices;
  if (facts.kind === 'customer') return said[bindingSaid[code] ?? ''] ?? words.notices.bindFailed;
  return said[code] ?? words.notices.declined;
}

function show(view: View): void {
  // A link that does not work never works again.
  if (view === shown || shown === 'dead') return;
  const before = document.querySelector<HTMLElement>(`#${shown}`);
  const section = existing(view, HTMLElement);
  if (before) before.hidden = true;
  section.hidden = false;
  document.documentElement.dataset['view'] = view;
  shown = view;
  if (view !== 'form' && view !== 'loading') warn('');
  // Who cannot see that the view has changed hears its heading.
  section.querySelector<HTMLElement>('h2')?.focus();
}

function sayWhileWaiting(what: 'lead' | 'slow' | 'offlineLead' | 'unsent'): void {
  // That the events can be read again does not mean that it has been sent.
  if (isUnsent && what === 'lead') return;
  const said = words.waiting[isUnsent ? 'unsent' : what];
  const lead = existing('waiting-lead', HTMLElement);
  if (lead.textContent !== said) lead.textContent = said;
}

function warn(text: string): void {
  if (notice.textContent !== text) notice.textContent = text;
  notice.classList.toggle('shown', text !== '');
}

/** Where the page was sent without it, for want of a token. */
function showOrder(): void {
  const { order } = progress;
  if (!order || !amount || amount.textContent !== '') return;
  const printed = printMoney({ ...facts, ...order }, facts.locale);
  amount.textContent = printed;
  amount.dataset['size'] = sizeOfPrinted(printed);
  const product = existing('product', HTMLElement);
  if (product.textContent === '') product.textContent = order.product;
  if (facts.payButtonLabel !== undefined) return;
  const label = facts.hold ? words.page.hold : words.page.pay;
  existing('pay', HTMLElement).textContent = fill(label, { amount: printed });
}

function finish(ending: Ending): void {
  if (isFinished) return;
  isFinished = true;
  showReceipt(facts, progress, ending);
  const { attempt } = progress;
  const status = ending === 'held' ? 'processed' : ending === 'bound' ? 'succeeded' : 'captured';
  const name = facts.kind === 'customer' ? 'customerBindingID' : 'paymentID';
  tellShop(facts, { type: 'finished', status, ...(attempt ? { [name]: attempt.id } : {}) });
  const { returnTo } = facts;
  if (!hasShopPage(facts) && returnTo === undefined) return;
  // The shop's page knows by itself where it goes from here.
  const goBack = () => (hasShopPage(facts) ? leave() : location.assign(returnTo ?? ''));
  const back = existing('back', HTMLAnchorElement);
  back.hidden = false;
  back.href = hasShopPage(facts) ? '#' : (returnTo ?? '');
  back.addEventListener('click', (event) => {
    event.preventDefault();
    goBack();
  });
  if (returnTo === undefined || ending === 'already') return;
  existing('back-soon', HTMLElement).textContent = words.done.backSoon;
  setTimeout(goBack, backAfterMs);
}

function showCloseButton(): void {
  const button = existing('close', HTMLButtonElement);
  button.hidden = false;
  button.addEventListener('click', leave);
  addEventListener('keydown', ({ key }) => key === 'Escape' && leave());
}

/** A payment under way goes on without the page. */
function leave(): void {
  tellShop(facts, { type: 'closed' });
  if (!isInFrame) window.close();
}
