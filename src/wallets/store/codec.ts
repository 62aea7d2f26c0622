// The facts of wallets, deposits and transfers as JSON.
import {
  anything,
  currency,
  instant,
  minorUnits,
  object,
  optional,
  text,
  variants,
  type Codec,
} from '../../platform/database/codec.ts';
import type { DepositFact, TransferFact, WalletFact, WalletTerms } from '../domain/wallet.ts';

const walletTerms: Codec<WalletTerms> = object({
  id: text,
  partyId: text,
  identityId: text,
  name: text,
  currency,
  createdAt: instant,
  metadata: optional(anything),
  externalId: optional(text),
});
export const walletFact: Codec<WalletFact> = variants<WalletFact, 'type'>('type', {
  wallet_opened: { terms: walletTerms },
});

const amount = { amountMinor: minorUnits, currency };
export const depositFact: Codec<DepositFact> = variants<DepositFact, 'type'>('type', {
  deposit_made: { walletId: text, ...amount },
  deposit_reversed: { reason: text },
});
export const transferFact: Codec<TransferFact> = variants<TransferFact, 'type'>('type', {
  transfer_started: { senderId: text, receiverId: text, ...amount },
  transfer_succeeded: {},
  transfer_failed: {},
});
