// What every signed request to the simulated bank passes before it is read, and the refusals that routes share.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { epochMsOf, type Clock } from '../../../clock.ts';
import {
  protocolVersion,
  signatureHeader,
  versionHeader,
} from '../../../acquiring/adapters/http/signature.ts';
import type { SignedMessage } from '../../../acquiring/adapters/http/signature.ts';
import type { Faults } from '../faults.ts';
import { breakOff, sendNotDone, sendReply, sendUnauthorised } from '../inject-fault.ts';
import type { OperationProcessor } from '../operation-processor.ts';

export type Admission = {
  readonly faults: Faults;
  readonly clock: Clock;
  readonly isSigned: (message: SignedMessage, header: string | undefined, nowSeconds: number) => boolean;
  /** Undefined until the journal has been read. */
  readonly processor: () => OperationProcessor | undefined;
};

/** Whether the request may be read. If not, it has been answered. */
export function isAdmitted(admission: Admission, request: FastifyRequest, reply: FastifyReply): boolean {
  const { faults, clock, isSigned, processor } = admission;
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
  if (!processor()) {
    sendNotDone(reply, 503);
    return false;
  }
  return true;
}

export function speaksOurVersion(request: FastifyRequest): boolean {
  return request.headers[versionHeader] === protocolVersion;
}

export function bodyOf(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
}

export function refuseField(reply: FastifyReply, field: string): FastifyReply {
  sendReply(reply, { status: 400, body: { error: 'invalid', field } });
  return reply;
}
