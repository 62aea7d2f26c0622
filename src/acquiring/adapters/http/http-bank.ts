// A bank that speaks our open protocol (docs/bank-protocol.md). It turns an operation into one signed HTTP exchange and the
// outcome into an answer of the port. The card is in the clear here and nowhere else, for the length of that exchange: no
// error, no answer and no log line carries anything of it.
import { Compile } from 'typebox/compile';
import { epochMsOf, type Clock } from '../../../clock.ts';
import type { Logger } from '../../../platform/log.ts';
import type {
  Bank,
  BankResponse,
  BankOperation,
  CardReference,
  Initiation,
  Terminal,
} from '../../domain/bank-port.ts';
import { openCircuit, type Circuit } from './circuit.ts';
import { openLink, type Headers, type OpenLink } from './link.ts';
import { Callback, operationIdPattern, parseMessage, type OperationMessage } from './messages.ts';
import { complaintOf, readAnswer, type Asked } from './read-response.ts';
import {
  isSigned,
  protocolVersion,
  minSecretCharacters,
  sign,
  signatureHeader,
  versionHeader,
} from './signature.ts';
import { defined } from '../../../defined.ts';

export type ClearCard = {
  readonly number: string;
  /** `2030-12`. A card that is only paid out to may lack it. */
  readonly expiry?: string;
  readonly holder?: string;
  readonly securityCode?: string;
  /** Where there is one: it may be used again, because certainly not a byte of it has left. */
  readonly returnCode?: () => Promise<void>;
};

export type Timeouts = {
  readonly connectMs: number;
  /** While a payer waits. */
  readonly answerMs: number;
  /** When nobody does. */
  readonly unattendedAnswerMs: number;
};

const usualTimeouts: Timeouts = { connectMs: 5_000, answerMs: 30_000, unattendedAnswerMs: 45_000 };

export type HttpBank = Bank & {
  /** The operation a callback is about, or undefined when the bank did not send it. It proves nothing: inquire. */
  verifyCallback(headers: Headers, rawBody: Buffer): string | undefined;
};

export type HttpBankOptions = {
  /** Where its operations are: `https://bank.example/mandate`. */
  readonly url: string;
  readonly secret: string;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  readonly detokeniseCard: (card: CardReference) => Promise<ClearCard>;
  /** Where the bank tells that something has changed. */
  readonly callbackUrl?: string;
  readonly timeouts?: Timeouts;
  /** Replaced where no message is to leave the program. */
  readonly openLink?: OpenLink;
  /** For a sandbox whose bank is in the next container. Card numbers go over this link. */
  readonly allowPlainHttp?: true;
};

type Settle = NonNullable<ReturnType<Circuit['admit']>>;
type Request = { method: 'GET' | 'PUT'; body: Buffer; asked: Asked; answerMs: number };

const callback = Compile(Callback);
const operationId = new RegExp(operationIdPattern);
const notAnId = { outcome: 'notSent', why: 'no bank takes such an operation id' } as const;

export function openHttpBank(options: HttpBankOptions): HttpBank {
  const { secret, clock, log, detokeniseCard, callbackUrl, timeouts = usualTimeouts } = options;
  const url = bankAddress(options);
  const base = url.pathname.replace(/\/$/, '');
  const link = (options.openLink ?? openLink)(url.origin, timeouts.connectMs);
  const nowMs = () => epochMsOf(clock.now());
  const circuit = openCircuit(nowMs);
  const plainPages = url.protocol === 'http:';

  async function ask(request: Request, settle: Settle): Promise<BankResponse> {
    const { method, body, asked, answerMs } = request;
    const target = `${base}/operations/${asked.operationId}`;
    const exchange = await link.ask({
      method,
      target,
      headers: {
        [versionHeader]: protocolVersion,
        [signatureHeader]: sign(secret, { method, target, body }, Math.floor(nowMs() / 1000)),
        ...(method === 'PUT' ? { 'content-type': 'application/json' } : {}),
      },
      ...(method === 'PUT' ? { body } : {}),
      answerMs,
    });
    if (exchange.kind === 'nothing') {
      const { written, why } = exchange;
      settle('badly');
      return written ? { outcome: 'unknown', why } : { outcome: 'notSent', why, noBytesSent: true };
    }
    const { status } = exchange;
    if (status === 400 || status === 401 || status === 409) {
      // These do not pass by themselves: a person has to mend the settings or the program.
      const complaint = complaintOf(exchange);
      log.warn({ operationId: asked.operationId, status, complaint }, 'the bank refused a message of ours');
    }
    const answer = readAnswer(asked, exchange);
    // A conflict is a fault of one operation, not of the link.
    const proves = answer.outcome !== 'unknown' && answer.outcome !== 'notSent';
    settle(proves || status === 409 ? 'well' : 'badly');
    return answer;
  }

  async function returnCode(cards: readonly ClearCard[], { operationId }: BankOperation): Promise<void> {
    try {
      for (const card of cards) await card.returnCode?.();
    } catch {
      // The next attempt goes without it. Not the error itself: it is about a card.
      log.warn({ operationId }, 'a security code that was not sent could not be given back');
    }
  }

  return {
    async send(operation) {
      if (!operationId.test(operation.operationId)) return notAnId;
      const settle = circuit.admit();
      if (!settle) return { outcome: 'notSent', why: 'the circuit to the bank is open', noBytesSent: true };
      let body: Buffer | undefined;
      const revealed: ClearCard[] = [];
      try {
        const reveal = async (reference: CardReference) => {
          const card = await detokeniseCard(reference);
          revealed.push(card);
          return card;
        };
        const message = await messageOf(operation, reveal, callbackUrl);
        body = Buffer.from(JSON.stringify(message));
      } catch {
        // Not the error itself: it is about a card.
        settle('not at all');
        return { outcome: 'notSent', why: 'the card could not be read' };
      }
      const { payerPresent, answerMs } = manner(operation, timeouts);
      const asked = { operationId: operation.operationId, as: operation.kind, payerPresent, plainPages };
      const answer = await ask({ method: 'PUT', body, asked, answerMs }, settle);
      // The strings it was made of are beyond our reach; this copy, the largest, is not.
      body.fill(0);
      if (answer.outcome === 'notSent' && answer.noBytesSent) await returnCode(revealed, operation);
      return answer;
    },

    async inquire(id: string, _terminal: Terminal) {
      if (!operationId.test(id)) return { ...notAnId, outcome: 'unknown' };
      const settle = circuit.admit();
      if (!settle) return { outcome: 'unknown', why: 'the circuit to the bank is open' };
      const asked = { operationId: id, as: 'inquire', payerPresent: true, plainPages } as const;
      const request = { method: 'GET', body: Buffer.alloc(0), asked, answerMs: timeouts.answerMs } as const;
      const answer = await ask(request, settle);
      // That the question was not sent says nothing about the operation it is about.
      return answer.outcome === 'notSent' ? { outcome: 'unknown', why: answer.why } : answer;
    },

    verifyCallback(headers, rawBody) {
      if (callbackUrl === undefined) return undefined;
      const { pathname, search } = new URL(callbackUrl);
      const message = { method: 'POST', target: pathname + search, body: rawBody };
      const signature = headers[signatureHeader];
      if (typeof signature !== 'string') return undefined;
      if (!isSigned(secret, message, signature, Math.floor(nowMs() / 1000))) return undefined;
      const content = parseMessage(rawBody);
      return callback.Check(content) ? content.operationId : undefined;
    },

    stop: () => link.stop(),
  };
}

/** Throws what is wrong with the settings of a bank, in words for an operator. */
export function bankAddress(settings: Pick<HttpBankOptions, 'url' | 'secret' | 'allowPlainHttp'>): URL {
  const { url: text, secret, allowPlainHttp } = settings;
  if (!URL.canParse(text)) throw new Error(`${text} is no address; write it with https://`);
  const url = new URL(text);
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && (isLoopback || allowPlainHttp))) {
    throw new Error(`card numbers go to the bank: ${url.origin} must be https`);
  }
  if (url.search !== '' || url.hash !== '') throw new Error('the address of a bank has no ? and no #');
  if (url.username !== '' || url.password !== '') {
    throw new Error('the address of a bank has no name and no password: messages are signed');
  }
  if (secret.length < minSecretCharacters) {
    throw new Error(`the bank's secret must have ${minSecretCharacters} characters or more`);
  }
  return url;
}

async function messageOf(
  operation: BankOperation,
  detokeniseCard: HttpBankOptions['detokeniseCard'],
  callbackUrl: string | undefined,
): Promise<OperationMessage> {
  const { terminal } = operation;
  const common = {
    merchant: { id: terminal.merchantId, terminal: terminal.id, descriptor: terminal.descriptor },
    ...defined({ callbackUrl }),
  };
  switch (operation.kind) {
    case 'authorise': {
      const { kind, capture, initiation, authentication, returnUrl } = operation;
      const card = cardOf(await detokeniseCard(operation.card), initiation);
      const { ip, email, fingerprint } = operation.payer;
      const payer = defined({ ip, email, fingerprint });
      const how = { capture, card, initiation: { ...initiation }, authentication, returnUrl, payer };
      return { kind, ...common, ...moneyOf(operation), ...how };
    }
    case 'capture':
    case 'refund': {
      const { kind, originalOperationId } = operation;
      return { kind, ...common, ...moneyOf(operation), originalOperationId };
    }
    case 'reverse':
      return { kind: 'reverse', ...common, originalOperationId: operation.originalOperationId };
    case 'payout': {
      const card = receivingCardOf(await detokeniseCard(operation.card));
      return { kind: 'payout', ...common, ...moneyOf(operation), card };
    }
    case 'verify': {
      const card = receivingCardOf(await detokeniseCard(operation.card));
      return { kind: 'verify', ...common, currency: operation.currency, card };
    }
  }
}

/** To be paid out to, its number is enough. */
function receivingCardOf({ number, expiry, holder }: ClearCard) {
  return { number, ...defined({ expiry, holder }) };
}

/** A merchant by himself never has a security code, whatever the vault says. */
function cardOf(card: ClearCard, initiation: Initiation): ClearCard & { expiry: string } {
  const { number, expiry, holder, securityCode } = card;
  if (expiry === undefined) throw new Error('a card without an expiry cannot be charged');
  return {
    number,
    expiry,
    ...defined({ holder }),
    ...(securityCode === undefined || initiation.by === 'merchant' ? {} : { securityCode }),
  };
}

function moneyOf({ amount }: { amount: { minor: bigint; currency: string } }) {
  return { amount: Number(amount.minor), currency: amount.currency };
}

function manner(operation: BankOperation, { answerMs, unattendedAnswerMs }: Timeouts) {
  const isUnattended = operation.kind === 'authorise' && operation.initiation.by === 'merchant';
  return {
    payerPresent: operation.kind === 'authorise' && !isUnattended,
    answerMs: isUnattended ? unattendedAnswerMs : answerMs,
  };
}
