// Terminals as they are stored: which of them are in use, and what is said when none serves.
import type { Values } from '../../platform/database/statement.ts';
import { defined } from '../../defined.ts';
import type { Instant } from '../../clock.ts';
import { refuse } from '../../refusal.ts';
import type { Terminal } from '../domain/bank-port.ts';
import type { PayoutTerminalTerms } from '../domain/routing/payout-terminal.ts';
import type { shopTerminals } from '../store/banks.ts';

export type NewTerminal = Terminal & {
  readonly partyId: string;
  readonly shopId: string;
  readonly priority: number;
};

export type NewPayoutTerminal = Omit<NewTerminal, 'shopId'> & { readonly terms?: PayoutTerminalTerms };

export type ShopTerminalRow = Values<typeof shopTerminals.read.row>;
export type TerminalRow = Omit<ShopTerminalRow, 'paused_until' | 'paused_because'>;

export function inUse<Row extends TerminalRow>(rows: readonly Row[]): Row[] {
  return rows.filter(({ is_retired }) => !is_retired);
}

export function notPaused(rows: readonly ShopTerminalRow[], now: Instant): ShopTerminalRow[] {
  return rows.filter(({ paused_until: until }) => until === null || until <= now);
}

/** When the first terminal takes charges again. Undefined if one does now. */
export function pauseEndOf(rows: readonly ShopTerminalRow[], now: Instant): Instant | undefined {
  if (notPaused(rows, now).length > 0) return undefined;
  return rows.flatMap(({ paused_until: until }) => until ?? []).sort()[0];
}

export function terminalFrom(row: Omit<TerminalRow, 'is_retired'>): Terminal {
  return {
    id: row.terminal_id,
    bankId: row.bank_id,
    merchantId: row.merchant_id,
    descriptor: row.descriptor,
    ...defined({ merchant: row.merchant_facts ?? undefined }),
  };
}

export function rowOf(terminal: Omit<NewTerminal, 'shopId'>, createdAt: Instant) {
  return {
    party_id: terminal.partyId,
    terminal_id: terminal.id,
    bank_id: terminal.bankId,
    merchant_id: terminal.merchantId,
    descriptor: terminal.descriptor,
    merchant_facts: terminal.merchant ?? null,
    priority: terminal.priority,
    created_at: createdAt,
  };
}

export type TerminalRefusal = 'operationNotPermitted' | 'threeDSecureNotOffered' | 'notOfferedByBank';

export function noTerminal(missing: string | undefined) {
  if (missing === 'authentication hosted') return refuse('threeDSecureNotOffered');
  if (missing !== undefined) return refuse('notOfferedByBank', { hint: notDeclared(missing) });
  const message = 'The shop has no terminal at a bank. Ask the operator to add one.';
  return refuse('operationNotPermitted', { message });
}

/** In the words of the bank protocol. */
export function notDeclared(missing: string): string {
  return `No bank that could be used declares "${missing}".`;
}
