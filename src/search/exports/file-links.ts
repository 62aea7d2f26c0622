// The address of an export's file: signed, for this file alone, and for ten minutes. It works without a key, so it is never logged,
// and it names the key it was given to.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { epochMsOf, type Clock } from '../../clock.ts';
import { keyFor, type DataKey } from '../../platform/keys/keyring.ts';
import type { Export } from './domain/export.ts';
import type { FileKeys } from './export-file.ts';

type Named = Pick<Export, 'partyId' | 'id'>;

export type FileLinks = ReturnType<typeof openFileLinks>;

const lifetimeMs = 600_000;
const tokenText = /^(\d{1,16})\.(\d{1,9})\.([\w-]{1,120})\.([\w-]{43})$/;

export function openFileLinks({
  keys,
  clock,
  publicUrl,
}: {
  readonly keys: FileKeys;
  /** Of the node, because a browser follows it. */
  readonly clock: Clock;
  readonly publicUrl: () => string;
}) {
  return {
    issue(of: Named, by: string): string {
      const key = keys.newest('access_token');
      const untilMs = epochMsOf(clock.now()) + lifetimeMs;
      const holder = Buffer.from(by).toString('base64url');
      const token = `${untilMs}.${key.keyVersion}.${holder}.${proofOf(of, { untilMs, holder }, key)}`;
      return `${publicUrl()}/exports/${encodeURIComponent(of.partyId)}/${of.id}/${token}`;
    },

    /** The key that the link was given to; undefined if it is none for this file, or too old. */
    async holderOf(of: Named, token: string): Promise<string | undefined> {
      const [, until, keyVersion, holder = '', proof] = tokenText.exec(token) ?? [];
      if (proof === undefined || Number(until) <= epochMsOf(clock.now())) return undefined;
      const key = await keys.find('access_token', Number(keyVersion));
      if (!key) return undefined;
      const expected = proofOf(of, { untilMs: Number(until), holder }, key);
      return timingSafeEqual(Buffer.from(proof), Buffer.from(expected))
        ? Buffer.from(holder, 'base64url').toString()
        : undefined;
    },
  };
}

/** Its own key, so that it is no signature of anything else. */
function proofOf(
  { partyId, id }: Named,
  { untilMs, holder }: { readonly untilMs: number; readonly holder: string },
  { secret }: DataKey,
): string {
  return createHmac('sha256', keyFor(secret, 'export link'))
    .update(JSON.stringify([partyId, id, untilMs, holder]))
    .digest('base64url');
}
