// Orders of faults. Unsigned, so that curl can use them.
import type { FastifyInstance } from 'fastify';
import { parseMessage } from '../../../acquiring/adapters/http/responses.ts';
import type { Faults } from '../faults.ts';
import { bodyOf, refuseField } from './admission.ts';

export function addFaultRoutes(app: FastifyInstance, faults: Faults): void {
  app.post('/faults', (request, reply) => {
    // A web page cannot send this content type without a preflight request, which gets no permission here.
    const isJson = /^application\/json\b/.test(request.headers['content-type'] ?? '');
    if (!isJson) return reply.code(415).send();
    if (!faults.order(parseMessage(bodyOf(request)))) return refuseField(reply, 'body');
    return faults.list();
  });
  app.get('/faults', () => faults.list());
  app.delete('/faults', () => {
    faults.clear();
    return faults.list();
  });
}
