// Prefer: wait=<seconds>, as RFC 7240 writes it. What cannot be read is ignored.

const maxWaitSeconds = 10;

const maxCharacters = 1_000;
/** A quote that is not closed belongs to its element, which cannot be read then. */
const element = /(?:[^",]|"(?:[^"\\]|\\.)*"|")+/g;
const nameAndValue = /^\s*([!#$%&'*+.^`|~\w-]+)\s*(?:=\s*([^;]*?)\s*)?(?:;|$)/;

/** Up to the most that is granted. Undefined if the caller does not want to wait. */
export function wishedSeconds(header: string | undefined): number | undefined {
  if (header === undefined || header.length > maxCharacters) return undefined;
  for (const preference of header.match(element) ?? []) {
    const [, name, value] = nameAndValue.exec(preference) ?? [];
    // Only the first instance of a preference counts.
    if (name?.toLowerCase() === 'wait') return secondsIn(value);
  }
  return undefined;
}

function secondsIn(text = ''): number | undefined {
  const [, digits] = /^"(\d+)"$/.exec(text) ?? /^(\d+)$/.exec(text) ?? [];
  const seconds = Math.min(Number(digits ?? 0), maxWaitSeconds);
  return seconds > 0 ? seconds : undefined;
}
