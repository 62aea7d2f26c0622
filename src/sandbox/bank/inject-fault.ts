// Plays a fault on the wire: no response, a broken connection, invalid JSON, a response byte by byte.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FaultAfter, FaultBefore } from './faults.ts';
import type { Reply } from './operation-processor.ts';

const slowAnswerMs = 40_000;

/** For a fault before the operation: the bank does nothing. */
export function playBefore(fault: FaultBefore, request: FastifyRequest, reply: FastifyReply): void {
  switch (fault) {
    case 'no-answer-before-booking':
      return leaveWaiting(reply);
    case 'reset-before-booking':
      return breakOff(request, reply);
    case 'error-before-booking':
      return fail(reply);
    case 'not-done':
      return sendNotDone(reply, 503);
    case 'too-many-requests':
      return sendNotDone(reply, 429);
    case 'unauthorised':
      return sendUnauthorised(reply);
  }
}

/** For a fault after the operation: only the response fails. */
export function playAfter(
  fault: FaultAfter,
  answer: Reply,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  switch (fault) {
    case 'no-answer-after-booking':
      return leaveWaiting(reply);
    case 'reset-after-booking':
      return breakOff(request, reply);
    case 'error-after-booking':
      return fail(reply);
    case 'garbage-after-booking':
      return void reply.code(200).type('application/json').send('{"outcome":"appro');
    case 'foreign-answer-after-booking':
      return sendReply(reply, { ...answer, body: { ...answer.body, operationId: 'another-operation' } });
    case 'slow-answer': {
      const timer = setTimeout(() => sendReply(reply, answer), slowAnswerMs);
      request.raw.socket.once('close', () => clearTimeout(timer));
      return;
    }
    case 'split-answer':
      return sendByteByByte(reply, answer);
  }
}

export function sendReply(reply: FastifyReply, { status, body }: { status: number; body: object }): void {
  void reply.code(status).type('application/json').send(JSON.stringify(body));
}

/** Also on purpose, of a signature that is right: it proves that this message did nothing. */
export function sendUnauthorised(reply: FastifyReply): void {
  sendReply(reply, { status: 401, body: { error: 'unauthorised' } });
}

export function sendNotDone(reply: FastifyReply, status: 429 | 503): void {
  reply.header('retry-after', '1');
  sendReply(reply, { status, body: { error: 'notDone' } });
}

/** Leaves the client waiting for its timeout. */
export function leaveWaiting(reply: FastifyReply): void {
  reply.hijack();
}

export function breakOff(request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack();
  request.raw.socket.resetAndDestroy();
}

function fail(reply: FastifyReply): void {
  void reply.code(500).type('text/plain').send('Internal Server Error');
}

function sendByteByByte(reply: FastifyReply, { status, body }: Reply): void {
  const bytes = Buffer.from(JSON.stringify(body));
  reply.hijack();
  const { raw } = reply;
  raw.socket?.setNoDelay(true);
  raw.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length });
  let sent = 0;
  const sendNext = () => {
    if (raw.destroyed || sent === bytes.length) return void raw.end();
    raw.write(bytes.subarray(sent, (sent += 1)), () => setImmediate(sendNext));
  };
  sendNext();
}
