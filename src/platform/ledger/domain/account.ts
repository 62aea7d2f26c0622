// Accounts: where money is, or to whom it is due. An account's ID begins with mode and currency, so the database can see from two IDs
// that a transfer stays within both.
import { modeName } from '../../../livemode.ts';
import { defined } from '../../../defined.ts';
import type { Currency } from '../../../money.ts';

export type AccountId = string & { readonly brand: 'AccountId' };

export type Account = {
  readonly id: AccountId;
  readonly livemode: boolean;
  readonly currency: Currency;
  readonly code: AccountCode;
  readonly partyId?: string;
  /** The shop, wallet, acquirer, bank account or kind of fee that the account is for. */
  readonly ownerId?: string;
};

/** Accounts of different kinds hold different money. */
export type Kind = { readonly livemode: boolean; readonly currency: Currency };

type Rules = {
  /** The side on which the account increases: assets are debits, liabilities and income are credits. */
  readonly normalBalance: 'debit' | 'credit';
  /** Its available balance never falls below zero. */
  readonly forbidsOverdraft: boolean;
  /**
   * How many balance shards, besides the main row, the account has when it is opened. Many if every payment of the service goes
   * through it, some if every payment of a shop does.
   */
  readonly shards: number;
};

export const chart = {
  /** Captured, not yet in the acquirer's clearing file. */
  'acq.uncleared': { normalBalance: 'debit', forbidsOverdraft: false, shards: 16 },
  /** In the clearing file, but the money is not yet in the bank account. */
  'acq.receivable': { normalBalance: 'debit', forbidsOverdraft: false, shards: 0 },
  /** What the acquirer will deduct. */
  'acq.payable': { normalBalance: 'credit', forbidsOverdraft: false, shards: 0 },
  'acquirer.fee': { normalBalance: 'debit', forbidsOverdraft: false, shards: 0 },
  'bank.nostro': { normalBalance: 'debit', forbidsOverdraft: false, shards: 0 },
  /** What is due to the shop. */
  'merchant.settlement': { normalBalance: 'credit', forbidsOverdraft: true, shards: 8 },
  'wallet.own': { normalBalance: 'credit', forbidsOverdraft: true, shards: 0 },
  /** Paid out to cards, not yet in the acquirer's clearing file. */
  'payout.in_transit': { normalBalance: 'credit', forbidsOverdraft: false, shards: 16 },
  /** Money whose owner is not known or cannot have it. It must go to zero, and what leaves it was there. */
  'recon.suspense': { normalBalance: 'credit', forbidsOverdraft: true, shards: 0 },
  /** Verification charges that are being refunded to the payer. */
  'binding.clearing': { normalBalance: 'credit', forbidsOverdraft: false, shards: 16 },
  'fee.income': { normalBalance: 'credit', forbidsOverdraft: false, shards: 16 },
} as const satisfies Record<string, Rules>;

export type AccountCode = keyof typeof chart;
export type FeeKind = 'processing' | 'refund' | 'payout';

export function acquirerUncleared({ acquirerId, ...kind }: Kind & { acquirerId: string }): Account {
  return account(kind, 'acq.uncleared', { ownerId: acquirerId });
}

export function acquirerReceivable({ acquirerId, ...kind }: Kind & { acquirerId: string }): Account {
  return account(kind, 'acq.receivable', { ownerId: acquirerId });
}

export function acquirerPayable({ acquirerId, ...kind }: Kind & { acquirerId: string }): Account {
  return account(kind, 'acq.payable', { ownerId: acquirerId });
}

export function acquirerFees({ acquirerId, ...kind }: Kind & { acquirerId: string }): Account {
  return account(kind, 'acquirer.fee', { ownerId: acquirerId });
}

export function bankNostro({ bankAccountId, ...kind }: Kind & { bankAccountId: string }): Account {
  return account(kind, 'bank.nostro', { ownerId: bankAccountId });
}

export function settlementAccount({
  partyId,
  shopId,
  ...kind
}: Kind & { partyId: string; shopId: string }): Account {
  return account(kind, 'merchant.settlement', { partyId, ownerId: shopId });
}

export function walletAccount({ walletId, ...kind }: Kind & { walletId: string }): Account {
  return account(kind, 'wallet.own', { ownerId: walletId });
}

export function payoutInTransit({ acquirerId, ...kind }: Kind & { acquirerId: string }): Account {
  return account(kind, 'payout.in_transit', { ownerId: acquirerId });
}

export function reconSuspense({ acquirerId, ...kind }: Kind & { acquirerId: string }): Account {
  return account(kind, 'recon.suspense', { ownerId: acquirerId });
}

export function bindingClearing(kind: Kind): Account {
  return account(kind, 'binding.clearing', {});
}

export function feeIncome({ fee, ...kind }: Kind & { fee: FeeKind }): Account {
  return account(kind, 'fee.income', { ownerId: fee });
}

function account(
  { livemode, currency }: Kind,
  code: AccountCode,
  owner: { partyId?: string; ownerId?: string },
): Account {
  const owners = [owner.partyId, owner.ownerId].filter((part) => part !== undefined).map(escaped);
  const id = [modeName(livemode), currency, code, ...owners].join(':') as AccountId;
  return { id, livemode, currency, code, ...owner };
}

/** An account that exists, by its ID. */
export function accountFrom(id: string, kind: Kind): Account {
  const [, , code = '', ...owners] = id.split(':');
  if (!Object.hasOwn(chart, code)) throw new Error(`the ledger has no account ${id}`);
  const parts = owners.map((part) => part.replaceAll('%3A', ':').replaceAll('%25', '%'));
  const [partyId, ownerId] = parts.length > 1 ? parts : [undefined, parts[0]];
  const found = account(kind, code as AccountCode, defined({ partyId, ownerId }));
  if (found.id !== id) throw new Error(`account ${id} is of another mode or currency`);
  return found;
}

/** A colon inside a part must not end it: two shops could share an account. */
function escaped(part: string): string {
  return part.replaceAll('%', '%25').replaceAll(':', '%3A');
}

/** Sums of an account's transfers. */
export type Sums = {
  readonly debitsPosted: bigint;
  readonly creditsPosted: bigint;
  readonly debitsPending: bigint;
  readonly creditsPending: bigint;
};

export type Balance = {
  /** What is posted. */
  readonly own: bigint;
  /** What is left of it if everything pending that reduces it is posted. Decisions to spend use this. */
  readonly available: bigint;
  /** What it becomes if everything pending that increases it is posted. */
  readonly most: bigint;
};

export function balanceOf(code: AccountCode, sums: Sums): Balance {
  const isDebit = chart[code].normalBalance === 'debit';
  const own = isDebit ? sums.debitsPosted - sums.creditsPosted : sums.creditsPosted - sums.debitsPosted;
  const [takes, adds] = isDebit
    ? [sums.creditsPending, sums.debitsPending]
    : [sums.debitsPending, sums.creditsPending];
  return { own, available: own - takes, most: own + adds };
}
