// What the catalogue says of each error code.
type ErrorEntry = {
  readonly message: string;
  /** What to do about it. */
  readonly advice: string;
  /** On the wallets' side. */
  readonly errorType?: string;
};

export function withStatus<Code extends string>(status: number, entries: Readonly<Record<Code, ErrorEntry>>) {
  const withTheirs = Object.entries<ErrorEntry>(entries).map(([code, entry]) => [code, { status, ...entry }]);
  return Object.fromEntries(withTheirs) as Readonly<Record<Code, ErrorEntry & { readonly status: number }>>;
}
