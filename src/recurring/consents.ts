// Consents: what starts, renews and ends a series, and the evidence of it.
import type { Cards } from '../cards/vault.ts';
import type { Instant } from '../clock.ts';
import { defined } from '../defined.ts';
import type { Database } from '../platform/database/database.ts';
import type { Paid } from '../receipts/domain/receipt-email.ts';
import type { Receipts } from '../receipts/receipts.ts';
import { endOfCard, endOfDay } from '../retry-rules/domain/calendar.ts';
import { isInForce, type CardStop } from '../retry-rules/domain/may-charge.ts';
import { mustHaveCredential } from './card-credential.ts';
import { linkOf, type Bundle } from './consent-bundle.ts';
import type { ConsentSeals } from './consent-seal.ts';
import { cardNeededUntil } from './domain/series-card-need.ts';
import { mandateOf } from './domain/mandate.ts';
import {
  seriesIdOf,
  seriesIdOfCustomer,
  storedRef,
  type BindingRef,
  type PaymentRef,
  type Series,
  type SeriesTerms,
} from './domain/series.ts';
import { timeZoneOf } from './domain/settings.ts';
import type { CardNeeded, Look, Consent, Consents } from './port.ts';
import { queueReceipt, receiptSourceOf } from './receipt-source.ts';
import { readChargeHistory } from './store/attempts.ts';
import { seriesFact } from './store/codec.ts';
import {
  findSeries,
  lockSeries,
  mustLockSeries,
  readSeriesEvents,
  storeFacts,
  storeNewSeries,
  type StoredSeries,
} from './store/series.ts';
import { findSettings } from './store/settings.ts';

type Deps = {
  readonly cards: Pick<Cards, 'credential' | 'expedite'>;
  readonly seals: ConsentSeals;
  readonly receipts: Pick<Receipts, 'emailOf'>;
};

export function openConsents(deps: Deps): Consents {
  const { cards, seals } = deps;
  return {
    async start(tx, consent, now) {
      const { terms, started } = await beginSeries(deps, tx, consent, now);
      return started ?? mustLockSeries(tx, terms.id);
    },

    async startForBinding(tx, consent, now) {
      const { terms, started } = await beginSeries(deps, tx, consent, now);
      if (!started) await storeRenewal(deps, tx, await mustLockSeries(tx, terms.id), terms, now);
      return terms.id;
    },

    renew: (tx, seriesId, consent, now) => renew(deps, tx, seriesId, consent, now),

    async revoke(tx, seriesId, how, now) {
      const stored = await lockSeries(tx, seriesId);
      if (!stored || stored.series.state.name === 'withdrawn') return stored?.series;
      await cards.expedite(tx, stored.handles.token, now);
      return (await storeFacts(tx, stored, [{ type: 'consent_withdrawn', ...how }], now)).series;
    },

    async addParent(tx, seriesId, { invoiceId, paymentId }, now) {
      const stored = await mustLockSeries(tx, seriesId);
      return storeFacts(tx, stored, [{ type: 'parent_added', invoiceId, paymentId }], now);
    },

    find: findSeries,

    async seriesOfCustomer(tx, { named, customerId, ...card }) {
      return named ?? seriesIdOfCustomer(customerId, (await mustHaveCredential(cards, tx, card)).key);
    },

    cardNeeds,
    settings: findSettings,

    async events(db, seriesId, after, limit) {
      const events = await readSeriesEvents(db, seriesId, after, limit);
      return events.map((event) => ({ ...event, facts: seriesFact.known(event.facts) }));
    },

    async bundle(db, seriesId, now) {
      const stored = await findSeries(db, seriesId);
      return stored && seals.seal(await bundleOf(db, stored, now));
    },

    async receiptSource(db, seriesId, paid) {
      const stored = await findSeries(db, seriesId);
      return stored && receiptSourceOf(db, stored, paid);
    },
  };
}

/** Without `started`, the series existed already, and these are the terms it would have started with. */
async function beginSeries(
  { cards }: Pick<Deps, 'cards'>,
  tx: Database,
  consent: Consent & (PaymentRef | BindingRef),
  now: Instant,
): Promise<{ readonly terms: SeriesTerms; readonly started: StoredSeries | undefined }> {
  const { terms, ...kept } = await termsOf(cards, tx, consent, now);
  return { terms, started: await storeNewSeries(tx, { type: 'series_started', terms }, kept, now) };
}

/** The terms with which the consent starts a series of its own. */
async function termsOf(
  cards: Deps['cards'],
  tx: Database,
  consent: Consent & (PaymentRef | BindingRef),
  now: Instant,
): Promise<{ readonly terms: SeriesTerms } & Pick<StoredSeries, 'handles' | 'settings'>> {
  const { partyId, shopId, livemode, card, given, evidence } = consent;
  const { key, expiry } = await mustHaveCredential(cards, tx, { partyId, livemode, token: card.token });
  const settings = await findSettings(tx, consent);
  const mandate = mandateOf(given, settings.terms ?? {}, evidence);
  const { validUntil, trialEnd } = mandate;
  const { networkTransactionId, currency } = evidence.payment;
  const endOf = (date: string | undefined) =>
    date === undefined ? undefined : endOfDay(date, timeZoneOf(settings, currency));
  const { paymentSystem, lastDigits } = card;
  const terms: SeriesTerms = {
    ...beginning(consent, key),
    partyId,
    shopId,
    card: { paymentSystem, lastDigits, endsAt: endOfCard(expiry) },
    mandate,
    consentedAt: now,
    ...defined({
      rootNetworkTransactionId: networkTransactionId,
      endsAt: endOf(validUntil),
      trialEndsAt: endOf(trialEnd),
    }),
    bindsAmount: true,
  };
  return { terms, handles: { token: card.token, key }, settings };
}

function beginning(ref: PaymentRef | BindingRef, cardKey: Buffer): Pick<SeriesTerms, 'id' | 'kind' | 'root'> {
  if ('invoiceId' in ref) {
    const { invoiceId, paymentId } = ref;
    return { id: seriesIdOf(ref), kind: 'parent', root: { invoiceId, paymentId } };
  }
  const { customerId, bindingId } = ref;
  return { id: seriesIdOfCustomer(customerId, cardKey), kind: 'customer', root: { customerId, bindingId } };
}

async function storeRenewal(
  { cards }: Pick<Deps, 'cards'>,
  tx: Database,
  stored: StoredSeries,
  terms: SeriesTerms,
  now: Instant,
): Promise<StoredSeries> {
  const { card, endsAt, trialEndsAt, mandate } = terms;
  const lasts = defined({ endsAt, trialEndsAt });
  const renewed = { type: 'consent_renewed', card, mandate, bindsAmount: true, ...lasts } as const;
  const after = await storeFacts(tx, stored, [renewed], now);
  // The job of the first card waits for the old end of the series, and the new end may be earlier.
  await cards.expedite(tx, stored.handles.token, now);
  return after;
}

async function renew(
  deps: Deps,
  tx: Database,
  seriesId: string,
  consent: Consent & BindingRef,
  now: Instant,
): Promise<boolean> {
  const { payment } = consent.evidence;
  const { terms } = await termsOf(deps.cards, tx, consent, now);
  const stored = await mustLockSeries(tx, seriesId);
  const cardStop = (await readChargeHistory(tx, seriesId, {}, now))?.history.cardStop;
  if (isOverriddenSince(payment.createdAt, stored.series, cardStop)) return false;
  if (!(await mayStillCharge(deps, tx, stored))) return false;
  const renewed = await storeRenewal(deps, tx, stored, terms, now);
  const { currency, reference, approvalCode } = payment;
  const paid: Paid = {
    ...storedRef(consent),
    at: now,
    amount: { minor: 0n, currency },
    reference,
    ...defined({ approvalCode }),
  };
  await queueReceipt(deps.receipts, tx, renewed, { paid }, now);
  return true;
}

/** Whether the payer or their bank has decided something else since the payer agreed. */
function isOverriddenSince(
  agreedAt: Instant,
  { state, consentedAt }: Series,
  cardStop: CardStop | undefined,
): boolean {
  if (state.name === 'withdrawn' || consentedAt > agreedAt) return true;
  // The job that writes it into the log of the series may not have run yet.
  if (cardStop && cardStop.at > agreedAt) return true;
  return state.name === 'stopped' && state.at > agreedAt;
}

/** The card of a series that began with a payment may have been deleted since the payer agreed. A customer's can be bound again. */
async function mayStillCharge(
  { cards }: Pick<Deps, 'cards'>,
  tx: Database,
  { series, handles }: StoredSeries,
): Promise<boolean> {
  if (series.kind === 'customer') return true;
  return (await cards.credential(tx, series.partyId, handles.token)) !== undefined;
}

async function cardNeeds(db: Database, seriesId: string, { now, isLocked }: Look): Promise<CardNeeded> {
  if (isLocked) await lockSeries(db, seriesId);
  const found = await readChargeHistory(db, seriesId, {}, now);
  if (!found) return { isCharging: false };
  const { series, handles } = found.stored;
  const { isAttemptPending: isCharging, cardStop } = found.history;
  const isStopped = cardStop !== undefined && isInForce(cardStop, series);
  const neededUntil = isStopped ? undefined : cardNeededUntil(series, now);
  return { isCharging, token: handles.token, ...defined({ neededUntil }) };
}

/** All events of the series as they are chained, to be sealed. */
async function bundleOf(
  db: Database,
  { series, version, chain }: StoredSeries,
  sealedAt: Instant,
): Promise<Omit<Bundle, 'publicKey' | 'signature'>> {
  const { id: seriesId, partyId, shopId } = series;
  const events = await readSeriesEvents(db, seriesId, 0, version);
  let hash = '';
  const entries = events.map(({ sequence, createdAt: at, facts }) => {
    hash = linkOf(hash, { sequence, at, facts });
    return { sequence, at, facts, hash };
  });
  if (hash !== chain) throw new Error(`The log of series ${seriesId} does not match its hash chain.`);
  return { format: 'mandate consent 1', seriesId, partyId, shopId, sealedAt, entries };
}
