// Reads JSON from clients, which must be possible to store and return unchanged. PostgreSQL stores no NUL and no lone surrogate, and a
// number beyond 2^53 would come back as another number.

export type JsonProblem = { readonly where: string; readonly what: string };

const utf8 = new TextDecoder('utf-8', { fatal: true });
const maxDepth = 32;

export function parseJson(bytes: Buffer): { value: unknown } | { problem: JsonProblem } {
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(bytes));
  } catch {
    return { problem: { where: 'body', what: 'is not JSON in UTF-8' } };
  }
  const problem = findUnstorable(value, 'body', maxDepth);
  return problem ? { problem } : { value };
}

function findUnstorable(value: unknown, where: string, depthLeft: number): JsonProblem | undefined {
  if (typeof value === 'string') {
    return isStorableText(value)
      ? undefined
      : { where, what: 'has a NUL character or half a surrogate pair' };
  }
  if (typeof value === 'number') {
    const exact = Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
    return exact ? undefined : { where, what: 'is a number beyond 2^53; send it as a string' };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depthLeft === 0) return { where, what: `is nested deeper than ${maxDepth} levels` };
  const isArray = Array.isArray(value);
  for (const [name, member] of Object.entries(value)) {
    if (!isArray && (name === '__proto__' || !isStorableText(name))) {
      return { where, what: 'has a member whose name cannot be stored' };
    }
    const problem = findUnstorable(member, isArray ? `${where}[${name}]` : `${where}.${name}`, depthLeft - 1);
    if (problem) return problem;
  }
  return undefined;
}

export function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}
