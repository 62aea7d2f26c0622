// POST /wallet/v0/withdrawals pays out from a wallet to a card. The transaction that creates the withdrawal reserves its money;
// the response and the bank request come after it.
import { initialClaim, type JobRunner } from '../../platform/jobs/job-runner.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { accept, refuse, type Refusal } from '../../refusal.ts';
import { cardHashOf } from '../card-hash.ts';
import { findDestination } from '../store/destinations.ts';
import { findGrant } from '../store/grants.ts';
import { createIdempotently, requestFingerprint } from '../../platform/http/idempotent-create.ts';
import { givenIn, shapeProblem } from '../../identities/api/shared-schema.ts';
import { storeNewWithdrawal } from '../store/new-withdrawal.ts';
import { countersOf, countsCards } from '../../wallets/domain/payout-limits.ts';
import { findWallet } from '../../wallets/store/wallets.ts';
import { senderProblem } from '../../identities/domain/sender.ts';
import type { PayoutTerminalTerms } from '../../acquiring/domain/routing/payout-terminal.ts';
import { freezeSender, recipientOf } from '../domain/payout-sender.ts';
import { decideWithdrawal, type WithdrawalContext } from '../domain/commands.ts';
import { findWithdrawalByExternalId, type StoredWithdrawal } from '../store/withdrawals.ts';
import { withdrawalOutcome } from './outcome.ts';
import { withdrawalBody, WithdrawalParams, WithdrawalSchema } from './schema.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { PayoutRules } from '../payout-rules.ts';
import type { Ids } from '../../ids.ts';
import { defined } from '../../defined.ts';
import type { Banks } from '../../acquiring/banks.ts';
import type { Cards } from '../../cards/vault.ts';

type Deps = {
  readonly db: Database;
  readonly ids: Ids;
  readonly payouts: PayoutRules;
  readonly jobs: Pick<JobRunner<{ withdrawal: StoredWithdrawal }>, 'run'>;
  readonly banks: Banks;
  readonly cards: Pick<Cards, 'numberHash'>;
  readonly merchants: Merchants;
};

export const createWithdrawal = endpoint({
  operation: 'createWithdrawal',
  access: { scope: 'payouts:write' },
  method: 'POST',
  path: '/wallet/v0/withdrawals',
  tag: 'Withdrawals',
  summary: 'Pay out to a card',
  description:
    'Poll the withdrawal or its events until it is `Succeeded` or `Failed`. A payout cannot be undone. One of more than the ' +
    'wallet has is accepted, and fails. With an `externalID` a repeat does not pay twice.',
  body: WithdrawalParams,
  validateBody: ({ metadata, sender }) => shapeProblem({ metadata }) ?? senderProblem(sender ?? {}),
  bodyExample: {
    wallet: 'the ID of your wallet',
    destination: 'the ID of your destination',
    body: { amount: 10_000, currency: 'RUB' },
  },
  status: 202,
  response: WithdrawalSchema,
  outcome: withdrawalOutcome,
  location: ({ id }) => `/wallet/v0/withdrawals/${id}`,
  errors: [
    'partyInaccessible',
    'noSuchWallet',
    'walletInaccessible',
    'noSuchDestination',
    'payoutCurrencyNotSet',
    'invalidCashAmount',
    'payoutLimitPerPayout',
    'payoutLimitPerDay',
    'payoutLimitPerMonth',
    'payoutLimitNumberPerDay',
    'differentCurrencies',
    'destinationUnauthorized',
    'differentProviders',
    'noPayoutTerminal',
    'payoutTerminalLimit',
    'payoutPurposeNotAllowed',
    'payoutSenderIncomplete',
    'externalIDConflict',
  ],
  handle: async ({ caller, body, now }, deps: Deps) => {
    const { db, ids, payouts, jobs, banks } = deps;
    const fingerprint = withdrawalFingerprint(body);
    return createIdempotently({
      externalId: body.externalID,
      fingerprint,
      order: 'findFirst',
      find: (externalId) => findWithdrawalByExternalId(db, caller.partyId, externalId),
      respond: (withdrawal) => accept(withdrawalBody(withdrawal)),
      compared: (withdrawal) => ({ sent: decisive(body), kept: withdrawalBody(withdrawal) }),
      make: async () => {
        const context = await readContext(body, caller.partyId, deps);
        if (!context) return refuse('partyInaccessible');
        const command = {
          id: ids.next(),
          body: { minor: BigInt(body.body.amount), currency: body.body.currency },
          ...givenIn(body),
        };
        const decision = decideWithdrawal(context, command, now);
        if (!decision.ok) return decision;
        // Last: after an outage, the caller that gets the route has to try the bank. The route is the wallet owner's.
        const { amount, walletPartyId, partyId } = decision.value.terms;
        const isOthers = walletPartyId !== partyId;
        const network = context.destination?.card.paymentSystem;
        const found = await banks.payoutRouteOf(walletPartyId, { ...amount, ...defined({ network }) });
        if (!found.ok) return refusedTo(isOthers, found.refusal);
        const sender = senderOf(body, context, found.value.terms);
        if (!sender.ok) return sender;
        const terms = { ...decision.value.terms, route: found.value.route, sender: sender.value };
        const stored = await storeNewWithdrawal(
          db,
          { type: 'withdrawal_started', terms },
          {
            livemode: payouts.livemode,
            counters: countersFor(context),
            fingerprint,
            claim: initialClaim(now),
            ...(isOthers && context.walletGrant ? { grantId: context.walletGrant.id } : {}),
          },
        );
        if ('notMade' in stored)
          return stored.notMade === 'externalIdTaken' ? stored.notMade : refusedTo(isOthers, stored.notMade);
        if (stored.withdrawal.state.status === 'sending') {
          db.afterCommit(() => jobs.run('withdrawal', [terms.id], now, stored));
        }
        // A withdrawal that has failed for lack of money is accepted too. Its second event has the failure.
        return accept(withdrawalBody({ ...terms, state: { status: 'sending' } }));
      },
    });
  },
});

/** The hint names a limit of the wallet's owner, so only the owner gets it. */
function refusedTo<Code extends string>(isOthers: boolean, { hint, ...refusal }: Refusal<Code>) {
  return { ok: false as const, refusal: isOthers ? refusal : { ...refusal, ...defined({ hint }) } };
}

/** For the hint of a conflict. */
function decisive({ wallet, destination, body }: WithdrawalParams) {
  return { wallet, destination, body };
}

/** Two requests are the same if all of these values are. */
export function withdrawalFingerprint(body: WithdrawalParams): Buffer {
  const { wallet, destination, metadata, externalID, walletGrant, destinationGrant, sender, purpose } = body;
  const { amount, currency } = body.body;
  return requestFingerprint([
    wallet,
    destination,
    amount,
    currency,
    metadata,
    externalID,
    walletGrant,
    destinationGrant,
    // Only if given: a fingerprint from before has none.
    ...(sender || purpose !== undefined ? [{ sender, purpose }] : []),
  ]);
}

function senderOf(
  { sender = {}, purpose }: WithdrawalParams,
  { wallet, destination }: WithdrawalContext,
  terms: PayoutTerminalTerms,
) {
  if (!wallet || !destination) throw new Error('a withdrawal was allowed without a wallet or a destination');
  const network = destination.card.paymentSystem;
  const { id: walletId, owner: identity } = wallet;
  const recipient = recipientOf(destination.owner);
  return freezeSender({ walletId, network, terms, sender, identity, ...defined({ purpose, recipient }) });
}

/** With the limits in force. Must agree with the subjects in the terms. */
function countersFor({ limits = {}, wallet, cardHash }: WithdrawalContext) {
  return wallet ? countersOf(limits, { identityId: wallet.identityId, ...defined({ cardHash }) }) : [];
}

type ContextWithGrant = WithdrawalContext & { readonly walletGrant?: { readonly id: string } };

async function readContext(
  body: WithdrawalParams,
  partyId: string,
  { db, merchants, payouts, cards }: Deps,
): Promise<ContextWithGrant | undefined> {
  const party = await merchants.party(partyId);
  if (!party) return undefined;
  const wallet = await findWallet(db, null, body.wallet);
  const stored = await findDestination(db, null, body.destination);
  const grant = async (kind: 'wallet' | 'destination', token: string | undefined) =>
    token === undefined ? undefined : findGrant(db, kind, token);
  const walletGrant = await grant('wallet', body.walletGrant);
  const destinationGrant = await grant('destination', body.destinationGrant);
  // Limits and fees are those of the wallet's owner.
  const agreed = await payouts.termsOf(wallet?.partyId ?? partyId);
  const { amount, currency } = body.body;
  const destination = stored?.destination;
  const network = destination?.card.paymentSystem;
  const limits = agreed.limitsOf({
    level: wallet?.level ?? 'anonymous',
    currency,
    ...defined({ network }),
  });
  const cardHash =
    limits && destination && countsCards(limits) ? await cardHashOf({ db, cards }, destination) : undefined;
  return {
    party,
    limits,
    feeMinor: agreed.feeMinorOf({ minor: BigInt(amount), currency }),
    ...defined({ wallet, destination, walletGrant, destinationGrant, cardHash }),
  };
}
