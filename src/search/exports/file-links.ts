// The address of an export's file: signed, for this file alone, and for ten minutes. It is used without a key, so it is never logged.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { epochMsOf, type Clock } from '../../clock.ts';
import { keyFor, type DataKey } from '../../platform/keys/keyring.ts';
import type { Export } from './domain/export.ts';
import type { FileKeys } from './export-file.ts';

type Named = Pick<Export, 'partyId' | 'id'>;

export type FileLinks = ReturnType<typeof openFileLinks>;

const lifetimeMs = 600_000;
const tokenText = /^(\d{1,16})\.(\d{1,9})\.([\w-]{43})$/;

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
    issue(of: Named): string {
      const key = keys.newest('access_token');
      const untilMs = epochMsOf(clock.now()) + lifetimeMs;
      const token = `${untilMs}.${key.keyVersion}.${proofOf(of, untilMs, key)}`;
      return `${publicUrl()}/exports/${encodeURIComponent(of.partyId)}/${of.id}/${token}`;
    },

    async isValid(of: Named, token: string): Promise<boolean> {
      const [, until, keyVersion, proof] = tokenText.exec(token) ?? [];
      if (proof === undefined || Number(until) <= epochMsOf(clock.now())) return false;
      const key = await keys.find('access_token', Number(keyVersion));
      return (
        key !== undefined && timingSafeEqual(Buffer.from(proof), Buffer.from(proofOf(of, Number(until), key)))
      );
    },
  };
}

/** Its own key, so that it is no signature of anything else. */
function proofOf({ partyId, id }: Named, untilMs: number, { secret }: DataKey): string {
  return createHmac('sha256', keyFor(secret, 'export link'))
    .update(JSON.stringify([partyId, id, untilMs]))
    .digest('base64url');
}
