// Replays recorded histories: data of earlier versions stays readable and keeps its meaning.
// Together the histories contain every fact, every state and every JSON column.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { BindingFact, BindingStateName } from '../../src/customers/domain/binding.ts';
import type { CustomerFact, CustomerStateName } from '../../src/customers/domain/customer.ts';
import type { TopUpFact } from '../../src/merchants/domain/top-up.ts';
import type { InvoiceFact, InvoiceStatus } from '../../src/invoices/domain/invoice.ts';
import type { PaymentFact, PaymentStateName } from '../../src/payments/domain/payment.ts';
import type { Refund } from '../../src/payments/domain/refund.ts';
import type { PayerEmail } from '../../src/emails/domain/payer-email.ts';
import type { ChargeOutcome, Series, SeriesFact } from '../../src/recurring/domain/series.ts';
import type { DestinationFact, DestinationStatus } from '../../src/payouts/domain/destination.ts';
import type { Identification, Identity, IdentityFact } from '../../src/identities/domain/identity.ts';
import type { DepositFact, Transfer, TransferFact, WalletFact } from '../../src/wallets/domain/wallet.ts';
import type { SubscriptionFact } from '../../src/subscriptions/domain/subscription.ts';
import type { WithdrawalFact, WithdrawalStatus } from '../../src/payouts/domain/withdrawal.ts';
import { readHistories, readRowsWithoutLog, recordedVersions, tablesOf } from './recorded.ts';
import { replay } from './replay.ts';
import { cardNumbersIn } from './worth-keeping.ts';

const histories = recordedVersions.flatMap((version) =>
  Object.keys(tablesOf).flatMap((aggregate) => readHistories(version, aggregate)),
);
const rowsWithoutLog = recordedVersions.flatMap(readRowsWithoutLog);
const rows = [
  ...rowsWithoutLog,
  ...histories.flatMap(({ rows: ofHistory }) =>
    Object.entries(ofHistory).flatMap(([table, some]) => some.map((row) => ({ table, row }))),
  ),
];

describe.each(Object.keys(tablesOf))('a recorded %s', (aggregate) => {
  const ofAggregate = histories.filter((history) => history.aggregate === aggregate);

  test.each(ofAggregate.map((history) => [history.id, history] as const))('%s', async (_, history) => {
    for (const { of, recorded, replayed } of await replay(history)) expect(replayed, of).toEqual(recorded);
  });

  test('events have no gaps', () => {
    for (const { id, events } of ofAggregate)
      expect(
        events.map(({ sequence }) => sequence),
        id,
      ).toEqual(events.map((__, place) => place + 1));
  });
});

/** The types make an incomplete list a compile error. */
const factTypes = {
  invoice: namesIn<InvoiceFact['type'] | PaymentFact['type']>({
    invoice_created: true,
    invoice_paid: true,
    invoice_fulfilled: true,
    invoice_cancelled: true,
    payment_started: true,
    payment_rerouted: true,
    payment_stepped_up: true,
    payment_interaction_requested: true,
    payment_interaction_completed: true,
    payment_reversal_started: true,
    payment_processed: true,
    payment_capture_started: true,
    payment_captured: true,
    payment_cancel_started: true,
    payment_cancelled: true,
    payment_failed: true,
    payment_refunded: true,
    refund_started: true,
    refund_funded: true,
    refund_failed: true,
    refund_succeeded: true,
    payment_reversal_refused: true,
    payment_given_back: true,
    payment_capture_failed: true,
    payment_approved_late: true,
    payment_undo_started: true,
    payment_undo_refused: true,
    payment_undone: true,
    refund_returned: true,
  }),
  customer: namesIn<CustomerFact['type'] | BindingFact['type']>({
    customer_created: true,
    customer_ready: true,
    active_binding_changed: true,
    customer_unready: true,
    customer_deleted: true,
    binding_started: true,
    binding_rerouted: true,
    binding_interaction_requested: true,
    binding_interaction_completed: true,
    binding_reversal_started: true,
    binding_charged: true,
    binding_refund_started: true,
    binding_succeeded: true,
    binding_failed: true,
    binding_withdrawn: true,
  }),
  series: namesIn<SeriesFact['type']>({
    series_started: true,
    recurring_charge_started: true,
    recurring_charge_succeeded: true,
    recurring_charge_failed: true,
    recurring_charge_unsent: true,
    obligation_ended: true,
    series_stopped: true,
    consent_withdrawn: true,
    parent_added: true,
    consent_renewed: true,
    notice_due: true,
  }),
  subscription: namesIn<SubscriptionFact['type']>({
    subscription_created: true,
    subscription_started: true,
    period_created: true,
    missed_period_charged: true,
    charge_started: true,
    charge_postponed: true,
    charge_failed: true,
    try_requested: true,
    period_paid: true,
    period_closed: true,
    payment_taken_back: true,
    subscription_unpaid: true,
    subscription_paused: true,
    subscription_resumed: true,
    anchor_shifted: true,
    end_scheduled: true,
    end_taken_back: true,
    payer_reason_given: true,
    subscription_ended: true,
    end_refund_started: true,
    end_refund_refused: true,
    end_refund_failed: true,
    items_scheduled: true,
    items_unscheduled: true,
    change_started: true,
    change_charge_started: true,
    change_charge_failed: true,
    change_dropped: true,
    change_payment_taken_back: true,
    items_changed: true,
    dunning_policy_changed: true,
    zone_changed: true,
    details_changed: true,
    subscription_parked: true,
    subscription_unparked: true,
    charge_announced: true,
    announcement_ended: true,
    payer_reminded: true,
    duties_changed: true,
  }),
  shop_top_up: namesIn<TopUpFact['type']>({ shop_topped_up: true, top_up_reversed: true }),
  identity: namesIn<IdentityFact['type']>({
    identity_created: true,
    challenge_started: true,
    challenge_completed: true,
    challenge_failed: true,
    identity_level_set: true,
    identity_blocked: true,
    identity_unblocked: true,
  }),
  wallet: namesIn<WalletFact['type']>({ wallet_opened: true }),
  deposit: namesIn<DepositFact['type']>({ deposit_made: true, deposit_reversed: true }),
  wallet_transfer: namesIn<TransferFact['type']>({
    transfer_started: true,
    transfer_succeeded: true,
    transfer_failed: true,
  }),
  destination: namesIn<DestinationFact['type']>({
    destination_created: true,
    destination_authorized: true,
    destination_refused: true,
    destination_check_failed: true,
  }),
  withdrawal: namesIn<WithdrawalFact['type']>({
    withdrawal_started: true,
    withdrawal_succeeded: true,
    withdrawal_failed: true,
    withdrawal_returned: true,
  }),
};

/** No recorded version has written them. The release that records its histories empties this list. */
const unreleasedFacts = [
  'subscription_created',
  'subscription_started',
  'period_created',
  'missed_period_charged',
  'charge_started',
  'charge_postponed',
  'charge_failed',
  'try_requested',
  'period_paid',
  'period_closed',
  'payment_taken_back',
  'subscription_unpaid',
  'subscription_paused',
  'subscription_resumed',
  'anchor_shifted',
  'end_scheduled',
  'end_taken_back',
  'payer_reason_given',
  'subscription_ended',
  'end_refund_started',
  'end_refund_refused',
  'end_refund_failed',
  'items_scheduled',
  'items_unscheduled',
  'change_started',
  'change_charge_started',
  'change_charge_failed',
  'change_dropped',
  'change_payment_taken_back',
  'dunning_policy_changed',
  'items_changed',
  'zone_changed',
  'details_changed',
  'subscription_parked',
  'subscription_unparked',
  'charge_announced',
  'announcement_ended',
  'payer_reminded',
  'duties_changed',
  'binding_interaction_completed',
  'payment_approved_late',
  'payment_capture_failed',
  'obligation_ended',
  'payment_given_back',
  'payment_interaction_completed',
  'payment_reversal_refused',
  'payment_undo_refused',
  'payment_undo_started',
  'payment_undone',
  'refund_funded',
  'refund_returned',
  'shop_topped_up',
  'top_up_reversed',
];

test.each(Object.entries(factTypes))('the histories of %s contain exactly its facts', (aggregate, types) => {
  const recorded = histories
    .filter((history) => history.aggregate === aggregate)
    .flatMap(({ events }) => events.flatMap(({ facts }) => facts.map(({ type }) => type)));
  expect([...new Set(recorded)].sort()).toEqual(types.filter((type) => !unreleasedFacts.includes(type)));
});

test('the source code names exactly these facts', () => {
  const source = new URL('../../src/', import.meta.url);
  const texts = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => readFileSync(new URL(name, source), 'utf8'));
  const named = texts.flatMap((text) => [...text.matchAll(/\btype: '([a-z]+(?:_[a-z]+)+)'/g)]);
  // One of the names is an error type.
  const facts = new Set(named.map(([, name = '']) => name).filter((name) => name !== 'wrong_type'));
  expect([...facts].sort()).toEqual(Object.values(factTypes).flat().sort());
});

const states = [
  [
    'invoice',
    'status',
    namesIn<InvoiceStatus>({ unpaid: true, paid: true, fulfilled: true, cancelled: true }),
  ],
  [
    'payment',
    'status',
    namesIn<PaymentStateName>({
      authorising: true,
      challenged: true,
      reversing: true,
      held: true,
      capturing: true,
      cancelling: true,
      captured: true,
      refunding: true,
      cancelled: true,
      refunded: true,
      failed: true,
    }),
  ],
  ['refund', 'status', namesIn<Refund['status']>({ pending: true, succeeded: true, failed: true })],
  [
    'payer_email',
    'status',
    namesIn<PayerEmail['status']>({ waiting: true, kept: true, sent: true, refused: true }),
  ],
  ['customer', 'status', namesIn<CustomerStateName>({ unready: true, ready: true, deleted: true })],
  [
    'binding',
    'status',
    namesIn<BindingStateName>({
      authorising: true,
      challenged: true,
      reversing: true,
      returning: true,
      refunding: true,
      succeeded: true,
      withdrawn: true,
      failed: true,
    }),
  ],
  ['series', 'status', namesIn<Series['state']['name']>({ active: true, stopped: true, withdrawn: true })],
  [
    'series_attempt',
    'outcome',
    namesIn<ChargeOutcome['outcome'] | 'pending'>({
      pending: true,
      approved: true,
      declined: true,
      lost: true,
      unsent: true,
    }),
  ],
  ['identity', 'level', namesIn<Identity['level']>({ anonymous: true, partial: true, identified: true })],
  [
    'identity_challenge',
    'status',
    namesIn<Identification['status']>({ pending: true, completed: true, failed: true }),
  ],
  [
    'wallet_transfer',
    'status',
    namesIn<Exclude<Transfer['status'], 'pending'>>({ succeeded: true, failed: true }),
  ],
  ['destination', 'status', namesIn<DestinationStatus>({ checking: true, authorized: true, refused: true })],
  ['withdrawal', 'status', namesIn<WithdrawalStatus>({ sending: true, succeeded: true, failed: true })],
] as const;

test.each(states)('the histories of %s contain exactly its states', (table, column, names) => {
  const recorded = rows.filter((one) => one.table === table).map(({ row }) => row[column]);
  expect([...new Set(recorded)].sort()).toEqual(names);
});

test('every JSON column is recorded with content', () => {
  const schema = readFileSync(new URL('../../schema.sql', import.meta.url), 'utf8');
  const columns = [...schema.matchAll(/^create (?:unlogged )?table (\w+) \((.*?)^\)/gms)].flatMap(
    ([, table = '', definitions = '']) =>
      [...definitions.matchAll(/^ {2}"?(\w+)"? json\b/gm)].map(([, column = '']) => `${table}.${column}`),
  );
  const recorded = new Set(
    rows.flatMap(({ table, row }) =>
      Object.entries(row).flatMap(([column, value]) => (value === null ? [] : [`${table}.${column}`])),
    ),
  );
  expect(columns).toContain('payment.terms');
  // No released version writes them.
  const unreleased = [
    'exchange.wire_keys',
    'search_position.resum_from',
    'exchange.answer',
    'exchange_note.heard',
    'invoice.recurring',
    'payer_email.content',
    'payout_terminal.merchant_facts',
    'terminal.merchant_facts',
    'dunning_policy.policy',
    'export.terms',
    'subscription.terms',
    'subscription.state',
    'subscription_period.lines',
  ];
  const missing = columns.filter((column) => !recorded.has(column) && !unreleased.includes(column));
  expect(missing).toEqual(['event.facts'].filter((column) => missing.includes(column)));
});

test('no recorded value looks like a card number', () => {
  expect([...histories, ...rowsWithoutLog].flatMap(cardNumbersIn)).toEqual([]);
});

function namesIn<Name extends string>(all: Readonly<Record<Name, true>>): string[] {
  return Object.keys(all).sort();
}
