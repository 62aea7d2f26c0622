// The script that shops put on their pages opens the checkout and sees no card data.
// Its callbacks are hints: the shop's server queries the service.
import { element, openFrame, type Opened } from './frame.ts';
import { addressOf, readAttributes, type Options } from './options.ts';

type Checkout = { open(overrides?: Options): void; close(): void };

const script = document.currentScript as HTMLScriptElement | null;
const baseUrl = new URL('.', script?.src ?? location.href);
/** Narrower than this the frame would be the whole screen anyway. */
const isSmall = () => matchMedia('(max-width: 34rem)').matches;
/** A shop's form is submitted automatically if the payer does not close the receipt. */
const submitAfterMs = 5_000;

function configure(options: Options): Checkout {
  addressOf(options, baseUrl, location.origin); // so that a mistake shows when the page loads, not when a payer wants to pay
  let opened: Opened | undefined;
  /** Of the last `open`. */
  let current = options;
  let isFinished = false;
  /** Kept from one `open` to the next, until the page says otherwise. */
  let isPending = false;
  let isTold = false;

  addEventListener('message', ({ origin, source, data }) => {
    if (origin !== baseUrl.origin || source === null || source !== opened?.window) return;
    if (typeof data !== 'object' || data === null || data.source !== 'mandate-checkout') return;
    if (data.type === 'opened') {
      opened.isThere();
      // By a template two pages open, one after the other.
      if (!isTold) current.opened?.();
      isTold = true;
    }
    if (data.type === 'resized') opened.resize(Number(data.height));
    if (data.type === 'progressed') isPending = data.isPending === true;
    if (data.type === 'finished' && !isFinished) {
      isFinished = true;
      current.finished?.();
    }
    if (data.type === 'closed') close();
  });

  function close(): void {
    if (!opened) return;
    const closing = opened;
    opened = undefined;
    closing.close();
    current.closed?.();
    // A payer whose payment is pending may still pay: the shop must not offer them to order again.
    const next = isFinished ? current.redirectUrl : isPending ? undefined : current.cancelUrl;
    if (next) location.assign(next);
  }

  return {
    open(overrides = {}) {
      if (opened?.isOpen()) return;
      isFinished = isTold = false;
      current = { ...options, ...overrides };
      const address = addressOf(current, baseUrl, location.origin);
      opened =
        String(options.popupMode) === 'true' || isSmall() ? openWindow(address) : openFrame(address, close);
    },
    close,
  };
}

/** Where the browser opens no window, the checkout replaces the page and returns by the redirectUrl. */
function openWindow(address: string): Opened | undefined {
  const window = open(address, '_blank');
  if (!window) return void location.assign(address);
  return {
    window,
    isOpen: () => !window.closed,
    isThere() {},
    resize() {},
    close: () => window.close(),
  };
}

/** Adds a button to the form around the script, and submits the form after payment. */
function serveForm(within: HTMLScriptElement, options: Options): void {
  const form = within.closest('form');
  let isPaid = false;
  let timer: number | undefined;
  const submit = () => {
    clearTimeout(timer);
    if (isPaid) form?.submit();
  };
  const checkout = configure({
    ...options,
    finished() {
      isPaid = true;
      timer = setTimeout(submit, submitAfterMs);
    },
    closed: submit,
  });
  const button = element('button', {
    font: '600 16px/1.2 system-ui, sans-serif',
    color: '#fff',
    background: '#0b6b5c',
    border: '0',
    borderRadius: '10px',
    padding: '14px 22px',
    cursor: 'pointer',
  });
  button.type = 'button';
  button.className = 'mandate-checkout-button';
  button.textContent =
    within.dataset['label'] ?? (/^ru/i.test(navigator.language) ? 'Оплатить картой' : 'Pay by card');
  button.addEventListener('click', () => checkout.open());
  within.after(button);
}

const checkouts = { configure };
Object.assign(globalThis, {
  MandateCheckout: checkouts,
  RbkmoneyCheckout: checkouts,
  ValityCheckout: checkouts,
});
const isOfForm =
  script && (script.closest('form') ?? /\b(mandate|rbkmoney|vality)-checkout\b/.test(script.className));
if (isOfForm) serveForm(script, readAttributes(script.dataset));
