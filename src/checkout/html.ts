// Writing HTML by hand: every value goes through here before it stands in a page, and what may run in it is named by its hash.
import { createHash } from 'node:crypto';

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** For a policy: this script or this style, letter by letter, and no other. */
export function policyHash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
