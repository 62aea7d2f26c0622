// Attempts, declines and card stops in SQL. Counters are computed from these rows each time, so that no stored number can
// drift.
import { instantFromDatabase, latest, type Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { readStatement } from '../../platform/database/batches/read-statement.ts';
import { currency, flag, list, mapped, object, text, type Codec } from '../../platform/database/codec.ts';
import { columnList, statement, stored, type Values } from '../../platform/database/statement.ts';
import type { Money } from '../../money.ts';
import { endedCharge, endedChargeOf, type PendingCharge } from './charge-changes.ts';
import type { DeclineClass } from '../../acquiring/domain/decline-class.ts';
import type { CardStop, ChargeHistory, Decline } from '../../retry-rules/domain/may-charge.ts';
import {
  endObligation,
  type Attempt,
  type ChargeEnd,
  type PaymentRef,
  type Stopped,
} from '../domain/series.ts';
import {
  changeOf,
  mustBeHeld,
  mustLockSeries,
  seriesChange,
  seriesFromRow,
  storedSeries,
  type StoredSeries,
} from './series.ts';
import { timeZoneOf } from '../domain/settings.ts';
import { declineClass } from './codec.ts';
import { defined } from '../../defined.ts';

const attemptColumns = {
  created_at: 'timestamptz',
  amount_minor: 'int8',
  currency: stored('text', currency),
  is_retry: 'bool',
} as const;
const attemptColumnList = columnList(attemptColumns);

const decline: Codec<Decline> = object({
  at: mapped(text, { read: instantFromDatabase, write: (at) => at }),
  isOfCharge: flag,
});

const classColumn = stored('text?', declineClass);
const stopColumns = {
  stopped_at: 'timestamptz?',
  stop_rule: 'text?',
  stop_pack: 'text?',
  stop_class: classColumn,
} as const;

/** All that decides whether a series may be charged, as of one instant. No row: the series does not exist. */
const readHistoryRow = readStatement({
  name: 'read_charge_history',
  parameters: {
    series_id: 'text',
    invoice_id: 'text?',
    amount_minor: 'int8?',
    currency: stored('text?', currency),
    declines_after: 'timestamptz',
  },
  row: {
    ...storedSeries.row,
    card_stops: 'int4',
    last_attempt_at: 'timestamptz?',
    last_captured_at: 'timestamptz?',
    held_until: 'timestamptz?',
    is_pending: 'bool',
    has_obligation_ended: 'bool',
    ...stopColumns,
    charge_stopped_at: 'timestamptz?',
    charge_rule: 'text?',
    charge_pack: 'text?',
    charge_class: classColumn,
    invoice_class: classColumn,
    declines: stored('json?', list(decline)),
  },
  text: `
    select
      ${storedSeries.columns}, card_stops,
      (select max(created_at) from series_attempt where series_id = :series_id and outcome <> 'unsent'
         and decline_class is distinct from 'configuration') as last_attempt_at,
      others.captured_at as last_captured_at, others.held_until,
      exists (select from series_attempt where series_id = :series_id and outcome = 'pending') as is_pending,
      exists (select from series_attempt where series_id = :series_id and invoice_id = :invoice_id
        and obligation_ended_at is not null) as has_obligation_ended,
      stop.stopped_at, stop.rule as stop_rule, stop.pack as stop_pack, stop.decline_class as stop_class,
      ended.ended_at as charge_stopped_at, ended.rule as charge_rule, ended.pack as charge_pack,
      ended.decline_class as charge_class,
      (select decline_class from series_attempt
       where series_id = :series_id and invoice_id = :invoice_id and outcome <> 'unsent'
       order by created_at desc limit 1) as invoice_class,
      (select json_agg(json_build_object('at', attempted_at::text, 'isOfCharge', coalesce(
           by_merchant and decline.party_id = series.party_id and decline.shop_id = series.shop_id
             and currency = :currency and amount_minor = :amount_minor, false)) order by attempted_at)
       from card_decline as decline
       where decline.card_key = series.card_key and attempted_at > :declines_after) as declines
    from series
    left join lateral (
      select stopped_at, rule, pack, decline_class from card_stop
      where card_stop.card_key = series.card_key
        and (everywhere or card_stop.party_id = series.party_id and card_stop.shop_id = series.shop_id)
        and (not is_of_charge or card_stop.invoice_id = :invoice_id)
      order by stopped_at desc limit 1
    ) as stop on true
    left join lateral (
      select stopped_at as ended_at, rule, pack, decline_class from invoice_stop where invoice_id = :invoice_id
      union all
      select ended_at, rule, pack, decline_class from series_attempt
      where series_id = :series_id and invoice_id = :invoice_id and effect = 'stop charge'
      order by ended_at desc limit 1
    ) as ended on true
    left join lateral (
      select max(captured_at) as captured_at, max(held_until) as held_until from series_attempt
      where series_id = :series_id and invoice_id is distinct from :invoice_id
    ) as others on true
    where series_id = :series_id`,
});

/**
 * No row if the charge has ended: the transaction must roll back. A charge that was given up is approved after all if its bank refuses
 * every way back.
 */
const endCharge = statement({
  name: 'end_charge',
  parameters: endedCharge,
  row: { version: 'int4' },
  text: `
    with changed as (
      update series
      set version = version + 1, status = :series_status, chain = :series_chain, state = :series_state,
          changed_at = :series_changed_at, wake_at = :series_wake_at,
          attempts = 0, stuck_at = null, stuck_reason = null
      where series_id = :series_id and version = :series_version
      returning series_id, party_id, version, changed_at
    ), attempted as (
      update series_attempt
      set outcome = :attempt_outcome, ended_at = changed.changed_at,
          captured_at = case when :attempt_is_captured then changed.changed_at end, held_until = :attempt_held_until,
          network = :attempt_network, code = :attempt_code, advice = :attempt_advice, effect = :attempt_effect,
          rule = :attempt_rule, pack = :attempt_pack, decline_class = :attempt_class
      from changed
      where series_attempt.series_id = :series_id and invoice_id = :invoice_id and payment_id = :payment_id
        and (outcome = 'pending' or :attempt_outcome = 'approved' and outcome in ('unsent', 'lost'))
      returning series_attempt.series_id
    )
    select append_event('series', series_id, version, party_id, changed_at, :series_facts) as version
    from changed join attempted using (series_id)`,
});

const endHold = statement({
  name: 'end_hold_of_charge',
  parameters: { series_id: 'text', invoice_id: 'text', payment_id: 'text', captured_at: 'timestamptz?' },
  row: storedSeries.row,
  text: `with ended as (
           update series_attempt set captured_at = :captured_at, held_until = null
           where series_id = :series_id and invoice_id = :invoice_id and payment_id = :payment_id and captured_at is null
         )
         select ${storedSeries.columns} from series where series_id = :series_id`,
});

/** The next version of the series wakes the subscription. No row: no charge is in progress. */
const awaitEndOfCharge = statement({
  name: 'await_end_of_charge',
  parameters: { series_id: 'text', subscription_id: 'text' },
  row: { series_id: 'text' },
  text: `update series set awaited_by = array_append(array_remove(awaited_by, :subscription_id), :subscription_id)
         where series_id = :series_id
           and exists (select from series_attempt where series_id = :series_id and outcome = 'pending')
         returning series_id`,
});

/** What the end of the obligation of an invoice changes. Not open: the series never charged it, has collected it, or it has ended before. */
const readObligation = statement({
  name: 'read_obligation',
  parameters: {
    series_id: 'text',
    invoice_id: 'text',
    failing_since: 'timestamptz?',
    dead_until: 'timestamptz?',
  },
  row: { is_open: 'bool', others_failed_at: 'timestamptz?', last_attempt_at: 'timestamptz?' },
  text: `
    select
      coalesce(bool_or(obligation_ended_at is null) filter (where invoice_id = :invoice_id)
        and not bool_or(captured_at is not null) filter (where invoice_id = :invoice_id), false) as is_open,
      min(ended_at) filter (where invoice_id <> :invoice_id and obligation_ended_at is null
        and outcome in ('declined', 'lost') and decline_class is distinct from 'configuration' and ended_at >= :failing_since
        and not coalesce(is_retry and created_at <= :dead_until, false)) as others_failed_at,
      max(created_at) filter (where outcome <> 'unsent' and decline_class is distinct from 'configuration') as last_attempt_at
    from series_attempt where series_id = :series_id`,
});

const endObligationOfSeries = statement({
  name: 'end_obligation',
  parameters: { ...seriesChange, invoice_id: 'text' },
  row: { version: 'int4' },
  text: `
    with changed as (
      update series
      set version = version + 1, status = :series_status, chain = :series_chain, state = :series_state,
          changed_at = :series_changed_at, wake_at = :series_wake_at,
          attempts = 0, stuck_at = null, stuck_reason = null
      where series_id = :series_id and version = :series_version
      returning series_id, party_id, version, changed_at
    ), attempted as (
      update series_attempt set obligation_ended_at = changed.changed_at
      from changed where series_attempt.series_id = :series_id and invoice_id = :invoice_id
    )
    select append_event('series', series_id, version, party_id, changed_at, :series_facts) as version from changed`,
});

const readPendingAttempt = statement({
  name: 'read_pending_series_attempt',
  parameters: { series_id: 'text', invoice_id: 'text', payment_id: 'text', is_approved: 'bool' },
  row: attemptColumns,
  text: `select ${attemptColumnList} from series_attempt
         where series_id = :series_id and invoice_id = :invoice_id and payment_id = :payment_id
           and (outcome = 'pending' or :is_approved and outcome in ('unsent', 'lost'))`,
});

/** What was decided about one charge: before it, by which packs, and after its outcome. */
const readChargeOfSeries = statement({
  name: 'read_series_charge',
  parameters: { series_id: 'text', invoice_id: 'text', payment_id: 'text' },
  row: {
    is_retry: 'bool',
    packs: 'text',
    outcome: 'text',
    network: 'text?',
    code: 'text?',
    advice: 'text?',
    effect: 'text?',
    rule: 'text?',
    pack: 'text?',
    ended_at: 'timestamptz?',
  },
  text: `select is_retry, packs, outcome, network, code, advice, effect, rule, pack, ended_at from series_attempt
         where series_id = :series_id and invoice_id = :invoice_id and payment_id = :payment_id`,
});

const insertDecline = statement({
  name: 'insert_card_decline',
  parameters: {
    card_key: 'bytea',
    invoice_id: 'text',
    payment_id: 'text',
    party_id: 'text',
    shop_id: 'text',
    amount_minor: 'int8',
    currency: stored('text', currency),
    by_merchant: 'bool',
    attempted_at: 'timestamptz',
  },
  row: {},
  text: `insert into card_decline
           (card_key, invoice_id, payment_id, party_id, shop_id, amount_minor, currency, by_merchant, attempted_at)
         values (:card_key, :invoice_id, :payment_id, :party_id, :shop_id, :amount_minor, :currency, :by_merchant, :attempted_at)
         on conflict do nothing`,
});

const insertInvoiceStop = statement({
  name: 'insert_invoice_stop',
  parameters: {
    invoice_id: 'text',
    payment_id: 'text',
    stopped_at: 'timestamptz',
    rule: 'text',
    pack: 'text',
    decline_class: classColumn,
  },
  row: {},
  text: `insert into invoice_stop (invoice_id, payment_id, stopped_at, rule, pack, decline_class)
         values (:invoice_id, :payment_id, :stopped_at, :rule, :pack, :decline_class)
         on conflict do nothing`,
});

/**
 * Makes all affected series due immediately, so that each writes the stop into its own log. It is not earlier than a renewal that it
 * waited for, and a charge decided before it finds `card_stops` changed.
 */
const insertStop = statement({
  name: 'insert_card_stop',
  parameters: {
    card_key: 'bytea',
    invoice_id: 'text',
    payment_id: 'text',
    party_id: 'text',
    shop_id: 'text',
    everywhere: 'bool',
    stopped_at: 'timestamptz',
    rule: 'text',
    pack: 'text',
    decline_class: classColumn,
    series_id: 'text',
  },
  row: {},
  text: `
    with concerned as (
      select series_id, changed_at from series
      where card_key = :card_key and status = 'active' and series_id <> :series_id
        and (:everywhere or party_id = :party_id and shop_id = :shop_id)
      order by series_id for update
    ), stopped as (
      insert into card_stop (card_key, invoice_id, payment_id, party_id, shop_id, everywhere, stopped_at, rule, pack, decline_class)
      select :card_key, :invoice_id, :payment_id, :party_id, :shop_id, :everywhere,
        greatest(:stopped_at, (select max(changed_at) from concerned)), :rule, :pack, :decline_class
      on conflict do nothing
    )
    update series set wake_at = least(wake_at, :stopped_at), card_stops = card_stops + 1
    from concerned where series.series_id = concerned.series_id`,
});

/** Of a series that is locked. */
export async function storeAwaited(db: Database, seriesId: string, subscriptionId: string): Promise<boolean> {
  const rows = await db.run(awaitEndOfCharge, { series_id: seriesId, subscription_id: subscriptionId });
  return rows.length > 0;
}

type ReadHistory = {
  readonly stored: StoredSeries;
  readonly history: ChargeHistory;
  readonly cardStops: number;
  /** Of the latest attempt to collect the invoice. */
  readonly invoiceDecline?: DeclineClass;
};

/** `declinesAfter`: how far back networks count. Without a lock on the series, a later write may hit a version conflict. */
export async function readChargeHistory(
  db: Database,
  seriesId: string,
  charge: { readonly invoiceId?: string; readonly amount?: Money },
  declinesAfter: Instant,
): Promise<ReadHistory | undefined> {
  const [row] = await db.run(readHistoryRow, {
    series_id: seriesId,
    invoice_id: charge.invoiceId ?? null,
    amount_minor: charge.amount?.minor ?? null,
    currency: charge.amount?.currency ?? null,
    declines_after: declinesAfter,
  });
  if (!row) return undefined;
  const stored = seriesFromRow(row);
  const cardStop = stopOf(row.stopped_at, row.stop_rule, row.stop_pack, row.stop_class);
  const chargeStop = stopOf(row.charge_stopped_at, row.charge_rule, row.charge_pack, row.charge_class);
  const history: ChargeHistory = {
    series: stored.series,
    isAttemptPending: row.is_pending,
    declines: row.declines ?? [],
    timeZone: timeZoneOf(stored.settings, stored.series.mandate.payment.currency),
    ...defined({
      lastAttemptAt: row.last_attempt_at,
      lastCapturedAt: row.last_captured_at ?? stored.series.imported?.lastChargedAt,
      heldUntil: row.held_until,
    }),
    ...(row.has_obligation_ended ? { hasObligationEnded: true } : {}),
    ...(cardStop ? { cardStop } : {}),
    ...(chargeStop ? { chargeStop } : {}),
  };
  const { card_stops: cardStops, invoice_class: invoiceDecline } = row;
  return { stored, history, cardStops, ...defined({ invoiceDecline }) };
}

function stopOf(
  at: Instant | null,
  rule: string | null,
  pack: string | null,
  declineClass: DeclineClass | null,
): CardStop | undefined {
  return at !== null && rule !== null && pack !== null
    ? { at, rule, pack, ...defined({ declineClass }) }
    : undefined;
}

/** A pending charge: the series and the attempt, as of one instant. */
const readPendingCharge = statement({
  name: 'read_pending_charge',
  parameters: { series_id: 'text', invoice_id: 'text', payment_id: 'text' },
  row: { ...storedSeries.row, ...attemptColumns },
  text: `select ${storedSeries.columns}, ${attemptColumnList}
         from series join series_attempt as attempt on attempt.series_id = series.series_id
         where series.series_id = :series_id and invoice_id = :invoice_id and payment_id = :payment_id
           and outcome = 'pending'`,
});

/** Undefined if the charge has ended or does not exist. */
export async function findPendingCharge(
  db: Database,
  seriesId: string,
  member: PaymentRef,
): Promise<PendingCharge | undefined> {
  const [row] = await db.run(readPendingCharge, memberColumns(seriesId, member));
  if (!row) return undefined;
  return { stored: seriesFromRow(row), attempt: attemptFrom(member, row) };
}

/** Undefined if the attempt has ended or does not exist. */
export async function findPendingAttempt(
  db: Database,
  seriesId: string,
  member: PaymentRef,
  isApproved: boolean,
): Promise<Attempt | undefined> {
  const of = { ...memberColumns(seriesId, member), is_approved: isApproved };
  const [row] = await db.run(readPendingAttempt, of);
  return row && attemptFrom(member, row);
}

function attemptFrom({ invoiceId, paymentId }: PaymentRef, row: Values<typeof attemptColumns>): Attempt {
  const { created_at: createdAt, amount_minor: minor, currency, is_retry: isRetry } = row;
  return { invoiceId, paymentId, createdAt, amount: { minor, currency }, isRetry };
}

/** The caller must hold a lock on the series. */
export async function storeChargeEnd(
  db: Database,
  charge: PendingCharge,
  end: ChargeEnd,
  now: Instant,
): Promise<void> {
  mustBeHeld(charge.stored, await db.run(endCharge, endedChargeOf(charge, end, now)));
}

/** No charge of the series is to collect the invoice any more. A repeat changes nothing. */
export async function storeObligationEnd(
  db: Database,
  seriesId: string,
  invoiceId: string,
  now: Instant,
): Promise<void> {
  const stored = await mustLockSeries(db, seriesId);
  const at = latest(now, stored.changedAt);
  const { failingSince = null, deadUntil = null, mandate } = stored.series;
  const [known] = await db.run(readObligation, {
    series_id: seriesId,
    invoice_id: invoiceId,
    failing_since: failingSince,
    dead_until: deadUntil,
  });
  if (!known?.is_open) return;
  const { others_failed_at: othersFailedAt, last_attempt_at: lastAttemptAt } = known;
  const timeZone = timeZoneOf(stored.settings, mandate.payment.currency);
  const attempts = { timeZone, ...defined({ othersFailedAt, lastAttemptAt }) };
  const { values } = changeOf(stored, [endObligation(stored.series, invoiceId, attempts, at)], at);
  mustBeHeld(stored, await db.run(endObligationOfSeries, { ...values, invoice_id: invoiceId }));
}

/** A hold is captured or released later than it is approved. Returns its series. */
export async function storeHoldEnd(
  db: Database,
  seriesId: string,
  member: PaymentRef,
  capturedAt: Instant | undefined,
): Promise<StoredSeries | undefined> {
  const ended = { ...memberColumns(seriesId, member), captured_at: capturedAt ?? null };
  const [row] = await db.run(endHold, ended);
  return row && seriesFromRow(row);
}

export async function storeDecline(
  db: Database,
  cardKey: Buffer,
  charge: Omit<Attempt, 'isRetry'> & { readonly partyId: string; readonly shopId: string },
  byMerchant: boolean,
): Promise<void> {
  await db.run(insertDecline, {
    card_key: cardKey,
    invoice_id: charge.invoiceId,
    payment_id: charge.paymentId,
    party_id: charge.partyId,
    shop_id: charge.shopId,
    amount_minor: charge.amount.minor,
    currency: charge.amount.currency,
    by_merchant: byMerchant,
    attempted_at: charge.createdAt,
  });
}

/** `by`: the declined charge. Its own series, if any, has written the stop itself. */
export async function storeCardStop(
  db: Database,
  cardKey: Buffer,
  by: PaymentRef & { readonly partyId: string; readonly shopId: string; readonly seriesId?: string },
  stop: Stopped,
  now: Instant,
): Promise<void> {
  await db.run(insertStop, {
    card_key: cardKey,
    invoice_id: by.invoiceId,
    payment_id: by.paymentId,
    party_id: by.partyId,
    shop_id: by.shopId,
    everywhere: stop.scope === 'card',
    stopped_at: now,
    rule: stop.rule,
    pack: stop.pack,
    decline_class: stop.declineClass ?? null,
    series_id: by.seriesId ?? '',
  });
}

/** Stops the invoice for every series, and for every card. */
export async function storeInvoiceStop(
  db: Database,
  { invoiceId, paymentId }: PaymentRef,
  { rule, pack, declineClass: helper }: Stopped,
  now: Instant,
): Promise<void> {
  await db.run(insertInvoiceStop, {
    invoice_id: invoiceId,
    payment_id: paymentId,
    stopped_at: now,
    rule,
    pack,
    decline_class: helper ?? null,
  });
}

function memberColumns(seriesId: string, member: PaymentRef) {
  return { series_id: seriesId, invoice_id: member.invoiceId, payment_id: member.paymentId };
}

export async function findChargeOfSeries(db: Database, seriesId: string, payment: PaymentRef) {
  const name = { series_id: seriesId, invoice_id: payment.invoiceId, payment_id: payment.paymentId };
  const [row] = await db.run(readChargeOfSeries, name);
  if (!row) return undefined;
  const { is_retry: isRetry, packs, ended_at: endedAt, ...more } = row;
  return { isRetry, packs: packs.split(' '), ...more, endedAt };
}
