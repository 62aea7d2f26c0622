// The HTTP server of the simulated bank: the open bank protocol, the issuer's pages, and the control of faults.
// Faults are played on its routes; the operation processor behind it is always correct.
import { setMaxListeners } from 'node:events';
import Fastify, { type FastifyInstance } from 'fastify';
import { epochMsOf } from '../../clock.ts';
import type { AbilitiesAnswer } from '../../acquiring/adapters/http/capabilities.ts';
import type { Admission } from './http/admission.ts';
import { addFaultRoutes } from './http/fault-routes.ts';
import { addOperationRoutes } from './http/operation-routes.ts';
import { addBookRoute, addLaterReportRoutes } from './http/report-routes.ts';
import { addIssuerPages } from './issuer.ts';
import { openLimits } from './state/limits.ts';
import { abilities } from './state/abilities.ts';
import type { Speaks } from './state/answer.ts';
import type { OperationProcessor } from './operation-processor.ts';

/** A return of the payer's browser has 64 KiB at most, and its quotes are escaped. */
const maxBodyBytes = 140 * 1024;
const keepAliveMs = 65_000;

export type BankServerOptions = Admission & {
  readonly speaks?: Speaks;
  /** Replaced in tests of a bank that can do less, or says so wrongly. */
  readonly abilities?: AbilitiesAnswer;
  /** Lets another process recognise this bank. */
  readonly bankId: string;
};

export function buildBankServer(options: BankServerOptions): FastifyInstance {
  const { faults, clock, processor, bankId } = options;
  const isOfFirstVersion = options.speaks === 'first version';
  const { app, closing } = openServer();
  const declared = () => ({ ...(options.abilities ?? abilities), ...faults.limits() });
  const limits = openLimits(() => epochMsOf(clock.now()), isOfFirstVersion ? () => ({}) : declared);
  const ready = (): OperationProcessor => {
    const opened = processor();
    if (!opened) throw new Error('the journal of the simulated bank is not read yet');
    return opened;
  };
  const bank = { ...options, ready, declared, limits, isOfFirstVersion, closing };

  app.get('/health', () => ({ status: processor() ? 'ok' : 'starting', bank: bankId }));
  addOperationRoutes(app, bank);
  addBookRoute(app, bank);
  if (!isOfFirstVersion) addLaterReportRoutes(app, bank);
  addFaultRoutes(app, faults);
  addIssuerPages(app, ready);
  return app;
}

function openServer(): { readonly app: FastifyInstance; readonly closing: AbortSignal } {
  const app = Fastify({
    logger: false,
    bodyLimit: maxBodyBytes,
    keepAliveTimeout: keepAliveMs,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
  });
  const closing = new AbortController();
  // Every delayed request listens to the signal, and a slow bank has many of them.
  setMaxListeners(0, closing.signal);
  app.addHook('preClose', (done) => {
    closing.abort();
    done();
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setErrorHandler((_error, _request, reply) =>
    reply.code(500).type('text/plain').send('Internal Server Error'),
  );
  app.setNotFoundHandler((_request, reply) => reply.code(404).type('text/plain').send('Not Found'));
  return { app, closing: closing.signal };
}
