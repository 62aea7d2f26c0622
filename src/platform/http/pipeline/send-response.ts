// Sends responses: refusals, the 429 and the 504 of every operation, and bodies that hold only what the endpoint declares.
import type { FastifyReply } from 'fastify';
import type { Refusal } from '../../../refusal.ts';
import { DatabaseUnavailable, CommitUnknown } from '../../database/connections/unavailable.ts';
import type { AnyEndpoint } from '../endpoint.ts';
import type { ErrorCode } from '../errors/error-codes.ts';
import { errorResponse, type ApiFamily } from '../errors/error-response.ts';
import { warningsHeader } from '../request/warnings.ts';

export function sendRefusal(family: ApiFamily, reply: FastifyReply, refusal: Refusal<ErrorCode>): void {
  const response = errorResponse(family, refusal);
  reply.code(response.status);
  if (response.body === '') return void reply.send();
  void reply.type('application/json; charset=utf-8').send(response.body);
}

export function sendTooMany(reply: FastifyReply, waitSeconds: number): void {
  reply.header('Retry-After', String(waitSeconds));
  // Both API families send the same response.
  sendRefusal('processing', reply, { code: 'tooManyRequests' });
}

export function sendUnsupported(reply: FastifyReply): void {
  void reply.code(415).header('Accept', 'application/json').header('Accept-Encoding', 'identity').send();
}

export function sendTooLate(reply: FastifyReply): void {
  // Removes a header that belongs to the unfinished response.
  if (!reply.sent) void reply.removeHeader('Retry-After').code(504).send();
}

/** A fault, not a refusal: 503 if nothing was done, 500 if the outcome is unknown. A `GET` does nothing that could be in doubt. */
export function statusOfFault(error: unknown, method: string): 500 | 503 {
  if (error instanceof CommitUnknown && method === 'GET') return 503;
  return error instanceof DatabaseUnavailable ? 503 : 500;
}

/** The warnings of the response: those it has already, and more. */
export function withWarnings(reply: FastifyReply, more: readonly string[]): string | undefined {
  const before = reply.getHeader(warningsHeader);
  const all = before === undefined ? more : [String(before), ...more];
  return all.length === 0 ? undefined : all.join(', ');
}

type Serializer = ReturnType<FastifyReply['compileSerializationSchema']>;
export type ResponseWriter = (value: unknown, reply: FastifyReply) => string;

/** By schema, because several services in one process have the same ones. */
const serializers = new WeakMap<object, Serializer>();

/** Writes the declared fields and drops all others. Compiled on first use, because compiling all operations slowed the start. */
export function responseWriter({ response }: AnyEndpoint): ResponseWriter {
  const schema = response ?? {};
  return (value, reply) => {
    const serialize =
      serializers.get(schema) ?? reply.compileSerializationSchema(schema as Record<string, unknown>);
    serializers.set(schema, serialize);
    return serialize(value as Record<string, unknown>);
  };
}

/** A response about a new object begins with its ID, or with the object. It is not parsed for one line of the log. */
export function createdIn(body: string): string | undefined {
  return /^\{(?:"\w+":\{)?"id":"([^"\\]+)"/.exec(body)?.[1];
}
