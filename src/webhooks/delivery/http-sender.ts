// Sends one delivery: a POST to a checked address, with one time limit until the response headers.
// Only the status counts; the body is read briefly, so that the connection can be reused, and redirects are ignored.
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
  /** For tests whose receiver has its own certificate. */
  ca?: string;
}): Sender {
  const { rule, timeoutMs } = options;
  const connect = buildConnector({
    timeout: timeoutMs,
    lookup: guardedLookup(rule, options.resolve) as never,
    ...defined({ ca: options.ca }),
  });
  const agent = new Agent({
    // No limit on connections: the delivery worker limits the deliveries.
    pipelining: 1,
    connect: (to, done) => {
      if (mayConnectTo(to.hostname, rule)) connect(to, done);
      else done(new AddressRefused('the address is not public'), null);
    },
    // Replaced by one limit for the whole exchange, below.
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
        // The webhook may have been registered in a sandbox, which allows http.
        if (rule === 'outside' && url.protocol !== 'https:')
          return reception.onResponseError(undefined, new AddressRefused('the URL must use https'));
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

  /** Resolves with the first result and aborts the rest. */
  function end(fallback: PostResponse): void {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    settle(response ?? fallback);
    controller?.abort(new Error('the result is known'));
  }

  return {
    onRequestStart(started) {
      // The limit passed while it waited for a connection. After a suspension of the process the timer may be late.
      if (performance.now() >= untilMs) end({ kind: 'nothing', why: 'timeout' });
      if (isOver) started.abort(new Error('too late'));
      else controller = started;
    },
    onResponseStart(_controller, status, headers) {
      // A 1xx status is not final.
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

/** Reads only seconds: a date would require synchronised clocks. */
function retryAfterIn(header: string | string[] | undefined): { retryAfterMs?: number } {
  return typeof header === 'string' && /^\d{1,9}$/.test(header)
    ? { retryAfterMs: Number(header) * 1_000 }
    : {};
}

/** Returns only the code: the text of an error may quote addresses. */
function nameOf(error: unknown): string {
  const errors = [error, ...(error instanceof AggregateError ? (error.errors as unknown[]) : [])];
  return errors.map(codeOf).find((code) => /^[A-Z_0-9]{1,40}$/.test(code)) ?? 'the connection failed';
}
