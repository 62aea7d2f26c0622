// A wallet: money of one currency in the name of an identity. Its balance is in the ledger, under the wallet's ID.
import type { Instant } from '../../clock.ts';
import type { Party } from '../../merchants/domain/party.ts';
import { isKnownCurrency, type Currency, type Money } from '../../money.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import { requireActive, type Identity } from '../../identities/domain/identity.ts';
import type { Level } from '../../identities/domain/provider.ts';

export type WalletTerms = {
  readonly id: string;
  readonly partyId: string;
  readonly identityId: string;
  readonly name: string;
  readonly currency: Currency;
  readonly createdAt: Instant;
  readonly metadata?: unknown;
  readonly externalId?: string;
};

/** With the current state of its identity. */
export type Wallet = WalletTerms & {
  readonly isBlocked: boolean;
  readonly provider: string;
  readonly level: Level;
  /** The identity, as the sender of a payout. */
  readonly owner: Pick<Identity, 'name' | 'class' | 'sender'>;
};

export type WalletFact = { readonly type: 'wallet_opened'; readonly terms: WalletTerms };

export type Deposit = {
  readonly id: string;
  readonly partyId: string;
  readonly walletId: string;
  readonly identityId: string;
  readonly sourceId: string;
  readonly createdAt: Instant;
  readonly amount: Money;
  readonly description?: string;
  readonly reversedAt?: Instant;
};

type Moved = { readonly amountMinor: bigint; readonly currency: Currency };
export type DepositFact =
  | ({ readonly type: 'deposit_made'; readonly walletId: string } & Moved)
  /** By an operator. */
  | { readonly type: 'deposit_reversed'; readonly reason: string };

export type OwnedRefusal =
  | 'partyInaccessible'
  | 'noSuchIdentity'
  | 'identityInaccessible'
  | 'currencyNotSupported';

/** Wallets and destinations need an identity that is not blocked, and a known currency. */
export function requireOwner(
  party: Party,
  identity: Identity | undefined,
  currency: string,
): Outcome<{ identity: Identity; currency: Currency }, OwnedRefusal> {
  const active = requireActive(party);
  if (!active.ok) return active;
  if (!identity) return refuse('noSuchIdentity');
  if (!isKnownCurrency(currency)) return refuse('currencyNotSupported');
  if (identity.isBlocked) return refuse('identityInaccessible');
  return accept({ identity, currency });
}

export type TransferTerms = {
  readonly id: string;
  readonly partyId: string;
  readonly senderId: string;
  readonly receiverId: string;
  readonly createdAt: Instant;
  readonly amount: Money;
  readonly externalId?: string;
};
export type Transfer = TransferTerms & { readonly status: 'pending' | 'succeeded' | 'failed' };

export type TransferFact =
  | ({ readonly type: 'transfer_started'; readonly senderId: string; readonly receiverId: string } & Moved)
  | { readonly type: 'transfer_succeeded' }
  | { readonly type: 'transfer_failed' };

export type TransferRefusal =
  | 'partyInaccessible'
  | 'badTransferAmount'
  | 'noSuchSender'
  | 'noSuchReceiver'
  | 'walletInaccessible'
  | 'inconsistentCurrency'
  | 'transferNotAllowed';

export function decideTransfer(
  party: Party,
  wallets: { readonly sender: Wallet | undefined; readonly receiver: Wallet | undefined },
  body: { readonly minor: bigint; readonly currency: string },
): Outcome<{ sender: Wallet; receiver: Wallet; amount: Money }, TransferRefusal> {
  const active = requireActive(party);
  if (!active.ok) return active;
  const { sender, receiver } = wallets;
  if (!sender || sender.partyId !== party.id) return refuse('noSuchSender');
  if (!receiver) return refuse('noSuchReceiver');
  if (sender.isBlocked || receiver.isBlocked) return refuse('walletInaccessible');
  if (sender.currency !== receiver.currency || sender.currency !== body.currency)
    return refuse('inconsistentCurrency');
  if (body.minor < 1n) return refuse('badTransferAmount', { hint: 'Transfer at least 1 minor unit.' });
  if (sender.id === receiver.id) return refuse('transferNotAllowed');
  return accept({ sender, receiver, amount: { minor: body.minor, currency: sender.currency } });
}
