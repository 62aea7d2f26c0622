// The terminals of a sandbox, which its simulated bank gets at each start.
import type { Database } from '../../platform/database/database.ts';
import { payoutTerminals, shopTerminals } from '../store/banks.ts';
import type { NewPayoutTerminal, NewTerminal } from './terminal-rows.ts';

const sandboxPriority = 100;

type Writes = {
  readonly putTerminal: (terminal: NewTerminal) => Promise<boolean>;
  readonly putPayoutTerminal: (terminal: NewPayoutTerminal) => Promise<boolean>;
};

/** Puts this bank's terminals before those of other simulated banks, and after those an operator has added. */
export function sandboxTerminals(db: Database, { putTerminal, putPayoutTerminal }: Writes) {
  return async (
    terminals: {
      readonly ofShops: readonly Omit<NewTerminal, 'priority'>[];
      readonly ofPayouts: Omit<NewPayoutTerminal, 'priority'>;
    },
    { id, partyId }: { readonly id: string; readonly partyId: string },
  ): Promise<void> => {
    for (const terminal of terminals.ofShops) await putTerminal({ ...terminal, priority: sandboxPriority });
    await putPayoutTerminal({ ...terminals.ofPayouts, priority: sandboxPriority });
    const first = { party_id: partyId, bank_id: id, first: sandboxPriority };
    await db.run(shopTerminals.putFirst, first);
    await db.run(payoutTerminals.putFirst, first);
  };
}
