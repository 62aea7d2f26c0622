// The one field for a token, at the top of the page. What is typed there goes into the Authorization header and nowhere else.
import { existing } from '../elements.ts';
import { memory, onChange, remember } from './memory.ts';

export function connectTokenField(): void {
  const field = existing('token', HTMLInputElement);
  const kind = existing('token-kind', HTMLElement);
  const back = existing('token-back', HTMLButtonElement);
  const show = existing('token-show', HTMLButtonElement);

  const redraw = () => {
    const { token, tokenBefore } = memory();
    if (field.value.trim() !== token) field.value = token;
    kind.textContent = kindOf(token);
    kind.classList.toggle('problem', token.startsWith('mandate_live_'));
    back.hidden = tokenBefore === '';
    show.hidden = token === '';
  };
  field.addEventListener('input', () => remember({ token: field.value.trim(), tokenBefore: '' }));
  back.addEventListener('click', () => {
    remember({ token: memory().tokenBefore, tokenBefore: '' });
    field.focus();
  });
  show.addEventListener('click', () => {
    const isShown = field.type === 'text';
    field.type = isShown ? 'password' : 'text';
    show.textContent = isShown ? 'Show' : 'Hide';
  });
  onChange(redraw);
  redraw();
}

export function askForToken(): void {
  existing('token', HTMLInputElement).focus();
}

function kindOf(token: string): string {
  if (token === '') return 'Stays in this tab';
  if (token.startsWith('mandate_test_')) return 'Test API key';
  if (token.startsWith('mandate_live_')) return 'Live API key: real money moves';
  if (!/^[\x21-\x7e]+$/.test(token)) return 'Not a token: it has a space or an invalid character';
  return token.split('.').length === 3 ? 'Access token' : 'Not a token of this service';
}
