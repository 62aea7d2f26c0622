// A binding's own facts in words: 3-D Secure, the verification charge and its way back, and what became possible.
import type { BindingTerms } from '../../customers/domain/binding.ts';
import type { TradingRefusal } from '../../merchants/domain/party.ts';
import type { TimelineItem, TimelineLine } from '../domain/item.ts';
import { say, sentences, timeOf } from '../domain/text.ts';
import type { BindingFacts } from '../port.ts';
import { tradingWords } from './rule-lines.ts';
import {
  adviceOn,
  authenticationLines,
  byOperator,
  challengeEndLine,
  challengeLine,
  codeOf,
  meaningOf,
  rerouteLine,
  status,
  type UndatedLine as Line,
} from './words.ts';

type Fact = BindingFacts[number]['fact'];
type Of<Type extends Fact['type']> = Extract<Fact, { readonly type: Type }>;

/** `seriesId`: the one that it began or renewed. */
export function bindingLines(facts: BindingFacts, seriesId: string | undefined): TimelineLine[] {
  const ofSeries = seriesId === undefined ? {} : { id: seriesId };
  return facts.flatMap(({ at, fact }) =>
    linesOf(fact).map((line) => ({ at, ...line, ...(fact.type === 'binding_succeeded' ? ofSeries : {}) })),
  );
}

const lines: { readonly [Type in Fact['type']]: (fact: Of<Type>) => readonly Line[] } = {
  binding_started: ({ terms }) => [{ kind: 'binding', ...startOf(terms) }],
  binding_rerouted: () => [rerouteLine],
  binding_interaction_requested: ({ until }) => [challengeLine(until)],
  binding_interaction_completed: () => [challengeEndLine],
  binding_reversal_started: ({ failure }) => [
    status(say('Given up, and reversed: {meaning}', { meaning: meaningOf(failure) }), {
      code: codeOf(failure),
      isRequest: true,
    }),
  ],
  binding_charged: ({ approval, returnBy }) => [
    status(
      say('Charged. The bank has to confirm by {time} that the payer has the money back.', {
        time: timeOf(returnBy),
      }),
    ),
    ...authenticationLines(approval),
  ],
  binding_refund_started: () => [
    status(say('The bank does not reverse it, so it is refunded.'), { isRequest: true }),
  ],
  binding_succeeded: () => [status(say('The card is saved, and the payer has the money back.'))],
  binding_failed: ({ failure, reason }) => [
    status(
      sentences(
        say('Failed: {meaning}', { meaning: meaningOf(failure) }),
        adviceOn(failure),
        byOperator(reason),
      ),
      {
        code: codeOf(failure),
      },
    ),
  ],
  binding_withdrawn: () => [status(say('Revoked: the card is not charged any more.'))],
  customer_ready: () => [status(say('The customer can be charged, with this card.'))],
  active_binding_changed: () => [status(say('The customer is charged with this card from now on.'))],
};

function linesOf<Type extends Fact['type']>(fact: Of<Type>): readonly Line[] {
  return (lines[fact.type as Type] as (fact: Of<Type>) => readonly Line[])(fact);
}

function startOf({ amount, imported, renews }: BindingTerms): Pick<Line, 'text' | 'amount' | 'id'> {
  if (imported) return { text: say('Imported. The card was saved elsewhere, so no bank is asked.') };
  if (renews)
    return { text: say('The payer agrees to new terms. No card is saved.'), amount, id: renews.seriesId };
  return { text: say('Saving the card began. An amount is charged and given back at once.'), amount };
}

/** Of a binding that failed. */
export function nextBindingLine(at: TimelineItem['at'], refusal: TradingRefusal | undefined): TimelineItem {
  const text =
    refusal === undefined
      ? say('The payer can save a card again, with another binding.')
      : say('No card can be saved while {reason}.', { reason: say(tradingWords[refusal]) });
  return { at, kind: 'nextAttempt', text };
}
