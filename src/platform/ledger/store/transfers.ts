// The transfers of one aggregate, as a merchant or an operator reads them.
import { currency, oneOf } from '../../database/codec.ts';
import type { Database } from '../../database/database.ts';
import { statement, stored } from '../../database/statement.ts';

/** Those of an operation and of the operations inside it. The account's code is the third part of its ID. */
const readTransfers = statement({
  name: 'read_ledger_transfers_of',
  parameters: { aggregate_id: 'text', operation_id: 'text' },
  row: {
    operation_id: 'text',
    step: 'text',
    phase: stored('text', oneOf('single', 'pending', 'post', 'void')),
    debit: 'text',
    credit: 'text',
    minor: 'int8',
    currency: stored('text', currency),
    happened_at: 'timestamptz',
  },
  text: `select operation_id, step, phase, split_part(debit_account, ':', 3) as debit, split_part(credit_account, ':', 3) as credit,
           case when posted_minor > 0 then posted_minor else abs(pending_minor) end as minor,
           split_part(debit_account, ':', 2) as currency, happened_at
         from ledger_transfer
         where aggregate_id = :aggregate_id
           and (operation_id = :operation_id or starts_with(operation_id, :operation_id || '/'))
         order by happened_at, operation_id, step, completes_pending limit 1000`,
});

export function transfersOf(db: Database, aggregateId: string, operationId: string) {
  return db.run(readTransfers, { aggregate_id: aggregateId, operation_id: operationId });
}
