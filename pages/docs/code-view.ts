// Code to read and to take away.
import { h, type Child } from './elements.ts';

/** JSON, laid out and quietly coloured; other text as it is. */
export function jsonView(text: string): Child[] {
  let laidOut: string;
  try {
    laidOut = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return [text];
  }
  return laidOut
    .split(/("(?:[^"\\]|\\.)*"(?=:)|"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b|-?\d[\d.eE+-]*)/)
    .map((piece, at, pieces) => {
      if (at % 2 === 0) return piece;
      const isName = piece.startsWith('"') && pieces[at + 1]?.startsWith(':');
      return h('span', { class: isName ? 'json-name' : 'json-value' }, piece);
    });
}

/** A block that can be scrolled with the keyboard too. */
export function codeBlock(label: string, content: readonly Child[]): HTMLElement {
  return h('pre', { tabindex: 0, role: 'group', 'aria-label': label }, h('code', {}, content));
}

export function copyButton(label: string, text: () => string): HTMLElement {
  const button = h('button', { type: 'button', class: 'quiet', click: () => void copy() }, label);
  async function copy(): Promise<void> {
    button.textContent = (await copied(text())) ? 'Copied' : 'Could not copy';
    setTimeout(() => (button.textContent = label), 1_500);
  }
  return button;
}

async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Only a page from https or this machine has a clipboard; elsewhere the older way may still work.
    const area = h('textarea', { class: 'off-screen', 'aria-hidden': 'true' });
    area.value = text;
    document.body.append(area);
    area.select();
    const worked = document.execCommand('copy');
    area.remove();
    return worked;
  }
}
