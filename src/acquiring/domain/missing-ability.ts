// What a bank declares it cannot do, so that an operation is refused before anything is sent.
import type { Abilities, AuthenticationAbility, InitiationAbility } from './abilities.ts';
import type { BankOperation } from './bank-port.ts';
import type { ChargeReason, Initiation } from './initiation.ts';
import { isAmongNetworks } from './network-names.ts';

function initiationAbilityOf(initiation: Initiation): InitiationAbility {
  if (initiation.by === 'merchant') return initiation.reason;
  return initiation.usesStored ? 'usesStored' : 'payer';
}

/** In the words of the protocol, for an operator. Undefined when the bank can do it. */
export function missingAbility(operation: BankOperation, abilities: Abilities): string | undefined {
  const { kinds, currencies, initiations, authentication, capture, reverse } = abilities;
  if (!kinds.includes(operation.kind)) return `kind ${operation.kind}`;
  const currency = currencyOf(operation);
  if (currency && currencies && !currencies.includes(currency)) return `currency ${currency}`;
  switch (operation.kind) {
    case 'authorise': {
      const initiation = initiationAbilityOf(operation.initiation);
      // A bank of version 1 takes a stored card of a payer who is present like any other.
      if (initiation !== 'usesStored' && !initiations.includes(initiation)) return `initiation ${initiation}`;
      const isGiven = operation.authentication === 'given';
      return isGiven && !authentication.includes('given') ? 'authentication given' : undefined;
    }
    case 'capture': {
      const isPart = operation.original && operation.amount.minor < operation.original.amount.minor;
      if (isPart && !capture.partial) return 'capture of a part';
      return operation.final === false && !capture.several ? 'several captures' : undefined;
    }
    case 'reverse':
      return operation.amount && !reverse.partial ? 'reversal of a part' : undefined;
    default:
      return undefined;
  }
}

/** What a charge that is to be created needs of its bank, at once and later. */
export type WantedCharge = {
  readonly by: 'payer' | 'merchant';
  readonly currency: string;
  /** Of the card, where it is known. */
  readonly network?: string;
  readonly isHold: boolean;
  /** The card is to be charged again without the payer. */
  readonly savesCard: boolean;
  /** Of charges without the payer, this or later ones. Absent: recurring. */
  readonly reason?: ChargeReason;
  readonly authentication?: AuthenticationAbility;
};

/** Of the charge with which a card is saved. */
export function wantedVerification(
  currency: string,
  network: string,
  reason: ChargeReason = 'recurring',
): WantedCharge {
  return { by: 'payer', currency, network, isHold: false, savesCard: true, reason, authentication: 'hosted' };
}

/** The same for a charge that is not created yet. */
export function missingForCharge(wanted: WantedCharge, abilities: Abilities): string | undefined {
  const { kinds, initiations, authentication } = abilities;
  const { by, isHold, savesCard, reason = 'recurring', authentication: way } = wanted;
  if (!kinds.includes('authorise')) return 'kind authorise';
  if (isHold && !kinds.includes('capture')) return 'kind capture';
  const notTaken = missingMoneyOrNetwork(wanted, abilities);
  if (notTaken !== undefined) return notTaken;
  if (by === 'payer' && !initiations.includes('payer')) return 'initiation payer';
  if ((by === 'merchant' || savesCard) && !initiations.includes(reason)) return `initiation ${reason}`;
  return way && !authentication.includes(way) ? `authentication ${way}` : undefined;
}

export function missingForPayout(
  wanted: Pick<WantedCharge, 'currency' | 'network'>,
  abilities: Abilities,
): string | undefined {
  if (!abilities.kinds.includes('payout')) return 'kind payout';
  return missingMoneyOrNetwork(wanted, abilities);
}

function missingMoneyOrNetwork(
  { currency, network }: Pick<WantedCharge, 'currency' | 'network'>,
  { currencies, networks }: Abilities,
): string | undefined {
  if (currencies && !currencies.includes(currency)) return `currency ${currency}`;
  if (network === undefined || !networks) return undefined;
  return isAmongNetworks(networks, network) ? undefined : `network ${network}`;
}

function currencyOf(operation: BankOperation): string | undefined {
  if (operation.kind === 'verify') return operation.currency;
  return 'amount' in operation ? operation.amount?.currency : undefined;
}

/** A sentence for the operator. Undefined if the bank declares nothing against it. */
export function refusalOfTerminal(
  bankId: string,
  { kinds, currencies, initiations }: Abilities,
  wanted: { readonly kind: 'payment' | 'payout'; readonly currencies: readonly string[] },
): string | undefined {
  const kind = wanted.kind === 'payout' ? 'payout' : 'authorise';
  if (!kinds.includes(kind))
    return `Bank ${bankId} declares that it does no operation of kind ${kind}. Choose another bank.`;
  const foreign = currencies && wanted.currencies.filter((one) => !currencies.includes(one));
  if (foreign && foreign.length > 0)
    return `Bank ${bankId} declares no currency ${foreign.join(', ')}. It has ${currencies.join(', ')}.`;
  if (wanted.kind === 'payment' && !initiations.includes('payer'))
    return `Bank ${bankId} declares that it takes no payments of payers. Choose another bank.`;
  return undefined;
}
