// POST …/consent-links/{consentLinkID}/cancel: the payer can no longer agree. A repeat changes nothing.
import type { Database } from '../../platform/database/database.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { accept, refuse } from '../../refusal.ts';
import type { ConsentLinks } from '../port.ts';
import { lockLink, storeCancellation } from '../store/consent-links.ts';
import { consentLinkBody, ConsentLinkPath, ConsentLinkSchema } from './schema.ts';

export const cancelConsentLink = endpoint({
  operation: 'cancelConsentLink',
  access: { scope: 'payments:write' },
  method: 'POST',
  path: '/v2/processing/consent-links/{consentLinkID}/cancel',
  tag: 'Recurring',
  summary: 'Cancel a consent link',
  description: 'Too late once the payer confirms with their bank.',
  params: ConsentLinkPath,
  status: 200,
  response: ConsentLinkSchema,
  errors: ['consentLinkNotFound', 'invalidConsentLinkStatus'],
  handle: (
    { caller, params, now },
    { db, consentLinks }: { readonly db: Database; readonly consentLinks: ConsentLinks },
  ) =>
    db.transaction(async (tx) => {
      const link = await lockLink(tx, params.consentLinkID);
      if (link?.partyId !== caller.partyId) return refuse('consentLinkNotFound');
      const linkState = await consentLinks.linkStateOf(tx, link, now);
      if (linkState.status === 'authenticating' || linkState.status === 'done') {
        return refuse('invalidConsentLinkStatus');
      }
      if (linkState.status !== 'open') return accept(consentLinkBody(linkState, consentLinks));
      await storeCancellation(tx, link.id, now);
      const cancelled = await consentLinks.linkStateOf(tx, { ...link, cancelledAt: now }, now);
      return accept(consentLinkBody(cancelled, consentLinks));
    }),
});
