// Transfers from a wallet of the caller's party to any wallet.
import { Type } from 'typebox';
import { endpoint } from '../../platform/http/endpoint.ts';
import { largestAmountMinor } from '../../money.ts';
import { accept, refuse } from '../../refusal.ts';
import { createIdempotently, requestFingerprint } from '../../platform/http/idempotent-create.ts';
import { AnyID } from '../../identities/api/shared-schema.ts';
import { findTransfer, findTransferByExternalId, storeTransfer } from '../store/transfers.ts';
import { decideTransfer } from '../domain/wallet.ts';
import { findWallet } from '../store/wallets.ts';
import { transferBody, TransferParams, TransferSchema } from './schema.ts';
import {
  countersOf,
  requireOneTurnover,
  type LimitKey,
  type TurnoverLimits,
} from '../domain/payout-limits.ts';
import type { Wallet } from '../domain/wallet.ts';
import { defined } from '../../defined.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { Ids } from '../../ids.ts';

type Deps = {
  readonly db: Database;
  readonly merchants: Merchants;
  readonly payouts: {
    readonly livemode: boolean;
    termsOf(partyId: string): Promise<{
      transferLimitsOf(key: Omit<LimitKey, 'network'>): TurnoverLimits | undefined;
    }>;
  };
  readonly ids: Ids;
};

export const createTransfer = endpoint({
  operation: 'createTransfer',
  access: { scope: 'payouts:write' },
  method: 'POST',
  path: '/wallet/v0/w2w/transfers',
  tag: 'Wallets',
  summary: 'Transfer money from your wallet to another',
  description:
    'The response is `Pending`. A transfer of more than the wallet has is accepted too, and fails.',
  body: TransferParams,
  bodyExample: {
    sender: 'the ID of your wallet',
    receiver: 'the ID of the other wallet',
    body: { amount: 10_000, currency: 'RUB' },
  },
  status: 202,
  response: TransferSchema,
  location: ({ id }) => `/wallet/v0/w2w/transfers/${id}`,
  errors: [
    'partyInaccessible',
    'noSuchSender',
    'noSuchReceiver',
    'walletInaccessible',
    'inconsistentCurrency',
    'badTransferAmount',
    'transferNotAllowed',
    'payoutCurrencyNotSet',
    'payoutLimitPerPayout',
    'payoutLimitPerDay',
    'payoutLimitPerMonth',
    'payoutLimitNumberPerDay',
    'externalIDConflict',
  ],
  handle: async ({ caller, body, now }, { db, merchants, payouts, ids }: Deps) => {
    const { sender, receiver, externalID } = body;
    const { amount, currency } = body.body;
    const fingerprint = requestFingerprint([sender, receiver, amount, currency, externalID]);
    return createIdempotently({
      externalId: externalID,
      fingerprint,
      order: 'findFirst',
      find: (externalId) => findTransferByExternalId(db, caller.partyId, externalId),
      respond: (transfer) => accept(transferBody(transfer)),
      make: async () => {
        const party = await merchants.party(caller.partyId);
        if (!party) return refuse('partyInaccessible');
        const wallets = {
          sender: await findWallet(db, caller.partyId, sender),
          receiver: await findWallet(db, null, receiver),
        };
        const minor = BigInt(amount);
        if (minor > largestAmountMinor) return refuse('badTransferAmount');
        const decision = decideTransfer(party, wallets, { minor, currency });
        if (!decision.ok) return decision;
        const limits = await limitsBetween(decision.value, payouts);
        if (!limits) return refuse('payoutCurrencyNotSet');
        const single = requireOneTurnover(limits, minor);
        if (!single.ok) return single;
        const { identityId } = decision.value.sender;
        const terms = {
          id: ids.next(),
          partyId: party.id,
          senderId: sender,
          receiverId: receiver,
          createdAt: now,
          amount: decision.value.amount,
          ...defined({ externalId: externalID }),
        };
        const counters = countersOf(limits, { identityId });
        const { livemode } = payouts;
        const outcome = await storeTransfer(db, terms, { livemode, fingerprint, counters });
        if (outcome === 'externalIdTaken') return outcome;
        if (outcome !== 'stored') return { ok: false as const, refusal: outcome };
        // The transfer is already final. Reads return the outcome.
        return accept(transferBody({ ...terms, status: 'pending' }));
      },
    });
  },
});

/** Money that moves to another identity's wallet counts as paid out, or it could be paid out there under fresh limits. */
async function limitsBetween(
  { sender, receiver }: { readonly sender: Wallet; readonly receiver: Wallet },
  payouts: Deps['payouts'],
): Promise<TurnoverLimits | undefined> {
  if (sender.identityId === receiver.identityId) return {};
  const { level, currency } = sender;
  return (await payouts.termsOf(sender.partyId)).transferLimitsOf({ level, currency });
}

export const getTransfer = endpoint({
  operation: 'getTransfer',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/wallet/v0/w2w/transfers/{w2wTransferID}',
  tag: 'Wallets',
  summary: 'Get a transfer between wallets',
  params: Type.Object({ w2wTransferID: AnyID }),
  status: 200,
  response: TransferSchema,
  errors: ['transferNotFound'],
  handle: async ({ caller, params }, { db }: { db: Database }) => {
    const transfer = await findTransfer(db, caller.partyId, params.w2wTransferID);
    return transfer ? accept(transferBody(transfer)) : refuse('transferNotFound');
  },
});
