// Who or what can help after a decline: retry rules derive it from a network's code, and a bank may name it.

/** `configuration`: the merchant or the operator. */
export const declineClasses = [
  'funds',
  'vague',
  'issuer',
  'technical',
  'newCard',
  'payerPresent',
  'stopped',
  'configuration',
] as const;
export type DeclineClass = (typeof declineClasses)[number];
