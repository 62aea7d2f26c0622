// Implements port.ts. A change of a series is written with its payment, and only if the series has not changed since it was
// evaluated.
import { seriesFact } from './store/codec.ts';
import { createHash } from 'node:crypto';
import { latest, laterBy, type Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import type { Money } from '../money.ts';
import { endOfCard, endOfDay } from '../retry-rules/domain/calendar.ts';
import {
  findPendingAttempt,
  findPendingCharge,
  readChargeHistory,
  storeCardStop,
  storeChargeEnd,
  storeDecline,
} from './store/attempts.ts';
import { approvedChargeOf, startedChargeOf, type PendingCharge } from './store/charge-fragments.ts';
import { linkOf } from './consent-bundle.ts';
import { openConsentSeals } from './consent-seal.ts';
import type { ReceiptRequest } from '../receipts/domain/payer-email.ts';
import { findPayerEmail, storePayerEmail } from '../receipts/store/payer-emails.ts';
import { mandateOf } from './domain/mandate.ts';
import { canNeverCharge, mayCharge, type Charge } from '../retry-rules/domain/may-charge.ts';
import { nextAdvanceNotice } from './domain/advance-notices.ts';
import {
  applyOutcome,
  seriesIdOf,
  seriesIdOfCustomer,
  type SeriesTerms,
  rootOf,
  type BindingRef,
  type ChargeOutcome,
  type PaymentRef,
} from './domain/series.ts';
import {
  findSeries,
  lockSeries,
  reschedule,
  readSeriesEvents,
  storeFacts,
  storeNewSeries,
} from './store/series.ts';
import { findSettings } from './store/settings.ts';
import type { Evaluation, Consent, Recurring } from './port.ts';
import { openReceipts } from './write-receipt.ts';
import { defined } from '../defined.ts';
import type { Cards } from '../cards/vault.ts';
import type { Merchants } from '../merchants/merchants.ts';

/** Longer than the window of any counter. */
const declinesCountMs = 31 * 24 * 3_600_000;

export function openRecurring({
  cards,
  merchants,
  keyring,
  publicUrl,
  sendsEmail,
}: {
  readonly cards: Pick<Cards, 'credential' | 'expedite'>;
  readonly merchants: Pick<Merchants, 'shop'>;
  readonly keyring: Pick<Keyring, 'find' | 'newest'>;
  readonly publicUrl: () => string;
  /** False in live mode without a mail server, where an email would be neither sent nor seen. */
  readonly sendsEmail: boolean;
}): Recurring {
  const seals = openConsentSeals(keyring, publicUrl);
  const writeReceipt = openReceipts({ merchants, revokeUrlOf: seals.revokeUrlOf });

  const mailed = (receipt: ReceiptRequest | undefined) => (sendsEmail ? receipt : undefined);

  async function credentialOf(
    tx: Database,
    { partyId, livemode, token }: { partyId: string; livemode: boolean; token: string },
  ): Promise<{ key: Buffer; expiry: string } | undefined> {
    const credential = await cards.credential(tx, partyId, token);
    return (
      credential && { key: cardKey(credential.numberHash, partyId, livemode), expiry: credential.expiry }
    );
  }

  async function mustHave(tx: Database, card: { partyId: string; livemode: boolean; token: string }) {
    const credential = await credentialOf(tx, card);
    if (!credential) throw new Error('The card to charge is not in the vault.');
    return credential;
  }

  /** Unless `isNew`, the series existed already, and these are the terms it would have started with. */
  async function beginSeries(
    tx: Database,
    consent: Consent & (PaymentRef | BindingRef),
    now: Instant,
  ): Promise<{ readonly isNew: boolean; readonly terms: SeriesTerms }> {
    const { partyId, shopId, livemode, card, given, evidence } = consent;
    const root = rootOf(consent);
    const { key, expiry } = await mustHave(tx, { partyId, livemode, token: card.token });
    const { terms: shopTerms = {} } = await findSettings(tx, consent);
    const mandate = mandateOf(given, shopTerms, evidence);
    const { networkTransactionId } = evidence.payment;
    const { paymentSystem, lastDigits } = card;
    const terms: SeriesTerms = {
      id: 'bindingId' in consent ? seriesIdOfCustomer(consent.customerId, key) : seriesIdOf(root),
      partyId,
      shopId,
      kind: 'bindingId' in consent ? 'customer' : 'parent',
      root,
      card: { paymentSystem, lastDigits, endsAt: endOfCard(expiry) },
      mandate,
      consentedAt: now,
      ...defined({ rootNetworkTransactionId: networkTransactionId }),
      ...(mandate.validUntil === undefined ? {} : { endsAt: endOfDay(mandate.validUntil) }),
    };
    const isNew = await storeNewSeries(
      tx,
      { type: 'series_started', terms },
      { token: card.token, key },
      now,
    );
    return { isNew, terms };
  }

  return {
    async start(tx, consent, now) {
      await beginSeries(tx, consent, now);
    },

    async startForBinding(tx, consent, now) {
      const { isNew, terms } = await beginSeries(tx, consent, now);
      const { id, card, endsAt, mandate } = terms;
      if (isNew) return id;
      const lasts = defined({ endsAt });
      const renewed = { type: 'consent_renewed', card, mandate, ...lasts } as const;
      const stored = await held(tx, id);
      await storeFacts(tx, stored, [renewed], now);
      // The job of the first card waits for the old end of the series, and the new end may be earlier.
      await cards.expedite(tx, stored.handles.token, now);
      return id;
    },

    async seriesOfCustomer(tx, { named, customerId, ...card }) {
      return named ?? seriesIdOfCustomer(customerId, (await mustHave(tx, card)).key);
    },

    async addParent(tx, seriesId, { invoiceId, paymentId }, now) {
      const stored = await held(tx, seriesId);
      await storeFacts(tx, stored, [{ type: 'parent_added', invoiceId, paymentId }], now);
    },

    async evaluate(db, asked, now, isLocked) {
      // A separate statement: a statement that waits for a lock reads all other rows as they were before.
      if (isLocked && !(await lockSeries(db, asked.seriesId))) return undefined;
      return verdictOn(db, asked.seriesId, asked, now);
    },

    chargeStarted({ stored, settings, verdict }, { invoiceId, paymentId, amount }, now) {
      if (!verdict.may) throw new Error('A charge was started that is not allowed.');
      const { isRetry, packs, warnings } = verdict;
      const fact = {
        type: 'recurring_charge_started',
        invoiceId,
        paymentId,
        isRetry,
        amount: { minor: Number(amount.minor), currency: amount.currency },
        packs,
        warnings,
      } as const;
      return startedChargeOf({ stored, settings }, fact, amount, now);
    },

    async chargeApproved(db, { seriesId, preloaded, ...member }, { ending, receipt }, now) {
      const found = preloaded ?? (await findPendingCharge(db, seriesId, member));
      const end = found && endOf(found, ending, now);
      if (!end || end.isDecline || end.cardStop) return undefined;
      return approvedChargeOf(found, end, mailed(receipt), now);
    },

    async recordOutcome(tx, seriesId, member, ending, now) {
      const stored = await held(tx, seriesId);
      const attempt = await findPendingAttempt(tx, seriesId, member);
      if (!attempt) return;
      const charge = { stored, attempt };
      const end = endOf(charge, ending, now);
      await storeChargeEnd(tx, charge, end, now);
      const { partyId, shopId } = stored.series;
      if (end.isDecline) await storeDecline(tx, stored.handles.key, { ...attempt, partyId, shopId }, true);
      if (end.cardStop) {
        await storeCardStop(tx, charge, end.cardStop, latest(now, stored.changedAt));
        await cards.expedite(tx, stored.handles.token, now);
      }
    },

    async recordDecline(tx, charge, now) {
      const credential = await credentialOf(tx, charge);
      if (!credential) return;
      await storeDecline(tx, credential.key, { ...charge, ...rootOf(charge), createdAt: now }, false);
    },

    async preview(db, seriesId, charge, now) {
      return verdictOn(db, seriesId, charge, now);
    },

    async canNeverCharge(db, seriesId, now) {
      const stored = await findSeries(db, seriesId);
      return !stored || canNeverCharge(stored.series, now);
    },

    async cardNeeds(db, seriesId, now) {
      const found = await readChargeHistory(db, seriesId, {}, now);
      if (!found) return { isCharging: false };
      const { series, handles } = found.stored;
      const { isAttemptPending: isCharging } = found.standing;
      if (canNeverCharge(series, now)) return { isCharging };
      const { card, endsAt = card.endsAt } = series;
      const chargeableUntil = endsAt < card.endsAt ? endsAt : card.endsAt;
      return { isCharging, chargeableUntil, token: handles.token };
    },

    settings: findSettings,
    async events(db, seriesId, after, limit) {
      const events = await readSeriesEvents(db, seriesId, after, limit);
      return events.map((event) => ({ ...event, facts: seriesFact.known(event.facts) }));
    },

    async bundle(db, seriesId, now) {
      const stored = await findSeries(db, seriesId);
      if (!stored) return undefined;
      const { series, version, chain } = stored;
      const events = await readSeriesEvents(db, seriesId, 0, version);
      let hash = '';
      const entries = events.map(({ sequence, createdAt: at, facts }) => {
        hash = linkOf(hash, { sequence, at, facts });
        return { sequence, at, facts, hash };
      });
      if (hash !== chain) throw new Error(`The log of series ${seriesId} does not match its hash chain.`);
      const { partyId, shopId } = series;
      const format = 'mandate consent 1' as const;
      return seals.seal({ format, seriesId, partyId, shopId, sealedAt: now, entries });
    },

    receipt: writeReceipt,
    payerEmail: findPayerEmail,

    async queueReceipt(tx, seriesId, receipt, now) {
      const request = mailed(receipt);
      if (request) await storePayerEmail(tx, seriesId, request, now);
    },

    verifyRevokeLink: seals.isLink,

    async revoke(tx, seriesId, how, now) {
      const stored = await lockSeries(tx, seriesId);
      if (!stored || stored.series.state.name === 'withdrawn') return stored?.series;
      await cards.expedite(tx, stored.handles.token, now);
      return storeFacts(tx, stored, [{ type: 'consent_withdrawn', ...how }], now);
    },

    async runSeriesJob(db, seriesId, now) {
      await db.transaction(async (tx) => {
        const stored = await lockSeries(tx, seriesId);
        if (!stored) return;
        const { series } = stored;
        const cardStop = (await readChargeHistory(tx, seriesId, {}, now))?.standing.cardStop;
        if (series.state.name === 'active' && cardStop && cardStop.at >= series.consentedAt) {
          const { rule, pack } = cardStop;
          await storeFacts(tx, stored, [{ type: 'series_stopped', rule, pack, scope: 'series' }], now);
          await cards.expedite(tx, stored.handles.token, now);
          return;
        }
        const notice = nextAdvanceNotice(series);
        if (notice && notice.at <= now) await storeFacts(tx, stored, [{ type: 'notice_due', notice }], now);
        else await reschedule(tx, stored, notice?.at ?? null);
      });
    },
  };
}

async function verdictOn(
  db: Database,
  seriesId: string,
  charge: Charge & { invoiceId?: string; amount?: Money },
  now: Instant,
): Promise<Evaluation | undefined> {
  const found = await readChargeHistory(db, seriesId, charge, laterBy(now, -declinesCountMs));
  if (!found) return undefined;
  const { stored, standing, settings } = found;
  const { enforceMaxGap = false } = settings;
  const verdict = mayCharge(standing, { ...charge, enforceMaxGap }, now);
  return { series: stored.series, token: stored.handles.token, verdict, stored, settings };
}

/** An event of a series is never earlier than the one before. */
function endOf(
  { stored: { series, changedAt }, attempt }: Pick<PendingCharge, 'stored' | 'attempt'>,
  ending: ChargeOutcome,
  now: Instant,
) {
  return applyOutcome(series, attempt, ending, latest(now, changedAt));
}

async function held(tx: Database, seriesId: string) {
  const stored = await lockSeries(tx, seriesId);
  if (!stored) throw new Error(`Series ${seriesId} not found.`);
  return stored;
}

/** All sandbox parties use the same test cards, so each party's card counts as its own. */
function cardKey(numberHash: Buffer, partyId: string, livemode: boolean): Buffer {
  const scope = livemode ? '' : partyId;
  return createHash('sha256').update(numberHash).update(scope).digest();
}
