// Reads an answer that comes when the operation has its outcome: from a slow request, or after a bank has called about it once more.
import type { Clock } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Logger } from '../../platform/log.ts';
import type { Bank, BankResponse } from '../domain/bank-port.ts';
import { noteContradiction } from './contradictions.ts';
import type { ExchangeState } from './domain/exchange.ts';
import { interpret } from './domain/interpret.ts';
import { findExchange, type Exchange } from './store/exchange-rows.ts';
import type { OperationUpdate, UpdateOutcome } from '../domain/bank-updates.ts';

type Deps = {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'error'>;
  /** Undoes a charge that is approved after it was declined. Without it an operator does. */
  readonly applyLate?: (update: OperationUpdate) => Promise<UpdateOutcome>;
};

/** By the bank. What an operator has recorded is compared by the job and by reconciliation. */
const isProved = (state: ExchangeState) => ['approved', 'declined', 'takenBack'].includes(state);

/** Notes what contradicts the proof, or undoes a late approval: then true. An open operation gets its outcome from its job alone. */
export async function hearLateAnswer(
  deps: Deps,
  operationId: string,
  answer: BankResponse,
): Promise<boolean> {
  const exchange = await findExchange(deps.db, operationId);
  return exchange !== undefined && isProved(exchange.state) && compare(deps, exchange, answer);
}

/** For a job whose operation an operator has ended while it was sent. */
export async function hearAfterEnd(deps: Deps, operationId: string, answer: BankResponse): Promise<void> {
  const exchange = await findExchange(deps.db, operationId);
  if (exchange) await compare(deps, exchange, answer);
}

/** True if it is a late approval that is undone now. */
async function compare(deps: Deps, exchange: Exchange, answer: BankResponse): Promise<boolean> {
  const meaning = interpret(exchange, { by: 'answer', answer });
  if (meaning.says !== 'contradiction') return false;
  if (await isUndone(deps, exchange, answer)) return true;
  const { bankId, operationId } = exchange;
  const note = { bankId, key: `answer ${operationId} ${answer.outcome}`, operationId, what: 'answer' };
  await noteContradiction(
    deps,
    { ...note, heard: { outcome: answer.outcome } },
    meaning.why,
    deps.clock.now(),
  );
  return false;
}

/** As by an update of the bank. Once more if another writer was first: the bank may not say it again. */
async function isUndone(
  { applyLate, clock, log }: Deps,
  { operationId, kind, state }: Exchange,
  { outcome }: BankResponse,
): Promise<boolean> {
  if (!applyLate || kind !== 'authorise' || state !== 'declined' || outcome !== 'approved') return false;
  const apply = () => applyLate({ operationId, what: 'approvedLate', at: clock.now() });
  const taken = await apply()
    .catch(apply)
    .catch((err: unknown) => {
      log.error({ err, operationId }, 'late approval not applied');
      return undefined;
    });
  return taken?.outcome === 'applied' || (taken?.outcome === 'nothing' && taken.isUndone === true);
}

/** The bank has called about it, or reports it, and no job of it is open. */
export async function askLate(
  deps: Deps,
  bank: Pick<Bank, 'inquire'>,
  { operationId, bankId }: { readonly operationId: string; readonly bankId: string },
): Promise<boolean> {
  const exchange = await findExchange(deps.db, operationId);
  if (exchange?.bankId !== bankId || !isProved(exchange.state)) return false;
  const { terminalId: id, merchantId } = exchange;
  const answer = await bank.inquire({ operationId, terminal: { id, bankId, merchantId, descriptor: '' } });
  return hearLateAnswer(deps, operationId, answer);
}
