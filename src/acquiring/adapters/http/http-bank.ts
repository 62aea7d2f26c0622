// Bank adapter for the open protocol (docs/bank-protocol.md): each operation is one signed HTTP exchange.
// Card data is in clear text only here, and never in an error, a result or a log line.
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
  /** Such as `2030-12`. A card that only receives payouts may lack it. */
  readonly expiry?: string;
  readonly holder?: string;
  readonly securityCode?: string;
  /** Makes the security code usable again. Call it only when no byte of the message was sent. */
  readonly returnCode?: () => Promise<void>;
};

export type Timeouts = {
  readonly connectMs: number;
  /** For all requests but charges without the payer. */
  readonly answerMs: number;
  /** For charges without the payer present. */
  readonly unattendedAnswerMs: number;
};

const usualTimeouts: Timeouts = { connectMs: 5_000, answerMs: 30_000, unattendedAnswerMs: 45_000 };

export type HttpBank = Bank & {
  /** The operation ID of a correctly signed callback. It proves no outcome: query the status. */
  verifyCallback(headers: Headers, rawBody: Buffer): string | undefined;
};

export type HttpBankOptions = {
  /** The base URL of the bank, such as `https://bank.example/mandate`. */
  readonly url: string;
  readonly secret: string;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  readonly detokeniseCard: (card: CardReference) => Promise<ClearCard>;
  /** Where the bank reports that an operation has changed. */
  readonly callbackUrl?: string;
  readonly timeouts?: Timeouts;
  /** Replaced where no message may leave the program. */
  readonly openLink?: OpenLink;
  /** For a sandbox whose bank runs in another container. Card numbers go over this link. */
  readonly allowPlainHttp?: true;
};

type Settle = NonNullable<ReturnType<Circuit['admit']>>;
type Request = { method: 'GET' | 'PUT'; body: Buffer; asked: Asked; answerMs: number };

const callback = Compile(Callback);
const operationId = new RegExp(operationIdPattern);
const notAnId = { outcome: 'notSent', why: 'the operation ID is not valid in the bank protocol' } as const;

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
      // A retry does not help: an operator has to correct the settings or the program.
      const complaint = complaintOf(exchange);
      log.warn({ operationId: asked.operationId, status, complaint }, 'bank refused a request');
    }
    const answer = readAnswer(asked, exchange);
    // A conflict concerns one operation, not the link.
    const proves = answer.outcome !== 'unknown' && answer.outcome !== 'notSent';
    settle(proves || status === 409 ? 'well' : 'badly');
    return answer;
  }

  async function returnCode(cards: readonly ClearCard[], { operationId }: BankOperation): Promise<void> {
    try {
      for (const card of cards) await card.returnCode?.();
    } catch {
      // The next attempt is sent without the code. The error is not logged: it may contain card data.
      log.warn({ operationId }, 'unused security code could not be returned');
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
        // The error is not passed on: it may contain card data.
        settle('not at all');
        return { outcome: 'notSent', why: 'the card could not be read' };
      }
      const { payerPresent, answerMs } = manner(operation, timeouts);
      const asked = { operationId: operation.operationId, as: operation.kind, payerPresent, plainPages };
      const answer = await ask({ method: 'PUT', body, asked, answerMs }, settle);
      // The strings it was built from cannot be erased; this copy can.
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
      // An inquiry that was not sent says nothing about the operation.
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

/** Throws an error for the operator when the URL or the secret of a bank is not usable. */
export function bankAddress(settings: Pick<HttpBankOptions, 'url' | 'secret' | 'allowPlainHttp'>): URL {
  const { url: text, secret, allowPlainHttp } = settings;
  if (!URL.canParse(text))
    throw new Error(
      `"${text}" is not a valid bank address. Give a URL such as https://bank.example/mandate.`,
    );
  const url = new URL(text);
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && (isLoopback || allowPlainHttp))) {
    throw new Error(`The bank address ${url.origin} must use https: card numbers are sent to it.`);
  }
  if (url.search !== '' || url.hash !== '') {
    throw new Error(`Remove the query and the fragment from the bank address ${url.origin}${url.pathname}.`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new Error(
      'Remove the user name and the password from the bank address: messages are signed instead.',
    );
  }
  if (secret.length < minSecretCharacters) {
    throw new Error(
      `The bank secret has ${secret.length} characters. Use at least ${minSecretCharacters}, for example from "openssl rand -base64 32".`,
    );
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

/** A payout needs only the number. */
function receivingCardOf({ number, expiry, holder }: ClearCard) {
  return { number, ...defined({ expiry, holder }) };
}

/** A charge without the payer never carries a security code, even if the vault has one. */
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
