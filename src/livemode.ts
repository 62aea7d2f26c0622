// Whether a shop, key or account deals in real money, and the word for that in account IDs, key texts, stored terms and the API.

export type ModeName = 'test' | 'live';

export function modeName(livemode: boolean): ModeName {
  return livemode ? 'live' : 'test';
}

/** Throws for any other word: what is stored without a mode must not pass for test money. */
export function livemodeOf(mode: ModeName | 'sandbox'): boolean {
  if (mode === 'live') return true;
  if (mode === 'test' || mode === 'sandbox') return false;
  throw new Error(`"${String(mode)}" is not a mode. Use live, test or sandbox.`);
}
