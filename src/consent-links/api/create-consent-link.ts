// POST /v2/processing/consent-links: creates a link on whose page the payer agrees to new terms of a series.
import { laterBy, type Instant } from '../../clock.ts';
import { defined } from '../../defined.ts';
import type { Ids } from '../../ids.ts';
import { tradingRefusals } from '../../merchants/domain/party.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { Database } from '../../platform/database/database.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { createIdempotently, requestFingerprint } from '../../platform/http/idempotent-create.ts';
import { instantOf } from '../../platform/http/schemas.ts';
import { mandateGiven, newTermsIn, termsProblem } from '../../recurring/api/schema.ts';
import { mayRenew } from '../../recurring/domain/renewal.ts';
import type { Series } from '../../recurring/domain/series.ts';
import { timeZoneOf, type RecurringSettings } from '../../recurring/domain/settings.ts';
import type { Consents } from '../../recurring/port.ts';
import { accept, refuse } from '../../refusal.ts';
import { endOfDay } from '../../retry-rules/domain/calendar.ts';
import { dateProblem, usualLifeMs, type ConsentLink, type NewTerms } from '../domain/consent-link.ts';
import type { ConsentLinks } from '../port.ts';
import { findLinkByExternalId, storeNewLink } from '../store/consent-links.ts';
import { consentLinkBody, consentLinkExample, ConsentLinkParams, ConsentLinkSchema } from './schema.ts';

type Deps = {
  readonly db: Database;
  readonly ids: Ids;
  readonly merchants: Merchants;
  readonly consents: Pick<Consents, 'find'>;
  readonly consentLinks: ConsentLinks;
};

export const createConsentLink = endpoint({
  operation: 'createConsentLink',
  access: { scope: 'payments:write' },
  method: 'POST',
  path: '/v2/processing/consent-links',
  tag: 'Recurring',
  summary: 'Ask the payer to agree to new terms',
  description:
    'Send the payer to the `url`. They see both terms, tick a box and confirm with their bank. Then the series has the new terms.',
  body: ConsentLinkParams,
  validateBody: ({ terms }) => termsProblem(newTermsIn(terms), 'terms'),
  bodyExample: consentLinkExample,
  status: 201,
  response: ConsentLinkSchema,
  errors: [
    'seriesNotFound',
    'recurrentConsentRevoked',
    'recurrentCardExpired',
    'recurrentStopped',
    ...tradingRefusals,
    'externalIDConflict',
  ],
  handle: async ({ caller, body, now }, { db, ids, merchants, consents, consentLinks }: Deps) => {
    const { partyId } = caller;
    const fingerprint = requestFingerprint([body.seriesID, body.terms, body.redirectUrl]);
    const stored = await consents.find(db, body.seriesID);
    if (stored?.series.partyId !== partyId) return refuse('seriesNotFound');
    const { series, handles } = stored;
    return createIdempotently({
      externalId: body.externalID,
      fingerprint,
      order: 'findFirst',
      find: (externalId) => findLinkByExternalId(db, partyId, externalId),
      respond: async (link) =>
        accept(consentLinkBody(await consentLinks.linkStateOf(db, link, now), consentLinks)),
      make: async () => {
        const trading = await merchants.trading(series);
        if (!trading.ok) return trading;
        const renewable = mayRenew(series, now);
        if (!renewable.ok) return renewable;
        const asked = linkOf(body, series, ids.next(), now);
        const endsAt = endOfTerms(asked.terms, stored);
        const problem = dateProblem({ expiresAt: asked.expiresAt, ...defined({ endsAt }) }, now);
        if (problem !== undefined) return refuse('invalidRequest', { message: problem });
        // After their last day, the terms would end a series that can be charged.
        const link =
          endsAt !== undefined && endsAt < asked.expiresAt ? { ...asked, expiresAt: endsAt } : asked;
        if (!(await storeNewLink(db, link, fingerprint))) return 'externalIdTaken';
        const linkState = { link, series, token: handles.token, status: 'open' } as const;
        return accept(consentLinkBody(linkState, consentLinks));
      },
    });
  },
});

function endOfTerms(
  { validUntil }: NewTerms,
  { series, settings }: { readonly series: Series; readonly settings: RecurringSettings },
): Instant | undefined {
  if (validUntil === undefined) return undefined;
  return endOfDay(validUntil, timeZoneOf(settings, series.mandate.payment.currency));
}

function linkOf(
  { externalID, terms, expiresAt, language, redirectUrl }: ConsentLinkParams,
  { id: seriesId, partyId, shopId }: Series,
  id: string,
  now: Instant,
): ConsentLink {
  return {
    id,
    partyId,
    shopId,
    seriesId,
    // The schema requires a schedule and an amount rule.
    terms: mandateGiven(newTermsIn(terms), () => '') as NewTerms,
    createdAt: now,
    expiresAt: expiresAt === undefined ? laterBy(now, usualLifeMs) : instantOf(expiresAt),
    ...defined({ externalId: externalID, language, redirectUrl }),
  };
}
