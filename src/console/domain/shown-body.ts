// What an operation answers, as a browser of the console may have it.

/** The first two stand for a card and its security code. The third has the address where the payer continues. */
const kept = new Set(['paymentToolToken', 'paymentSession', 'sessionInfo']);

/** A text, which may look like a number inside, or a whole number of so many digits that some may not be exact. */
const textOrLongNumber = /"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;

/** Sums of minor units may have more digits than a number of JavaScript. Those are sent as texts. */
export function shownBody(json: string): string {
  const exact = json.replace(textOrLongNumber, (one) =>
    one.startsWith('"') || Number.isSafeInteger(Number(one)) ? one : `"${one}"`,
  );
  return JSON.stringify(JSON.parse(exact), (name, value: unknown) => (kept.has(name) ? undefined : value));
}
