// The words that the lines of several objects share.
import type { Approval } from '../../acquiring/authorisation/domain/approval.ts';
import type { Instant } from '../../clock.ts';
import { failureAdvice } from '../domain/failure-advice.ts';
import type { TimelineLine } from '../domain/item.ts';

/** A line of a fact, which has the fact's time. */
export type UndatedLine = Omit<TimelineLine, 'at'>;

export const status = (text: string, more: Partial<UndatedLine> = {}): UndatedLine => ({
  kind: 'status',
  text,
  ...more,
});
export const secure = (text: string): UndatedLine => ({ kind: 'threeDSecure', text });
export const byOperator = (because: string | undefined) =>
  because === undefined ? '' : ' An operator recorded it.';
export const shortTime = (at: Instant) => `${at.slice(0, 19)}Z`;

/** Payments and bindings have the same challenge. */
export const challengeLine = (until: Instant) =>
  secure(`The payer has to confirm at their bank, until ${shortTime(until)}.`);
export const challengeEndLine = secure('The payer came back, or the bank decided without that.');
export const rerouteLine: UndatedLine = {
  kind: 'bank',
  text: 'Nothing was sent. Another terminal of the shop is used.',
};

export function authenticationLines({ authenticated, eci, liabilityShift }: Approval): UndatedLine[] {
  const said = [
    authenticated && `3-D Secure: ${authenticated.how}`,
    authenticated?.status && `status ${authenticated.status}`,
    eci && `ECI ${eci}`,
    liabilityShift === undefined ? undefined : `liability ${liabilityShift ? 'shifted' : 'not shifted'}`,
  ].filter((part) => part !== undefined);
  return said.length > 0 ? [secure(`The bank reports ${said.join(', ')}.`)] : [];
}

type Failure = readonly string[];

export const codeOf = (failure: Failure) => failure.join(' › ');

/** A code of a newer release has no words here. */
export function meaningOf(failure: Failure): string {
  return failureAdvice[codeOf(failure)]?.meaning ?? `${codeOf(failure)}.`;
}

export function adviceOn(failure: Failure): string {
  const advice = failureAdvice[codeOf(failure)];
  return advice ? `Who can help: ${advice.who}. ${advice.what}` : '';
}

export const sentences = (...parts: readonly string[]) =>
  parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join(' ');
