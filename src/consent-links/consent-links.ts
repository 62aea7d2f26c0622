// Implements port.ts: finds a link with what its status follows from, and begins the payer's confirmation.
import { createHash } from 'node:crypto';
import type { PaymentResource } from '../cards/domain/payment-resource.ts';
import type { Cards } from '../cards/vault.ts';
import { earliest, laterBy, type Instant } from '../clock.ts';
import { confirmTerms, loadConfirmation, tokenOfSeries, type ConfirmTermsDeps } from '../customers/port.ts';
import { defined } from '../defined.ts';
import type { Merchants } from '../merchants/merchants.ts';
import { allOrNothing } from '../platform/database/all-or-nothing.ts';
import { retryOnConflict, type Database } from '../platform/database/database.ts';
import type { LinkSecrets } from '../platform/keys/link-secrets.ts';
import type { MandateGiven } from '../recurring/domain/mandate.ts';
import { accept, refuse, type Outcome } from '../refusal.ts';
import type { Series } from '../recurring/domain/series.ts';
import type { Consents } from '../recurring/port.ts';
import type { Ids } from '../ids.ts';
import { mayRenew } from '../recurring/domain/renewal.ts';
import { statusOf, type ConsentLink, type LinkState } from './domain/consent-link.ts';
import type { Agreement, ConsentLinks, Offer } from './port.ts';
import {
  findOfferedLink,
  loadLink,
  lockLink,
  storeAttempt,
  storeOfferedLink,
} from './store/consent-links.ts';

/** Followed by the ID and the secret of a link. */
const consentPath = '/consent';

export type ConsentLinkDeps = ConfirmTermsDeps & {
  readonly cards: Pick<Cards, 'tokeniseAgain'>;
  readonly merchants: Merchants;
  readonly consents: Pick<Consents, 'find'>;
  readonly linkSecrets: LinkSecrets;
  readonly publicUrl: () => string;
  readonly ids: Ids;
};

type Begun = Outcome<LinkState, 'operationNotPermitted' | 'tooManyBindings'>;

export function openConsentLinks(deps: ConsentLinkDeps): ConsentLinks {
  const { db, merchants, consents, linkSecrets, publicUrl } = deps;

  async function timeOf({ partyId }: Pick<ConsentLink, 'partyId'>): Promise<Instant> {
    const party = await merchants.party(partyId);
    if (!party) throw new Error(`Party ${partyId} not found.`);
    return merchants.timeOf(party);
  }

  async function find(on: Database, linkId: string, now?: Instant): Promise<LinkState | undefined> {
    const link = await loadLink(on, linkId);
    return link && linkStateOf(consents, on, link, now ?? (await timeOf(link)));
  }

  const urlOf = (linkId: string) =>
    `${publicUrl()}${consentPath}/${linkId}/${linkSecrets.secretOf('renew', linkId)}`;

  return {
    async offer(offer) {
      const stored = await consents.find(db, offer.seriesId);
      if (!stored) throw new Error(`Series ${offer.seriesId} not found.`);
      const { series } = stored;
      const offered = await offerOnce(deps, offer, series, await timeOf(series));
      return offered.ok ? accept({ url: urlOf(offered.value) }) : offered;
    },
    urlOf,
    find,
    linkStateOf: (on, link, now) => linkStateOf(consents, on, link, now),
    async open(linkId, secret) {
      return (await linkSecrets.isSecret('renew', linkId, secret)) ? find(db, linkId) : undefined;
    },
    async agree(linkState, agreement) {
      if (linkState.status !== 'open') return accept(linkState);
      const now = await timeOf(linkState.link);
      const what = `consent link ${linkState.link.id}`;
      return retryOnConflict(what, () => begin(deps, linkState, agreement, now));
    },
  };
}

/** Opened by the page that asks for it, so it need not live long. */
const offerMs = 2 * 24 * 3_600_000;

/** What has been cancelled or has expired is a dead page: then it is the next one of that name. */
async function offerOnce(
  deps: ConsentLinkDeps,
  offer: Offer,
  series: Series,
  now: Instant,
  count = 0,
): Promise<Outcome<string, string>> {
  const { db, ids, merchants, consents } = deps;
  const { seriesId, terms, language } = offer;
  const { partyId, shopId } = series;
  const named = `${offer.named}.${count}`;
  const before = await findOfferedLink(db, partyId, named);
  if (before) {
    const { status } = await linkStateOf(consents, db, before.value, now);
    const isDead = status === 'cancelled' || status === 'expired';
    return isDead ? offerOnce(deps, offer, series, now, count + 1) : accept(before.value.id);
  }
  const trading = await merchants.trading(series);
  if (!trading.ok) return trading;
  const renewable = mayRenew(series, now);
  if (!renewable.ok) return renewable;
  const until = laterBy(now, offerMs);
  const endsAt = terms.validUntil === undefined ? until : (series.endsAt ?? until);
  const of = { partyId, shopId, seriesId, terms, language, createdAt: now };
  const link = { ...of, id: ids.next(), expiresAt: earliest(until, endsAt) };
  if (await storeOfferedLink(db, link, named)) return accept(link.id);
  const stored = await findOfferedLink(db, partyId, named);
  if (!stored) throw new Error(`Consent link ${named} is taken, and not found.`);
  return accept(stored.value.id);
}

async function linkStateOf(
  consents: Pick<Consents, 'find'>,
  on: Database,
  link: ConsentLink,
  now: Instant,
): Promise<LinkState> {
  const stored = await consents.find(on, link.seriesId);
  if (!stored) throw new Error(`Consent link ${link.id} names no series.`);
  const { series, handles } = stored;
  const binding = link.attempt && (await loadConfirmation(on, link.attempt))?.binding;
  const status = statusOf(link, series, binding, now);
  return { link, series, token: handles.token, status, ...defined({ binding }) };
}

/** The card is copied before the transaction, because the vault may wait for a key. An unused copy is deleted after an hour. */
async function begin(
  deps: ConsentLinkDeps,
  { link: { id: linkId }, token, series }: LinkState,
  agreement: Agreement,
  now: Instant,
): Promise<Begun | 'versionConflict'> {
  const { db, cards } = deps;
  const stored = { partyId: series.partyId, token: await tokenOfSeries(db, series, token) };
  const card = await cards.tokeniseAgain(db, { ...stored, clientInfo: agreement.clientInfo }, now);
  if (!card) return refuse('operationNotPermitted');
  const attempt = (tx: Database) => attemptOnce({ ...deps, db: tx }, linkId, { card, agreement }, now);
  return allOrNothing(db, attempt);
}

/** The lock makes a second submit wait, and see the attempt of the first. */
async function attemptOnce(
  deps: ConsentLinkDeps,
  linkId: string,
  { card, agreement }: { readonly card: PaymentResource; readonly agreement: Agreement },
  now: Instant,
): Promise<Begun | 'versionConflict'> {
  const { db: tx, consents, publicUrl } = deps;
  const link = await lockLink(tx, linkId);
  if (!link) throw new Error(`Consent link ${linkId} not found.`);
  const before = await linkStateOf(consents, tx, link, now);
  if (before.status !== 'open') return accept(before);
  const confirmation = {
    series: before.series,
    card,
    agreed: agreedTo(link, agreement, now),
    renews: { seriesId: link.seriesId, linkId },
    redirectUrl: `${publicUrl()}${consentPath}/return`,
    ...defined({ customerId: link.attempt?.customerId }),
  };
  const begun = await confirmTerms(deps, confirmation, now);
  if (begun === 'versionConflict') return begun;
  if (!begun.ok) {
    const { code, ...more } = begun.refusal;
    return refuse(code === 'tooManyBindings' ? code : 'operationNotPermitted', more);
  }
  await storeAttempt(tx, linkId, begun.value);
  return accept(await linkStateOf(consents, tx, { ...link, attempt: begun.value }, now));
}

function agreedTo({ id, terms }: ConsentLink, agreement: Agreement, now: Instant): MandateGiven {
  const { text, tickedAt, locale, userAgent } = agreement;
  return {
    ...terms,
    consent: {
      text,
      textHash: createHash('sha256').update(text).digest('hex'),
      ticked: true,
      tickedAt,
      checkbox: 'consent',
      locale,
      link: id,
      receivedAt: now,
      userAgent,
    },
  };
}
