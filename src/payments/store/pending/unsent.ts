// Attempts to send a charge that no bank has seen, in SQL. They count as no attempt in the rules of card networks.
import type { Database } from '../../../platform/database/database.ts';
import { statement } from '../../../platform/database/statement.ts';
import type { Payment } from '../../domain/payment.ts';

const countUnsent = statement({
  name: 'count_unsent_attempt',
  parameters: { invoice_id: 'text', payment_id: 'text', attempt: 'int4', unsent: 'int4' },
  row: {},
  text: `update payment set unsent_attempts = :unsent
         where invoice_id = :invoice_id and payment_id = :payment_id and status = 'authorising' and attempts = :attempt
           and unsent_attempts in (:attempt - 1, -:attempt)`,
});

const doubtUnsent = statement({
  name: 'doubt_unsent_attempt',
  parameters: { invoice_id: 'text', payment_id: 'text', attempt: 'int4' },
  row: {},
  text: `update payment set unsent_attempts = -:attempt
         where invoice_id = :invoice_id and payment_id = :payment_id and unsent_attempts = :attempt - 1`,
});

/**
 * This attempt and all before it have proved that no bank has done anything. Nothing is written if one before has not, and an attempt
 * that is put back is made again.
 */
export async function storeUnsent(
  db: Database,
  { invoiceId, id }: Pick<Payment, 'invoiceId' | 'id'>,
  attempt: number,
  isPutBack: boolean,
): Promise<void> {
  const unsent = isPutBack ? Math.max(attempt - 1, 1) : attempt;
  await db.run(countUnsent, { invoice_id: invoiceId, payment_id: id, attempt, unsent });
}

/**
 * Before this attempt sends again: unless `storeUnsent` follows, the bank may have the charge, and no later attempt can prove the opposite.
 * A number of attempts alone is no proof, because a bank that calls back or answers that it is busy makes it smaller.
 */
export async function doubtBeforeSending(
  db: Database,
  { invoiceId, id }: Pick<Payment, 'invoiceId' | 'id'>,
  attempt: number,
): Promise<void> {
  await db.run(doubtUnsent, { invoice_id: invoiceId, payment_id: id, attempt });
}
