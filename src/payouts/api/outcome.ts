// The outcome of a withdrawal that a caller can wait for.
import type { Static } from 'typebox';
import type { Database } from '../../platform/database/database.ts';
import type { AwaitedOutcome } from '../../platform/http/waiting/outcome-waits.ts';
import { findWithdrawal } from '../store/withdrawals.ts';
import { withdrawalBody, type WithdrawalSchema } from './schema.ts';

export const withdrawalOutcome: AwaitedOutcome<
  unknown,
  Static<typeof WithdrawalSchema>,
  { readonly db: Database }
> = {
  job: ({ id }) => ['withdrawal', [id]],
  look: async ({ db }, { answer }) => {
    const found = await findWithdrawal(db, null, answer.id);
    if (!found) return undefined;
    const body = withdrawalBody(found.withdrawal);
    return { body, is: body.status === 'Pending' ? 'pending' : 'known' };
  },
};
