// The access tokens of templates. Each is looked up: no key has signed it, so none has to be kept for it, and a deletion ends it.
import { hash, timingSafeEqual } from 'node:crypto';
import type { Database } from '../platform/database/database.ts';
import type { SecretCheck } from '../platform/http/request-pipeline.ts';
import { templateTokenParts } from './domain/template.ts';
import { loadTemplate } from './store/templates.ts';

const maxWorked = 10_000;

/** `lookups` is the read-only pool, which no transaction holds connections of. */
export function openTemplateTokens(lookups: Pick<Database, 'run'>): SecretCheck {
  /** The digests of those that worked on this node, oldest first. */
  const worked = new Set<string>();
  const digestOf = (text: string) => hash('sha256', text, 'base64');

  return {
    async authenticate(text) {
      const { templateId, secret } = templateTokenParts(text) ?? {};
      if (templateId === undefined || secret === undefined) return undefined;
      const template = await loadTemplate(lookups, templateId);
      if (!template || !timingSafeEqual(Buffer.from(secret), Buffer.from(template.accessSecret)))
        return undefined;
      worked.add(digestOf(text));
      for (const oldest of worked) {
        if (worked.size <= maxWorked) break;
        worked.delete(oldest);
      }
      return { kind: 'invoice-template', entityId: template.id, partyId: template.partyId };
    },
    hasWorked: (text) => worked.has(digestOf(text)),
    // There may be many templates, so a flood of made-up tokens is not compared with a list of them.
    isNamed: () => Promise.resolve(false),
  };
}
