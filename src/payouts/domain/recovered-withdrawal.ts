// A withdrawal the bank has paid and this database lost, because it was restored to a moment before: what may be written down of
// it, and why not. What it was worth is the bank's word; an operator says whose it was. Pure.
import type { BankLine } from '../../acquiring/reconciliation/domain/difference.ts';
import { isKnownCurrency } from '../../money.ts';
import type { Destination } from './destination.ts';
import type { PayoutLimits } from './payout-limits.ts';
import type { Wallet } from '../../wallets/domain/wallet.ts';
import { isCovered, termsFor, type Grant } from './commands.ts';
import { withdrawalOfOperation, type Route, type WithdrawalFact } from './withdrawal.ts';
import { defined } from '../../defined.ts';

export type PaidLine = Omit<BankLine, 'sequence' | 'copy' | 'originalId'> & { readonly operationId: string };

/** What the bank has paid, and the withdrawal it paid it for. */
export type Paid = { readonly withdrawalId: string; readonly line: PaidLine };

/** What an operator found out of it, and what was agreed with the merchant whose wallet it is. */
export type RecoveryContext = {
  /** Who asked for it: the wallet's owner, or somebody with a grant of his. */
  readonly partyId: string;
  readonly wallet: Wallet;
  readonly destination: Destination;
  /** By which the wallet's owner let him, where it is known here. */
  readonly walletGrant?: Grant & { readonly id: string };
  /** Whose destination it is, where that was said. */
  readonly destinationPartyId?: string;
  /** The terminal of the wallet's merchant with that bank. */
  readonly route: Route;
  readonly limits: PayoutLimits;
  readonly feeMinor: bigint;
  /** What he called it. */
  readonly externalId?: string;
};

type Started = WithdrawalFact & { readonly type: 'withdrawal_started' };

/** The line that tells of the payout, or why nothing can be written down from this book. */
export function paidLineOf(
  operationId: string,
  lines: readonly PaidLine[],
): Paid | { readonly problem: string } {
  const [withdrawalId] = withdrawalOfOperation(operationId) ?? [];
  if (withdrawalId === undefined) {
    return {
      problem: `${operationId} is no payout: its id would end in .p; docs/operations/backups.md has what to do about others`,
    };
  }
  const [line, ...more] = lines;
  if (!line)
    return { problem: `${operationId} is not in the book of the bank: as far as it knows, nobody was paid` };
  if (more.length > 0) {
    return {
      problem: `the bank has booked ${operationId} ${lines.length} times; have it take back what is too much, and try again`,
    };
  }
  if (line.kind !== 'payout' || line.sign !== -1) {
    return {
      problem: `the bank has booked ${operationId} as ${line.kind}; have it correct that, and try again`,
    };
  }
  return { line, withdrawalId };
}

/** It may be over by now, and by when the bank paid: it had to hold when the payout was asked for. */
function mayHavePaid(grant: Grant, wallet: Wallet, { minor, currency }: PaidLine): boolean {
  return grant.entityId === wallet.id && isCovered(grant, { minor, currency });
}

export function decideRecovery(
  { line, withdrawalId }: Paid,
  context: RecoveryContext,
): { readonly started: Started } | { readonly problem: string } {
  const { partyId, wallet, destination, route, externalId } = context;
  const { minor, currency, at: createdAt, cardMask } = line;
  const theirs = `the bank has paid out ${minor} ${currency} to ${cardMask ?? 'a card'}`;
  if (!isKnownCurrency(currency) || wallet.currency !== currency)
    return { problem: `${theirs}, and wallet ${wallet.id} has ${wallet.currency}` };
  if (destination.currency !== currency)
    return { problem: `${theirs}, and destination ${destination.id} takes ${destination.currency}` };
  const { partyId: at } = destination;
  if (at !== (context.destinationPartyId ?? partyId)) {
    return {
      problem:
        `destination ${destination.id} is one of party ${at}. If that party asked for the payout, say --party ${at}` +
        `${at === wallet.partyId ? '' : ' --wallet-grant and its token'}; ` +
        `if it let party ${partyId} pay out to it, --destination-party ${at}`,
    };
  }
  const { walletGrant } = context;
  if (walletGrant && !mayHavePaid(walletGrant, wallet, line))
    return { problem: `${theirs}, and that grant is for another wallet, or for less` };
  const { bin, lastDigits, mask } = destination.card;
  if (cardMask !== undefined && !(cardMask.startsWith(bin) && cardMask.endsWith(lastDigits)))
    return { problem: `${theirs}, and destination ${destination.id} is the card ${mask}` };
  return {
    started: {
      type: 'withdrawal_started',
      terms: {
        id: withdrawalId,
        partyId,
        createdAt,
        amount: { minor, currency },
        ...termsFor(wallet, destination, context),
        route,
        ...defined({ externalId }),
      },
    },
  };
}
