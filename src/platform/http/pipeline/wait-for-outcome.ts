// Lets a caller that sends Prefer: wait get the response as it is once the outcome is known.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '../../database/database.ts';
import type { AnyEndpoint, DeclaredRequest } from '../endpoint.ts';
import type { RequestDeadline } from '../request/request-deadline.ts';
import type { OutcomeWaits } from '../waiting/outcome-waits.ts';
import { headerText } from './headers.ts';

/** The answer as it is once its outcome is known, or once the caller has waited enough. */
export type Settled = (answer: unknown) => unknown;

/** For work outside a transaction: nothing may be held while a caller waits. */
export function settledBy<Deps extends { readonly db: Database }>(
  { outcomeWaits, endpointDeps }: { readonly outcomeWaits: OutcomeWaits; readonly endpointDeps: Deps },
  { outcome, method }: AnyEndpoint<Deps>,
  { caller, params }: DeclaredRequest,
  {
    deadline,
    request,
    reply,
  }: { readonly deadline: RequestDeadline; readonly request: FastifyRequest; readonly reply: FastifyReply },
): Settled | undefined {
  const prefer = headerText(request, 'prefer');
  if (!outcome || prefer === undefined) return undefined;
  return async (answer) => {
    const granted = outcomeWaits.grant({ caller, prefer, deadline, ended: deadline.ended });
    if (!granted) return answer;
    const first = method === 'GET' ? { body: answer } : { body: answer, is: 'pending' as const };
    const look = () => outcome.look(endpointDeps, { answer, params, caller });
    try {
      const { body, isCutOff } = await outcomeWaits.latest(granted, outcome.job(answer, params), first, look);
      if (!isCutOff) reply.header('Preference-Applied', `wait=${granted.seconds}`);
      return body;
    } finally {
      granted.release();
    }
  };
}
