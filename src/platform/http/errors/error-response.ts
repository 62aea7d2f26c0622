// Turns a refusal into a response, in the form of its API family. Under /v2/processing it has a code and a message; under /wallet/v0
// and /payres/v0 a bad request has an errorType.
import { epochMsOf, type Instant } from '../../../clock.ts';
import { defined } from '../../../defined.ts';
import type { Refusal } from '../../../refusal.ts';
import type { StoredResponse } from '../idempotency.ts';
import { errorCatalogue, type ErrorCode } from './error-codes.ts';
import { validationMessageOf, type ValidationError } from './validate.ts';

export type ApiFamily = 'processing' | 'wallets';

/** By the path alone: a request that cannot be read has a family too. */
export function apiFamilyOf(path: string): ApiFamily {
  return /^\/(wallet|payres)\/v0(\/|$)/.test(path) ? 'wallets' : 'processing';
}

export const maxRequestIdCharacters: Readonly<Record<ApiFamily, number>> = { processing: 40, wallets: 128 };

export function errorResponse(family: ApiFamily, refusal: Refusal<ErrorCode>): StoredResponse {
  const { code, details } = refusal;
  const entry = errorCatalogue[code];
  const { status } = entry;
  // What is missing or taken is no secret of the case, so what to do is the same for all who may not see it.
  const usual = status === 404 || status === 409 ? entry.advice : undefined;
  const hint = defined({ hint: refusal.hint ?? usual });
  const message = refusal.message ?? entry.message;
  const named = hasCode(status) ? { code } : {};
  if (family === 'processing')
    return { status, body: JSON.stringify({ ...named, ...details, message, ...hint }) };
  if (status === 404) return { status, body: '' };
  if (status !== 400) return { status, body: JSON.stringify({ ...named, ...details, message, ...hint }) };
  const { errorType = 'SchemaViolated' } = entry;
  return { status, body: JSON.stringify({ ...named, errorType, ...details, description: message, ...hint }) };
}

/** Of other errors the status says all, and their bodies are as published. */
export function hasCode(status: number): boolean {
  return status === 400 || status === 422 || status === 501;
}

/**
 * For the Retry-After header, which serves clients that know none of our codes: also if only the body says when to retry. Rounded up
 * to whole seconds, so that it is never too early.
 */
export function waitSecondsOf(
  { waitSeconds, details }: Refusal<ErrorCode>,
  now: Instant,
): number | undefined {
  const until = details?.['retryAfter'];
  if (waitSeconds !== undefined || until === undefined) return waitSeconds;
  return Math.max(1, Math.ceil((epochMsOf(until as Instant) - epochMsOf(now)) / 1_000));
}

/** About a parameter in the URL, a header, or the body. */
export function validationRefusal(
  family: ApiFamily,
  validationMessage: ValidationError,
  body?: { readonly title: string },
): Refusal<'invalidRequest'> {
  const message = validationMessageOf(validationMessage);
  if (family === 'processing') return { code: 'invalidRequest', message };
  const errorType = body
    ? errorTypeOfBody(validationMessage)
    : (errorTypes[validationMessage.keyword] ?? 'SchemaViolated');
  const name = body?.title ?? validationMessage.where;
  return { code: 'invalidRequest', message, details: { errorType, name } };
}

const errorTypes: Readonly<Record<string, string>> = {
  required: 'NotFound',
  type: 'WrongType',
  format: 'WrongType',
  enum: 'NotInRange',
  const: 'NotInRange',
  pattern: 'NoMatch',
  minimum: 'WrongSize',
  maximum: 'WrongSize',
  minLength: 'WrongLength',
  maxLength: 'WrongLength',
  minItems: 'WrongArray',
  maxItems: 'WrongArray',
};

/** Every error inside a body is SchemaViolated, except a number out of range. A missing body is NotFound. */
function errorTypeOfBody({ keyword }: ValidationError): string {
  if (keyword === 'minimum' || keyword === 'maximum') return 'WrongSize';
  return keyword === 'absent' ? 'NotFound' : 'SchemaViolated';
}
