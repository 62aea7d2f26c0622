// Where a payer's browser returns after a challenge, whatever its outcome.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isStorableText } from '../request/json-body.ts';

/** What the browser brought, unchanged. It may be a secret of the bank: it is never logged. */
export type Brought = {
  readonly method: 'GET' | 'POST';
  /** Without the question mark. */
  readonly query: string;
  /** The body of a POST. */
  readonly form?: string;
};
/** Where the payer goes next: an http or https address that the shop named. */
export type Onward = {
  readonly address: string;
  readonly shop: { readonly partyId: string; readonly shopId: string };
};
/**
 * Sends the browser on, or asks the payer first. Without an address it shows a page that notifies the window that opened it and tries to
 * close itself.
 */
export type SendOn = (
  to: Onward | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<FastifyReply>;

/**
 * The path ends with the IDs of an object and its part. The browser is not trusted: `find` hands what it brought to the bank, expedites the
 * query, and returns where the payer goes next.
 */
export function addPayerReturn(
  app: FastifyInstance,
  path: string,
  find: (id: string, partId: string, returned: Brought) => Promise<Onward | undefined>,
  sendOn: SendOn,
): void {
  app.route<{ Params: { id: string; partId: string } }>({
    // A bank may send the browser back by either.
    method: ['GET', 'POST'],
    url: `${path}/:id/:partId`,
    handler: async (request, reply) => {
      request.operation = 'payerReturn';
      const { id, partId } = request.params;
      const isPossible = isStorableText(id) && isStorableText(partId);
      const onward = isPossible ? await find(id, partId, broughtBy(request)) : undefined;
      return sendOn(onward, request, reply);
    },
  });
}

function broughtBy({ method, raw, body }: FastifyRequest): Brought {
  const [, query = ''] = /^[^?]*\?(.*)$/s.exec(raw.url ?? '') ?? [];
  if (method !== 'POST') return { method: 'GET', query };
  return { method: 'POST', query, form: Buffer.isBuffer(body) ? body.toString() : '' };
}
