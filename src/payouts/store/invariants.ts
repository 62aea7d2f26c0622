// Ledger checks on withdrawals, deposits and wallet transfers: their rows and the ledger must have the same money.
import { invariant, type Invariant } from '../../platform/ledger/store/invariants.ts';

/** The ledger's sums for each aggregate of one kind of operation. */
const booked = (operation: string, sums: string) => `(
      select aggregate_id, ${sums}
      from touched join ledger_transfer using (aggregate_id)
      where operation_id = '${operation}' group by aggregate_id
    ) as booked`;

const isChecked = (idColumn: string) => `not :recent or ${idColumn} in (select aggregate_id from touched)`;

export const payoutInvariants: readonly Invariant[] = [
  invariant(
    'W1',
    'the reserved and paid amounts of every withdrawal in the ledger match its row and its wallet',
    `
    select coalesce(withdrawal_id, aggregate_id) as withdrawal_id, said.status, said.held_minor, said.paid_minor,
      said.fee_minor, said.returned_minor, booked.*,
      said.status is not null
      and (said.held_minor, said.paid_minor, said.fee_minor, said.returned_minor)
        = (coalesce(booked.held_minor, 0), coalesce(booked.paid_minor, 0), coalesce(booked.fee_minor, 0),
           coalesce(booked.returned_minor, 0))
      and (said.status = 'sending' or coalesce(booked.moving_minor, 0) = 0)
      and coalesce(booked.wallets, '') in ('', said.wallet_id) as holds
    from (
      select withdrawal_id, wallet_id, status,
        case when status = 'sending' then amount_minor else 0 end as held_minor,
        case when status = 'succeeded' then amount_minor else 0 end as paid_minor,
        case when status = 'failed' then 0 else fee_minor end as fee_minor,
        coalesce((result -> 'returned' -> 'amount' ->> 'minor')::int8, 0) as returned_minor
      from withdrawal where ${isChecked('withdrawal_id')}
    ) as said
    full join ${booked(
      'withdrawal',
      `sum(pending_minor) filter (where step = 'payout') as held_minor,
        sum(posted_minor) filter (where step = 'payout') as paid_minor,
        sum(pending_minor + posted_minor) filter (where step = 'payout_fee') as fee_minor,
        sum(posted_minor) filter (where step = 'returned') as returned_minor,
        sum(pending_minor) filter (where step like 'moved%') as moving_minor,
        string_agg(distinct split_part(case when step = 'returned' then credit_account else debit_account end, ':', 4), ' ')
          filter (where split_part(credit_account, ':', 3) <> 'recon.suspense' and step not like 'moved%') as wallets`,
    )} on booked.aggregate_id = withdrawal_id`,
  ),
  invariant(
    'W2',
    'every deposit is in the ledger, in its wallet, with its amount, and so is its reversal',
    `
    select coalesce(deposit_id, aggregate_id) as deposit_id, said.amount_minor, said.reversed_at, booked.*,
      (said.amount_minor, said.wallet_id) = (booked.minor, booked.wallets)
      and coalesce(booked.reversed_minor, 0) = case when said.reversed_at is null then 0 else said.amount_minor end as holds
    from (select * from deposit where ${isChecked('deposit_id')}) as said
    full join ${booked(
      'deposit',
      `sum(posted_minor) filter (where step = 'deposit') as minor,
        sum(posted_minor) filter (where step = 'reversal') as reversed_minor,
        string_agg(distinct split_part(case when step = 'deposit' then credit_account else debit_account end, ':', 4), ' ')
          as wallets`,
    )} on booked.aggregate_id = deposit_id`,
  ),
  invariant(
    'W3',
    'every transfer between wallets that succeeded is in the ledger, and no other',
    `
    select coalesce(transfer_id, aggregate_id) as transfer_id, said.status, said.amount_minor, booked.*,
      said.status is not null
      and (case said.status when 'succeeded' then said.amount_minor else 0 end) = coalesce(booked.minor, 0)
      and coalesce(booked.wallets, '') in ('', said.sender_id || '>' || said.receiver_id) as holds
    from (select * from wallet_transfer where ${isChecked('transfer_id')}) as said
    full join ${booked(
      'transfer',
      `sum(posted_minor) as minor,
        string_agg(distinct split_part(debit_account, ':', 4) || '>' || split_part(credit_account, ':', 4), ' ') as wallets`,
    )} on booked.aggregate_id = transfer_id`,
  ),
];
