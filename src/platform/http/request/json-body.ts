// Reads JSON from clients. It must be possible to store and return it unchanged: without NUL, lone surrogates, numbers beyond 2^53 and
// repeated members.

export type JsonProblem = { readonly where: string; readonly what: string; readonly hint?: string };
/** With the value, if it can be read and only not be stored. */
type Unusable = { readonly problem: JsonProblem; readonly value?: unknown };

const utf8 = new TextDecoder('utf-8', { fatal: true });
const maxDepth = 32;

export function parseJson(bytes: Buffer): { value: unknown } | Unusable {
  const what = 'is not JSON in UTF-8';
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { problem: { where: 'body', what, hint: 'The body is not UTF-8. Encode it as UTF-8.' } };
  }
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: { where: 'body', what, hint: syntaxHint(text) } };
  }
  const members = { count: 0 };
  const problem = findUnstorable(value, maxDepth, members);
  if (problem) return { problem: { where: `body${problem.path}`, what: problem.what }, value };
  if (members.count === membersIn(text)) return { value };
  return { problem: { where: 'body', what: 'has a member twice in one object; send each once' } };
}

/** The parser's own message may quote the body, so nothing of it is used. */
function syntaxHint(text: string): string {
  if (/^[\w.%+-]+=/.test(text)) return 'The body is a form. Send JSON.';
  if (isCutOff(text)) return 'The JSON ends too early: a bracket or a text is still open.';
  return 'Names and texts need double quotes. Commas stand between members, and none behind the last.';
}

/** The path is put together on the way back: a large body without a problem needs none. */
type Unstorable = { readonly path: string; readonly what: string };

function findUnstorable(
  value: unknown,
  depthLeft: number,
  members: { count: number },
): Unstorable | undefined {
  if (typeof value === 'string') {
    return isStorableText(value)
      ? undefined
      : { path: '', what: 'has a NUL character or half a surrogate pair' };
  }
  if (typeof value === 'number') {
    const exact = Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
    return exact ? undefined : { path: '', what: 'is a number beyond 2^53; send it as a string' };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depthLeft === 0) return { path: '', what: `is nested deeper than ${maxDepth} levels` };
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const problem = findUnstorable(value[index], depthLeft - 1, members);
      if (problem) return { ...problem, path: `[${index}]${problem.path}` };
    }
    return undefined;
  }
  for (const name of Object.keys(value)) {
    members.count += 1;
    if (name === '__proto__' || !isStorableText(name))
      return { path: '', what: 'has a member whose name cannot be stored' };
    const problem = findUnstorable((value as Record<string, unknown>)[name], depthLeft - 1, members);
    if (problem) return { ...problem, path: `.${name}${problem.path}` };
  }
  return undefined;
}

/** Of JSON that can be parsed: outside its strings each colon belongs to one member. */
function membersIn(json: string): number {
  return outsideStrings(json).colons;
}

function isCutOff(json: string): boolean {
  const { depth, isInString } = outsideStrings(json);
  return isInString || depth > 0;
}

function outsideStrings(json: string) {
  let colons = 0;
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < json.length; index++) {
    const character = json.charCodeAt(index);
    if (isInString && character === backslash) index += 1;
    else if (character === quote) isInString = !isInString;
    else if (isInString) continue;
    else if (character === colon) colons += 1;
    // Both kinds of brackets differ from their partners by two.
    else if (character === brace || character === bracket) depth += 1;
    else if (character === brace + 2 || character === bracket + 2) depth -= 1;
  }
  return { colons, depth, isInString };
}

const quote = '"'.charCodeAt(0);
const backslash = '\\'.charCodeAt(0);
const colon = ':'.charCodeAt(0);
const brace = '{'.charCodeAt(0);
const bracket = '['.charCodeAt(0);

export function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}
