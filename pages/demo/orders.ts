// The orders and subscriptions of the demo shop from this browser. The mailbox shows the emails about these only.
const place = 'demo-orders';
const maxRemembered = 20;

/** The newest first; none where the browser keeps nothing. */
export function ordersOfThisBrowser(): string[] {
  try {
    const known: unknown = JSON.parse(localStorage.getItem(place) ?? '[]');
    return Array.isArray(known) ? known.filter((id) => typeof id === 'string' && /^\w+$/.test(id)) : [];
  } catch {
    return [];
  }
}

export function rememberOrder(id: string): void {
  const known = [id, ...ordersOfThisBrowser().filter((other) => other !== id)];
  try {
    localStorage.setItem(place, JSON.stringify(known.slice(0, maxRemembered)));
  } catch {
    // The mailbox stays empty.
  }
}
