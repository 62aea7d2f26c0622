// What the other rooms may ask about charges without the payer. A series never says anything else than its payments do: what
// changes it is written in the transaction or the very statement that changes the payment, and only if the series is still
// what it was when it was asked whether it may be charged.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { CardDetails } from '../cards/card.ts';
import { laterBy, type Instant } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { LoggedEvent } from '../events/log.ts';
import type { Keyring } from '../keys/keyring.ts';
import type { Money } from '../money.ts';
import type { Realm } from '../merchants/party.ts';
import type { Service } from '../service.ts';
import { endOfCard, endOfDay } from './calendar.ts';
import {
  findPendingAttempt,
  findPendingCharge,
  readStanding,
  storeCardStop,
  storeDecline,
  storeEnding,
} from './attempt.store.ts';
import {
  startedChargeOf,
  succeededChargeOf,
  type PendingCharge,
  type StartedCharge,
  type SucceededCharge,
} from './charge-parts.store.ts';
import { linkOf, seal, type Bundle } from './consent-bundle.ts';
import { mandateOf, type Mandate, type MandateGiven } from './mandate.ts';
import { mayCharge, type Charge, type Verdict } from './may-charge.ts';
import { nextNotice } from './notices.ts';
import {
  countsAsDecline,
  decideEnding,
  seriesIdOf,
  seriesIdOfCustomer,
  type Ending,
  type Member,
  type Series,
  type SeriesFact,
  type SeriesTerms,
  type Withdrawn,
} from './series.ts';
import {
  findSeries,
  lockSeries,
  lookAgainAt,
  readSeriesEvents,
  storeFacts,
  storeNewSeries,
  type StoredSeries,
} from './series.store.ts';
import { withdrawUrlOf } from './withdraw-page.ts';
import { findSettings, type RecurringSettings } from './settings.store.ts';

/** The payment with which a payer, present and authenticated, let his card be charged again. */
export type Consent = Member & {
  readonly partyId: string;
  readonly shopId: string;
  readonly realm: Realm;
  readonly card: CardDetails & { readonly token: string };
  /** What the payment brought with it of what the payer agreed to. */
  readonly given?: MandateGiven;
  readonly evidence: Pick<Mandate, 'payer' | 'payment'>;
};

export type ChargeAsked = {
  readonly seriesId: string;
  readonly invoiceId: string;
  readonly invoiceCreatedAt: Instant;
  readonly amount: Money;
  readonly parent?: Member;
};

export type Admission = {
  readonly series: Series;
  /** Of the card to be charged. */
  readonly token: string;
  readonly verdict: Verdict;
  /** As it was when that was said. */
  readonly stored: StoredSeries;
};

export type Recurring = {
  /** The series of a parent payment has its name. */
  begin(tx: Database, consent: Consent, now: Instant): Promise<void>;
  /** A card was bound to a customer: its series begins, or goes on with a consent that is new. */
  bind(tx: Database, consent: Consent & { readonly customerId: string }, now: Instant): Promise<void>;
  /** The series of a customer and of a card that was bound to him. */
  seriesOfCustomer(
    tx: Database,
    bound: { customerId: string; partyId: string; realm: Realm; token: string },
  ): Promise<string>;
  /** A charge of the series that was captured and can be a parent in turn. */
  addParent(tx: Database, seriesId: string, member: Member, now: Instant): Promise<void>;
  /**
   * Undefined when there is none. `isHeld`: the series is held until the transaction ends; otherwise it may move, and then
   * what `started` answers cannot be written.
   */
  admit(db: Database, asked: ChargeAsked, now: Instant, isHeld: boolean): Promise<Admission | undefined>;
  /** After `admit` said yes: what is written by the statement that makes the payment. */
  started(
    admission: Admission,
    payment: Member & { readonly amount: Money },
    now: Instant,
  ): { readonly written: StartedCharge; readonly charge: PendingCharge };
  /**
   * What is written by the statement that changes the payment, where the bank has approved it and nothing else follows.
   * Undefined when more does, or when the charge has ended already: then `end` is for it. `known`: by whoever has just begun it.
   */
  succeeded(
    db: Database,
    charge: Member & { readonly seriesId: string; readonly known?: PendingCharge },
    ending: Ending,
    now: Instant,
  ): Promise<SucceededCharge | undefined>;
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
  /** How the shop wants it. */
  settings(db: Database, shop: { partyId: string; shopId: string }): Promise<RecurringSettings>;
  events(db: Database, seriesId: string, after: number, most: number): Promise<LoggedEvent<SeriesFact>[]>;
  /** What there is to show for the consent, sealed. */
  bundle(db: Database, seriesId: string, now: Instant): Promise<Bundle | undefined>;
  /** The link by which a payer withdraws. */
  withdrawUrlOf(seriesId: string): Promise<string>;
  isLink(seriesId: string, secret: string): Promise<boolean>;
  /** Harmless when it was withdrawn before. */
  withdraw(tx: Database, seriesId: string, how: Withdrawn, now: Instant): Promise<Series | undefined>;
  /** The engine's step of a series. */
  step(db: Database, seriesId: string, now: Instant): Promise<void>;
};

/** Longer than any counter looks back. */
const declinesCountMs = 31 * 24 * 3_600_000;

export function openRecurring({
  cards,
  keyring,
  publicUrl,
}: Pick<Service, 'cards'> & {
  readonly keyring: Pick<Keyring, 'find'>;
  readonly publicUrl: () => string;
}): Recurring {
  async function credentialOf(
    tx: Database,
    { partyId, realm, token }: { partyId: string; realm: Realm; token: string },
  ): Promise<{ key: Buffer; expiry: string } | undefined> {
    const credential = await cards.credential(tx, partyId, token);
    return credential && { key: cardKey(credential.numberHash, partyId, realm), expiry: credential.expiry };
  }

  // Always the first: a link in a receipt, and the seal of a bundle, are good for years.
  const sealSecret = async () => {
    const key = await keyring.find('consent_seal', 1);
    if (!key) throw new Error('the key that seals consents is missing');
    return key.secret;
  };

  async function mustHave(tx: Database, card: { partyId: string; realm: Realm; token: string }) {
    const credential = await credentialOf(tx, card);
    if (!credential) throw new Error('a card that is charged is not in the vault');
    return credential;
  }

  /** Answers what it would have begun with, when there is one already. */
  async function beginSeries(
    tx: Database,
    consent: Consent,
    customerId: string | undefined,
    now: Instant,
  ): Promise<SeriesTerms | undefined> {
    const { invoiceId, paymentId, partyId, shopId, realm, card, given, evidence } = consent;
    const root = { invoiceId, paymentId };
    const { key, expiry } = await mustHave(tx, { partyId, realm, token: card.token });
    const { terms: shopTerms = {} } = await findSettings(tx, consent);
    const mandate = mandateOf(given, shopTerms, evidence);
    const { networkTransactionId } = evidence.payment;
    const { paymentSystem, lastDigits } = card;
    const terms: SeriesTerms = {
      id: customerId === undefined ? seriesIdOf(root) : seriesIdOfCustomer(customerId, key),
      partyId,
      shopId,
      kind: customerId === undefined ? 'parent' : 'customer',
      root,
      card: { paymentSystem, lastDigits, endsAt: endOfCard(expiry) },
      mandate,
      consentedAt: now,
      ...(networkTransactionId === undefined ? {} : { rootNetworkTransactionId: networkTransactionId }),
      ...(mandate.validUntil === undefined ? {} : { endsAt: endOfDay(mandate.validUntil) }),
    };
    const isNew = await storeNewSeries(
      tx,
      { type: 'series_started', terms },
      { token: card.token, key },
      now,
    );
    return isNew ? undefined : terms;
  }

  return {
    async begin(tx, consent, now) {
      await beginSeries(tx, consent, undefined, now);
    },

    async bind(tx, consent, now) {
      const known = await beginSeries(tx, consent, consent.customerId, now);
      if (!known) return;
      const { id, card, endsAt } = known;
      const renewed = { type: 'consent_renewed', card, ...(endsAt === undefined ? {} : { endsAt }) } as const;
      await storeFacts(tx, await held(tx, id), [renewed], now);
    },

    async seriesOfCustomer(tx, { customerId, ...card }) {
      return seriesIdOfCustomer(customerId, (await mustHave(tx, card)).key);
    },

    async addParent(tx, seriesId, { invoiceId, paymentId }, now) {
      const stored = await held(tx, seriesId);
      await storeFacts(tx, stored, [{ type: 'parent_added', invoiceId, paymentId }], now);
    },

    async admit(db, asked, now, isHeld) {
      // In a statement of its own: one that waits for a row sees everything else as it was before.
      if (isHeld && !(await lockSeries(db, asked.seriesId))) return undefined;
      return verdictOn(db, asked.seriesId, asked, now);
    },

    started({ stored, verdict }, { invoiceId, paymentId, amount }, now) {
      if (!verdict.may) throw new Error('a charge was started that may not be made');
      const { isRetry, packs, warnings } = verdict;
      const fact = {
        type: 'recurring_charge_started',
        invoiceId,
        paymentId,
        isRetry,
        packs,
        warnings,
      } as const;
      return startedChargeOf(stored, fact, amount, now);
    },

    async succeeded(db, { seriesId, known, ...member }, ending, now) {
      const found = known ?? (await findPendingCharge(db, seriesId, member));
      if (!found || ending.outcome !== 'approved') return undefined;
      const { facts, stop } = decideEnding(found.stored.series, found.attempt, ending, now);
      return stop ? undefined : succeededChargeOf(found.stored, facts, ending.advice, now);
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
        await storeDecline(tx, stored.handles.key, { ...attempt, partyId, shopId }, true);
      }
      await storeFacts(tx, stored, facts, now);
      if (stop && stop.scope !== 'charge') await storeCardStop(tx, stored, attempt, stop, now);
    },

    async declined(tx, payment, now) {
      const credential = await credentialOf(tx, payment);
      if (credential) await storeDecline(tx, credential.key, { ...payment, createdAt: now }, false);
    },

    async ask(db, seriesId, charge, now) {
      return verdictOn(db, seriesId, charge, now);
    },

    settings: findSettings,
    events: readSeriesEvents,

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
      if (hash !== chain) throw new Error(`the log of series ${seriesId} is not what was written`);
      const { partyId, shopId } = series;
      const format = 'mandate consent 1' as const;
      return seal(await sealSecret(), { format, seriesId, partyId, shopId, sealedAt: now, entries });
    },

    withdrawUrlOf: async (seriesId) =>
      withdrawUrlOf(publicUrl(), seriesId, linkOfSeries(await sealSecret(), seriesId)),

    async isLink(seriesId, secret) {
      const right = Buffer.from(linkOfSeries(await sealSecret(), seriesId));
      const given = Buffer.from(secret);
      return given.length === right.length && timingSafeEqual(given, right);
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
        const cardStop = (await readStanding(tx, seriesId, {}, now))?.standing.cardStop;
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
  seriesId: string,
  charge: Charge & { invoiceId?: string; amount?: Money },
  now: Instant,
): Promise<Admission | undefined> {
  const found = await readStanding(db, seriesId, charge, laterBy(now, -declinesCountMs));
  if (!found) return undefined;
  const { stored, standing, settings } = found;
  const { enforceMaxGap = false } = settings;
  const verdict = mayCharge(standing, { ...charge, enforceMaxGap }, now);
  return { series: stored.series, token: stored.handles.token, verdict, stored };
}

async function held(tx: Database, seriesId: string) {
  const stored = await lockSeries(tx, seriesId);
  if (!stored) throw new Error(`there is no series ${seriesId}`);
  return stored;
}

function linkOfSeries(secret: Buffer, seriesId: string): string {
  return createHmac('sha256', secret).update(`withdraw|${seriesId}`).digest('base64url');
}

/** In a sandbox everybody uses the same few cards: there a card is another one for each party. */
function cardKey(numberHash: Buffer, partyId: string, realm: Realm): Buffer {
  const scope = realm === 'live' ? '' : partyId;
  return createHash('sha256').update(numberHash).update(scope).digest();
}
