// POST …/access-tokens issues another token for a customer, because each expires after three days.
import { endpoint } from '../../platform/http/endpoint.ts';
import { AccessToken } from '../../platform/http/schemas.ts';
import { accept, refuse } from '../../refusal.ts';
import { findCustomer } from '../store/customers.ts';
import { CustomerPath } from './schema.ts';
import type { Database } from '../../platform/database/database.ts';
import type { AccessTokens } from '../../platform/keys/access-token.ts';

export const issueCustomerToken = endpoint({
  operation: 'issueCustomerToken',
  access: { scope: 'customers:write' },
  method: 'POST',
  path: '/v2/processing/customers/{customerID}/access-tokens',
  tag: 'Customers',
  summary: 'Issue an access token for a customer',
  params: CustomerPath,
  status: 201,
  response: AccessToken,
  errors: ['customerNotFound'],
  handle: async ({ caller, params }, { db, tokens }: { db: Database; tokens: AccessTokens }) => {
    const stored = await findCustomer(db, caller.partyId, params.customerID);
    if (!stored) return refuse('customerNotFound');
    const { id, partyId } = stored.customer;
    return accept({ payload: tokens.issue({ kind: 'customer', entityId: id, partyId }) });
  },
});
