// Reads the log of a customer: its own facts and those of its bindings.
import { logReader, readFacts, type NumberedFact } from '../../platform/events/read-log.ts';
import type { Database } from '../../platform/database/database.ts';
import { customerLogFact, type FactOfBinding } from './codec.ts';

export const readCustomerLog = logReader('customer', customerLogFact, `status <> 'deleted'`);

/** The facts of one binding and what they did to its customer, the oldest first. */
export function readBindingFacts(
  db: Database,
  { partyId, customerId, id }: { readonly partyId: string; readonly customerId: string; readonly id: string },
): Promise<NumberedFact<FactOfBinding>[]> {
  return readFacts(
    (page) => readCustomerLog(db, { partyId, id: customerId }, page),
    (fact): fact is FactOfBinding => 'bindingId' in fact && fact.bindingId === id,
  );
}
