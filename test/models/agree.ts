// Walks random histories and puts each question to the service and to the model.
import fc from 'fast-check';
import { answerTo } from './charge-model.ts';
import { differenceBetween } from './compare.ts';
import { plans, walk } from './histories.ts';
import { microsOf, serviceAnswer } from './service.ts';

/** How often each answer occurred. Throws with the shortest history in which they differ. */
export function agreeIn(histories: number, seed: number): Map<string, number> {
  const answers = new Map<string, number>();
  fc.assert(
    fc.property(plans, (plan) => {
      walk(plan, (story, question) => {
        const service = serviceAnswer(story, question);
        const difference = differenceBetween(answerTo(story, question), service);
        if (difference !== undefined)
          throw new Error(`${difference}\n${JSON.stringify({ question, story }, null, 1)}`);
        for (const each of service.may ? ['accepted', ...service.warnings] : [service.code]) {
          answers.set(each, (answers.get(each) ?? 0) + 1);
        }
        const retryAfter = service.may || !service.retryAfter ? undefined : microsOf(service.retryAfter);
        return { isPermitted: service.may, retryAfter };
      });
    }),
    { numRuns: histories, seed },
  );
  return answers;
}

/** Every answer there is. A walk that never got one would not test it. */
export const everyAnswer = [
  'accepted',
  'amountAboveConsent',
  'amountBelowConsent',
  'periodAlreadyCharged',
  'recurrentAmountAboveConsent',
  'recurrentCardExpired',
  'recurrentConsentExpired',
  'recurrentConsentRevoked',
  'recurrentGapExceeded',
  'recurrentParentNotLatest',
  'recurrentParentStale',
  'recurrentPeriodAlreadyCharged',
  'recurrentRetryLimitReached',
  'recurrentRetryTooEarly',
  'recurrentRetryWindowExpired',
  'recurrentStopped',
];
