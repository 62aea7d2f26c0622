// What the catalogue says about each error code.
type ErrorEntry = {
  readonly message: string;
  /** What to do about it. */
  readonly advice: string;
  /** Other messages of this code that the contract fixes, and what to do about each. */
  readonly messages?: Readonly<Record<string, string>>;
  /** In the wallets API. */
  readonly errorType?: string;
};

export function withStatus<Code extends string>(status: number, entries: Readonly<Record<Code, ErrorEntry>>) {
  const withTheirs = Object.entries<ErrorEntry>(entries).map(([code, entry]) => [code, { status, ...entry }]);
  return Object.fromEntries(withTheirs) as Readonly<Record<Code, ErrorEntry & { readonly status: number }>>;
}
