// One operation of a bank, as the exchange log keeps it: what is done under its ID, and what the bank has proved.
import type { Instant } from '../../../clock.ts';
import { defined } from '../../../defined.ts';
import type { Money } from '../../../money.ts';
import type { BankOperation, BankResponse, Terminal } from '../../domain/bank-port.ts';

/** What a repeat must have in common with the first message. */
export type ExchangeContent = {
  readonly operationId: string;
  readonly kind: BankOperation['kind'];
  readonly terminal: Pick<Terminal, 'id' | 'bankId' | 'merchantId'>;
  readonly amount?: Money;
  readonly cardToken?: string;
  readonly originalOperationId?: string;
  /** Of an authorisation: whether it takes the money in one step. */
  readonly capture?: boolean;
  /** It is not sent later. */
  readonly notAfter?: Instant;
};

export type ProvedAnswer = Extract<BankResponse, { outcome: 'approved' | 'declined' }>;

export type ExchangeState =
  /** It may be sent, or may have been. */
  | 'begun'
  /** The bank waits for the payer. */
  | 'challenged'
  | 'approved'
  | 'declined'
  /** Its outcome stayed unknown, and whatever it was is being undone. */
  | 'givenUp'
  | 'takenBack'
  /** An operator recorded the outcome. */
  | 'settled';

/** Only the job of its operation says how it ends. */
export function isOpen(state: ExchangeState): boolean {
  return state === 'begun' || state === 'challenged';
}

/** What a change of an aggregate hands over to be written with it. */
export type ExchangeWrite = {
  readonly content: ExchangeContent;
  readonly at: Instant;
  readonly state: ExchangeState;
  readonly answer?: ProvedAnswer;
};

/** These are never overwritten. */
export const provedStates: readonly ExchangeState[] = ['approved', 'declined', 'takenBack', 'settled'];

/** A bank may report what was never sent to it. */
export function isOfAggregate(operationId: string): boolean {
  return operationId.indexOf('.') > 0;
}

/** The ID of the aggregate, and the rest of the operation's ID. */
export function exchangeKeyOf(operationId: string): readonly [aggregateId: string, operation: string] {
  const dot = operationId.indexOf('.');
  if (!isOfAggregate(operationId)) throw new Error(`The operation ID ${operationId} names no aggregate.`);
  return [operationId.slice(0, dot), operationId.slice(dot + 1)];
}

function isProved(answer: BankResponse | undefined): answer is ProvedAnswer {
  return answer?.outcome === 'approved' || answer?.outcome === 'declined';
}

export function contentOf(operation: BankOperation): ExchangeContent {
  const { operationId, kind, terminal } = operation;
  return {
    operationId,
    kind,
    terminal,
    ...('amount' in operation ? { amount: operation.amount } : {}),
    ...('card' in operation ? { cardToken: operation.card.token } : {}),
    ...('originalOperationId' in operation ? { originalOperationId: operation.originalOperationId } : {}),
    ...('capture' in operation ? { capture: operation.capture } : {}),
    ...defined({ notAfter: operation.notAfter }),
  };
}

/** What the far side knows an operation by. They change only with the terminal, while nothing was sent. */
export function wireKeysOf({ operationId, terminal }: ExchangeContent) {
  return { id: operationId, merchant: terminal.merchantId };
}

/** The operation of an aggregate that only the bank can end. */
export type OpenExchange = { readonly content: ExchangeContent; readonly isChallenged: boolean };

/**
 * What a change writes: how the operation that was open ended, and the one it begins. Without the bank's proof it was given up, unless an
 * operator said how it ended.
 */
export function exchangesBetween(
  before: OpenExchange | undefined,
  after: OpenExchange | undefined,
  change: { readonly at: Instant; readonly answer?: BankResponse | undefined; readonly isSettled: boolean },
): ExchangeWrite[] {
  const { at, answer, isSettled } = change;
  const goesOn = before?.content.operationId === after?.content.operationId;
  const written: ExchangeWrite[] = [];
  if (before && !goesOn) {
    const { content } = before;
    if (isProved(answer) && !isSettled) written.push({ content, at, state: answer.outcome, answer });
    else written.push({ content, at, state: isSettled ? 'settled' : 'givenUp' });
  }
  const isNews = after && (!goesOn || after.isChallenged !== before?.isChallenged);
  if (isNews)
    written.push({ content: after.content, at, state: after.isChallenged ? 'challenged' : 'begun' });
  return written;
}
