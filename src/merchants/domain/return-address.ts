// Where a payer's browser may be sent after it has been at the bank. The token of an invoice is in browsers and names any address, so
// only the service's own pages and those of the shop are trusted.
import { originOf } from './party.ts';

/** The http or https address that a template leads to. Its variables are left out: there is nothing to fill in. */
export function returnAddressOf(template: string | undefined): string | undefined {
  const address = template?.replace(/\{[^}]*\}/g, '');
  if (address === undefined || originOf(address) === undefined) return undefined;
  // Percent-encoded, as a header needs it.
  return new URL(address).href;
}

/** `own` are addresses of the service. A machine is reached by any of its loopback names. */
export function isTrusted(address: string, origins: readonly string[], own: readonly string[]): boolean {
  const origin = originOf(address);
  if (origin === undefined) return false;
  return origins.includes(origin) || own.some((url) => sameOrigin(origin) === sameOrigin(url));
}

/** A shop with a list of origins is returned to there alone; one without a list anywhere. */
export function mayReturn(
  template: string | undefined,
  origins: readonly string[],
  own: readonly string[],
): boolean {
  if (template === undefined || origins.length === 0) return true;
  return isTrusted(returnAddressOf(template) ?? '', origins, own);
}

function sameOrigin(url: string): string | undefined {
  return originOf(url)?.replace(/^(https?:\/\/)(?:localhost|127(?:\.\d+){3}|\[::1\])(?=:|$)/, '$1loopback');
}
