// Implements port.ts. A change of a series is written with its payment, and only if the series has not changed since it was
// evaluated.
import { seriesFact } from './store/codec.ts';
import { createHash } from 'node:crypto';
import { latest, laterBy, type Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { endOfCard, endOfDay } from '../retry-rules/domain/calendar.ts';
import {
  findPendingAttempt,
  findPendingCharge,
  readChargeHistory,
  storeCardStop,
  storeChargeEnd,
  storeDecline,
  storeHoldEnd,
  storeInvoiceStop,
} from './store/attempts.ts';
import { approvedChargeOf, startedChargeOf, type PendingCharge } from './store/charge-fragments.ts';
import { linkOf } from './consent-bundle.ts';
import type { ConsentSeals } from './consent-seal.ts';
import type { Paid, ReceiptRequest } from '../receipts/domain/payer-email.ts';
import type { Receipts } from '../receipts/receipts.ts';
import { storePayerEmail } from '../receipts/store/payer-emails.ts';
import { mandateOf } from './domain/mandate.ts';
import {
  canNeverCharge,
  isInForce,
  mayCharge,
  type CardStop,
  type Charge,
} from '../retry-rules/domain/may-charge.ts';
import { nextAdvanceNotice } from './domain/advance-notices.ts';
import { cardNeededUntil } from './domain/card-retention.ts';
import {
  applyOutcome,
  seriesIdOf,
  stopOfDecline,
  seriesIdOfCustomer,
  type SeriesTerms,
  rootOf,
  type BindingRef,
  type ChargeOutcome,
  type PaymentRef,
  type Series,
} from './domain/series.ts';
import {
  findSeries,
  lockSeries,
  reschedule,
  readSeriesEvents,
  storeFacts,
  storeNewSeries,
  type StoredSeries,
} from './store/series.ts';
import { findSettings } from './store/settings.ts';
import { timeZoneOf } from './domain/settings.ts';
import type { Evaluation, Consent, Recurring } from './port.ts';
import { receiptSourceOf } from './receipt-source.ts';
import { defined } from '../defined.ts';
import type { Cards } from '../cards/vault.ts';

/** Longer than the window of any counter. */
const declinesCountMs = 31 * 24 * 3_600_000;

export function openRecurring({
  cards,
  seals,
  receipts,
}: {
  readonly cards: Pick<Cards, 'credential' | 'expedite'>;
  readonly seals: Omit<ConsentSeals, 'revokeUrlOf'>;
  readonly receipts: Pick<Receipts, 'emailOf'>;
}): Recurring {
  async function queueReceipt(tx: Database, stored: StoredSeries, request: ReceiptRequest, now: Instant) {
    const email = receipts.emailOf(await receiptSourceOf(tx, stored, request.paid), request);
    if (email) await storePayerEmail(tx, email, now);
  }

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

  /** The terms with which the consent starts a series of its own. */
  async function termsOf(
    tx: Database,
    consent: Consent & (PaymentRef | BindingRef),
    now: Instant,
  ): Promise<{ readonly terms: SeriesTerms } & Pick<StoredSeries, 'handles' | 'settings'>> {
    const { partyId, shopId, livemode, card, given, evidence } = consent;
    const root = rootOf(consent);
    const { key, expiry } = await mustHave(tx, { partyId, livemode, token: card.token });
    const settings = await findSettings(tx, consent);
    const mandate = mandateOf(given, settings.terms ?? {}, evidence);
    const { validUntil, trialEnd } = mandate;
    const { networkTransactionId, currency } = evidence.payment;
    const endOf = (date: string | undefined) =>
      date === undefined ? undefined : endOfDay(date, timeZoneOf(settings, currency));
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
      ...defined({
        rootNetworkTransactionId: networkTransactionId,
        endsAt: endOf(validUntil),
        trialEndsAt: endOf(trialEnd),
      }),
      bindsAmount: true,
    };
    return { terms, handles: { token: card.token, key }, settings };
  }

  /** Without `started`, the series existed already, and these are the terms it would have started with. */
  async function beginSeries(
    tx: Database,
    consent: Consent & (PaymentRef | BindingRef),
    now: Instant,
  ): Promise<{ readonly terms: SeriesTerms; readonly started: StoredSeries | undefined }> {
    const { terms, ...kept } = await termsOf(tx, consent, now);
    return { terms, started: await storeNewSeries(tx, { type: 'series_started', terms }, kept, now) };
  }

  async function storeRenewal(tx: Database, stored: StoredSeries, terms: SeriesTerms, now: Instant) {
    const { card, endsAt, trialEndsAt, mandate } = terms;
    const lasts = defined({ endsAt, trialEndsAt });
    const renewed = { type: 'consent_renewed', card, mandate, bindsAmount: true, ...lasts } as const;
    const after = await storeFacts(tx, stored, [renewed], now);
    // The job of the first card waits for the old end of the series, and the new end may be earlier.
    await cards.expedite(tx, stored.handles.token, now);
    return after;
  }

  /** The card of a series that began with a payment may have been deleted since the payer agreed. A customer's can be bound again. */
  async function mayStillCharge(tx: Database, { series, handles }: StoredSeries): Promise<boolean> {
    if (series.kind === 'customer') return true;
    return (await cards.credential(tx, series.partyId, handles.token)) !== undefined;
  }

  return {
    async start(tx, consent, now) {
      const { terms, started } = await beginSeries(tx, consent, now);
      return started ?? held(tx, terms.id);
    },

    async startForBinding(tx, consent, now) {
      const { started, terms } = await beginSeries(tx, consent, now);
      if (!started) await storeRenewal(tx, await held(tx, terms.id), terms, now);
      return terms.id;
    },

    async renew(tx, seriesId, consent, now) {
      const { terms } = await termsOf(tx, consent, now);
      const stored = await held(tx, seriesId);
      const cardStop = (await readChargeHistory(tx, seriesId, {}, now))?.standing.cardStop;
      if (isOverriddenSince(consent.evidence.payment.createdAt, stored.series, cardStop)) return false;
      if (!(await mayStillCharge(tx, stored))) return false;
      const renewed = await storeRenewal(tx, stored, terms, now);
      const { payment } = consent.evidence;
      const amount = { minor: 0n, currency: payment.currency };
      const { reference } = payment;
      const paid: Paid = {
        ...rootOf(consent),
        at: now,
        amount,
        reference,
        ...defined({ approvalCode: payment.approvalCode }),
      };
      await queueReceipt(tx, renewed, { paid }, now);
      return true;
    },

    find: findSeries,

    async seriesOfCustomer(tx, { named, customerId, ...card }) {
      return named ?? seriesIdOfCustomer(customerId, (await mustHave(tx, card)).key);
    },

    async addParent(tx, seriesId, { invoiceId, paymentId }, now) {
      const stored = await held(tx, seriesId);
      return storeFacts(tx, stored, [{ type: 'parent_added', invoiceId, paymentId }], now);
    },

    async evaluate(db, asked, now, isLocked) {
      // A separate statement: a statement that waits for a lock reads all other rows as they were before.
      if (isLocked && !(await lockSeries(db, asked.seriesId))) return undefined;
      return verdictOn(db, asked.seriesId, asked, now);
    },

    chargeStarted({ stored, cardStops, verdict }, { invoiceId, paymentId, amount }, now) {
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
      return startedChargeOf({ stored, cardStops }, fact, amount, now);
    },

    async chargeApproved(db, { seriesId, preloaded, ...member }, { ending, receipt }, now) {
      const found = preloaded ?? (await findPendingCharge(db, seriesId, member));
      const end = found && endOf(found, ending, now);
      if (!end || end.isDecline || end.cardStop) return undefined;
      const email =
        receipt && receipts.emailOf(await receiptSourceOf(db, found.stored, receipt.paid), receipt);
      return approvedChargeOf(found, end, email, now);
    },

    async recordOutcome(tx, seriesId, member, ending, now) {
      const stored = await held(tx, seriesId);
      const attempt = await findPendingAttempt(tx, seriesId, member, ending.outcome === 'approved');
      if (!attempt) return stored;
      const charge = { stored, attempt };
      const end = endOf(charge, ending, now);
      await storeChargeEnd(tx, charge, end, now);
      const { partyId, shopId } = stored.series;
      if (end.isDecline) await storeDecline(tx, stored.handles.key, { ...attempt, partyId, shopId }, true);
      const at = latest(now, stored.changedAt);
      if (end.invoiceStop) await storeInvoiceStop(tx, attempt, end.invoiceStop, at);
      if (end.cardStop) {
        const by = { ...attempt, partyId, shopId, seriesId };
        await storeCardStop(tx, stored.handles.key, by, end.cardStop, at);
      }
      if (end.stop && end.stop.scope !== 'charge') await cards.expedite(tx, stored.handles.token, now);
      return stored;
    },

    holdEnded: storeHoldEnd,

    async recordDecline(tx, charge, answer, now) {
      const credential = await credentialOf(tx, charge);
      if (!credential) return;
      const declined = { ...charge, ...rootOf(charge), createdAt: now };
      await storeDecline(tx, credential.key, declined, false);
      const stop = stopOfDecline(answer, now);
      // The verification charge of a binding has no invoice that could be charged again.
      if (stop?.scope === 'charge') await ('invoiceId' in charge && storeInvoiceStop(tx, charge, stop, now));
      else if (stop) await storeCardStop(tx, credential.key, declined, stop, now);
    },

    async preview(db, seriesId, charge, now) {
      return verdictOn(db, seriesId, charge, now);
    },

    async canNeverCharge(db, seriesId, now) {
      const stored = await findSeries(db, seriesId);
      return !stored || canNeverCharge(stored.series, now);
    },

    async cardNeeds(db, seriesId, now, isLocked) {
      if (isLocked) await lockSeries(db, seriesId);
      const found = await readChargeHistory(db, seriesId, {}, now);
      if (!found) return { isCharging: false };
      const { series, handles } = found.stored;
      const { isAttemptPending: isCharging, cardStop } = found.standing;
      const isStopped = cardStop !== undefined && isInForce(cardStop, series);
      const neededUntil = isStopped ? undefined : cardNeededUntil(series, now);
      return { isCharging, token: handles.token, ...defined({ neededUntil }) };
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

    async receiptSource(db, seriesId, paid) {
      const stored = await findSeries(db, seriesId);
      return stored && receiptSourceOf(db, stored, paid);
    },
    queueReceipt,

    verifyRevokeLink: seals.isLink,
    consentLinkSecret: seals.consentLinkSecret,
    verifyConsentLink: seals.isConsentLink,

    async revoke(tx, seriesId, how, now) {
      const stored = await lockSeries(tx, seriesId);
      if (!stored || stored.series.state.name === 'withdrawn') return stored?.series;
      await cards.expedite(tx, stored.handles.token, now);
      return (await storeFacts(tx, stored, [{ type: 'consent_withdrawn', ...how }], now)).series;
    },

    async runSeriesJob(db, seriesId, now) {
      await db.transaction(async (tx) => {
        const stored = await lockSeries(tx, seriesId);
        if (!stored) return;
        const { series } = stored;
        const cardStop = (await readChargeHistory(tx, seriesId, {}, now))?.standing.cardStop;
        if (series.state.name === 'active' && cardStop && isInForce(cardStop, series)) {
          const { at: _, ...by } = cardStop;
          await storeFacts(tx, stored, [{ type: 'series_stopped', ...by, scope: 'series' }], now);
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
  charge: Charge & { invoiceId?: string },
  now: Instant,
): Promise<Evaluation | undefined> {
  const found = await readChargeHistory(db, seriesId, charge, laterBy(now, -declinesCountMs));
  if (!found) return undefined;
  const { stored, standing, cardStops } = found;
  const { enforceMaxGap, enforceAmount, periodRule } = stored.settings;
  const rules = defined({ enforceMaxGap, enforceAmount, periodRule });
  const verdict = mayCharge(standing, { ...charge, ...rules }, now);
  return { series: stored.series, token: stored.handles.token, verdict, stored, cardStops };
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

/** An event of a series is never earlier than the one before. */
function endOf(
  { stored: { series, changedAt }, attempt }: PendingCharge,
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
