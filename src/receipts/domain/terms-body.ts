// Terms as the API has them, for its schemas and for the checkout's script.
import type { ChargeReason } from '../../acquiring/domain/initiation.ts';
import { defined } from '../../defined.ts';
import type { AmountRule, MandateTerms } from './terms.ts';

type AmountRuleBody =
  | { readonly kind: 'fixed' | 'upTo'; readonly amount: number }
  | { readonly kind: 'variable'; readonly text: string };

export type TermsBody = {
  readonly schedule?: string;
  readonly validUntil?: string;
  readonly amountRule?: AmountRuleBody;
  readonly trialEnd?: string;
  readonly amountAfterTrial?: number;
  readonly firstChargeOn?: string;
  readonly charges?: number;
  readonly chargeReason?: ChargeReason;
};

export function termsBody(terms: MandateTerms) {
  const { schedule, validUntil, amountRule, trialEnd, amountAfterTrialMinor: amountAfterTrial } = terms;
  const { firstChargeOn, charges, chargeReason } = terms;
  return defined({
    schedule,
    validUntil,
    amountRule: amountRule && ruleBody(amountRule),
    trialEnd,
    amountAfterTrial,
    firstChargeOn,
    charges,
    chargeReason,
  });
}

export function termsIn(body: TermsBody): MandateTerms {
  const { schedule, validUntil, amountRule, trialEnd, amountAfterTrial: amountAfterTrialMinor } = body;
  const { firstChargeOn, charges, chargeReason } = body;
  return defined({
    schedule,
    validUntil,
    amountRule: amountRule && ruleIn(amountRule),
    trialEnd,
    amountAfterTrialMinor,
    firstChargeOn,
    charges,
    chargeReason,
  });
}

export function ruleBody(rule: AmountRule): AmountRuleBody {
  return rule.kind === 'variable' ? rule : { kind: rule.kind, amount: rule.amountMinor };
}

function ruleIn(rule: AmountRuleBody): AmountRule {
  return rule.kind === 'variable' ? rule : { kind: rule.kind, amountMinor: rule.amount };
}
