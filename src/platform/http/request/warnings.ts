// The warnings about a request that was accepted: a structured header (RFC 9651). The names of what no endpoint declares come from the
// client, so they are encoded and cut; their values are never shown.
import { nearestName } from '../../../nearest-name.ts';
import type { Warning } from '../../../refusal.ts';
import { maskCardNumbers } from '../../log.ts';
import type { UnknownMember, UnknownMembers } from './declared-members.ts';

export const warningsHeader = 'Mandate-Warnings';
export const warningsDescription =
  'What is odd about the request: a structured list (RFC 9651), also of a refusal. Each but `more` has a `field`. ' +
  '`unknownMember` (of the body) and `unknownParameter` (of the query) are ignored, and may have the `nearest` known name. `more` has ' +
  'the `count` of those left out. `consentWithoutAmount` and `consentMissing` have the field to send, `dueDatePast` the one whose time ' +
  'has passed, `cardNumber` the ID of yours that holds one.';

/** Proxies refuse a response whose headers exceed 4 KiB. */
const maxHeaderCharacters = 2_000;
const maxNameCharacters = 40;

export function warningOfOutcome({ code, field }: Warning): string {
  return `${code};field="${field}"`;
}

/** Where a caller's own ID holds a card number. */
export function warningOfNumberedId(path: string): string {
  return `cardNumber;field="${path}"`;
}

/** What is unknown in one request. */
export type Unknown = { readonly body: UnknownMembers; readonly query: UnknownMembers };

export function warningsOf({ body, query }: Unknown): string {
  const all = [
    ...body.first.map((member) => warningOf('unknownMember', member)),
    ...query.first.map((parameter) => warningOf('unknownParameter', parameter)),
  ];
  let text = '';
  let shown = 0;
  for (const warning of all) {
    if (text.length + warning.length > maxHeaderCharacters) break;
    text += shown === 0 ? warning : `, ${warning}`;
    shown += 1;
  }
  const left = body.count + query.count - shown;
  return left === 0 ? text : `${text}, more;count=${left}`;
}

/** Says which known name the first misspelt one probably means. */
export function suggestionOf({ body, query }: Unknown): string | undefined {
  for (const member of [...body.first, ...query.first]) {
    const nearest = nearestOf(member);
    if (nearest !== undefined) return `Did you mean \`${nearest}\` instead of \`${pathOf(member)}\`?`;
  }
  return undefined;
}

function warningOf(code: string, member: UnknownMember): string {
  const nearest = nearestOf(member);
  return `${code};field="${pathOf(member)}"${nearest === undefined ? '' : `;nearest="${nearest}"`}`;
}

/** The path of the member, safe in a header and in a log. */
export function pathOf({ within, name }: UnknownMember): string {
  // Longer than what is shown, so that a card number is masked whole.
  const masked = maskCardNumbers(name.slice(0, 2 * maxNameCharacters));
  const isCut = masked.length > maxNameCharacters;
  const shown = encodeURIComponent(masked.slice(0, maxNameCharacters).toWellFormed()) + (isCut ? '...' : '');
  return within === '' ? shown : `${within}.${shown}`;
}

function nearestOf({ name, known }: UnknownMember): string | undefined {
  if (name.length > maxNameCharacters) return undefined;
  const plain = (text: string) => text.toLowerCase().replaceAll('_', '');
  return nearestName(name, known, plain, ({ length }, slips) => slips <= Math.min(3, length / 4));
}
