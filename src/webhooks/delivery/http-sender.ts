// One delivery over HTTP: a POST of bytes that are fixed, to an address that is checked, with one limit on the time until
// the answer's head has come. Of the answer only the status counts; its body is read a little, so that the connection can
// be kept, and thrown away. Redirects are not followed, nothing is decompressed.
import { Agent, buildConnector, type Dispatcher } from 'undici';
import {
  AddressRefused,
  guardedLookup,
  mayConnectTo,
  type AddressRule,
  type DnsLookup,
} from '../registration/address-guard.ts';
import { codeOf } from '../../error-code.ts';
import { defined } from '../../defined.ts';

export type PostResponse =
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterMs?: number }
  | { readonly kind: 'nothing'; readonly why: string };

export type Post = {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

export type Sender = { post(post: Post): Promise<PostResponse>; stop(): Promise<void> };
export type OpenSender = (options: Parameters<typeof openSender>[0]) => Sender;

const maxResponseBytes = 16 * 1024;
const maxHeaderBytes = 16 * 1024;
const keepAliveMs = 10_000;

export function openSender(options: {
  rule: AddressRule;
  resolve: DnsLookup;
  timeoutMs: number;
  /** For receivers of tests that have a certificate of their own. */
  ca?: string;
}): Sender {
  const { rule, timeoutMs } = options;
  const connect = buildConnector({
    timeout: timeoutMs,
    lookup: guardedLookup(rule, options.resolve) as never,
    ...defined({ ca: options.ca }),
  });
  const agent = new Agent({
    // As many connections as there are deliveries: how many those are is the courier's affair.
    pipelining: 1,
    connect: (to, done) => {
      if (mayConnectTo(to.hostname, rule)) connect(to, done);
      else done(new AddressRefused('the address leads inside'), null);
    },
    // One limit for all of it, below.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    maxHeaderSize: maxHeaderBytes,
  });
  return {
    post: ({ url, headers, body }) =>
      new Promise((resolve) => {
        const reception = receive(timeoutMs, resolve);
        const { origin, pathname, search } = url;
        // As when it was registered, perhaps in a sandbox.
        if (rule === 'outside' && url.protocol !== 'https:')
          return reception.onResponseError(undefined, new AddressRefused('it must be https'));
        try {
          agent.dispatch({ origin, path: pathname + search, method: 'POST', headers, body }, reception);
        } catch (error) {
          reception.onResponseError(undefined, error);
        }
      }),
    stop: () => agent.destroy(),
  };
}

type Reception = Pick<
  Required<Dispatcher.DispatchHandler>,
  'onRequestStart' | 'onResponseStart' | 'onResponseData' | 'onResponseEnd'
> & { onResponseError(controller: unknown, error: unknown): void };

function receive(timeoutMs: number, settle: (response: PostResponse) => void): Reception {
  let controller: Dispatcher.DispatchController | undefined;
  let response: PostResponse | undefined;
  let isOver = false;
  let bytes = 0;
  const untilMs = performance.now() + timeoutMs;
  const timer = setTimeout(() => end({ kind: 'nothing', why: 'timeout' }), timeoutMs);

  /** The first thing that is known stands; what else comes is not waited for. */
  function end(fallback: PostResponse): void {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    settle(response ?? fallback);
    controller?.abort(new Error('enough'));
  }

  return {
    onRequestStart(started) {
      // Its time ran out while it waited for a connection; of a process that stood still the timer has not said so yet.
      if (performance.now() >= untilMs) end({ kind: 'nothing', why: 'timeout' });
      if (isOver) started.abort(new Error('too late'));
      else controller = started;
    },
    onResponseStart(_controller, status, headers) {
      // 1xx is not an answer yet.
      if (status >= 200) response = { kind: 'status', status, ...retryAfterIn(headers['retry-after']) };
    },
    onResponseData(_controller, chunk) {
      bytes += chunk.length;
      if (bytes > maxResponseBytes) end({ kind: 'nothing', why: 'no answer' });
    },
    onResponseEnd() {
      controller = undefined;
      end({ kind: 'nothing', why: 'no answer' });
    },
    onResponseError: (_controller, error) => end({ kind: 'nothing', why: nameOf(error) }),
  };
}

/** Seconds alone: a date would want two clocks to agree. */
function retryAfterIn(header: string | string[] | undefined): { retryAfterMs?: number } {
  return typeof header === 'string' && /^\d{1,9}$/.test(header)
    ? { retryAfterMs: Number(header) * 1_000 }
    : {};
}

/** Codes only: the text of an error may quote addresses. */
function nameOf(error: unknown): string {
  const errors = [error, ...(error instanceof AggregateError ? (error.errors as unknown[]) : [])];
  return errors.map(codeOf).find((code) => /^[A-Z_0-9]{1,40}$/.test(code)) ?? 'the connection failed';
}
