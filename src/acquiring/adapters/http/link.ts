// HTTP connections to one server, with limits on the time and the size of a response.
// A failed exchange says whether any byte was written: that decides whether money may have moved.
import { codeOf } from '../../../error-code.ts';
import { Agent, errors, type Dispatcher } from 'undici';

export type Exchange =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers: Headers;
      readonly body: Buffer;
    }
  | {
      readonly kind: 'nothing';
      readonly written: boolean;
      readonly why: string;
      /** Something came back that is no response: not HTTP, or without an end. */
      readonly isNonsense?: true;
      /** By `isTooLate` of the request. */
      readonly isTooLate?: true;
    };

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

export type BankRequest = {
  readonly method: 'GET' | 'PUT' | 'POST';
  /** Path and query. */
  readonly target: string;
  readonly headers: Record<string, string>;
  readonly body?: Buffer;
  /** The limit from waiting for a free connection to the last byte of the response. */
  readonly answerMs: number;
  /** Asked at the last moment before the first byte: a free connection may have been awaited. */
  readonly isTooLate?: () => boolean;
};

export type Link = { ask(question: BankRequest): Promise<Exchange>; stop(): Promise<void> };
export type OpenLink = (origin: string, connectMs: number) => Link;

/** What an acquirer's host usually handles in parallel. The time limit also runs while a request waits here. */
const maxConnections = 200;
/** A form for the payer may have 64 KiB of values. */
const maxAnswerBytes = 128 * 1024;

export function openLink(origin: string, connectMs: number): Link {
  const agent = new Agent({
    connections: maxConnections,
    pipelining: 1,
    connect: { timeout: connectMs },
    // Replaced by one limit for the whole exchange, below.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    ask: ({ answerMs, isTooLate, body, ...request }) =>
      new Promise((resolve) => {
        const reception = receive(answerMs, isTooLate, resolve);
        try {
          agent.dispatch({ origin, path: request.target, ...request, body: body ?? null }, reception);
        } catch (error) {
          reception.onResponseError(undefined, error);
        }
      }),
    stop: () => agent.close(),
  };
}

type Reception = Pick<
  Required<Dispatcher.DispatchHandler>,
  'onRequestStart' | 'onResponseStart' | 'onResponseData' | 'onResponseEnd'
> & { onResponseError(controller: unknown, error: unknown): void };

function receive(
  answerMs: number,
  isTooLate: (() => boolean) | undefined,
  settle: (exchange: Exchange) => void,
): Reception {
  let controller: Dispatcher.DispatchController | undefined;
  let settled = false;
  let status = 0;
  let headers: Headers = {};
  let bytes = 0;
  const chunks: Buffer[] = [];
  const timer = setTimeout(() => giveUp(`no answer within ${answerMs} ms`), answerMs);

  function finish(exchange: Exchange): void {
    if (settled) return;
    settled = true;
    clearTimeout(timer);
    settle(exchange);
  }

  function giveUp(why: string, how: { isNonsense?: true; isTooLate?: true } = {}): void {
    // The client calls onRequestStart right before it writes: until then no byte was sent.
    const written = controller !== undefined;
    finish({ kind: 'nothing', written, why, ...how });
    controller?.abort(new Error(why));
  }

  return {
    onRequestStart(started) {
      if (isTooLate?.()) giveUp('its time to be sent has passed', { isTooLate: true });
      // A limit passed while the request waited for a connection. Aborted here, it is never written.
      if (settled) started.abort(new Error('too late'));
      else controller = started;
    },
    onResponseStart(_controller, statusCode, received) {
      status = statusCode;
      headers = received;
    },
    onResponseData(_controller, chunk) {
      bytes += chunk.length;
      if (bytes > maxAnswerBytes)
        giveUp(`the response exceeds ${maxAnswerBytes} bytes`, { isNonsense: true });
      else chunks.push(chunk);
    },
    onResponseEnd: () => finish({ kind: 'answer', status, headers, body: Buffer.concat(chunks) }),
    onResponseError: (_controller, error) =>
      giveUp(nameOf(error), error instanceof errors.HTTPParserError ? { isNonsense: true } : {}),
  };
}

/** Returns only the code: the text of an error may quote what was sent. */
function nameOf(error: unknown): string {
  const code = codeOf(error);
  return /^[A-Z_0-9]{1,40}$/.test(code) ? code : 'the connection failed';
}
