// Reads a bank's transaction report (`GET /book`) page by page.
// Temporary failures are retried; any other failure is an error for the operator.
import { setTimeout as sleep } from 'node:timers/promises';
import { Compile } from 'typebox/compile';
import { epochMsOf, type Clock } from '../../../clock.ts';
import { bankAddress } from './http-bank.ts';
import { openLink, type Exchange, type OpenLink } from './link.ts';
import { BookPage, type BookEntry } from './messages.ts';
import { parseMessage } from './responses.ts';
import { protocolVersion, sign, signatureHeader, versionHeader } from './signature.ts';

export type ReportReader = {
  /** Yields page by page, up to the current end of the report. */
  entriesAfter(sequence: number): AsyncGenerator<readonly BookEntry[]>;
  stop(): Promise<void>;
};

export type BookReaderOptions = {
  readonly url: string;
  readonly secret: string;
  readonly clock: Clock;
  readonly allowPlainHttp?: true;
  /** The delay before each retry; tests use shorter ones. */
  readonly pausesMs?: readonly number[];
  /** Replaced where no message may leave the program. */
  readonly openLink?: OpenLink;
};

const connectMs = 5_000;
const answerMs = 30_000;
const entriesOfPage = 100;
const usualPausesMs = [500, 1_000, 2_000, 4_000];
const bookPage = Compile(BookPage);

export function openBookReader(options: BookReaderOptions): ReportReader {
  const { secret, clock, pausesMs = usualPausesMs } = options;
  const url = bankAddress(options);
  const base = url.pathname.replace(/\/$/, '');
  const link = (options.openLink ?? openLink)(url.origin, connectMs);
  const name = `The transaction report at ${url.href.replace(/\/$/, '')}`;

  function ask(target: string): Promise<Exchange> {
    const message = { method: 'GET', target, body: Buffer.alloc(0) } as const;
    const nowSeconds = Math.floor(epochMsOf(clock.now()) / 1_000);
    return link.ask({
      method: 'GET',
      target,
      headers: { [versionHeader]: protocolVersion, [signatureHeader]: sign(secret, message, nowSeconds) },
      answerMs,
    });
  }

  async function page(after: number): Promise<readonly BookEntry[]> {
    const target = `${base}/book?after=${after}&limit=${entriesOfPage}`;
    let exchange = await ask(target);
    for (const pauseMs of pausesMs) {
      if (!mayPass(exchange)) break;
      await sleep(pauseMs);
      exchange = await ask(target);
    }
    if (exchange.kind === 'nothing')
      throw new Error(`${name} cannot be read: ${exchange.why}. Check the address and try again.`);
    const { status, body } = exchange;
    if (status === 401) {
      throw new Error(`${name} rejected the signature. Check the bank secret and both clocks.`);
    }
    const content = status === 200 ? parseMessage(body) : undefined;
    if (!bookPage.Check(content)) throw new Error(`${name} cannot be read: ${complaint(status, content)}.`);
    return content.entries;
  }

  return {
    async *entriesAfter(sequence) {
      let after = sequence;
      for (;;) {
        const entries = await page(after);
        for (const entry of entries) {
          if (entry.sequence <= after) {
            throw new Error(`${name} is out of order: sequence ${entry.sequence} follows ${after}.`);
          }
          after = entry.sequence;
        }
        yield entries;
        if (entries.length < entriesOfPage) return;
      }
    },
    stop: () => link.stop(),
  };
}

function mayPass(exchange: Exchange): boolean {
  return exchange.kind === 'nothing' || exchange.status === 429 || exchange.status >= 500;
}

/** Names the wrong field, never its value. */
function complaint(status: number, content: unknown): string {
  if (status !== 200) return `status ${status}`;
  const [first] = bookPage.Errors(content);
  return `${first?.instancePath.slice(1) || 'the response'} does not match the bank protocol`;
}
