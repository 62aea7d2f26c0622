// Card numbers in what callers choose as IDs: refused where the shop says so, and warned about elsewhere.
import type { FastifyReply } from 'fastify';
import type { Caller } from '../../../caller.ts';
import type { Refusal } from '../../../refusal.ts';
import type { Logger } from '../../log.ts';
import type { AnyEndpoint, DeclaredRequest } from '../endpoint.ts';
import type { ErrorCode } from '../errors/error-codes.ts';
import { apiFamilyOf, validationRefusal } from '../errors/error-response.ts';
import type { HoldsCardNumber } from '../request/card-numbers.ts';
import { warningOfNumberedId, warningsHeader } from '../request/warnings.ts';
import { idempotencyKeyHeader } from './headers.ts';
import { cardNumberIn, titleOf, type Input } from './read-request.ts';
import { withWarnings } from './send-response.ts';

export type NumberedIdDeps = {
  readonly holdsCardNumber: HoldsCardNumber;
  /** Whether the shop of a request takes no card number as an ID either. Asked only if it has one. */
  readonly isStrictAboutIds: (
    caller: Caller,
    input: Pick<DeclaredRequest, 'params' | 'body'>,
  ) => Promise<boolean>;
};

/** A caller may number orders in any way, so an ID that holds a card number is refused only where the shop says so. */
export async function refusalOfIds(
  { holdsCardNumber, isStrictAboutIds, log }: NumberedIdDeps & { readonly log: Pick<Logger, 'warn'> },
  endpoint: AnyEndpoint,
  caller: Caller,
  input: Input,
  key: string | undefined,
  reply: FastifyReply,
): Promise<Refusal<ErrorCode> | undefined> {
  const isNumbered = key !== undefined && holdsCardNumber(key);
  const ids = isNumbered ? [...input.numberedIds, idempotencyKeyHeader] : input.numberedIds;
  const [where] = ids;
  if (where === undefined) return undefined;
  if (await isStrictAboutIds(caller, input)) {
    const title = where === idempotencyKeyHeader ? undefined : titleOf(endpoint);
    return validationRefusal(apiFamilyOf(endpoint.path), { ...cardNumberIn, where }, title);
  }
  reply.header(warningsHeader, withWarnings(reply, ids.map(warningOfNumberedId)));
  log.warn({ partyId: caller.partyId, operation: endpoint.operation, ids }, 'card number as an ID');
  return undefined;
}
