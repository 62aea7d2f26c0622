// The exchange log in words: each operation at the bank, how long its answer took, and what the bank said.
import { epochMsOf, type Instant } from '../../clock.ts';
import type { Exchange } from '../../acquiring/exchange-log/store/exchange-rows.ts';
import { defined } from '../../defined.ts';
import type { TimelineItem } from '../domain/item.ts';
import type { Phrase, WholePhrase } from '../domain/phrases.ts';
import { nothing, say, type Text } from '../domain/text.ts';
import { adviceText } from './words.ts';

const kinds = {
  authorise: 'Authorisation: {state}{answer}',
  capture: 'Capture: {state}{answer}',
  refund: 'Refund: {state}{answer}',
  reverse: 'Reversal: {state}{answer}',
  payout: 'Payout: {state}{answer}',
  verify: 'Card check: {state}{answer}',
} as const satisfies Readonly<Record<Exchange['kind'], Phrase>>;

const states: Readonly<Record<Exchange['state'], WholePhrase>> = {
  begun: 'sent or about to be. The bank has not answered, so the outcome is unknown.',
  challenged: 'the bank waits for the payer.',
  approved: 'approved',
  declined: 'declined',
  givenUp: 'given up. Whatever it was is undone.',
  takenBack: 'taken back by the bank.',
  settled: 'an operator recorded the outcome.',
};

/** An answer stands when it was heard. What has none stands when it was begun. */
export function bankLines(exchanges: readonly Exchange[], now: Instant): TimelineItem[] {
  return exchanges.map(({ operationId, kind, state, answer, amount, begunAt, heardAt }) => ({
    at: heardAt ?? begunAt,
    kind: 'bank',
    text: say(kinds[kind], { state: say(states[state]), answer: answerText(answer) }),
    durationMs: Math.max(0, epochMsOf(heardAt ?? now) - epochMsOf(begunAt)),
    id: operationId,
    ...defined({ amount }),
    ...(answer?.outcome === 'declined' ? { code: answer.code } : {}),
  }));
}

function answerText(answer: Exchange['answer']): Text {
  if (!answer) return nothing;
  const { references: { rrn } = {} } = answer;
  const reference = rrn === undefined ? nothing : say(', reference {reference}', { reference: rrn });
  if (answer.outcome === 'approved') {
    const { approvalCode: code } = answer;
    const approval = code === undefined ? nothing : say(', approval code {code}', { code });
    return say('{approval}{reference}.', { approval, reference });
  }
  const { network, code, text, advice } = answer;
  return say(' with {network} code {code}{said}{advice}{reference}.', {
    network,
    code,
    said: text === undefined ? nothing : say(': “{text}”', { text }),
    advice: adviceText(advice),
    reference,
  });
}
