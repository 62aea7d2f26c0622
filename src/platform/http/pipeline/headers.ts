// The headers that a request is refused for: its ID, and an Idempotency-Key.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../../caller.ts';
import { maxRequestIdCharacters, type ApiFamily } from '../errors/error-response.ts';
import type { ValidationError } from '../errors/validate.ts';
import { idempotencyKeyPattern } from '../idempotency.ts';

export const idempotencyKeyHeader = 'Idempotency-Key';

export function headerText(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(',') : value;
}

export function problemOfRequestId(
  family: ApiFamily,
  { headers }: FastifyRequest,
  reply: FastifyReply,
): ValidationError | undefined {
  // Where none was sent, the service may have made one.
  const requestId = headers['x-request-id'] ?? reply.getHeader('x-request-id');
  const maxCharacters = maxRequestIdCharacters[family];
  if (typeof requestId === 'string' && requestId.length > 0 && requestId.length <= maxCharacters)
    return undefined;
  const keyword = requestId === undefined ? 'required' : 'maxLength';
  return { where: 'X-Request-ID', keyword, description: `send a header of 1 to ${maxCharacters} characters` };
}

export function problemOfKey(key: string, { kind }: Caller): ValidationError | undefined {
  const wrong = (description: string) => ({ where: idempotencyKeyHeader, keyword: 'pattern', description });
  // All payers share such a token, and one that guesses a key would get the response to another.
  if (kind === 'invoice-template') return wrong('leave it out with the token of a template');
  return idempotencyKeyPattern.test(key) ? undefined : wrong('send 1 to 64 of A-Z a-z 0-9 . _ -');
}
