// The exchange log in words: each operation at the bank, how long its answer took, and what the bank said.
import { epochMsOf, type Instant } from '../../clock.ts';
import type { Exchange } from '../../acquiring/exchange-log/store/exchange-rows.ts';
import { defined } from '../../defined.ts';
import type { TimelineItem } from '../domain/item.ts';

const kinds: Readonly<Record<Exchange['kind'], string>> = {
  authorise: 'Authorisation',
  capture: 'Capture',
  refund: 'Refund',
  reverse: 'Reversal',
  payout: 'Payout',
  verify: 'Card check',
};

const states: Readonly<Record<Exchange['state'], string>> = {
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
    text: `${kinds[kind]}: ${states[state]}${answerText(answer)}`,
    durationMs: Math.max(0, epochMsOf(heardAt ?? now) - epochMsOf(begunAt)),
    id: operationId,
    ...defined({ amount }),
    ...(answer?.outcome === 'declined' ? { code: answer.code } : {}),
  }));
}

function answerText(answer: Exchange['answer']): string {
  if (!answer) return '';
  const { references: { rrn } = {} } = answer;
  const named = rrn === undefined ? '' : `, reference ${rrn}`;
  if (answer.outcome === 'approved')
    return `${answer.approvalCode === undefined ? '' : `, approval code ${answer.approvalCode}`}${named}.`;
  const said = answer.text === undefined ? '' : `: “${answer.text}”`;
  const advice = answer.advice === undefined ? '' : `, advice ${answer.advice}`;
  return ` with ${answer.network} code ${answer.code}${said}${advice}${named}.`;
}
