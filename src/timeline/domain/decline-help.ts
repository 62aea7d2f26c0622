// Who can help after a decline of each class, and how: docs/guide/declines.md in one line each.
import type { DeclineClass } from '../../acquiring/domain/decline-class.ts';
import type { WholePhrase } from './phrases.ts';

export const declineHelp: Readonly<Record<DeclineClass, WholePhrase>> = {
  funds: 'Time can help: retry on another day.',
  vague: 'Time seldom helps: retry a few times, then ask the payer for another card.',
  issuer: 'The payer can help: ask them to call their bank.',
  technical: 'Time can help: retry on the next day.',
  newCard: 'The payer can help: send them a link to pay with another card.',
  payerPresent: 'The payer can help: send them a link to pay with 3-D Secure.',
  stopped: 'Only a new consent of the payer can help. Do not charge.',
  configuration: 'You or the operator can help: correct the set-up. Write nothing to the payer.',
};
