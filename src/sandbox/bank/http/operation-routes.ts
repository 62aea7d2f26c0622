// Operations and returns of payers over HTTP. Faults that were ordered, or that follow from the amount, are played here.
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Compile } from 'typebox/compile';
import { parseMessage } from '../../../acquiring/adapters/http/responses.ts';
import {
  ReturnMessage,
  type OperationKind,
  type OperationMessage,
} from '../../../acquiring/adapters/http/messages.ts';
import { isBefore, isOfCallback } from '../faults.ts';
import type { FaultAfter, FaultBefore, FaultKind } from '../faults.ts';
import { leaveWaiting, playAfter, playBefore, sendNotDone, sendReply } from '../inject-fault.ts';
import { withoutLaterFields } from '../state/abilities.ts';
import type { openLimits } from '../state/limits.ts';
import { readMessage } from '../read-message.ts';
import { specialAmount } from '../special-amounts.ts';
import type { OperationProcessor, Reply } from '../operation-processor.ts';
import { bodyOf, isAdmitted, refuseField, speaksOurVersion, type Admission } from './admission.ts';

export type Operations = Admission & {
  readonly ready: () => OperationProcessor;
  readonly limits: ReturnType<typeof openLimits>;
  readonly isOfFirstVersion: boolean;
  /** Ends delayed requests. */
  readonly closing: AbortSignal;
};

type Fault = FaultBefore | FaultAfter;
type OfOperation = { Params: { id: string } };

const returnMessage = Compile(ReturnMessage);

export function addOperationRoutes(app: FastifyInstance, bank: Operations): void {
  const { faults, ready, limits, isOfFirstVersion } = bank;
  const faultOfAmount = specialFaults();

  app.put<OfOperation>('/operations/:id', async (request, reply) => {
    if (!isAdmitted(bank, request, reply)) return reply;
    const { id } = request.params;
    const read = speaksOurVersion(request)
      ? readMessage(contentOf(request))
      : { field: 'Mandate-Bank-Version' };
    const fault = 'message' in read ? faultOf(id, read.message) : undefined;
    const answer = () => respond(bank, request, reply, fault, () => ready().perform(id, read));
    if (!(await limits.take(answer))) sendNotDone(reply, 429);
    return reply;
  });

  app.get<OfOperation>('/operations/:id', async (request, reply) => {
    if (!isAdmitted(bank, request, reply)) return reply;
    if (!speaksOurVersion(request)) return refuseField(reply, 'Mandate-Bank-Version');
    const fault = faults.ofRequest('inquire');
    return respond(bank, request, reply, fault, () => ready().inquire(request.params.id));
  });

  if (!isOfFirstVersion) addReturnRoute(app, bank);

  function contentOf(request: FastifyRequest): unknown {
    const content = parseMessage(bodyOf(request));
    return isOfFirstVersion ? withoutLaterFields(content) : content;
  }

  function faultOf(id: string, message: OperationMessage): Fault | undefined {
    const { kind } = message;
    const fault = faults.ofRequest(kind, message) ?? faultOfAmount(id, kind, ready().amountOf(message));
    return fault && !isOfCallback(fault) ? fault : undefined;
  }
}

function addReturnRoute(app: FastifyInstance, bank: Operations): void {
  const { faults, ready } = bank;
  app.post<OfOperation>('/operations/:id/return', async (request, reply) => {
    if (!isAdmitted(bank, request, reply)) return reply;
    const returned = parseMessage(bodyOf(request));
    if (!returnMessage.Check(returned)) return refuseField(reply, 'body');
    const fault = faults.ofRequest('inquire');
    return respond(bank, request, reply, fault, () => ready().resume(request.params.id, returned));
  });
}

async function respond(
  { faults, closing }: Operations,
  request: FastifyRequest<OfOperation>,
  reply: FastifyReply,
  fault: Fault | undefined,
  answerOf: () => Promise<Reply>,
): Promise<FastifyReply> {
  if (!(await delayed(faults.delayMs(), closing))) return reply.hijack();
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

async function delayed(delayMs: number, signal: AbortSignal): Promise<boolean> {
  if (delayMs === 0) return true;
  return sleep(delayMs, true, { signal }).catch(() => false);
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
