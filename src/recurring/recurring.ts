// What the other rooms may ask about charges without the payer. Each verb works inside the transaction it is given, so that
// a series never says anything else than its payments do: whoever makes a charge holds the series from the question
// whether it may be made until it stands there.
import { createHash } from 'node:crypto';
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
  readStanding,
  storeAttempt,
  storeCardStop,
  storeDecline,
  storeEnding,
} from './attempt.store.ts';
import { linkOf, type Bundle } from './consent-bundle.ts';
import { openConsentSeals } from './consent-seal.ts';
import type { Letter, Paid } from './letter.ts';
import { findLetter, storeLetter } from './letter.store.ts';
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
import type { ReceiptLanguage } from './receipt.ts';
import { findSettings, type RecurringSettings } from './settings.store.ts';
import { openReceipts, type WrittenReceipt } from './write-receipt.ts';

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
  /** How the shop wants it. */
  settings(db: Database, shop: { partyId: string; shopId: string }): Promise<RecurringSettings>;
  events(db: Database, seriesId: string, after: number, most: number): Promise<LoggedEvent<SeriesFact>[]>;
  /** What there is to show for the consent, sealed. */
  bundle(db: Database, seriesId: string, now: Instant): Promise<Bundle | undefined>;
  /** Undefined when there is no such series. In the payer's language, unless another is asked for. */
  receipt(
    db: Database,
    seriesId: string,
    paid: Paid,
    language?: ReceiptLanguage,
  ): Promise<WrittenReceipt | undefined>;
  /** The payer is to get his receipt by mail, where he has an address and letters are written here. */
  oweReceipt(
    tx: Database,
    owed: { seriesId: string; paid: Paid; email?: string },
    now: Instant,
  ): Promise<void>;
  /** What became of it. */
  letter(db: Database, payment: Member): Promise<Letter | undefined>;
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
  merchants,
  keyring,
  publicUrl,
  writesLetters,
}: Pick<Service, 'cards' | 'merchants'> & {
  readonly keyring: Pick<Keyring, 'find' | 'newest'>;
  readonly publicUrl: () => string;
  /** Nobody would send them, nor look at them, in live mode without a mail server. */
  readonly writesLetters: boolean;
}): Recurring {
  const seals = openConsentSeals(keyring, publicUrl);
  const writeReceipt = openReceipts({ merchants, withdrawUrlOf: seals.withdrawUrlOf });

  async function credentialOf(
    tx: Database,
    { partyId, realm, token }: { partyId: string; realm: Realm; token: string },
  ): Promise<{ key: Buffer; expiry: string } | undefined> {
    const credential = await cards.credential(tx, partyId, token);
    return credential && { key: cardKey(credential.numberHash, partyId, realm), expiry: credential.expiry };
  }

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

    async admit(tx, asked, now) {
      const stored = await lockSeries(tx, asked.seriesId);
      if (!stored) return undefined;
      const { enforceMaxGap = false } = await findSettings(tx, stored.series);
      return verdictOn(tx, stored, { ...asked, enforceMaxGap }, now);
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
      const stored = await findSeries(db, seriesId);
      if (!stored) return undefined;
      const { enforceMaxGap = false } = await findSettings(db, stored.series);
      return verdictOn(db, stored, { ...charge, enforceMaxGap }, now);
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
      return seals.seal({ format, seriesId, partyId, shopId, sealedAt: now, entries });
    },

    receipt: writeReceipt,
    letter: findLetter,

    async oweReceipt(tx, { seriesId, paid, email }, now) {
      if (writesLetters) await storeLetter(tx, { seriesId, paid, recipient: email }, now);
    },

    isLink: seals.isLink,

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
        const { cardStop } = await readStanding(tx, stored, {}, now);
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
  stored: StoredSeries,
  charge: Charge & { invoiceId?: string; amount?: Money },
  now: Instant,
): Promise<Admission> {
  const standing = await readStanding(db, stored, charge, laterBy(now, -declinesCountMs));
  const { series, handles } = stored;
  return { series, token: handles.token, verdict: mayCharge(standing, charge, now) };
}

async function held(tx: Database, seriesId: string) {
  const stored = await lockSeries(tx, seriesId);
  if (!stored) throw new Error(`there is no series ${seriesId}`);
  return stored;
}

/** In a sandbox everybody uses the same few cards: there a card is another one for each party. */
function cardKey(numberHash: Buffer, partyId: string, realm: Realm): Buffer {
  const scope = realm === 'live' ? '' : partyId;
  return createHash('sha256').update(numberHash).update(scope).digest();
}
