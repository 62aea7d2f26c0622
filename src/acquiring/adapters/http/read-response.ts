// Interprets a bank's HTTP responses: only a response the protocol documents proves an outcome.
// After any other the outcome is unknown, because a gateway or a proxy can produce any status.
import { Compile } from 'typebox/compile';
import { parseInstant, type Instant } from '../../../clock.ts';
import type { AuthenticationResult } from '../../domain/authentication.ts';
import {
  returnCodes,
  type BankOperation,
  type BankResponse,
  type BankReturn,
  type Interaction,
} from '../../domain/bank-port.ts';
import { maskCardNumbers } from '../../../platform/log.ts';
import type { References } from '../../domain/references.ts';
import type { Headers } from './link.ts';
import {
  ErrorAnswer,
  laterFields,
  maxFormBytes,
  NeverSeen,
  OperationAnswer,
  parseMessage,
} from './responses.ts';
import { withoutMisfits } from './fields.ts';
import { defined } from '../../../defined.ts';

export type Asked = {
  readonly operationId: string;
  /** The kind of operation sent, or `inquire` for a status query. */
  readonly as: BankOperation['kind'] | 'inquire';
  /** Whether the payer is present and can be sent to a page. */
  readonly payerPresent: boolean;
  /** In a sandbox, a bank reached over plain HTTP may have its pages on plain HTTP. */
  readonly plainPages: boolean;
};

type Received = { readonly status: number; readonly headers: Headers; readonly body: Buffer };

const operationAnswer = Compile(OperationAnswer);
const withoutLaterMisfits = withoutMisfits(
  Object.fromEntries(Object.entries(laterFields).map(([name, schema]) => [name, Compile(schema)])),
);
const maxTextCharacters = 200;
const rrn = /^[A-Za-z0-9]{12}$/;
const neverSeen = Compile(NeverSeen);
const errorAnswer = Compile(ErrorAnswer);

export function readAnswer(asked: Asked, received: Received): BankResponse {
  const { status } = received;
  const body = parseMessage(received.body);
  if (status === 200) return readOutcome(asked, body);
  if (status === 404 && asked.as === 'inquire' && neverSeen.Check(body)) {
    return body.operationId === asked.operationId ? { outcome: 'notFound' } : anotherOperation;
  }
  if (!errorAnswer.Check(body)) return unknown(`status ${status}`);
  const isUnauthorised = status === 401 && body.error === 'unauthorised';
  if (asked.as === 'inquire')
    return { ...unknown(`status ${status}, ${body.error}`), ...(isUnauthorised ? { isUnauthorised } : {}) };
  if (isUnauthorised) return { ...notSent('the bank rejected the signature'), isUnauthorised };
  return readError(status, body, received.headers);
}

function readError(status: number, { error }: ErrorAnswer, headers: Headers): BankResponse {
  if (status === 400 && error === 'invalid') {
    // A bank checks the ID first, so a 400 proves that nothing was done under it. 30 is the networks' format error.
    return { outcome: 'declined', network: 'bank', code: '30' };
  }
  if ((status === 429 || status === 503) && error === 'notDone' && headers['retry-after'] !== undefined) {
    return { ...notSent(`the bank is busy, status ${status}`), notDone: true };
  }
  if (status === 409 && error === 'conflict')
    return unknown('the bank knows this operation ID with different content');
  return unknown(`status ${status}, ${error}`);
}

function readOutcome(asked: Asked, received: unknown): BankResponse {
  const isObject = typeof received === 'object' && received !== null && !Array.isArray(received);
  const body = isObject ? withoutLaterMisfits(received) : received;
  if (!operationAnswer.Check(body)) return unknown('the response does not match the bank protocol');
  if (body.operationId !== asked.operationId) return anotherOperation;
  switch (body.outcome) {
    // Copies only documented fields: a bank may add others.
    case 'approved':
      return approvalOf(body);
    case 'declined': {
      const { outcome, network, code, advice, by, class: declineClass, notBefore, authenticated } = body;
      const { text, references } = body;
      return {
        outcome,
        network: maskCardNumbers(network),
        code: maskCardNumbers(code),
        ...defined({
          advice,
          by,
          class: declineClass,
          notBefore: instantOf(notBefore),
          authenticated: authenticated && resultOf(authenticated),
          text: text === undefined ? undefined : readable(text),
          references: references && namesOfDecline(references),
        }),
      };
    }
    case 'payerNeeded':
      if (!asked.payerPresent) return unknown('the bank asks for the payer, who is not present');
      return isPage(body.interaction, asked.plainPages)
        ? { outcome: 'payerNeeded', interaction: copyOf(body.interaction) }
        : unknown('the page for the payer has no valid address, or its form is too long');
    case 'pending':
      return { outcome: 'pending' };
  }
}

/** Banks need some again, and one in ten IDs of digits has the checksum of a card. Those of another length than most cards are kept. */
function maskedId(id: string): string {
  return /^\d+$/.test(id) && id.length !== 16 ? id : maskCardNumbers(id);
}

function approvalOf(body: OperationAnswer & { outcome: 'approved' }): BankResponse {
  const references = referencesOf(body);
  const reference = references.rrn ?? references.acquirer;
  if (reference === undefined) return unknown('the approval has no reference');
  const { approvalCode, networkTransactionId, networkIds, eci, advice } = body;
  const { authenticated, liabilityShift, availableBy, returned } = body;
  const isRrnAlone = references.acquirer === undefined && references.arn === undefined;
  return {
    outcome: 'approved',
    reference,
    ...(isRrnAlone ? {} : { references }),
    ...defined({
      approvalCode,
      networkTransactionId: networkTransactionId && maskedId(networkTransactionId),
      networkIds: networkIds?.map(({ kind, value }) => ({ kind, value: maskedId(value) })),
      eci,
      authenticated: authenticated && resultOf(authenticated),
      liabilityShift,
      advice,
      availableBy: instantOf(availableBy),
      returned: returned && returnedOf(returned),
    }),
  };
}

/** In one line, short, and without a card number. Undefined if nothing is left to read. */
function readable(text: string): string | undefined {
  const kept = inOneLine(maskCardNumbers(inOneLine(text)).slice(0, maxTextCharacters));
  return kept === '' ? undefined : kept;
}

/** Without control characters and halves of a character, which no database stores. */
function inOneLine(text: string): string {
  return text.replace(/[\p{C}\s]+/gu, ' ').trim();
}

/** Undefined if the bank named none. */
function namesOfDecline({ rrn: named, acquirer, arn }: References): References | undefined {
  const names = defined({ rrn: named, acquirer: acquirer && maskedId(acquirer), arn });
  return Object.keys(names).length === 0 ? undefined : names;
}

/** A reference in the old place that is no retrieval reference is the acquirer's own. */
function referencesOf(body: OperationAnswer & { outcome: 'approved' }): References {
  const { reference, references: { rrn: named, acquirer, arn } = {} } = body;
  const isRrn = reference !== undefined && rrn.test(reference);
  const own = acquirer ?? (isRrn ? undefined : reference);
  return defined({
    rrn: named ?? (isRrn ? reference : undefined),
    acquirer: own && maskedId(own),
    arn: arn ?? body.arn,
  });
}

function resultOf({
  how,
  version,
  status,
  dsTransId,
  acsTransId,
}: AuthenticationResult): AuthenticationResult {
  return { how, ...defined({ version, status, dsTransId, acsTransId }) };
}

function instantOf(at: string | undefined): Instant | undefined {
  return at === undefined ? undefined : parseInstant(at);
}

/** The schema has checked the time; a leap second may still have no instant. */
function returnedOf({
  at,
  code,
  amount,
}: {
  at: string;
  code: string;
  amount: number;
}): BankReturn | undefined {
  const instant = parseInstant(at);
  const known = returnCodes.find((one) => one === code) ?? 'unknown';
  return instant && { at: instant, code: known, minor: BigInt(amount) };
}

function copyOf(interaction: Interaction): Interaction {
  const { method, url } = interaction;
  if (method === 'GET') return { method, url };
  return { method, url, form: interaction.form.map(({ name, value }) => ({ name, value })) };
}

function isPage(interaction: Interaction, plainPages: boolean): boolean {
  const { url } = interaction;
  if (interaction.method === 'POST' && formBytes(interaction) > maxFormBytes) return false;
  if (!URL.canParse(url)) return false;
  const { protocol, username, password } = new URL(url);
  const isAllowed = protocol === 'https:' || (plainPages && protocol === 'http:');
  return isAllowed && username === '' && password === '';
}

function formBytes({ form }: Interaction & { method: 'POST' }): number {
  return form.reduce((sum, { value }) => sum + value.length, 0);
}

/** The error and the field a bank names, without digits: a bank might quote a card number. */
export function complaintOf(received: Received): string | undefined {
  const body = parseMessage(received.body);
  if (!errorAnswer.Check(body)) return undefined;
  return [body.error, body.field?.replace(/[^A-Za-z_.-]/g, '')].filter(Boolean).join(' ');
}

const anotherOperation = unknown('the response names another operation');

function unknown(why: string): BankResponse {
  return { outcome: 'unknown', why: maskCardNumbers(why) };
}

function notSent(why: string): BankResponse & { outcome: 'notSent' } {
  return { outcome: 'notSent', why: maskCardNumbers(why) };
}
