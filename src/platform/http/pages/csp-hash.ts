// The source expression by which a content security policy allows exactly this script or style.
import { createHash } from 'node:crypto';

export function policyHash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
