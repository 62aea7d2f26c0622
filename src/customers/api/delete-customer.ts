// DELETE …/customers/{customerID}: the API does not find the customer afterwards, but past charges keep its ID. A binding in
// progress fails, and its verification charge is refunded.
import { endpoint } from '../../platform/http/endpoint.ts';
import { accept, refuse } from '../../refusal.ts';
import { seriesOfBindings } from '../card-consents.ts';
import { findCustomer, storeDeletion } from '../store/customers.ts';
import { CustomerPath } from './schema.ts';
import { tradingRefusals } from '../../merchants/domain/party.ts';
import { retryOnConflict, type Database } from '../../platform/database/database.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { Consents } from '../../recurring/port.ts';
import type { JobRunner } from '../../platform/jobs/job-runner.ts';

type Deps = { db: Database; merchants: Merchants; consents: Consents; jobs: Pick<JobRunner, 'wake'> };

export const deleteCustomer = endpoint({
  operation: 'deleteCustomer',
  access: { scope: 'customers:write' },
  method: 'DELETE',
  path: '/v2/processing/customers/{customerID}',
  tag: 'Customers',
  summary: 'Delete a customer',
  description:
    'Every later operation on the customer returns 404, and it can no longer be charged. Existing payments do not change.',
  params: CustomerPath,
  status: 204,
  errors: ['customerNotFound', ...tradingRefusals],
  handle: ({ caller, params, now }, { db, merchants, consents, jobs }: Deps) =>
    retryOnConflict(`customer ${params.customerID}`, async () => {
      const stored = await findCustomer(db, caller.partyId, params.customerID);
      if (!stored) return refuse('customerNotFound');
      const trading = await merchants.trading(stored.customer);
      if (!trading.ok) return trading;
      const isDone = await db.transaction(async (tx) => {
        const name = { partyId: caller.partyId, customerId: stored.customer.id };
        const ended = await seriesOfBindings(tx, consents, name);
        if (!(await storeDeletion(tx, stored, now))) return false;
        for (const seriesId of [...ended].sort()) {
          await consents.revoke(tx, seriesId, { by: 'merchant' }, now);
        }
        return true;
      });
      if (!isDone) return 'versionConflict';
      db.afterCommit(() => jobs.wake());
      return accept(undefined);
    }),
});
