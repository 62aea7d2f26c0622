// The messages to the bank about a binding, built from its state and the zone of its shop: a repeat has the same content.
import { referencesOf } from '../../acquiring/authorisation/domain/approval.ts';
import type { BankOperation, OriginalOperation } from '../../acquiring/domain/bank-port.ts';
import { wantedVerification } from '../../acquiring/domain/missing-ability.ts';
import type { StandIn } from '../../acquiring/domain/routing/reroute.ts';
import { defined } from '../../defined.ts';
import type { Money } from '../../money.ts';
import { storedFor } from '../../recurring/domain/stored-for.ts';
import { bindingOperationId, sendUntilOf, type Binding } from './binding.ts';

/** Later charges come without the payer present, so the payer always authenticates now. The last day of a consent ends in the time zone. */
export function chargeOf(binding: Binding, returnUrl: string, timeZone = 'UTC'): BankOperation {
  const { amount, terminal, card, email } = binding;
  const authenticationAmount = agreedAmount(binding);
  return {
    kind: 'authorise',
    operationId: bindingOperationId(binding, 'charge'),
    terminal,
    notAfter: sendUntilOf(binding),
    amount,
    card: { token: card.token, session: card.session },
    capture: true,
    initiation: { by: 'payer', storesCard: true, stores: storedFor(binding.recurrentTerms, timeZone) },
    authentication: 'required',
    ...defined({ authenticationAmount }),
    returnUrl,
    payer: {
      ip: card.clientInfo.ip,
      fingerprint: card.clientInfo.fingerprint,
      reference: binding.customerId,
      ...defined({ email }),
    },
  };
}

/** Who agrees to new terms confirms their largest amount, and not only the verification charge or the price of a trial. */
function agreedAmount({ renews, recurrentTerms = {}, amount }: Binding): Money | undefined {
  const { amountRule, amountAfterTrialMinor = 0 } = recurrentTerms;
  const first = amountRule && amountRule.kind !== 'variable' ? amountRule.amountMinor : 0;
  const largest = Math.max(first, amountAfterTrialMinor);
  return renews && largest > 0 ? { minor: BigInt(largest), currency: amount.currency } : undefined;
}

/** A charge that was never approved has no references. */
function originalOf({ state, amount, createdAt }: Binding): OriginalOperation {
  const references = 'approval' in state ? referencesOf(state.approval) : undefined;
  return { amount, at: createdAt, ...defined({ references }) };
}

export function giveBackOf(binding: Binding, kind: 'reverse' | 'refund'): BankOperation {
  const { terminal, amount } = binding;
  const common = {
    operationId: bindingOperationId(binding, kind),
    terminal,
    originalOperationId: bindingOperationId(binding, 'charge'),
    original: originalOf(binding),
  };
  return kind === 'refund' ? { ...common, kind, amount } : { ...common, kind };
}

/** What another terminal must be able to do to take the place of the binding's own. */
export function standInFor({ terminal, amount, card, recurrentTerms }: Binding): StandIn {
  const { paymentSystem } = card.details;
  return {
    terminal,
    wanted: wantedVerification(amount.currency, paymentSystem, recurrentTerms?.chargeReason),
  };
}
