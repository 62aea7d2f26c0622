// Operations that the published API has and this service does not: 501 with the reason. A 404 would look like a missing object.
import type { FastifyInstance } from 'fastify';
import { apiFamilyOf } from '../errors/error-response.ts';
import { sendRefusal } from '../pipeline/send-response.ts';
import { routerPathOf } from './router-path.ts';

export type UnimplementedOperation = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** For people: what there is instead. */
  readonly reason: string;
};

/** As with 405, without authentication, and before a body is read. */
export function addUnimplemented(app: FastifyInstance, operations: readonly UnimplementedOperation[]): void {
  for (const { method, path, reason } of operations) {
    app.route({
      method,
      url: routerPathOf(path),
      onRequest: (request, reply, done) => {
        request.operation = 'notImplemented';
        sendRefusal(apiFamilyOf(path), reply, { code: 'notImplemented', message: reason });
        if (!reply.sent) done();
      },
      handler: () => Promise.reject(new Error('A request for what is not implemented has no handler.')),
    });
  }
}
