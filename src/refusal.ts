// A refusal is a value with an error code, not a fault. What a client sees of each code stands in platform/http/errors/error-codes.ts;
// an endpoint that refuses with a code missing there does not compile.

export type Refusal<Code extends string> = {
  readonly code: Code;
  /** Replaces the catalogue's message if this case can say more. */
  readonly message?: string;
  /** What is wrong in this case, and what to do. Without secrets, card numbers, and data of another party. */
  readonly hint?: string;
  /** Members of the fact that led to the status which the hint names. */
  readonly since?: Readonly<Record<string, string>>;
  /** Further members of the response, if the contract has some. */
  readonly details?: Readonly<Record<string, string>>;
  /** How long to wait before a retry, for the Retry-After header. */
  readonly waitSeconds?: number;
  /** It depends on what an Idempotency-Key does not stand for, so it is not stored for one. */
  readonly isOfThisTryAlone?: true;
};

/** Too many callers already wait for the same thing, so nothing was begun. */
export type Busy = { readonly kind: 'busy'; readonly waitSeconds: number };

/** What is odd about a request that was accepted, and the member that is meant. */
export type Warning = {
  readonly code: 'consentWithoutAmount' | 'consentMissing' | 'dueDatePast';
  readonly field: string;
};

type Accepted<Value> = {
  readonly ok: true;
  readonly value: Value;
  /** For the Mandate-Warnings header. */
  readonly warnings?: readonly Warning[];
};

export type Outcome<Value, Code extends string> =
  | Accepted<Value>
  | { readonly ok: false; readonly refusal: Refusal<Code> };

export function accept<Value>(value: Value, warnings?: readonly Warning[]): Accepted<Value> {
  return warnings === undefined || warnings.length === 0
    ? { ok: true, value }
    : { ok: true, value, warnings };
}

export function refuse<const Code extends string>(
  code: Code,
  more: Omit<Refusal<Code>, 'code'> = {},
): { readonly ok: false; readonly refusal: Refusal<Code> } {
  return { ok: false, refusal: { code, ...more } };
}
