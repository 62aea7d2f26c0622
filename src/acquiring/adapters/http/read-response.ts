// Interprets a bank's HTTP responses: only a response the protocol documents proves an outcome.
// After any other the outcome is unknown, because a gateway or a proxy can produce any status.
import { Compile } from 'typebox/compile';
import type { BankResponse, BankOperation, Interaction } from '../../domain/bank-port.ts';
import type { Headers } from './link.ts';
import { ErrorAnswer, NeverSeen, OperationAnswer, parseMessage } from './messages.ts';
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
  if (asked.as === 'inquire') return unknown(`status ${status}, ${body.error}`);
  return readError(status, body, received.headers);
}

function readError(status: number, { error }: ErrorAnswer, headers: Headers): BankResponse {
  if (status === 400 && error === 'invalid') {
    // A bank checks the ID first, so a 400 proves that nothing was done under it. 30 is the networks' format error.
    return { outcome: 'declined', network: 'bank', code: '30' };
  }
  if (status === 401 && error === 'unauthorised') return notSent('the bank rejected the signature');
  if ((status === 429 || status === 503) && error === 'notDone' && headers['retry-after'] !== undefined) {
    return notSent(`the bank is busy, status ${status}`);
  }
  if (status === 409 && error === 'conflict')
    return unknown('the bank knows this operation ID with different content');
  return unknown(`status ${status}, ${error}`);
}

function readOutcome(asked: Asked, body: unknown): BankResponse {
  if (!operationAnswer.Check(body)) return unknown('the response does not match the bank protocol');
  if (body.operationId !== asked.operationId) return anotherOperation;
  switch (body.outcome) {
    // Copies only documented fields: a bank may add others.
    case 'approved':
      return {
        outcome: 'approved',
        reference: body.reference,
        ...defined({
          approvalCode: body.approvalCode,
          networkTransactionId: body.networkTransactionId,
          eci: body.eci,
          advice: body.advice,
        }),
      };
    case 'declined':
      return {
        outcome: 'declined',
        network: body.network,
        code: body.code,
        ...defined({ advice: body.advice }),
      };
    case 'payerNeeded':
      if (!asked.payerPresent) return unknown('the bank asks for the payer, who is not present');
      return isPage(body.interaction.url, asked.plainPages)
        ? { outcome: 'payerNeeded', interaction: copyOf(body.interaction) }
        : unknown('the page for the payer has no valid address');
    case 'pending':
      return { outcome: 'pending' };
  }
}

function copyOf(interaction: Interaction): Interaction {
  const { method, url } = interaction;
  if (method === 'GET') return { method, url };
  return { method, url, form: interaction.form.map(({ name, value }) => ({ name, value })) };
}

function isPage(url: string, plainPages: boolean): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, username, password } = new URL(url);
  const isAllowed = protocol === 'https:' || (plainPages && protocol === 'http:');
  return isAllowed && username === '' && password === '';
}

/** The error and the field a bank names, without digits: a bank might quote a card number. */
export function complaintOf(received: Received): string | undefined {
  const body = parseMessage(received.body);
  if (!errorAnswer.Check(body)) return undefined;
  return [body.error, body.field?.replace(/[^A-Za-z_.-]/g, '')].filter(Boolean).join(' ');
}

const anotherOperation = unknown('the response names another operation');

function unknown(why: string): BankResponse {
  return { outcome: 'unknown', why };
}

function notSent(why: string): BankResponse {
  return { outcome: 'notSent', why };
}
