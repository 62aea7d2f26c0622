// The sender of a payout, as card networks ask for it: personal data in Latin characters, each field as long as a message may carry.
import { givesAnyNumberAway } from '../../cards/domain/card.ts';
import { transliterated } from './transliteration.ts';

export type Sender = {
  /** Of a company. */
  readonly name?: string;
  /** Of a person, with `lastName`. */
  readonly firstName?: string;
  readonly lastName?: string;
  readonly address?: string;
  readonly city?: string;
  /** ISO 3166-1 alpha-3. */
  readonly country?: string;
  /** `1990-12-31`. */
  readonly birthDate?: string;
  /** ISO 3166-1 alpha-3. */
  readonly nationality?: string;
  readonly occupation?: string;
  /** The account that the money comes from. */
  readonly account?: string;
};

/** In bytes after transliteration, which networks count. */
export const senderLengths = {
  name: 30,
  firstName: 30,
  lastName: 30,
  address: 35,
  city: 25,
  occupation: 30,
  account: 34,
} as const satisfies Partial<Record<keyof Sender, number>>;

/** What is wrong with a field, or undefined. */
export function senderProblem(sender: Sender): string | undefined {
  for (const [field, most] of Object.entries(senderLengths)) {
    const given = sender[field as keyof typeof senderLengths];
    const sent = given === undefined ? '' : transliterated(given);
    if (sent === undefined) return `sender.${field}: must be in characters that have a Latin form`;
    if (sent.length > most)
      return `sender.${field}: must be at most ${most} Latin characters, and is ${sent.length}`;
    if (given !== undefined && sent.trim() === '') return `sender.${field}: must not be blank`;
  }
  if (sender.account !== undefined && givesAnyNumberAway(sender.account))
    return 'sender.account: must not contain a card number';
  if ((sender.firstName === undefined) !== (sender.lastName === undefined))
    return 'sender.lastName: must come together with firstName';
  return undefined;
}

/** As networks get it. The fields have been checked. */
export function inLatin(sender: Sender): Sender {
  return Object.fromEntries(
    Object.entries(sender).map(([field, value]) => [field, (transliterated(value) ?? '').trim()]),
  );
}
