// How many invoices payers make with the token of a template. A link with the token may be public, and invoices are kept permanently.
import { networkOf } from '../platform/http/request/client-address.ts';
import type { RateLimit } from '../platform/http/request/rate-limit.ts';

export type TemplateLimits = {
  /** Undefined if one more may be made, else the seconds to wait. */
  take(templateId: string, address: string): number | undefined;
  /** For a request that made none. */
  giveBack(templateId: string, address: string): void;
};

/** One network has many addresses in IPv6, so the template has a limit too. */
export function templateLimits({
  ofEach,
  ofAll,
}: {
  readonly ofEach: Pick<RateLimit, 'take' | 'giveBack'>;
  readonly ofAll: Pick<RateLimit, 'take' | 'giveBack'>;
}): TemplateLimits {
  const nameOf = (templateId: string, address: string) => `${templateId} ${networkOf(address)}`;
  return {
    take(templateId, address) {
      const name = nameOf(templateId, address);
      const waitSeconds = ofEach.take(name);
      if (waitSeconds !== undefined) return waitSeconds;
      const waitForAll = ofAll.take(templateId);
      if (waitForAll !== undefined) ofEach.giveBack(name);
      return waitForAll;
    },
    giveBack(templateId, address) {
      ofEach.giveBack(nameOf(templateId, address));
      ofAll.giveBack(templateId);
    },
  };
}
