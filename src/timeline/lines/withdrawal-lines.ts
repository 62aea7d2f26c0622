// The withdrawal's own log in words, and what is done while its outcome is unknown.
import type { ReturnCode } from '../../acquiring/domain/bank-port.ts';
import { latest } from '../../clock.ts';
import type { Withdrawal } from '../../payouts/domain/withdrawal.ts';
import type { TimelineItem, TimelineLine } from '../domain/item.ts';
import type { WholePhrase } from '../domain/phrases.ts';
import { nothing, say, sentences, timeOf } from '../domain/text.ts';
import type { Transfer, Wait, WithdrawalFacts } from '../port.ts';
import { adviceOn, byOperator, codeOf, meaningOf, status, type UndatedLine } from './words.ts';

const returns: Readonly<Record<ReturnCode, WholePhrase>> = {
  account_closed: 'the account is closed',
  account_frozen: 'the account is frozen',
  account_restricted: 'the account does not take it',
  incorrect_number: 'the number is wrong',
  wrong_currency: 'the account has another currency',
  unknown: 'it gives no reason',
};

export function withdrawalLines(withdrawal: Withdrawal, facts: WithdrawalFacts): TimelineLine[] {
  return facts.map(({ at, fact }) => ({ at, ...lineOf(withdrawal, fact) }));
}

function lineOf({ amount }: Withdrawal, fact: WithdrawalFacts[number]['fact']): UndatedLine {
  switch (fact.type) {
    case 'withdrawal_started':
      return { kind: 'withdrawal', text: say('Created. The money is reserved in the wallet.'), amount };
    case 'withdrawal_succeeded':
      return status(
        sentences(
          say('Paid out, reference {reference}.', { reference: fact.reference }),
          fact.availableBy ? say('On the card by {time}.', { time: timeOf(fact.availableBy) }) : nothing,
          byOperator(fact.reason),
        ),
        { amount },
      );
    case 'withdrawal_failed': {
      const { failure, reason } = fact;
      const said = say('Failed: {meaning}', { meaning: meaningOf(failure) });
      const text = sentences(said, adviceOn(failure), byOperator(reason));
      return status(text, { code: codeOf(failure) });
    }
    case 'withdrawal_returned': {
      const { amount: back, code } = fact.returned;
      const said = say('The bank of the card sent money back: {reason}.', { reason: say(returns[code]) });
      return status(sentences(said, byOperator(fact.reason)), { amount: back, code });
    }
  }
}

/** Each move reserves the money for the next bank. */
export function moveLines(transfers: readonly Transfer[]): TimelineItem[] {
  return transfers
    .filter(({ step, phase }) => step.startsWith('moved') && phase === 'pending')
    .map(({ happened_at }) => ({
      at: happened_at,
      kind: 'bank',
      text: say('The bank has done nothing. Another bank is used.'),
    }));
}

/** While it is pending. */
export function waitLines({ createdAt }: Withdrawal, wait: Wait | undefined): TimelineItem[] {
  const line = (at: TimelineItem['at'], phrase: WholePhrase): TimelineItem[] => [
    {
      at: latest(at, createdAt),
      kind: 'nextAttempt',
      text: sentences(say(phrase), say('Do not create it again.')),
    },
  ];
  if (wait?.stuck_at)
    return line(
      wait.stuck_at,
      'The outcome is unknown, and waits for the operator. The money stays reserved.',
    );
  if (wait?.wake_at)
    return line(wait.wake_at, 'The bank is asked for the outcome. Until then the money stays reserved.');
  return [];
}
