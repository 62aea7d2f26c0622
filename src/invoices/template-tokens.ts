// The access tokens of templates: `mandate_template_<template ID>_<key version>_<22 characters, 132 bits>`, short for printed
// links. A key of the service proves them, no row has a part of one, and a deletion of the template ends them.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RefusedToken, TokenSubject } from '../caller.ts';
import type { Database } from '../platform/database/database.ts';
import { ttlCache } from '../platform/database/ttl-cache.ts';
import { templateTokenPrefix } from '../platform/http/pipeline/authentication.ts';
import type { DataKey, Keyring } from '../platform/keys/keyring.ts';
import { loadTemplate } from './store/templates.ts';

export type TemplateTokens = {
  issue(templateId: string): string;
  verify(token: string): Promise<TokenSubject | RefusedToken | undefined>;
  /** Of a template that was just deleted. Other nodes take its token for a second at most. */
  forget(templateId: string): void;
};

const tokenText = /^(mandate_template_([0-9A-Za-z]{1,40})_(\d{1,9})_)([\w-]{22})$/;

export function openTemplateTokens({
  lookups,
  keyring,
}: {
  /** The read-only pool, which no transaction holds connections of. */
  readonly lookups: Pick<Database, 'run'>;
  readonly keyring: Pick<Keyring, 'newest' | 'find'>;
}): TemplateTokens {
  const partyOf = ttlCache({
    maxAgeMs: 1_000,
    maxEntries: 10_000,
    load: async (templateId: string) => (await loadTemplate(lookups, templateId))?.partyId,
  });

  return {
    issue(templateId) {
      const key = keyring.newest('access_token');
      const named = `${templateTokenPrefix}${templateId}_${key.keyVersion}_`;
      return named + proofOf(named, key);
    },

    async verify(token) {
      const [, named, entityId, keyVersion, proof] = tokenText.exec(token) ?? [];
      if (!named || !entityId || !proof) return undefined;
      const key = await keyring.find('access_token', Number(keyVersion));
      // Before anything is read: a made-up token does not reach the database.
      if (!key || !timingSafeEqual(Buffer.from(proof), Buffer.from(proofOf(named, key)))) return undefined;
      const partyId = await partyOf.get(entityId);
      if (partyId === undefined) return { kind: 'refused', why: 'deleted' };
      return { kind: 'invoice-template', entityId, partyId };
    },

    forget: (templateId) => partyOf.forget(templateId),
  };
}

/** The address at which payers pay by a template. No server sees what stands behind the #. */
export function paymentLinkOf(
  publicUrl: string,
  { id, token }: { readonly id: string; readonly token: string },
): string {
  return `${publicUrl}/checkout?invoiceTemplateID=${id}#invoiceTemplateAccessToken=${token}`;
}

/** The signed part of a JSON Web Token has a dot, and this text has none: no signature is good for both. */
function proofOf(named: string, { secret }: DataKey): string {
  return createHmac('sha256', secret).update(named).digest('base64url').slice(0, 22);
}
