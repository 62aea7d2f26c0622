// What an operation answers, as a browser of the console may have it.

/** The first two stand for a card and its security code. The third has the address where the payer continues. */
const kept = new Set(['paymentToolToken', 'paymentSession', 'sessionInfo']);

export function shownBody(json: string): string {
  return JSON.stringify(JSON.parse(json), (name, value: unknown) => (kept.has(name) ? undefined : value));
}
