// One way to one bank over HTTP: connections that are kept, a limit on time and on the size of answers, and for each
// exchange that failed the one thing that matters for money: whether anything had been written by then.
import { codeOf } from '../../../error-code.ts';
import { Agent, type Dispatcher } from 'undici';

export type Exchange =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers: Headers;
      readonly body: Buffer;
    }
  | { readonly kind: 'nothing'; readonly written: boolean; readonly why: string };

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

export type BankRequest = {
  readonly method: 'GET' | 'PUT' | 'POST';
  /** Path and query. */
  readonly target: string;
  readonly headers: Record<string, string>;
  readonly body?: Buffer;
  /** For everything from waiting for a free connection to the last byte of the answer. */
  readonly answerMs: number;
};

export type Link = { ask(question: BankRequest): Promise<Exchange>; stop(): Promise<void> };
export type OpenLink = (origin: string, connectMs: number) => Link;

/** As many as an acquirer's host is usually willing to work on at once; more wait here, and count that as waiting. */
const maxConnections = 200;
const maxAnswerBytes = 64 * 1024;

export function openLink(origin: string, connectMs: number): Link {
  const agent = new Agent({
    connections: maxConnections,
    pipelining: 1,
    connect: { timeout: connectMs },
    // One limit for the whole exchange, below, instead of one for each part of it.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    ask: ({ answerMs, body, ...request }) =>
      new Promise((resolve) => {
        const reception = receive(answerMs, resolve);
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

function receive(answerMs: number, settle: (exchange: Exchange) => void): Reception {
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

  function giveUp(why: string): void {
    // The client announces a request right before it writes it: without that, not a byte has left.
    finish({ kind: 'nothing', written: controller !== undefined, why });
    controller?.abort(new Error(why));
  }

  return {
    onRequestStart(started) {
      // Its time ran out while it waited for a connection: stopped here, it is never written.
      if (settled) started.abort(new Error('too late'));
      else controller = started;
    },
    onResponseStart(_controller, statusCode, received) {
      status = statusCode;
      headers = received;
    },
    onResponseData(_controller, chunk) {
      bytes += chunk.length;
      if (bytes > maxAnswerBytes) giveUp(`an answer of more than ${maxAnswerBytes} bytes`);
      else chunks.push(chunk);
    },
    onResponseEnd: () => finish({ kind: 'answer', status, headers, body: Buffer.concat(chunks) }),
    onResponseError: (_controller, error) => giveUp(nameOf(error)),
  };
}

/** Codes only: the text of an error may quote what was sent. */
function nameOf(error: unknown): string {
  const code = codeOf(error);
  return /^[A-Z_0-9]{1,40}$/.test(code) ? code : 'the connection failed';
}
