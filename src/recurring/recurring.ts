// What the other rooms may ask about charges without the payer. Each verb works inside the transaction it is given, so that
// a series never says anything else than its payments do: whoever makes a charge holds the series from the question
// whether it may be made until it stands there.
import { createHash } from 'node:crypto';
import type { CardDetails } from '../cards/card.ts';
import { laterBy, type Instant } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { Money } from '../money.ts';
import type { Realm } from '../merchants/party.ts';
import type { Service } from '../service.ts';
import { endOfCard, endOfDay } from './calendar.ts';
import {
  findPendingAttempt,
  readStanding,
  storeAttempt,
  storeCardStop,
  storeDecline,
  storeEnding,
} from './attempt.store.ts';
import { mayCharge, type Charge, type Verdict } from './may-charge.ts';
import { nextNotice } from './notices.ts';
import {
  countsAsDecline,
  decideEnding,
  seriesIdOf,
  type Ending,
  type Member,
  type Series,
  type SeriesCard,
  type Withdrawn,
} from './series.ts';
import { findSeries, lockSeries, lookAgainAt, storeFacts, storeNewSeries } from './series.store.ts';

/** The payment with which a payer, present and authenticated, let his card be charged again. */
export type Consent = Member & {
  readonly partyId: string;
  readonly shopId: string;
  readonly realm: Realm;
  readonly card: CardDetails & { readonly token: string };
  readonly networkTransactionId?: string;
  /** The last day of its lifetime, `2030-12-31`; none: until cancelled. */
  readonly validUntil?: string;
};

export type ChargeAsked = {
  readonly seriesId: string;
  readonly invoiceId: string;
  readonly invoiceCreatedAt: Instant;
  readonly amount: Money;
  readonly parent?: Member;
};

export type Admission = { readonly series: Series; readonly verdict: Verdict };

export type Recurring = {
  /** The series of a parent payment has its name. */
  begin(tx: Database, consent: Consent, now: Instant): Promise<void>;
  /** A charge of the series that was captured and can be a parent in turn. */
  addParent(tx: Database, seriesId: string, member: Member, now: Instant): Promise<void>;
  /** Holds the series until the transaction ends. Undefined when there is none. */
  admit(tx: Database, asked: ChargeAsked, now: Instant): Promise<Admission | undefined>;
  /** After `admit` said yes, in the same transaction, with the payment that is made. */
  start(tx: Database, admission: Admission, payment: Member & { amount: Money; now: Instant }): Promise<void>;
  /** What the bank said. Once: a charge that has ended does not end again. */
  end(tx: Database, seriesId: string, member: Member, ending: Ending, now: Instant): Promise<void>;
  /** A decline while the payer was present: the networks count those too. */
  declined(
    tx: Database,
    payment: Member & {
      readonly partyId: string;
      readonly shopId: string;
      readonly realm: Realm;
      readonly amount: Money;
      readonly token: string;
    },
    now: Instant,
  ): Promise<void>;
  /** The same answer as `admit`, without holding anything. */
  ask(
    db: Database,
    seriesId: string,
    charge: Charge & { invoiceId?: string; amount?: Money },
    now: Instant,
  ): Promise<Admission | undefined>;
  /** Harmless when it was withdrawn before. */
  withdraw(tx: Database, seriesId: string, how: Withdrawn, now: Instant): Promise<Series | undefined>;
  /** The engine's step of a series. */
  step(db: Database, seriesId: string, now: Instant): Promise<void>;
};

/** Longer than any counter looks back. */
const declinesCountMs = 31 * 24 * 3_600_000;

export function openRecurring({ cards }: Pick<Service, 'cards'>): Recurring {
  /** In a sandbox everybody uses the same few cards: there a card is another one for each party. */
  async function cardOf(
    tx: Database,
    { partyId, realm, card }: Pick<Consent, 'partyId' | 'realm' | 'card'>,
  ): Promise<SeriesCard> {
    const credential = await cards.credential(tx, partyId, card.token);
    if (!credential) throw new Error('the card of a payment is not in the vault');
    return {
      token: card.token,
      key: cardKey(credential.numberHash, partyId, realm),
      paymentSystem: card.paymentSystem,
      lastDigits: card.lastDigits,
      endsAt: endOfCard(credential.expiry),
    };
  }

  return {
    async begin(tx, consent, now) {
      const { invoiceId, paymentId, partyId, shopId, networkTransactionId, validUntil } = consent;
      const root = { invoiceId, paymentId };
      const terms = {
        id: seriesIdOf(root),
        partyId,
        shopId,
        kind: 'parent' as const,
        root,
        card: await cardOf(tx, consent),
        consentedAt: now,
        ...(networkTransactionId === undefined ? {} : { rootNetworkTransactionId: networkTransactionId }),
        ...(validUntil === undefined ? {} : { endsAt: endOfDay(validUntil) }),
      };
      await storeNewSeries(tx, { type: 'series_started', terms }, now);
    },

    async addParent(tx, seriesId, { invoiceId, paymentId }, now) {
      const stored = await held(tx, seriesId);
      await storeFacts(tx, stored, [{ type: 'parent_added', invoiceId, paymentId }], now);
    },

    async admit(tx, asked, now) {
      const stored = await lockSeries(tx, asked.seriesId);
      return stored && verdictOn(tx, stored.series, asked, now);
    },

    async start(tx, { series, verdict }, { invoiceId, paymentId, amount, now }) {
      if (!verdict.may) throw new Error('a charge was started that may not be made');
      const stored = await held(tx, series.id);
      const { isRetry, packs, warnings } = verdict;
      const attempt = { invoiceId, paymentId, createdAt: now, amount, isRetry };
      await storeAttempt(tx, series.id, attempt, packs);
      const member = { invoiceId, paymentId };
      const fact = { type: 'recurring_charge_started', ...member, isRetry, packs, warnings } as const;
      await storeFacts(tx, stored, [fact], now);
    },

    async end(tx, seriesId, member, ending, now) {
      const stored = await held(tx, seriesId);
      const attempt = await findPendingAttempt(tx, seriesId, member);
      if (!attempt) return;
      const { series } = stored;
      const { facts, stop } = decideEnding(series, attempt, ending, now);
      const failed = facts.find((fact) => fact.type === 'recurring_charge_failed');
      const decided = stop
        ? { effect: `stop ${stop.scope}`, rule: stop.rule, pack: stop.pack }
        : failed?.notBefore
          ? {
              effect: `wait until ${failed.notBefore.at}`,
              rule: failed.notBefore.rule,
              pack: failed.notBefore.pack,
            }
          : {};
      await storeEnding(tx, seriesId, attempt, ending, decided, now);
      const { partyId, shopId } = series;
      if (countsAsDecline(ending)) {
        await storeDecline(tx, series.card.key, { ...attempt, partyId, shopId }, true);
      }
      await storeFacts(tx, stored, facts, now);
      if (stop && stop.scope !== 'charge') await storeCardStop(tx, series, attempt, stop, now);
    },

    async declined(tx, payment, now) {
      const credential = await cards.credential(tx, payment.partyId, payment.token);
      if (!credential) return;
      const key = cardKey(credential.numberHash, payment.partyId, payment.realm);
      await storeDecline(tx, key, { ...payment, createdAt: now }, false);
    },

    async ask(db, seriesId, charge, now) {
      const stored = await findSeries(db, seriesId);
      return stored && verdictOn(db, stored.series, charge, now);
    },

    async withdraw(tx, seriesId, how, now) {
      const stored = await lockSeries(tx, seriesId);
      if (!stored || stored.series.state.name === 'withdrawn') return stored?.series;
      return storeFacts(tx, stored, [{ type: 'consent_withdrawn', ...how }], now);
    },

    async step(db, seriesId, now) {
      await db.transaction(async (tx) => {
        const stored = await lockSeries(tx, seriesId);
        if (!stored) return;
        const { series } = stored;
        const { cardStop } = await readStanding(tx, series, {}, now);
        if (series.state.name === 'active' && cardStop && cardStop.at >= series.consentedAt) {
          const { rule, pack } = cardStop;
          await storeFacts(tx, stored, [{ type: 'series_stopped', rule, pack, scope: 'series' }], now);
          return;
        }
        const notice = nextNotice(series);
        if (notice && notice.at <= now) await storeFacts(tx, stored, [{ type: 'notice_due', notice }], now);
        else await lookAgainAt(tx, stored, notice?.at ?? null);
      });
    },
  };
}

async function verdictOn(
  db: Database,
  series: Series,
  charge: Charge & { invoiceId?: string; amount?: Money },
  now: Instant,
): Promise<Admission> {
  const standing = await readStanding(db, series, charge, laterBy(now, -declinesCountMs));
  return { series, verdict: mayCharge(standing, charge, now) };
}

async function held(tx: Database, seriesId: string) {
  const stored = await lockSeries(tx, seriesId);
  if (!stored) throw new Error(`there is no series ${seriesId}`);
  return stored;
}

function cardKey(numberHash: Buffer, partyId: string, realm: Realm): string {
  const scope = realm === 'live' ? '' : partyId;
  return createHash('sha256').update(numberHash).update(scope).digest('hex');
}
