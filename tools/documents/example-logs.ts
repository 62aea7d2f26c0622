// Event logs from which the examples of webhook events are made: together they have every fact that merchants are sent.
import { instantAt, type Instant } from '../../src/clock.ts';
import type { LoggedEvent, Topic } from '../../src/platform/events/domain/topic.ts';

const createdAtMs = Date.UTC(2026, 0, 20, 10);
const createdAt = minute(0);
const partyId = '1xVMBpaY7d9';
const shopId = 'TEST';
const terminal = { id: 'T1', bankId: 'ACME', merchantId: 'M1', descriptor: 'EXAMPLE.COM' };
const amount = { minor: 6_000, currency: 'EUR' };
const card = { bin: '424242', lastDigits: '4242', mask: '424242******4242', paymentSystem: 'visa' };
const clientInfo = { fingerprint: 'a browser', ip: '192.0.2.10' };
const contactInfo = { email: 'payer@example.com' };
const approval = { reference: '900000000012' };
const interaction = { method: 'GET', url: 'https://issuer.example/3ds/1Cg2mCUVy7p' };
const paymentId = '1';
const declined = ['authorization_failed', 'insufficient_funds'];

export const exampleLogs: Readonly<Record<Topic['name'], readonly (readonly LoggedEvent<unknown>[])[]>> = {
  InvoicesTopic: [
    logOf(
      invoiceCreated('1Cg2mCUVy4m'),
      paymentStarted('1Cg2mCUVy4m'),
      { type: 'payment_processed', paymentId, approval },
      { type: 'payment_captured', paymentId, amount },
      { type: 'invoice_paid' },
      { type: 'invoice_fulfilled', reason: 'Delivered' },
      refundStarted('100'),
      { type: 'refund_failed', paymentId, refundId: '100', failure: declined },
      refundStarted('101'),
      { type: 'refund_succeeded', paymentId, refundId: '101' },
      { type: 'payment_refunded', paymentId },
    ),
    logOf(
      invoiceCreated('1Cg2mCUVy5n'),
      paymentStarted('1Cg2mCUVy5n'),
      { type: 'payment_processed', paymentId, approval },
      { type: 'payment_cancel_started', paymentId, reason: 'Out of stock' },
      { type: 'payment_cancelled', paymentId },
      { type: 'invoice_cancelled', reason: 'Out of stock' },
    ),
    logOf(invoiceCreated('1Cg2mCUVy6o'), paymentStarted('1Cg2mCUVy6o'), {
      type: 'payment_failed',
      paymentId,
      failure: declined,
      declineClass: 'funds',
      bank: { code: '51', text: 'Insufficient funds' },
    }),
    logOf(
      invoiceCreated('1Cg2mCUVy7p'),
      paymentStarted('1Cg2mCUVy7p'),
      { type: 'payment_interaction_requested', paymentId, interaction, until: minute(12) },
      { type: 'payment_interaction_completed', paymentId },
    ),
  ],
  CustomersTopic: [
    logOf(
      {
        type: 'customer_created',
        terms: { id: '1DaQ7sKf3Zp', shopId, partyId, createdAt, contactInfo, metadata: {} },
      },
      bindingStarted('1DaQ7sKf4Aq'),
      { type: 'binding_failed', bindingId: '1DaQ7sKf4Aq', failure: declined },
      bindingStarted('1DaQ7sKf5Br'),
      { type: 'binding_charged', bindingId: '1DaQ7sKf5Br', approval, returnBy: minute(60) },
      { type: 'binding_succeeded', bindingId: '1DaQ7sKf5Br' },
      { type: 'customer_ready', bindingId: '1DaQ7sKf5Br' },
      { type: 'customer_deleted' },
    ),
  ],
  RecurringTopic: [
    logOf(
      {
        type: 'series_started',
        terms: {
          id: '1Cg2mCUVy4m.1',
          partyId,
          shopId,
          kind: 'parent',
          root: { invoiceId: '1Cg2mCUVy4m', paymentId },
          ...consent(),
          consentedAt: createdAt,
        },
      },
      recurringCharge('started', '1Ch4nDVWz5p', { isRetry: false, packs: [], warnings: [] }),
      recurringCharge('succeeded', '1Ch4nDVWz5p', { createdAt: minute(1) }),
      { type: 'parent_added', invoiceId: '1Ch4nDVWz5p', paymentId },
      recurringCharge('failed', '1Ch4nDVWz6q', {
        isRetry: false,
        answer: { network: 'visa', code: '51' },
        notBefore: { at: minute(24 * 60), rule: 'onceADay', pack: 'house@2026-11-23' },
      }),
      recurringCharge('unsent', '1Ch4nDVWz7r', {}),
      { type: 'obligation_ended', invoiceId: '1Ch4nDVWz6q' },
      {
        type: 'notice_due',
        notice: { kind: 'cardExpiring', at: minute(6), about: minute(60 * 24 * 60) },
      },
      { type: 'consent_renewed', ...consent() },
      {
        type: 'series_stopped',
        rule: 'code R1',
        pack: 'visa@2025-05-01.2',
        scope: 'cardInShop',
        declineClass: 'stopped',
      },
      { type: 'consent_withdrawn', by: 'payer' },
    ),
  ],
  SubscriptionsTopic: [
    logOf(
      { type: 'subscription_created', terms: subscriptionTerms() },
      {
        type: 'subscription_started',
        schedule: { ...subscriptionSchedule(), anchor: '2026-01-20', anchorNumber: 1, leading: [] },
      },
      { type: 'period_created', period: subscriptionPeriod(1, '2026-01-20', '2026-02-20') },
      { type: 'charge_started', number: 1, paymentId: '1Ek5pFYYx1t.1' },
      { type: 'charge_postponed', number: 1, until: minute(24 * 60), why: 'recurrentRetryTooEarly' },
      { type: 'charge_started', number: 1, paymentId: '1Ek5pFYYx1t.1' },
      {
        type: 'charge_failed',
        number: 1,
        declineClass: 'funds',
        nextTryAt: minute(48 * 60),
        givesUpAt: minute(26 * 24 * 60),
      },
      { type: 'try_requested', number: 1, by: 'newCard' },
      { type: 'charge_started', number: 1, paymentId: '1Ek5pFYYx1t.2' },
      { type: 'period_paid', number: 1, by: 'charge' },
      { type: 'items_scheduled', items: [{ product: 'A cup of tea', quantity: 1, priceMinor: 29_900 }] },
      { type: 'items_unscheduled' },
      { type: 'change_started', change: subscriptionChange() },
      { type: 'change_charge_started', paymentId: '1Ek5pFYYx4w.1' },
      { type: 'change_charge_failed', failedFor: 'funds' },
      { type: 'items_changed', change: subscriptionChange() },
      { type: 'change_payment_taken_back', ofPeriod: 1, invoiceId: '1Ek5pFYYx4w', amountMinor: 15_000 },
      { type: 'change_started', change: subscriptionChange() },
      { type: 'change_dropped', why: 'unpaid' },
      { type: 'zone_changed', zone: 'Asia/Vladivostok' },
      { type: 'details_changed', metadata: { plan: 'tea' }, catchUp: 'all' },
      { type: 'charge_announced', announcement: announcement('trialEnding') },
      { type: 'charge_announced', announcement: announcement('newPrice') },
      { type: 'announcement_ended', number: 2, as: 'accepted' },
      { type: 'subscription_paused', by: 'merchant', resumesAt: minute(40 * 24 * 60) },
      {
        type: 'anchor_shifted',
        schedule: { ...subscriptionSchedule(), anchor: '2026-02-20', anchorNumber: 2, leading: [] },
      },
      { type: 'subscription_resumed' },
      { type: 'period_created', period: missedPeriod(2, '2026-02-20', '2026-03-20') },
      { type: 'missed_period_charged', number: 2, invoiceId: '1Ek5pFYYx2u' },
      { type: 'charge_started', number: 2, paymentId: '1Ek5pFYYx2u.1' },
      { type: 'period_paid', number: 2, by: 'charge' },
      {
        type: 'payment_taken_back',
        period: { ...missedPeriod(2, '2026-02-20', '2026-03-20'), invoiceId: '1Ek5pFYYx2u' },
        paidThrough: '2026-02-20T00:00:00.000000Z',
      },
      { type: 'period_created', period: subscriptionPeriod(3, '2026-03-20', '2026-04-20') },
      { type: 'charge_started', number: 3, paymentId: '1Ek5pFYYx3v.1' },
      { type: 'charge_failed', number: 3, declineClass: 'newCard', givesUpAt: minute(85 * 24 * 60) },
      { type: 'subscription_unpaid', number: 3 },
      { type: 'end_scheduled', afterNumber: 3, reason: 'payer' },
      { type: 'payer_reason_given', reason: 'tooExpensive' },
      { type: 'end_taken_back' },
      {
        type: 'dunning_policy_changed',
        name: 'gentle',
        policy: { ...subscriptionTerms().dunning, name: 'gentle', version: 2 },
      },
      { type: 'subscription_parked', why: 'periodAhead' },
      { type: 'subscription_unparked' },
      { type: 'period_closed', number: 3, outcome: 'unpaid' },
      { type: 'subscription_ended', reason: 'payer', refund: 'last' },
      {
        type: 'end_refund_started',
        invoiceId: '1Ek5pFYYx2u',
        paymentId: '1',
        amountMinor: 6_000,
        refundId: '100',
      },
      {
        type: 'end_refund_refused',
        invoiceId: '1Ek5pFYYx4w',
        paymentId: '1',
        amountMinor: 900,
        refusedFor: 'insufficentAccountBalance',
      },
      {
        type: 'end_refund_failed',
        invoiceId: '1Ek5pFYYx2u',
        paymentId: '1',
        amountMinor: 6_000,
        refundId: '100',
        failedFor: 'account_not_found',
      },
    ),
  ],
  WithdrawalsTopic: [
    logOf(withdrawalStarted('tZ0jUmlsV0'), { type: 'withdrawal_succeeded', reference: '900000000036' }),
    logOf(withdrawalStarted('tZ0jUmlsV1'), {
      type: 'withdrawal_failed',
      failure: ['authorization_failed', 'payment_tool_rejected', 'bank_card_rejected', 'card_expired'],
    }),
    logOf(
      withdrawalStarted('tZ0jUmlsV2'),
      { type: 'withdrawal_succeeded', reference: '900000000037' },
      {
        type: 'withdrawal_returned',
        returned: {
          at: '2024-03-04T09:00:00.000000Z',
          code: 'account_closed',
          amount: { minor: 100_000, currency: 'RUB' },
        },
      },
    ),
  ],
  DestinationsTopic: [
    logOf(
      {
        type: 'destination_created',
        terms: {
          id: '107498',
          partyId,
          identityId: '1Bq5',
          name: 'Card of Ann',
          currency: 'EUR',
          createdAt,
          card,
          externalId: 'card-7',
        },
      },
      { type: 'destination_authorized' },
    ),
  ],
};

function invoiceCreated(id: string) {
  const dueDate = minute(24 * 60);
  const terms = { id, partyId, shopId, createdAt, dueDate, product: 'Order 1', metadata: {} };
  return {
    type: 'invoice_created',
    terms: { ...terms, amountMinor: amount.minor, currency: amount.currency },
  };
}

function paymentStarted(invoiceId: string) {
  const payer = { type: 'resource', token: 'v1.1', session: 's1.1', card, clientInfo, contactInfo };
  const rules = { flow: { type: 'instant' }, makeRecurrent: false, realm: 'live', fees: {} };
  const terms = { invoiceId, id: paymentId, partyId, shopId, amount, createdAt, deadline: minute(30) };
  return { type: 'payment_started', paymentId, terms: { ...rules, payer, terminal, ...terms } };
}

function refundStarted(id: string) {
  return { type: 'refund_started', paymentId, refund: { id, createdAt: minute(6), amount, feeMinor: 0 } };
}

function bindingStarted(id: string) {
  const toVerify = { token: 'v1.1', session: 's1.1', details: card, clientInfo };
  const terms = { id, terminal, card: toVerify, customerId: '1DaQ7sKf3Zp', number: 1, partyId, shopId };
  const rules = { createdAt, deadline: minute(30), realm: 'live', amount };
  return { type: 'binding_started', bindingId: id, terms: { ...terms, ...rules } };
}

function consent() {
  const payment = { createdAt, amountMinor: amount.minor, currency: amount.currency, ...approval };
  const payer = { ...clientInfo, contactInfo };
  return {
    card: { paymentSystem: 'visa', lastDigits: '4242', endsAt: '2031-01-01T12:00:00.000000Z' },
    mandate: { schedule: 'P1M', evidence: 'missing', payer, payment },
  };
}

function recurringCharge(what: string, invoiceId: string, members: object) {
  return { type: `recurring_charge_${what}`, invoiceId, paymentId, ...members };
}

function withdrawalStarted(id: string) {
  const from = { walletId: '10068321', walletPartyId: partyId, identityId: '1Bq5' };
  const terms = { ...from, destinationId: '107498', amountMinor: amount.minor, currency: amount.currency };
  const externalId = 'salary-5';
  return {
    type: 'withdrawal_started',
    terms: { id, partyId, createdAt, ...terms, feeMinor: 50, externalId },
  };
}

/** One event a minute, each of one fact. */
function logOf(...facts: readonly object[]): LoggedEvent<unknown>[] {
  return facts.map((fact, index) => ({ sequence: index + 1, createdAt: minute(index), facts: [fact] }));
}

function minute(count: number): Instant {
  return instantAt(createdAtMs + count * 60_000);
}

function subscriptionSchedule() {
  return {
    every: { count: 1, unit: 'M' },
    zone: 'Europe/Moscow',
    chargeAt: { from: '06:00', until: '10:00' },
  };
}

function subscriptionTerms() {
  return {
    id: '1Ek5pFYYx0s',
    partyId,
    shopId,
    customerId: '1DaQ7sKf3Zp',
    createdAt,
    currency: 'EUR',
    startsWith: 'savedCard',
    items: [{ product: 'Tea of the month', quantity: 1, priceMinor: 6_000 }],
    schedule: { ...subscriptionSchedule(), anchor: 'atStart' },
    catchUp: 'current',
    dunning: {
      name: 'usual',
      version: 1,
      tries: [1, 3],
      at: { from: '06:00', until: '10:00' },
      windowDays: 26,
      finally: 'unpaid',
    },
    trialWithoutCard: 'unpaid',
  };
}

function subscriptionChange() {
  return {
    period: 1,
    items: [{ product: 'Two teas', quantity: 1, priceMinor: 79_900 }],
    creditMinor: 24_950,
    chargeMinor: 39_950,
    fromBalanceMinor: 0,
    invoiceId: '1Ek5pFYYx4w',
    payableUntil: minute(3 * 24 * 60),
  };
}

function missedPeriod(...of: Parameters<typeof subscriptionPeriod>) {
  const { invoiceId: _, ...period } = subscriptionPeriod(...of);
  return { ...period, outcome: 'missed' } as const;
}

function subscriptionPeriod(number: number, startsOn: string, endsOn: string) {
  return {
    number,
    kind: 'regular',
    startsOn,
    endsOn,
    startsAt: `${startsOn}T00:00:00.000000Z`,
    endsAt: `${endsOn}T00:00:00.000000Z`,
    dueAt: `${startsOn}T06:00:00.000000Z`,
    lines: [{ product: 'Tea of the month', quantity: 1, priceMinor: 6_000 }],
    amountMinor: 6_000,
    creditMinor: 0,
    invoiceId: `1Ek5pFYYx${number}${'stuv'[number]}`,
    outcome: 'open',
  };
}

function announcement(why: 'trialEnding' | 'newPrice') {
  return { number: 2, why, priceMinor: 49_900, leadMs: 7 * 24 * 3_600_000, version: 9, by: 'email' };
}
