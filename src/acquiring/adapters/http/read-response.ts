// What an HTTP answer of a bank means. Only what the protocol documents proves anything; all else is unknown, because a
// gateway, a proxy or a half-dead server on the way can produce any status by itself.
import { Compile } from 'typebox/compile';
import type { BankResponse, BankOperation, Interaction } from '../../domain/bank-port.ts';
import type { Headers } from './link.ts';
import { ErrorAnswer, NeverSeen, OperationAnswer, parseMessage } from './messages.ts';
import { defined } from '../../../defined.ts';

export type Asked = {
  readonly operationId: string;
  /** `inquire` when it was only asked about. */
  readonly as: BankOperation['kind'] | 'inquire';
  /** Whether the payer is there to be sent to a page. */
  readonly payerPresent: boolean;
  /** A bank that is spoken to in the clear, in a sandbox, may have pages in the clear. */
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
    // The bank looks at the id first: a message it cannot read under an id it knows is a 409. So this was never done, and
    // it never will be. 30 is the networks' format error, which is for us to mend.
    return { outcome: 'declined', network: 'bank', code: '30' };
  }
  if (status === 401 && error === 'unauthorised') return notSent('the bank does not accept our signature');
  if ((status === 429 || status === 503) && error === 'notDone' && headers['retry-after'] !== undefined) {
    return notSent(`the bank is busy, status ${status}`);
  }
  if (status === 409 && error === 'conflict') return unknown('the bank knows this id with other content');
  return unknown(`status ${status}, ${error}`);
}

function readOutcome(asked: Asked, body: unknown): BankResponse {
  if (!operationAnswer.Check(body)) return unknown('an answer that does not fit the protocol');
  if (body.operationId !== asked.operationId) return anotherOperation;
  switch (body.outcome) {
    // Only what is known is taken over: whatever else a bank may add stays outside.
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
      if (!asked.payerPresent) return unknown('a wish for the payer, who is not there');
      return isPage(body.interaction.url, asked.plainPages)
        ? { outcome: 'payerNeeded', interaction: copyOf(body.interaction) }
        : unknown('a page for the payer that is no address');
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

/** The name of the field a bank complains about, without the digits a careless bank might put there. */
export function complaintOf(received: Received): string | undefined {
  const body = parseMessage(received.body);
  if (!errorAnswer.Check(body)) return undefined;
  return [body.error, body.field?.replace(/[^A-Za-z_.-]/g, '')].filter(Boolean).join(' ');
}

const anotherOperation = unknown('the answer of another operation');

function unknown(why: string): BankResponse {
  return { outcome: 'unknown', why };
}

function notSent(why: string): BankResponse {
  return { outcome: 'notSent', why };
}
