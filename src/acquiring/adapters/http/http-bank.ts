// Bank adapter for the open protocol (docs/bank-protocol.md): each operation is one signed HTTP exchange.
// Card data is in clear text only here, and never in an error, a result or a log line.
import { isLoopback } from '../../../platform/http/loopback.ts';
import { Compile } from 'typebox/compile';
import { epochMsOf, type Clock } from '../../../clock.ts';
import { defined } from '../../../defined.ts';
import type { Logger } from '../../../platform/log.ts';
import type {
  Bank,
  BankResponse,
  BankOperation,
  CardReference,
  IsTooLate,
  OperationName,
} from '../../domain/bank-port.ts';
import { abilitiesOfVersion1 } from '../../domain/abilities.ts';
import { messageOf, type ClearCard, type RevealCard } from './build-message.ts';
import { missingAbility } from '../../domain/missing-ability.ts';
import { wasLeftHere } from '../../domain/routing/reroute.ts';
import { openCircuit, type Circuit } from './flow/circuit.ts';
import { openPace, partOf, type Rank } from './flow/pace.ts';
import { openKnownAbilities } from './known-abilities.ts';
import { openLink, type Exchange, type Headers, type Link, type OpenLink } from './link.ts';
import { Callback } from './messages.ts';
import { operationIdPattern } from './fields.ts';
import { parseMessage } from './responses.ts';
import { updatesOf, updatesOfPage } from './read-capabilities.ts';
import { complaintOf, readAnswer, type Asked } from './read-response.ts';
import {
  isSigned,
  protocolVersion,
  minSecretCharacters,
  sign,
  signatureHeader,
  versionHeader,
} from './signature.ts';

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
  /** Processes of the node that share the limits of the bank. */
  readonly workers?: number;
  /** The base URL of the bank, such as `https://bank.example/mandate`. */
  readonly url: string;
  readonly secret: string;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  readonly detokeniseCard: RevealCard;
  /** Where the bank reports that an operation has changed. */
  readonly callbackUrl?: string;
  readonly timeouts?: Timeouts;
  /** Replaced where no message may leave the program. */
  readonly openLink?: OpenLink;
  /** What the bank last said it can do, and whom to tell when it answers again. */
  readonly lastSaid?: string | undefined;
  readonly onSaid?: (abilities: string) => Promise<unknown>;
  /** For a sandbox whose bank runs in another container. Card numbers go over this link. */
  readonly allowPlainHttp?: true;
};

type Settle = NonNullable<ReturnType<Circuit['admit']>>;
type Request = {
  method: 'GET' | 'PUT' | 'POST';
  path: string;
  body: Buffer;
  asked: Asked;
  answerMs: number;
  isTooLate?: IsTooLate;
};

const callback = Compile(Callback);
const operationId = new RegExp(operationIdPattern);
const noBody = Buffer.alloc(0);
/** Short, because the first job of a node waits for it. */
const abilitiesMs = 2_000;
/** The bank declares that it cannot do it. Nothing was sent. */
const notAble = {
  outcome: 'declined',
  network: 'bank',
  code: 'not-supported',
  by: 'connector',
  class: 'configuration',
  noBytesSent: true,
} as const;
const notHeard = {
  outcome: 'notSent',
  why: 'the bank does not say what it can do',
  noBytesSent: true,
} as const;
export const circuitIsOpen = {
  outcome: 'notSent',
  why: 'the circuit to the bank is open',
  noBytesSent: true,
} as const;
const tooMany = {
  outcome: 'notSent' as const,
  why: 'the bank takes no more operations at this time',
  turnedAway: true as const,
};
const notAnId = {
  outcome: 'notSent',
  why: 'the operation ID is not valid in the bank protocol',
  notBuilt: true,
} as const;

export function openHttpBank(options: HttpBankOptions): HttpBank {
  const { url, link, nowMs, circuit } = partsOf(options);
  const { log, timeouts = usualTimeouts, workers, lastSaid, onSaid } = options;
  const askLink = signedLink(options, url, link, nowMs);
  // A bank of the first version has no such path, and may answer anything.
  const lookUp: LookUp = (path, answerMs) => askLink({ method: 'GET', path, body: noBody, answerMs });
  const ask = () => lookUp('/abilities', abilitiesMs);
  const known = openKnownAbilities({ bank: url.host, nowMs, log, ask, lastSaid, onSaid });
  const abilities = known.heard;
  const pace = openPace({ nowMs, limits: () => partOf(known.now({ asksAgain: false }) ?? {}, workers) });
  const { sendNow, askAbout } = openRequests(options, askLink, circuit, url.protocol === 'http:');
  const inquire: Bank['inquire'] = (operation) =>
    askAbout(operation, { method: 'GET', body: noBody, suffix: '' });

  return {
    async send(operation, mayStill = () => true, isTooLate) {
      if (!operationId.test(operation.operationId)) return notAnId;
      const isAble = async () =>
        isOfVersion1(operation) || missingAbility(operation, await abilities()) === undefined;
      // A bank that was never heard may be able.
      if (!(await isAble())) return known.now() ? notAble : notHeard;
      if (circuit.isOpen()) return circuitIsOpen;
      const stillMay = async () => (await isAble()) && mayStill();
      const leave = await pace.enter({ ...placeOf(operation), mayStill: stillMay });
      return 'againInMs' in leave ? { ...tooMany, ...leave } : sendNow(operation, isTooLate).finally(leave);
    },
    inquire,
    async resume(operation, returned) {
      if (!(await abilities()).takesReturns) return inquire(operation);
      const body = Buffer.from(JSON.stringify(returned));
      return askAbout(operation, { method: 'POST', body, suffix: '/return' });
    },
    abilities,
    knownAbilities: () => known.now(),
    async updates(after) {
      const { hasUpdates } = await abilities();
      return updatesAfter(after, url, (path) => hasUpdates && lookUp(path, timeouts.answerMs));
    },
    verifyCallback: (headers, rawBody) => operationOfCallback(options, nowMs, headers, rawBody),
    waiting: pace.waiting,
    stopWaiting: pace.stop,
    async stop() {
      pace.stop();
      await known.stop();
      await link.stop();
    },
  };
}

function partsOf(options: HttpBankOptions) {
  const url = bankAddress(options);
  const { connectMs } = options.timeouts ?? usualTimeouts;
  const nowMs = () => epochMsOf(options.clock.now());
  return {
    url,
    link: (options.openLink ?? openLink)(url.origin, connectMs),
    nowMs,
    circuit: openCircuit(nowMs),
  };
}

type AskLink = (request: Omit<Request, 'asked'>) => Promise<Exchange>;
type LookUp = (path: string, answerMs: number) => Promise<Exchange>;

/** Every request is signed, with its time. */
function signedLink({ secret }: HttpBankOptions, url: URL, link: Link, nowMs: () => number): AskLink {
  const base = url.pathname.replace(/\/$/, '');
  return ({ path, ...request }) => {
    const { method, body, answerMs, isTooLate } = request;
    const target = base + path;
    return link.ask({
      ...defined({ isTooLate }),
      method,
      target,
      headers: {
        [versionHeader]: protocolVersion,
        [signatureHeader]: sign(secret, { method, target, body }, Math.floor(nowMs() / 1000)),
        ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
      },
      ...(method === 'GET' ? {} : { body }),
      answerMs,
    });
  };
}

/** Requests about an operation. What comes back, or nothing, says how the link is. */
function openRequests(options: HttpBankOptions, askLink: AskLink, circuit: Circuit, plainPages: boolean) {
  const { clock, log, timeouts = usualTimeouts } = options;

  async function ask(request: Request, settle: Settle): Promise<BankResponse> {
    const exchange = await askLink(request);
    return exchange.kind === 'nothing' ? silenceOf(exchange, settle) : heard(request, exchange, settle, log);
  }

  return {
    /** Asks about an operation that the bank may have. */
    async askAbout(
      { operationId: id }: OperationName,
      { method, body, suffix }: Pick<Request, 'method' | 'body'> & { readonly suffix: string },
    ): Promise<BankResponse> {
      if (!operationId.test(id)) return { outcome: 'unknown', why: notAnId.why };
      const settle = circuit.admit();
      if (!settle) return { outcome: 'unknown', why: circuitIsOpen.why };
      const asked = { operationId: id, as: 'inquire', payerPresent: true, plainPages } as const;
      const path = pathOf({ operationId: id }) + suffix;
      const answer = await ask({ method, path, body, asked, answerMs: timeouts.answerMs }, settle);
      // An inquiry that was not sent says nothing about the operation.
      return answer.outcome === 'notSent' ? { outcome: 'unknown', why: answer.why } : answer;
    },

    async sendNow(operation: BankOperation, mustNotLeave?: IsTooLate): Promise<BankResponse> {
      const settle = circuit.admit();
      if (!settle) return circuitIsOpen;
      const message = await builtMessage(operation, options);
      if (!message) {
        settle('not at all');
        return { outcome: 'notSent', why: 'the card could not be read', notBuilt: true };
      }
      const { body, revealed } = message;
      const { payerPresent, answerMs } = manner(operation, timeouts);
      const asked = { operationId: operation.operationId, as: operation.kind, payerPresent, plainPages };
      const { notAfter } = operation;
      const isTooLate = () =>
        (notAfter !== undefined && clock.now() >= notAfter) || mustNotLeave?.() === true;
      const path = pathOf(operation);
      const answer = await ask({ method: 'PUT', path, body, asked, answerMs, isTooLate }, settle);
      // The strings it was built from cannot be erased; this copy can.
      body.fill(0);
      if (wasLeftHere(answer)) await returnCode(revealed, operation, log);
      return answer;
    },
  };
}

function silenceOf(
  { written, why, isNonsense, isTooLate }: Exchange & { kind: 'nothing' },
  settle: Settle,
): BankResponse {
  // That is no fault of the bank.
  settle(isTooLate ? 'not at all' : 'badly');
  if (isTooLate) return { outcome: 'notSent', why, turnedAway: true };
  if (!written) return { outcome: 'notSent', why, noBytesSent: true };
  return { outcome: 'unknown', why, ...(isNonsense ? {} : { isSilence: true }) };
}

function heard(
  { asked }: Request,
  exchange: Exchange & { kind: 'answer' },
  settle: Settle,
  log: HttpBankOptions['log'],
): BankResponse {
  const { status } = exchange;
  const answer = readAnswer(asked, exchange);
  // The bank's health reports refused signatures once for all requests.
  const isReported = 'isUnauthorised' in answer;
  if (!isReported && (status === 400 || status === 401 || status === 409)) {
    // A retry does not help: an operator has to correct the settings or the program.
    const complaint = complaintOf(exchange);
    log.warn({ operationId: asked.operationId, status, complaint }, 'bank refused a request');
  }
  // A conflict concerns one operation, not the link.
  const proves = answer.outcome !== 'unknown' && answer.outcome !== 'notSent';
  settle(proves || status === 409 ? 'well' : 'badly');
  // A gateway that gave up waiting for the bank.
  return answer.outcome === 'unknown' && status === 504 ? { ...answer, isSilence: true } : answer;
}

/** With the cards in it. Undefined if one cannot be read: the error is not passed on, because it may contain card data. */
async function builtMessage(
  operation: BankOperation,
  { detokeniseCard, callbackUrl }: HttpBankOptions,
): Promise<{ readonly body: Buffer; readonly revealed: readonly ClearCard[] } | undefined> {
  const revealed: ClearCard[] = [];
  try {
    const reveal = async (reference: CardReference) => {
      const card = await detokeniseCard(reference);
      revealed.push(card);
      return card;
    };
    const message = await messageOf(operation, reveal, callbackUrl);
    return { body: Buffer.from(JSON.stringify(message)), revealed };
  } catch {
    return undefined;
  }
}

async function returnCode(
  cards: readonly ClearCard[],
  { operationId }: BankOperation,
  log: HttpBankOptions['log'],
): Promise<void> {
  try {
    for (const card of cards) await card.returnCode?.();
  } catch {
    // The next attempt is sent without the code. The error is not logged: it may contain card data.
    log.warn({ operationId }, 'unused security code could not be returned');
  }
}

/** None from a bank that has no updates, and is not asked. */
async function updatesAfter(after: number, url: URL, ask: (path: string) => Promise<Exchange> | false) {
  const exchange = await ask(`/updates?after=${after}&limit=${updatesOfPage}`);
  if (!exchange) return { updates: [], unreadable: [], last: after, hasMore: false };
  const isRead = exchange.kind === 'answer' && exchange.status === 200;
  const read = isRead ? updatesOf(parseMessage(exchange.body), after) : undefined;
  if (!read) throw new Error(`The updates of the bank at ${url.href} cannot be read.`);
  return read;
}

function operationOfCallback(
  { secret, callbackUrl }: HttpBankOptions,
  nowMs: () => number,
  headers: Headers,
  rawBody: Buffer,
): string | undefined {
  if (callbackUrl === undefined) return undefined;
  const { pathname, search } = new URL(callbackUrl);
  const message = { method: 'POST', target: pathname + search, body: rawBody };
  const signature = headers[signatureHeader];
  if (typeof signature !== 'string') return undefined;
  if (!isSigned(secret, message, signature, Math.floor(nowMs() / 1000))) return undefined;
  const content = parseMessage(rawBody);
  return callback.Check(content) ? content.operationId : undefined;
}

function pathOf({ operationId }: Pick<OperationName, 'operationId'>): string {
  return `/operations/${operationId}`;
}

function placeOf(operation: BankOperation) {
  const { notAfter } = operation;
  return { rank: rankOf(operation), ...(notAfter && { untilMs: epochMsOf(notAfter) }) };
}

/** Money that is held or was charged comes before new charges. */
function rankOf(operation: BankOperation): Rank {
  switch (operation.kind) {
    case 'capture':
    case 'refund':
    case 'reverse':
      return 'finishes';
    case 'payout':
    case 'verify':
      return 'begins';
    case 'authorise':
      if (operation.initiation.by === 'payer') return 'payerWaits';
      return operation.initiation.resubmission ? 'repeats' : 'charges';
  }
}

/** What a bank that knows only the first version does as it is meant. Otherwise it would ignore a field that matters. */
function isOfVersion1(operation: BankOperation): boolean {
  return missingAbility(operation, abilitiesOfVersion1) === undefined;
}

/** Throws an error for the operator when the URL or the secret of a bank is not usable. */
export function bankAddress(settings: Pick<HttpBankOptions, 'url' | 'secret' | 'allowPlainHttp'>): URL {
  const { url: text, secret, allowPlainHttp } = settings;
  if (!URL.canParse(text))
    throw new Error(
      `"${text}" is not a valid bank address. Give a URL such as https://bank.example/mandate.`,
    );
  const url = new URL(text);
  const mayBePlain = allowPlainHttp || isLoopback(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && mayBePlain)) {
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

function manner(operation: BankOperation, { answerMs, unattendedAnswerMs }: Timeouts) {
  const isUnattended = operation.kind === 'authorise' && operation.initiation.by === 'merchant';
  return {
    payerPresent: operation.kind === 'authorise' && !isUnattended,
    answerMs: isUnattended ? unattendedAnswerMs : answerMs,
  };
}
