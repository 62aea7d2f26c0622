// Whether a withdrawal may be created, with guards in the order of the contract. The ledger decides whether the wallet has the
// money, in the transaction that creates the withdrawal.
import type { Instant } from '../../clock.ts';
import type { Party } from '../../merchants/domain/party.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import type { Destination, DestinationState } from './destination.ts';
import { requireActive } from '../../identities/domain/identity.ts';
import { countersOf, requirePerPayout, type PayoutLimits } from '../../wallets/domain/payout-limits.ts';
import type { Wallet } from '../../wallets/domain/wallet.ts';
import type { WithdrawalFact } from './withdrawal.ts';
import { defined } from '../../defined.ts';

export type Grant = {
  readonly kind: 'wallet' | 'destination';
  readonly entityId: string;
  readonly amount?: { readonly minor: bigint; readonly currency: string };
  readonly validUntil: Instant;
  readonly isUsed: boolean;
};

export type CreateWithdrawal = {
  readonly id: string;
  readonly body: { readonly minor: bigint; readonly currency: string };
  readonly metadata?: unknown;
  readonly externalId?: string;
};

/** The current state of all a withdrawal refers to. A grant is absent if none was sent or it is not known. */
export type WithdrawalContext = {
  readonly party: Party;
  readonly wallet?: Wallet;
  readonly destination?: Destination;
  readonly walletGrant?: Grant;
  readonly destinationGrant?: Grant;
  /** Undefined if no operator has set limits for the currency. */
  readonly limits: PayoutLimits | undefined;
  /** The hash of the destination's card number, if the limits need it. */
  readonly cardHash?: Buffer;
  readonly feeMinor: bigint;
};

export type WithdrawalRefusal =
  | 'partyInaccessible'
  | 'noSuchWallet'
  | 'walletInaccessible'
  | 'noSuchDestination'
  | 'payoutCurrencyNotSet'
  | 'invalidCashAmount'
  | 'payoutLimitPerPayout'
  | 'differentCurrencies'
  | 'destinationUnauthorized'
  | 'differentProviders';

type Decision = Outcome<WithdrawalFact & { type: 'withdrawal_started' }, WithdrawalRefusal>;

/** Does not set the route, which the caller asks for only if the withdrawal is allowed. */
export function decideWithdrawal(
  context: WithdrawalContext,
  command: CreateWithdrawal,
  now: Instant,
): Decision {
  const decision = decide(context, command, now);
  const { party, wallet, destination } = context;
  const isOwn = [wallet, destination].every((one) => one?.partyId === party.id);
  // A grant lets another party pay out, and tells it nothing about the wallet or the destination.
  return decision.ok || isOwn ? decision : refuse(decision.refusal.code);
}

function decide(context: WithdrawalContext, command: CreateWithdrawal, now: Instant): Decision {
  const { party, wallet, destination, limits } = context;
  const { body } = command;
  const active = requireActive(party);
  if (!active.ok) return active;
  if (!wallet || !mayUse(party, wallet, context.walletGrant, now)) return refuse('noSuchWallet');
  const { walletGrant } = context;
  if (wallet.partyId !== party.id && walletGrant && !isCovered(walletGrant, body))
    return refuse('noSuchWallet');
  if (wallet.isBlocked) return refuse('walletInaccessible');
  if (!destination || !mayUse(party, destination, context.destinationGrant, now) || destination.isBlocked) {
    return refuse('noSuchDestination');
  }
  if (!limits) return refuse('payoutCurrencyNotSet');
  const amount = requirePerPayout(limits, body.minor);
  if (!amount.ok) return amount;
  const { currency } = wallet;
  if (body.currency !== currency || destination.currency !== currency) {
    const hint = `The wallet is in ${currency}, the destination in ${destination.currency}.`;
    return refuse('differentCurrencies', { hint });
  }
  if (destination.state.status !== 'authorized')
    return refuse('destinationUnauthorized', { hint: whyUnauthorized(destination.state) });
  if (wallet.provider !== destination.provider) return refuse('differentProviders');
  return accept({
    type: 'withdrawal_started',
    terms: {
      id: command.id,
      partyId: party.id,
      createdAt: now,
      amount: { minor: body.minor, currency },
      ...termsFor(wallet, destination, context),
      ...defined({ metadata: command.metadata, externalId: command.externalId }),
    },
  });
}

function whyUnauthorized(state: DestinationState): string {
  return state.status === 'refused'
    ? `The bank refused the card: ${state.failure.join(', ')}. Use another card.`
    : 'The bank has not confirmed the card yet.';
}

/** The terms that follow from the wallet, the destination, and what was agreed with the wallet's owner. */
export function termsFor(
  wallet: Wallet,
  destination: Destination,
  { limits = {}, cardHash, feeMinor }: Pick<WithdrawalContext, 'limits' | 'cardHash' | 'feeMinor'>,
) {
  const isOthers = destination.identityId !== wallet.identityId;
  const counters = countersOf(limits, { identityId: wallet.identityId, ...defined({ cardHash }) });
  const countedFor = counters.map(({ subject }) => subject);
  return {
    walletId: wallet.id,
    walletPartyId: wallet.partyId,
    identityId: wallet.identityId,
    destinationId: destination.id,
    ...(isOthers ? { destinationIdentityId: destination.identityId } : {}),
    feeMinor,
    isCounted: countedFor.length > 0,
    ...(countedFor.length > 0 ? { countedFor } : {}),
    cardToken: destination.cardToken,
  };
}

/** The party's own, or one it has a valid grant for. */
function mayUse(
  party: Party,
  entity: { readonly id: string; readonly partyId: string },
  grant: Grant | undefined,
  now: Instant,
): boolean {
  if (entity.partyId === party.id) return true;
  return grant !== undefined && grant.entityId === entity.id && !grant.isUsed && now < grant.validUntil;
}

export function isCovered({ amount }: Grant, body: CreateWithdrawal['body']): boolean {
  return amount !== undefined && amount.currency === body.currency && body.minor <= amount.minor;
}
