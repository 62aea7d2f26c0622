// Times, amounts and new IDs as commands take them. `option` is the option's name, for the message.
import { holdsCardNumber } from '../cards/domain/written-numbers.ts';
import { epochMsOf, instantAt, parseInstant, type Instant } from '../clock.ts';

/** Reads a date-time, or how long ago: `24h`, `30m`, `7d`. */
export function moment(option: string, text: string, now: Instant): Instant {
  const [, amount, unit = ''] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  const unitMs = { m: 60_000, h: 3_600_000, d: 24 * 3_600_000 }[unit];
  if (amount !== undefined && unitMs !== undefined)
    return instantAt(epochMsOf(now) - Number(amount) * unitMs);
  const instant = parseInstant(text);
  if (instant === undefined)
    throw new Error(`${option} is "${text}". Use a date-time, or how long ago: 30m, 24h, 7d.`);
  return instant;
}

/** An amount in minor units, or another whole number. */
export function minorOf(option: string, text: string): bigint {
  if (!/^\d{1,12}$/.test(text))
    throw new Error(`${option} is "${text}". Use a whole number of at most 12 digits.`);
  return BigInt(text);
}

/** An ID that the operator chooses is kept, and shown in many places. */
export function refuseCardNumber(option: string, id: string): void {
  if (holdsCardNumber(id)) throw new Error(`${option} must not contain a card number.`);
}
