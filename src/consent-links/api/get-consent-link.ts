// GET …/consent-links/{consentLinkID}: whether the payer has agreed.
import type { Database } from '../../platform/database/database.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { accept, refuse } from '../../refusal.ts';
import type { ConsentLinks } from '../port.ts';
import { consentLinkBody, ConsentLinkPath, ConsentLinkSchema } from './schema.ts';

export const getConsentLink = endpoint({
  operation: 'getConsentLink',
  access: { scope: 'payments:read', maskedAs: 'consentLinkNotFound' },
  method: 'GET',
  path: '/v2/processing/consent-links/{consentLinkID}',
  tag: 'Recurring',
  summary: 'Get a consent link',
  params: ConsentLinkPath,
  status: 200,
  response: ConsentLinkSchema,
  errors: ['consentLinkNotFound'],
  handle: async (
    { caller, params, now },
    { db, consentLinks }: { readonly db: Database; readonly consentLinks: ConsentLinks },
  ) => {
    const found = await consentLinks.find(db, params.consentLinkID, now);
    if (found?.link.partyId !== caller.partyId) return refuse('consentLinkNotFound');
    return accept(consentLinkBody(found, consentLinks));
  },
});
