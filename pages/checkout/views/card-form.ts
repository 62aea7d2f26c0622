// The card form. It groups the digits as on the card, and explains a wrong field once the payer leaves it or tries to pay.
import { fill } from '../../../src/checkout/domain/translations.ts';
import { networkName } from '../../../src/cards/domain/printed-card.ts';
import type { CheckoutFacts } from '../../../src/checkout/domain/checkout-page.ts';
import { existing } from '../../docs/elements.ts';
import {
  caretBehind,
  codeLengthsOf,
  codeProblem,
  digitsOf,
  emailProblem,
  expiryOf,
  expiryProblem,
  groupedExpiry,
  groupedNumber,
  holderProblem,
  networkOf,
  numberProblem,
  type Problem,
} from './card-text.ts';
import { watchTicks } from './consent-box.ts';
import type { Entered } from '../task.ts';

export type CardForm = {
  /** Undefined when a field is wrong: the first such field then has the focus. */
  read(): { readonly paymentTool: object; readonly entered: Entered } | undefined;
  /** A security code is used once. */
  clearCode(): void;
  clearCard(): void;
  focus(): void;
  lock(isLocked: boolean): void;
  /** After a change of the language. A tick was for the text in the other one. */
  speak(): void;
};

export function connectCardForm(facts: CheckoutFacts, email: string | undefined): CardForm {
  const { problems, banners, page: labels } = facts.words;
  const field = (id: string) => document.querySelector<HTMLInputElement>(`input#${id}`);
  const number = existing('number', HTMLInputElement);
  const expiry = existing('expiry', HTMLInputElement);
  const code = existing('code', HTMLInputElement);
  const [holder, mail, consent] = [field('holder'), field('email'), field('consent')];
  const sign = document.querySelector('#network-sign');
  const spoken = existing('number-network', HTMLElement);
  const tickedAt = consent ? watchTicks(consent) : () => undefined;
  let isPressed = false;
  const unsaid: (() => void)[] = [];

  /** In the order on the page. */
  const checks: readonly (readonly [HTMLInputElement | null, () => Problem | undefined])[] = [
    [number, () => numberProblem(number.value)],
    [expiry, () => expiryProblem(expiry.value, new Date())],
    [code, () => codeProblem(code.value, number.value)],
    [holder, () => holderProblem(holder?.value ?? '')],
    [mail, () => emailProblem(mail?.value ?? '', mail?.required ?? false)],
    [consent, () => (isAsked() && tickedAt() === undefined ? 'consentMissing' : undefined)],
  ];

  if (mail && email !== undefined) mail.value = email;
  number.addEventListener('input', () => {
    const digitsBefore = digitsOf(number.value.slice(0, number.selectionStart ?? undefined)).length;
    number.value = groupedNumber(number.value);
    const caret = caretBehind(number.value, digitsBefore);
    if (document.activeElement === number) number.setSelectionRange(caret, caret);
    showNetwork();
    goOn(number, expiry);
  });
  expiry.addEventListener('input', (event) => {
    const isDeleting = event instanceof InputEvent && event.inputType.startsWith('delete');
    const isAtEnd = expiry.selectionStart === expiry.value.length;
    // Text that the payer edits in the middle is not reformatted.
    if (isAtEnd || document.activeElement !== expiry) expiry.value = groupedExpiry(expiry.value, isDeleting);
    goOn(expiry, code);
  });
  code.addEventListener('input', () => {
    code.value = digitsOf(code.value).slice(0, Math.max(...codeLengthsOf(number.value)));
  });
  addEventListener('mousedown', () => (isPressed = true), true);
  // A drag ends without a mouseup, and a menu swallows one: then the next key marks the release.
  for (const end of ['mouseup', 'dragend', 'keydown']) addEventListener(end, release, true);
  for (const [input, check] of checks) {
    // A field is not called incomplete while the payer still types in it.
    input?.addEventListener('change', () => whenReleased(() => input.value !== '' && say(input, check())));
    input?.addEventListener('input', () => input.ariaInvalid === 'true' && say(input, check()));
  }

  function isAsked(): boolean {
    return !existing('consent-field', HTMLElement).hidden;
  }

  /** An explanation lengthens the form: the button the payer is pressing would move away and miss the click. */
  function whenReleased(speak: () => void): void {
    if (isPressed) unsaid.push(speak);
    else speak();
  }

  function release(): void {
    isPressed = false;
    for (const speak of unsaid.splice(0)) setTimeout(speak);
  }

  function say(input: HTMLInputElement, problem: Problem | undefined): void {
    input.ariaInvalid = problem === undefined ? null : 'true';
    const digits = codeLengthsOf(number.value).join('–');
    existing(`${input.id}-problem`, HTMLElement).textContent =
      problem === undefined ? '' : fill(problems[problem], { digits });
  }

  function showNetwork(): void {
    const network = networkOf(number.value);
    sign?.setAttribute('href', `#sign-${network ?? 'card'}`);
    spoken.textContent = network ? fill(banners.network, { network: networkName(network) }) : '';
    const isOnFront = network === 'amex';
    existing('code-hint', HTMLElement).textContent = isOnFront ? labels.codeHintFront : labels.codeHint;
    code.placeholder = isOnFront ? '0000' : '000';
  }

  /** Moves the caret from a complete field to the next if that is empty. */
  function goOn(from: HTMLInputElement, to: HTMLInputElement): void {
    const isAtEnd = document.activeElement === from && from.selectionStart === from.value.length;
    const isFull = from === number ? digitsOf(from.value).length >= 15 : true;
    const check = checks.find(([input]) => input === from)?.[1];
    if (isAtEnd && isFull && to.value === '' && check?.() === undefined && !mayGoOn(from)) to.focus();
  }

  /** Maestro numbers may be longer than one that is already valid. */
  function mayGoOn(from: HTMLInputElement): boolean {
    return from === number && networkOf(from.value) === 'maestro';
  }

  return {
    read() {
      const consentTickedAt = tickedAt();
      for (const [input, check] of checks) if (input) say(input, check());
      const wrong = checks.find(([input]) => input?.ariaInvalid === 'true')?.[0];
      if (wrong) return void wrong.focus();
      const address = mail?.value.trim() ?? '';
      return {
        paymentTool: {
          paymentToolType: 'CardData',
          cardNumber: digitsOf(number.value),
          expDate: expiryOf(expiry.value),
          cvv: code.value,
          ...(holder ? { cardHolder: holder.value.trim() } : {}),
        },
        entered: {
          ...(address === '' ? {} : { email: address }),
          ...(consentTickedAt === undefined ? {} : { consentTickedAt }),
        },
      };
    },
    clearCode: () => void (code.value = ''),
    clearCard() {
      for (const input of [number, expiry, code, holder]) if (input) input.value = '';
      showNetwork();
    },
    focus: () => (number.value === '' ? number : code).focus(),
    speak() {
      if (consent) consent.checked = false;
      showNetwork();
      for (const [input, check] of checks) if (input?.ariaInvalid === 'true') say(input, check());
    },
    lock(isLocked) {
      existing('pay', HTMLButtonElement).ariaDisabled = isLocked ? 'true' : null;
    },
  };
}
