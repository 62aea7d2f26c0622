// Reads an answer that comes when the operation has its outcome: from a slow request, or after a bank has called about it once more.
import type { Clock } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Logger } from '../../platform/log.ts';
import type { Bank, BankResponse } from '../domain/bank-port.ts';
import { noteContradiction } from './contradictions.ts';
import type { ExchangeState } from './domain/exchange.ts';
import { interpret } from './domain/interpret.ts';
import { findExchange } from './store/exchange-rows.ts';

type Deps = { readonly db: Database; readonly clock: Clock; readonly log: Pick<Logger, 'error'> };

/** By the bank. What an operator has recorded is compared by the job and by reconciliation. */
const isProved = (state: ExchangeState) => ['approved', 'declined', 'takenBack'].includes(state);

/** Notes what contradicts the proof. An open operation gets its outcome from its job alone. */
export async function hearLateAnswer(deps: Deps, operationId: string, answer: BankResponse): Promise<void> {
  const exchange = await findExchange(deps.db, operationId);
  if (!exchange || !isProved(exchange.state)) return;
  const meaning = interpret(exchange, { by: 'answer', answer });
  if (meaning.says !== 'contradiction') return;
  const { bankId } = exchange;
  const note = { bankId, key: `answer ${operationId} ${answer.outcome}`, operationId, what: 'answer' };
  await noteContradiction(
    deps,
    { ...note, heard: { outcome: answer.outcome } },
    meaning.why,
    deps.clock.now(),
  );
}

/** The bank has called about it, and no job of it is open. */
export async function askLate(
  deps: Deps,
  bank: Pick<Bank, 'inquire'>,
  { operationId, bankId }: { readonly operationId: string; readonly bankId: string },
): Promise<void> {
  const exchange = await findExchange(deps.db, operationId);
  if (exchange?.bankId !== bankId || !isProved(exchange.state)) return;
  const { terminalId: id, merchantId } = exchange;
  const answer = await bank.inquire({ operationId, terminal: { id, bankId, merchantId, descriptor: '' } });
  await hearLateAnswer(deps, operationId, answer);
}
