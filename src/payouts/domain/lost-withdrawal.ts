// Decides whether a withdrawal can be recovered that the bank has paid but a restored database has lost. The amount comes from
// the bank's report, the rest from the operator.
import type { BankLine } from '../../acquiring/reconciliation/domain/difference.ts';
import { isKnownCurrency } from '../../money.ts';
import type { Destination } from './destination.ts';
import type { PayoutLimits } from '../../wallets/domain/payout-limits.ts';
import type { Wallet } from '../../wallets/domain/wallet.ts';
import { isCovered, termsFor, type Grant } from './commands.ts';
import { withdrawalOfOperation, type Route, type WithdrawalFact } from './withdrawal.ts';
import { defined } from '../../defined.ts';

export type PaidLine = Omit<BankLine, 'sequence' | 'copy' | 'originalId'> & { readonly operationId: string };

/** What the bank has paid, and for which withdrawal. */
export type Paid = { readonly withdrawalId: string; readonly line: PaidLine };

/** What an operator found out, and what was agreed with the wallet's owner. */
export type RecoveryContext = {
  /** The party that requested it: the wallet's owner, or a holder of a grant. */
  readonly partyId: string;
  readonly wallet: Wallet;
  readonly destination: Destination;
  /** The grant it was paid by, if the database still has it. */
  readonly walletGrant?: Grant & { readonly id: string };
  /** The party that owns the destination, if the operator named it. */
  readonly destinationPartyId?: string;
  /** The terminal of the wallet's merchant with that bank. */
  readonly route: Route;
  readonly limits: PayoutLimits | undefined;
  readonly cardHash?: Buffer;
  readonly feeMinor: bigint;
  readonly externalId?: string;
};

type Started = WithdrawalFact & { readonly type: 'withdrawal_started' };

/** The report line of the payout, or why it cannot be recovered from this report. */
export function paidLineOf(
  operationId: string,
  lines: readonly PaidLine[],
): Paid | { readonly problem: string } {
  const [withdrawalId] = withdrawalOfOperation(operationId) ?? [];
  if (withdrawalId === undefined) {
    return {
      problem: `${operationId} is not a payout: the ID of a payout ends in .p. For other operations see docs/operations/runbooks/restore.md`,
    };
  }
  const [line, ...more] = lines;
  if (!line)
    return { problem: `${operationId} is not in the bank's report: the bank knows of no such payout` };
  if (more.length > 0) {
    return {
      problem: `The bank has booked ${operationId} ${lines.length} times. Ask it to correct that, then try again`,
    };
  }
  if (line.kind !== 'payout' || line.sign !== -1) {
    return {
      problem: `The bank has booked ${operationId} as ${line.kind}. Ask it to correct that, then try again`,
    };
  }
  return { line, withdrawalId };
}

/** Ignores expiry: the grant had to be valid when the payout was requested, not when the bank paid. */
function mayHavePaid(grant: Grant, wallet: Wallet, { minor, currency }: PaidLine): boolean {
  return grant.entityId === wallet.id && isCovered(grant, { minor, currency });
}

export function decideRecovery(
  { line, withdrawalId }: Paid,
  context: RecoveryContext,
): { readonly started: Started } | { readonly problem: string } {
  const { partyId, wallet, destination, route, externalId } = context;
  const { minor, currency, at: createdAt, cardMask } = line;
  const theirs = `The bank has paid out ${minor} ${currency} to ${cardMask ?? 'a card'}`;
  if (!isKnownCurrency(currency) || wallet.currency !== currency)
    return { problem: `${theirs}, but wallet ${wallet.id} is in ${wallet.currency}` };
  if (destination.currency !== currency)
    return { problem: `${theirs}, but destination ${destination.id} takes ${destination.currency}` };
  const { partyId: at } = destination;
  if (at !== (context.destinationPartyId ?? partyId)) {
    return {
      problem:
        `Destination ${destination.id} belongs to party ${at}. If that party requested the payout, pass --party ${at}` +
        `${at === wallet.partyId ? '' : ' and its token with --wallet-grant'}. ` +
        `If it let party ${partyId} pay out to it, pass --destination-party ${at}`,
    };
  }
  const { walletGrant } = context;
  if (walletGrant && !mayHavePaid(walletGrant, wallet, line))
    return { problem: `${theirs}, but the grant is for another wallet or for less` };
  const { bin, lastDigits, mask } = destination.card;
  if (cardMask !== undefined && !(cardMask.startsWith(bin) && cardMask.endsWith(lastDigits)))
    return { problem: `${theirs}, but destination ${destination.id} is the card ${mask}` };
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
