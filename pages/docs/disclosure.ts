// What is folded away is drawn when it is first opened: a long reference stays light.
import { h, nodesOf, type Child } from './elements.ts';

export function disclosure(summary: Child, draw: () => Child, attributes = {}): HTMLDetailsElement {
  const details = h('details', attributes, h('summary', {}, summary));
  const open = () => details.append(...nodesOf([draw()]));
  if (details.open) open();
  else details.addEventListener('toggle', open, { once: true });
  return details;
}

/** For what is there to be looked up, and mostly known. */
export function aside(summary: Child, draw: () => Child): HTMLDetailsElement {
  return disclosure(summary, draw, { class: 'aside' });
}
