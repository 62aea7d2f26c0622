// What a policy says so that this script or this style, letter by letter, may run, and no other.
import { createHash } from 'node:crypto';

export function policyHash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
