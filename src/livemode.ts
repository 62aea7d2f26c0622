// Whether a shop, key or account deals in real money, and the word for that in account IDs, key texts, stored terms and the API.

export type ModeName = 'test' | 'live';

export function modeName(livemode: boolean): ModeName {
  return livemode ? 'live' : 'test';
}

export function livemodeOf(mode: ModeName | 'sandbox'): boolean {
  return mode === 'live';
}
