// A refusal is an answer, not a fault: the business says no, by name. What a client sees of each name stands in the
// catalogue, platform/http/errors/error-codes.ts; an endpoint that refuses with a name the catalogue lacks does not compile.

export type Refusal<Code extends string> = {
  readonly code: Code;
  /** Replaces the catalogue's sentence where this case can say more. */
  readonly message?: string;
  /** Further members of the answer, where the contract has some. */
  readonly details?: Readonly<Record<string, string>>;
  /** After how long the answer may be another; said in the header Retry-After. */
  readonly waitSeconds?: number;
};

/** Too many wait for the same already, so nothing was begun. */
export type Busy = { readonly kind: 'busy'; readonly waitSeconds: number };

export type Outcome<Value, Code extends string> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly refusal: Refusal<Code> };

export function accept<Value>(value: Value): { readonly ok: true; readonly value: Value } {
  return { ok: true, value };
}

export function refuse<const Code extends string>(
  code: Code,
  more: Omit<Refusal<Code>, 'code'> = {},
): { readonly ok: false; readonly refusal: Refusal<Code> } {
  return { ok: false, refusal: { code, ...more } };
}
