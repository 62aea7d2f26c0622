// The page where payers pay and save cards. Its view follows from the service's events and the payer's actions, so that
// a page that is reloaded or opened twice shows the current state.
import { browserFacts } from './browser-facts.ts';
import type { CheckoutFacts, View } from '../../src/checkout/domain/checkout-page.ts';
import { sizeOfPrinted } from '../../src/checkout/domain/amount-size.ts';
import { printMoney } from '../../src/receipts/domain/format-money.ts';
import { fill } from '../../src/checkout/domain/translations.ts';
import { existing } from '../docs/elements.ts';
import { agreementOf, showAgreement } from './agreement.ts';
import { openApi, randomHex } from './api.ts';
import { fingerprint } from './browser-print.ts';
import { connectCardForm } from './views/card-form.ts';
import { connectChallenge } from './views/challenge.ts';
import { follow } from './follow.ts';
import { connectLanguage } from './language.ts';
import { bindingToFollow, nothingYet, ofBinding, type Progress } from './progress.ts';
import { showDetails } from './views/details.ts';
import { findSavedCard, offerSavedCard, type SavedChoice } from './views/saved-card.ts';
import { showReceipt } from './views/receipt.ts';
import { baseUrl, openSession } from './session.ts';
import { connectShopPage, hasShopPage, isInFrame, leave, noteUnlisted, tellShop } from './shop-page.ts';
import { taskOf, type Entered, type Resource, type SavedPayer } from './task.ts';
import { isPendingView, viewOf, type Ending } from './view-of.ts';
import { waitInWords } from './views/wait-text.ts';

const backAfterMs = 5_000;
const sendAgainMs = [500, 1_000, 2_000];
const sendAgainLastMs = 4_000;
/** No payer waits longer in front of a page. */
const maxWaitSeconds = 60;

const facts = JSON.parse(existing('facts', HTMLElement).textContent) as CheckoutFacts;
const { words } = facts;
const session = openSession(facts.kind, facts.id);
const hasReturned = session.loaded === 'returned';
const banner = existing('message', HTMLElement);
const amount = document.querySelector<HTMLElement>('#amount');

let shown: View = facts.view;
/** The language of the order. */
let shownIn = facts.locale;
let heard: Progress = nothingYet;
let progress: Progress = nothingYet;
/** Of a customer: the binding that began here or was in progress when the page opened. */
let followed: string | undefined;
let hasHeard = false;
/** Called at the next answer to a request for events, also if there is none. */
let answered: (() => void) | undefined;
/** Called once the order is known. */
let ordered: (() => void) | undefined;
/** Set by this page, not read from events. */
let isSending = false;
/** Until the service confirms the request, the payment depends on this page. */
let isUnsent = false;
let begunHere = false;
let hasLeftChallenge = false;
/** The attempt for which the payer has returned from their bank. */
let confirmedAttempt: string | undefined;
/** The attempt whose failure the page has shown. */
let toldAttempt: string | undefined;
let isFinished = false;
/** The card that the payer may pay with instead of entering one. */
let saved: SavedChoice | undefined;

noteUnlisted(facts);
for (const link of document.querySelectorAll<HTMLAnchorElement>('a.back[href=""]')) {
  if (session.returnTo === undefined) link.hidden = true;
  else link.href = session.returnTo;
}
if (isInFrame) document.documentElement.dataset['framed'] = '';
tellShop(facts, { type: 'opened' });
const sheet = document.querySelector('.sheet') ?? document.body;
new ResizeObserver(() => tellShop(facts, { type: 'resized', height: sheet.scrollHeight })).observe(sheet);
if (hasShopPage(facts)) connectShopPage(facts);
// A window that a shop's frame opened for the bank has no token: it only shows that the bank has replied.
if (session.token === undefined) show(hasReturned ? 'heard' : 'dead');
else if (shown !== 'dead' && shown !== 'cancelled') run(session.token);

function run(token: string): void {
  const api = openApi(token);
  const task = taskOf(facts, session, api);
  const form = connectCardForm(facts, session.email);
  const bank = {
    frame: words.challenge.frame,
    starter: `${baseUrl}checkout/challenge`,
    hasOpener: facts.hasOpener,
  };
  const challenge = connectChallenge(bank, () => {
    confirmedAttempt = progress.attempt?.id;
    draw();
    follower.hurry();
  });
  const follower = follow(task, {
    progressed(latest) {
      heard = latest;
      const isFirst = !hasHeard;
      hasHeard = true;
      ordered?.();
      if (isFirst) followed ??= bindingToFollow(latest, session.followed, session.loaded);
      progress = ofBinding(heard, followed);
      if (isFirst) {
        // An attempt that began before this page is resumed.
        const { attempt } = progress;
        begunHere = attempt?.state === 'pending' || hasReturned || followed !== undefined;
        if (hasReturned) confirmedAttempt = attempt?.id;
        if (!begunHere) toldAttempt = attempt?.id;
      }
      draw();
    },
    connected(isConnected) {
      answered?.();
      if (!isConnected) warn(words.banners.offline);
      else if (banner.textContent === words.banners.offline) warn('');
      sayWhileWaiting(isConnected ? 'lead' : 'offlineLead');
    },
    slow: () => sayWhileWaiting('slow'),
    stranger: () => show('dead'),
  });

  void offerSaved(token);
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
  connectLanguage(facts, () => {
    form.speak();
    saved?.speak();
    showOrder();
  });
  // The next user of this tab must not find the card in it.
  addEventListener('pagehide', () => form.clearCard());
  if (isInFrame && shown === 'form') form.focus();

  async function pay(): Promise<void> {
    // The payer sees the amount before they can pay.
    if (isSending || amount?.textContent === '') return;
    warn('');
    const read = saved?.isChosen() ? { entered: {} } : form.read();
    if (!read) return;
    isSending = true;
    draw();
    follower.rest();
    // Earlier attempts must be known first, or the first events would show this one as an earlier one.
    if (!hasHeard) await new Promise<void>((resolve) => (answered = resolve));
    // The events may have shown something else: a payment in another window, or one that was made before.
    if (shown !== 'waiting') {
      isSending = false;
      return follower.hurry();
    }
    const attemptBefore = progress.attempt?.id;
    sayWhileWaiting('lead');
    isUnsent = true;
    const problem = hasHeard ? await begin(read) : words.banners.unreachable;
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
    banner.focus();
  }

  /** Undefined when the attempt has begun or may have begun; else the banner to show. */
  async function begin({ paymentTool, entered }: Read): Promise<string | undefined> {
    const card = paymentTool ? await stored(paymentTool) : savedPayer();
    if (card === undefined) return void show('dead');
    if (typeof card === 'string') return card;
    const agreed = { ...entered, agreement: paymentTool && agreementOf(facts, progress.order) };
    const key = randomHex(16);
    // The key makes a repeat take effect once, so a lost response can be retried.
    for (let turn = 0; ; turn++) {
      const begun = await task.begin(card, agreed, key);
      if (begun.came === 'stranger') return void show('dead');
      if (begun.came === 'refusal')
        return paymentTool ? refusalSaid(begun.code) : savedRefusalSaid(begun.code);
      if (begun.came === 'body') {
        if (facts.kind === 'customer') session.follow((followed = begun.body.id));
        return undefined;
      }
      if (begun.came === 'wait' && begun.seconds > maxWaitSeconds) return limitSaid(begun);
      sayWhileWaiting('unsent');
      const pauseMs = begun.came === 'wait' ? begun.seconds * 1_000 : (sendAgainMs[turn] ?? sendAgainLastMs);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  /** The card as the API takes it, or the banner to show. Undefined if the token is good no longer. */
  async function stored(paymentTool: object): Promise<Resource | string | undefined> {
    const made = await api.post<Resource>('payment-resources', { paymentTool, clientInfo: clientInfo() });
    if (made.came === 'nothing') return words.banners.unreachable;
    if (made.came === 'wait') return limitSaid(made);
    if (made.came === 'refusal') return words.banners.tryAgain;
    if (made.came === 'stranger') return undefined;
    const { paymentToolToken, paymentSession } = made.body;
    return { paymentToolToken, paymentSession };
  }

  async function offerSaved(token: string): Promise<void> {
    const { customer } = session;
    if (facts.kind !== 'invoice' || !customer) return;
    const card = await findSavedCard(customer, { id: facts.id, token, api });
    if (!hasHeard) await new Promise<void>((resolve) => (ordered = resolve));
    // A payment that saves a card needs one that is entered.
    if (card && !agreementOf(facts, progress.order)) saved = offerSavedCard(card, facts);
    else existing('saved', HTMLElement).remove();
  }

  function draw(): void {
    const { attempt } = progress;
    // The service has the attempt: events report the rest.
    if (attempt && attempt.id !== toldAttempt && begunHere) isSending = false;
    const doing = { isSending, begunHere, hasLeftChallenge, confirmedAttempt };
    const { view, ending, declined } = viewOf(facts.kind, progress, doing);
    if (view === 'challenge' && attempt?.interaction) challenge.show(attempt.interaction);
    else challenge.hide();
    showOrder();
    form.lock(amount?.textContent === '');
    tellShop(facts, { type: 'progressed', isPending: isPendingView(view) });
    if (ending) finish(ending);
    if (view === 'form' || view === 'done' || view === 'cancelled') follower.rest();
    show(view);
    if (declined !== undefined && toldAttempt !== attempt?.id) {
      toldAttempt = attempt?.id;
      warn(declineSaid(declined));
      banner.focus();
    }
  }
}

type Read = { readonly paymentTool?: object; readonly entered: Entered };

function clientInfo() {
  const url = location.origin + location.pathname;
  return { fingerprint: fingerprint(), url, browser: browserFacts() };
}

function savedPayer(): SavedPayer | undefined {
  const { customer } = session;
  if (!customer) return undefined;
  const { id: customerID, token: customerAccessToken } = customer;
  return {
    payerType: 'CustomerPayer',
    customerID,
    customerAccessToken,
    present: true,
    clientInfo: clientInfo(),
  };
}

/** The card was removed meanwhile, or its token has expired: the payer can enter another. */
function savedRefusalSaid(code: string): string | undefined {
  if (!['customerNotReady', 'operationNotPermitted', 'invalidRequest'].includes(code))
    return refusalSaid(code);
  saved?.withdraw();
  return words.banners.savedRefused;
}

/** These two codes mean that an earlier request, here or in another window, has begun the payment. */
function refusalSaid(code: string): string | undefined {
  if (code === 'invalidInvoiceStatus' || code === 'invoicePaymentPending') return undefined;
  if (code === 'invoiceAttemptsExceeded') return words.banners.attemptsExceeded;
  // The payer can correct only the card; other refusals concern the shop.
  const isCard = ['invalidPaymentToolToken', 'invalidPaymentSession'].includes(code);
  if (isCard) return words.banners.tryAgain;
  return facts.kind === 'customer' ? words.banners.shopCannotBind : words.banners.shopCannot;
}

function limitSaid({ code, seconds }: { readonly code: string; readonly seconds: number }): string {
  const { shopRefusesCards, tooMany } = words.banners;
  const said = code === 'shopRefusesCards' ? shopRefusesCards : tooMany;
  return fill(said, { when: waitInWords(seconds, facts.locale) });
}

/** Failures of a binding that have a banner of their own. */
const bindingSaid: Readonly<Record<string, string>> = {
  preauthorization_failed: 'bindUnconfirmed',
  timeout: 'bindTimeout',
};

function declineSaid(code: string): string {
  const said: Readonly<Record<string, string>> = words.banners;
  if (facts.kind === 'customer') return said[bindingSaid[code] ?? ''] ?? words.banners.bindFailed;
  return said[code] ?? words.banners.declined;
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
  // A screen reader announces the new view by its heading.
  section.querySelector<HTMLElement>('h2')?.focus();
}

function sayWhileWaiting(what: 'lead' | 'slow' | 'offlineLead' | 'unsent'): void {
  // A restored connection does not mean that the payment was sent.
  if (isUnsent && what === 'lead') return;
  const said = words.waiting[isUnsent ? 'unsent' : what];
  const lead = existing('waiting-lead', HTMLElement);
  if (lead.textContent !== said) lead.textContent = said;
}

function warn(text: string): void {
  if (banner.textContent !== text) banner.textContent = text;
  banner.classList.toggle('shown', text !== '');
}

/** A page that was requested without a token has no order yet. In another language its order is shown once more. */
function showOrder(): void {
  const { order } = progress;
  if (!order || !amount || (amount.textContent !== '' && shownIn === facts.locale)) return;
  shownIn = facts.locale;
  const agreement = agreementOf(facts, order);
  if (agreement) showAgreement(agreement, facts);
  const printed = printMoney({ ...facts, ...order }, facts.locale);
  amount.textContent = printed;
  amount.dataset['size'] = sizeOfPrinted(printed);
  const product = existing('product', HTMLElement);
  if (product.textContent === '') product.textContent = order.product;
  showDetails(order, facts);
  if (facts.payButtonLabel !== undefined) return;
  const label = facts.hold ? words.page.hold : words.page.pay;
  existing('pay', HTMLElement).textContent = fill(label, { amount: printed });
}

function finish(ending: Ending): void {
  if (isFinished) return;
  isFinished = true;
  const { attempt } = progress;
  const status = ending === 'held' ? 'processed' : ending === 'bound' ? 'succeeded' : 'captured';
  const name = facts.kind === 'customer' ? 'customerBindingID' : 'paymentID';
  tellShop(facts, { type: 'finished', status, ...(attempt ? { [name]: attempt.id } : {}) });
  showReceipt(facts, progress, ending);
  const returnTo = facts.returnTo ?? session.returnTo;
  if (!hasShopPage(facts) && returnTo === undefined) return;
  // A shop's page decides where the payer goes next.
  const goBack = () => (hasShopPage(facts) ? leave(facts) : location.assign(returnTo ?? ''));
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
