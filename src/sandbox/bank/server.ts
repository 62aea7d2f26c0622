// The HTTP server of the simulated bank: the open bank protocol, the issuer's pages, and the control of faults.
// Faults are played here; the operation processor behind it is always correct.
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Compile } from 'typebox/compile';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { epochMsOf, type Clock } from '../../clock.ts';
import { parseMessage } from '../../acquiring/adapters/http/responses.ts';
import {
  ReturnMessage,
  type OperationKind,
  type OperationMessage,
} from '../../acquiring/adapters/http/messages.ts';
import { protocolVersion, signatureHeader, versionHeader } from '../../acquiring/adapters/http/signature.ts';
import type { SignedMessage } from '../../acquiring/adapters/http/signature.ts';
import { isBefore, isOfCallback } from './faults.ts';
import type { FaultAfter, FaultBefore, FaultKind, Faults } from './faults.ts';
import { addIssuerPages } from './issuer.ts';
import {
  breakOff,
  leaveWaiting,
  playAfter,
  playBefore,
  sendNotDone,
  sendReply,
  sendUnauthorised,
} from './inject-fault.ts';
import { openLimits } from './state/limits.ts';
import { abilities, withoutLaterFields } from './state/abilities.ts';
import type { Speaks } from './state/answer.ts';
import { readMessage } from './read-message.ts';
import type { AbilitiesAnswer } from '../../acquiring/adapters/http/capabilities.ts';
import { specialAmount } from './special-amounts.ts';
import type { OperationProcessor, Reply } from './operation-processor.ts';

/** A return of the payer's browser has 64 KiB at most, and its quotes are escaped. */
const maxBodyBytes = 140 * 1024;
const returnMessage = Compile(ReturnMessage);
const keepAliveMs = 65_000;
const maxPage = 100;

type OfOperation = { Params: { id: string } };

export type BankServerOptions = {
  /** Undefined until the journal has been read. */
  readonly processor: () => OperationProcessor | undefined;
  readonly faults: Faults;
  readonly clock: Clock;
  readonly isSigned: (message: SignedMessage, header: string | undefined, nowSeconds: number) => boolean;
  readonly speaks?: Speaks;
  /** Replaced in tests of a bank that can do less, or says so wrongly. */
  readonly abilities?: AbilitiesAnswer;
  /** Lets another process recognise this bank. */
  readonly bankId: string;
};

export function buildBankServer(options: BankServerOptions): FastifyInstance {
  const { faults, clock, isSigned, bankId, speaks } = options;
  const isOfFirstVersion = speaks === 'first version';
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

  const faultOfAmount = specialFaults();
  const declared = () => ({ ...(options.abilities ?? abilities), ...faults.limits() });
  const limits = openLimits(() => epochMsOf(clock.now()), isOfFirstVersion ? () => ({}) : declared);
  const ready = (): OperationProcessor => {
    const processor = options.processor();
    if (!processor) throw new Error('the journal of the simulated bank is not read yet');
    return processor;
  };

  app.get('/health', () => ({ status: options.processor() ? 'ok' : 'starting', bank: bankId }));

  app.put<OfOperation>('/operations/:id', async (request, reply) => {
    if (!isAdmitted(request, reply)) return reply;
    const { id } = request.params;
    const read = speaksOurVersion(request)
      ? readMessage(contentOf(request))
      : { field: 'Mandate-Bank-Version' };
    const fault = 'message' in read ? faultOf(id, read.message) : undefined;
    const taken = await limits.take(() => respond(request, reply, fault, () => ready().perform(id, read)));
    if (!taken) sendNotDone(reply, 429);
    return reply;
  });

  app.get<OfOperation>('/operations/:id', async (request, reply) => {
    if (!isAdmitted(request, reply)) return reply;
    if (!speaksOurVersion(request)) return refuseField(reply, 'Mandate-Bank-Version');
    return respond(request, reply, faults.ofRequest('inquire'), () => ready().inquire(request.params.id));
  });

  function contentOf(request: FastifyRequest): unknown {
    const content = parseMessage(bodyOf(request));
    return isOfFirstVersion ? withoutLaterFields(content) : content;
  }

  async function respond(
    request: FastifyRequest<OfOperation>,
    reply: FastifyReply,
    fault: FaultBefore | FaultAfter | undefined,
    answerOf: () => Promise<Reply>,
  ): Promise<FastifyReply> {
    if (!(await delayed())) return reply.hijack();
    if (fault && isBefore(fault)) {
      playBefore(fault, request, reply);
      return reply;
    }
    const answer = await answerOf();
    // A request that was refused needs no fault.
    const isDone = request.method !== 'PUT' || answer.status === 200;
    if (answer.isKept) leaveWaiting(reply);
    else if (fault && isDone) playAfter(fault, answer, request, reply);
    else sendReply(reply, answer);
    return reply;
  }

  app.post<OfOperation>('/operations/:id/return', async (request, reply) => {
    if (isOfFirstVersion) return notFound(reply);
    if (!isAdmitted(request, reply)) return reply;
    const returned = parseMessage(bodyOf(request));
    if (!returnMessage.Check(returned)) return refuseField(reply, 'body');
    return respond(request, reply, faults.ofRequest('inquire'), () =>
      ready().resume(request.params.id, returned),
    );
  });

  app.get('/abilities', (request, reply) => {
    if (isOfFirstVersion) return notFound(reply);
    if (!isAdmitted(request, reply)) return reply;
    return declared();
  });

  app.get('/updates', async (request, reply) => {
    if (isOfFirstVersion) return notFound(reply);
    if (!isAdmitted(request, reply)) return reply;
    const page = pageOf(request);
    if (typeof page === 'string') return refuseField(reply, page);
    return { updates: await ready().updates(page.after, page.limit) };
  });

  app.get('/book', async (request, reply) => {
    if (!isAdmitted(request, reply)) return reply;
    if (!speaksOurVersion(request)) return refuseField(reply, 'Mandate-Bank-Version');
    const page = pageOf(request);
    if (typeof page === 'string') return refuseField(reply, page);
    return { entries: await ready().entries(page.after, page.limit) };
  });

  // Unsigned, so that curl can use it. A web page cannot, because this content type requires a preflight request.
  app.post('/faults', (request, reply) => {
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

  addIssuerPages(app, ready);

  function faultOf(id: string, message: OperationMessage): FaultBefore | FaultAfter | undefined {
    const { kind } = message;
    const fault = faults.ofRequest(kind, message) ?? faultOfAmount(id, kind, ready().amountOf(message));
    return fault && !isOfCallback(fault) ? fault : undefined;
  }

  function isAdmitted(request: FastifyRequest, reply: FastifyReply): boolean {
    if (faults.isOut()) {
      breakOff(request, reply);
      return false;
    }
    const message = { method: request.method, target: request.raw.url ?? '', body: bodyOf(request) };
    const signature = request.headers[signatureHeader];
    const nowSeconds = Math.floor(epochMsOf(clock.now()) / 1000);
    if (!isSigned(message, typeof signature === 'string' ? signature : undefined, nowSeconds)) {
      sendUnauthorised(reply);
      return false;
    }
    if (!options.processor()) {
      sendNotDone(reply, 503);
      return false;
    }
    return true;
  }

  async function delayed(): Promise<boolean> {
    const delayMs = faults.delayMs();
    if (delayMs === 0) return true;
    return sleep(delayMs, true, { signal: closing.signal }).catch(() => false);
  }

  return app;
}

/** Faults of special amounts, played only for the first sends of an operation. */
function specialFaults(): (id: string, kind: OperationKind, amount: number) => FaultKind | undefined {
  const played = new Map<string, number>();
  return (id, kind, amount) => {
    const special = specialAmount(amount, kind);
    const times = played.get(id) ?? 0;
    if (!special?.fault || times >= (special.times ?? 1)) return undefined;
    played.set(id, times + 1);
    return special.fault;
  };
}

/** The name of the wrong parameter. */
function pageOf(request: FastifyRequest): { after: number; limit: number } | 'after' | 'limit' {
  const { after = '0', limit = String(maxPage) } = request.query as { after?: string; limit?: string };
  if (!/^\d{1,15}$/.test(after)) return 'after';
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > maxPage) return 'limit';
  return { after: Number(after), limit: Number(limit) };
}

function notFound(reply: FastifyReply): FastifyReply {
  return reply.code(404).type('text/plain').send('Not Found');
}

function speaksOurVersion(request: FastifyRequest): boolean {
  return request.headers[versionHeader] === protocolVersion;
}

function bodyOf(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
}

function refuseField(reply: FastifyReply, field: string): FastifyReply {
  sendReply(reply, { status: 400, body: { error: 'invalid', field } });
  return reply;
}
