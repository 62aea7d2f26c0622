// What callers get to know of members that no schema declares: they are ignored, and often misspelt.
import type { FastifyReply } from 'fastify';
import type { Caller } from '../../../caller.ts';
import type { Refusal } from '../../../refusal.ts';
import type { Logger } from '../../log.ts';
import type { AnyEndpoint } from '../endpoint.ts';
import { errorCatalogue, type ErrorCode } from '../errors/error-codes.ts';
import { pathOf, suggestionOf, warningsHeader, warningsOf, type Unknown } from '../request/warnings.ts';

/** An unknown member is ignored, so the response warns about it. In live mode clients are finished, so its log has it for those who look. */
export function reportUnknown(
  { livemode, log }: { readonly livemode: boolean; readonly log: Logger },
  { operation }: AnyEndpoint,
  { partyId }: Caller,
  unknown: Unknown,
  reply: FastifyReply,
): void {
  const { body, query } = unknown;
  const count = body.count + query.count;
  if (count === 0) return;
  const level = livemode ? 'debug' : 'info';
  reply.header(warningsHeader, warningsOf(unknown));
  if (!log.isLevelEnabled(level)) return;
  const fields = {
    partyId,
    operation,
    requestId: reply.getHeader('x-request-id'),
    members: body.first.map(pathOf),
    parameters: query.first.map(pathOf),
    count,
  };
  log[level](fields, 'unknown members ignored');
}

/** A misspelt member is ignored, so a refusal may be about its absence. */
export function withSuggestion(refusal: Refusal<ErrorCode>, unknown: Unknown): Refusal<ErrorCode> {
  const suggestion = errorCatalogue[refusal.code].status === 400 ? suggestionOf(unknown) : undefined;
  if (suggestion === undefined) return refusal;
  return { ...refusal, hint: refusal.hint === undefined ? suggestion : `${refusal.hint} ${suggestion}` };
}
