// The box at a consent text, on the checkout and on the page of a consent link.

/** Returns when the payer ticked it, if they have. Only a tick by the payer counts that this script has seen, so any other is taken back. */
export function watchTicks(box: HTMLInputElement): () => string | undefined {
  let tickedAt: string | undefined;
  box.checked = false;
  box.addEventListener('click', (event) => {
    if (!event.isTrusted) return event.preventDefault();
    tickedAt = box.checked ? new Date().toISOString() : undefined;
  });
  return () => (box.checked ? tickedAt : undefined);
}
