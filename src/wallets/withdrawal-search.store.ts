// The list of withdrawals, by whatever they are searched for.
import type { Instant } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { statement } from '../database/statement.ts';
import type { Page } from './page.ts';
import { listOf, onPage, pageParameters } from './store-parts.ts';
import { storedFromRow, withdrawalColumns } from './withdrawal.store.ts';
import type { Withdrawal, WithdrawalStatus } from './withdrawal.ts';

const listWithdrawalRows = statement({
  name: 'list_withdrawals',
  parameters: {
    party_id: 'text',
    wallet_id: 'text?',
    identity_id: 'text?',
    withdrawal_id: 'text?',
    destination_id: 'text?',
    status: 'text?',
    currency: 'text?',
    created_from: 'timestamptz?',
    created_to: 'timestamptz?',
    amount_from: 'int8?',
    amount_to: 'int8?',
    ...pageParameters,
  },
  row: withdrawalColumns,
  text: `select ${listOf(withdrawalColumns)} from withdrawal
         where party_id = :party_id and (:wallet_id is null or wallet_id = :wallet_id)
           and (:identity_id is null or identity_id = :identity_id)
           and (:withdrawal_id is null or withdrawal_id = :withdrawal_id)
           and (:destination_id is null or destination_id = :destination_id)
           and (:status is null or status = :status) and (:currency is null or currency = :currency)
           and (:created_from is null or created_at >= :created_from)
           and (:created_to is null or created_at < :created_to)
           and (:amount_from is null or amount_minor >= :amount_from)
           and (:amount_to is null or amount_minor <= :amount_to) ${onPage('withdrawal', 'withdrawal_id')}`,
});

export type WithdrawalFilter = {
  readonly partyId: string;
  readonly walletId?: string;
  readonly identityId?: string;
  readonly withdrawalId?: string;
  readonly destinationId?: string;
  readonly status?: WithdrawalStatus;
  readonly currency?: string;
  readonly from?: Instant;
  readonly to?: Instant;
  readonly amountFrom?: bigint;
  readonly amountTo?: bigint;
};

export async function listWithdrawals(
  db: Database,
  filter: WithdrawalFilter,
  page: Page,
): Promise<Withdrawal[]> {
  const rows = await db.run(listWithdrawalRows, {
    party_id: filter.partyId,
    wallet_id: filter.walletId ?? null,
    identity_id: filter.identityId ?? null,
    withdrawal_id: filter.withdrawalId ?? null,
    destination_id: filter.destinationId ?? null,
    status: filter.status ?? null,
    currency: filter.currency ?? null,
    created_from: filter.from ?? null,
    created_to: filter.to ?? null,
    amount_from: filter.amountFrom ?? null,
    amount_to: filter.amountTo ?? null,
    ...page,
  });
  return rows.map((row) => storedFromRow(row).withdrawal);
}
