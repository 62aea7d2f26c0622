// The words that the lines of several objects share.
import type { Approval } from '../../acquiring/authorisation/domain/approval.ts';
import type { Instant } from '../../clock.ts';
import { failureAdvice } from '../domain/failure-advice.ts';
import type { TimelineLine } from '../domain/item.ts';
import { listed, named, nothing, say, timeOf, type Text } from '../domain/text.ts';

/** A line of a fact, which has the fact's time. */
export type UndatedLine = Omit<TimelineLine, 'at'>;

export const status = (text: Text, more: Partial<UndatedLine> = {}): UndatedLine => ({
  kind: 'status',
  text,
  ...more,
});
export const secure = (text: Text): UndatedLine => ({ kind: 'threeDSecure', text });
export const byOperator = (because: string | undefined) =>
  because === undefined ? nothing : say('An operator recorded it.');

/** Payments and bindings have the same challenge. */
export const challengeLine = (until: Instant) =>
  secure(say('The payer has to confirm at their bank, until {time}.', { time: timeOf(until) }));
export const challengeEndLine = secure(say('The payer came back, or the bank decided without that.'));
export const rerouteLine: UndatedLine = {
  kind: 'bank',
  text: say('Nothing was sent. Another terminal of the shop is used.'),
};

export function authenticationLines({ authenticated, eci, liabilityShift }: Approval): UndatedLine[] {
  const status = authenticated?.status;
  const said = [
    authenticated && say('3-D Secure: {how}', { how: named(authenticated.how) }),
    status && say('status {status}', { status }),
    eci && say('ECI {eci}', { eci }),
    liabilityShift === undefined
      ? undefined
      : say(liabilityShift ? 'liability shifted' : 'liability not shifted'),
  ].filter((part) => typeof part === 'object');
  return said.length > 0 ? [secure(say('The bank reports {facts}.', { facts: listed(said) }))] : [];
}

type Failure = readonly string[];

export const codeOf = (failure: Failure) => failure.join(' › ');

export const adviceText = (advice: string | undefined): Text =>
  advice === undefined ? nothing : say(', advice {advice}', { advice });

/** A code of a newer release has no words here. */
export function meaningOf(failure: Failure): Text {
  const code = codeOf(failure);
  const known = failureAdvice[code];
  return known ? say(known.meaning) : say('{code}.', { code });
}

export function adviceOn(failure: Failure): Text {
  const advice = failureAdvice[codeOf(failure)];
  if (!advice) return nothing;
  return say('Who can help: {who}. {what}', { who: say(advice.who), what: say(advice.what) });
}
