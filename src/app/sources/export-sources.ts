// What exports read: the rows of searches, and withdrawals as their list finds them.
import { Type, type Static } from 'typebox';
import { WithdrawalSearch, withdrawalsAsked } from '../../payouts/api/read-withdrawals.ts';
import { publicStatus } from '../../payouts/domain/withdrawal.ts';
import { listWithdrawals } from '../../payouts/store/withdrawals.ts';
import { shopSources } from '../../search/exports/shop-sources.ts';
import type { ExportSource, ExportSources } from '../../search/exports/source.ts';

const WithdrawalFilters = Type.Omit(WithdrawalSearch, [
  'limit',
  'continuationToken',
  'createdAtFrom',
  'createdAtTo',
]);

const withdrawals: ExportSource = {
  isOfShop: false,
  filters: WithdrawalFilters,
  columns: {
    walletID: 'fact',
    destinationID: 'fact',
    identityID: 'fact',
    withdrawalID: 'fact',
    externalID: 'text',
    status: 'fact',
    amount: 'amount',
    fee: 'amount',
    error: 'text',
  },
  async page(db, { partyId, terms, limit }, after) {
    const filters = terms.filters as Static<typeof WithdrawalFilters>;
    const { amountFrom, amountTo } = filters;
    const found = await listWithdrawals(db, {
      ...withdrawalsAsked(partyId, filters),
      created_from: terms.from,
      created_to: terms.to,
      amount_from: amountFrom === undefined ? null : BigInt(amountFrom),
      amount_to: amountTo === undefined ? null : BigInt(amountTo),
      limit,
      before_at: after?.createdAt ?? null,
      before_id: after?.ids[0] ?? null,
    });
    const end = found.at(-1);
    return {
      last: end && { createdAt: end.createdAt, ids: [end.id] },
      rows: found.map(({ amount, state, ...row }) => ({
        createdAt: row.createdAt,
        currency: amount.currency,
        values: {
          walletID: row.walletId,
          destinationID: row.destinationId,
          identityID: row.identityId,
          withdrawalID: row.id,
          externalID: row.externalId ?? null,
          status: publicStatus[state.status],
          amount: amount.minor,
          fee: row.feeMinor,
          error: state.status === 'failed' ? state.failure.join(':') : null,
        },
      })),
    };
  },
};

export const exportSources: ExportSources = { ...shopSources, withdrawals };
