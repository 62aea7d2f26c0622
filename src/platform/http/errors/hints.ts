// What a hint says about the faults of a request: where they are, and what the schema expects there.
import type { ValidationError } from './validate.ts';

const maxFaults = 5;

/**
 * All faults in the order of the schema, up to five; or the first alone, with what the schema says about it. Undefined if the message
 * has said it.
 */
export function hintOf(
  first: ValidationError,
  others: Iterator<ValidationError, undefined> | undefined,
): string | undefined {
  const found = [first];
  while (others && found.length < maxFaults) {
    const next = others.next().value;
    if (!next) break;
    found.push(next);
  }
  if (found.length > 1) return `${found.map(faultText).join('; ')}.`;
  if (first.about !== undefined) return `${faultText(first)}. ${first.about}`;
  return ['required', 'enum'].includes(first.keyword) ? `${faultText(first)}.` : undefined;
}

function faultText({ where, keyword, description }: ValidationError): string {
  return `\`${where}\` ${keyword === 'required' ? 'is required' : description.replace(/^must be >= 0$/, 'must not be negative')}`;
}
