// Replays recorded facts with the service's own code and compares the result with the recorded rows.
// Values without a fact, such as card tokens and the route of a withdrawal, come from the row.
import { customerLogFact, isBindingFact } from '../../src/customers/store/codec.ts';
import { evolveBinding, type Binding } from '../../src/customers/domain/binding.ts';
import { loadBinding } from '../../src/customers/store/bindings.ts';
import { customerStateAfter, newCustomer, type Customer } from '../../src/customers/domain/customer.ts';
import { loadCustomerOfPayer } from '../../src/customers/store/customers.ts';
import { evolve as evolveInvoice, type Invoice } from '../../src/invoices/domain/invoice.ts';
import { findInvoice } from '../../src/invoices/store/invoices.ts';
import { evolve as evolvePayment, isInProgress, type Payment } from '../../src/payments/domain/payment.ts';
import { invoiceLogFact } from '../../src/payments/store/codec.ts';
import { loadPayment } from '../../src/payments/store/payments.ts';
import { evolveRefund, type Refund } from '../../src/payments/domain/refund.ts';
import { findRefunds } from '../../src/payments/store/refunds.ts';
import { linkOf } from '../../src/recurring/consent-bundle.ts';
import { findPayerEmail } from '../../src/emails/store/payer-emails.ts';
import { evolve as evolveSeries, type Series } from '../../src/recurring/domain/series.ts';
import { seriesFact } from '../../src/recurring/store/codec.ts';
import { findSeries, readSeriesEvents } from '../../src/recurring/store/series.ts';
import {
  stateAfter,
  type DestinationState,
  type DestinationTerms,
} from '../../src/payouts/domain/destination.ts';
import { findDestination } from '../../src/payouts/store/destinations.ts';
import { evolve as evolveIdentity, type Identity } from '../../src/identities/domain/identity.ts';
import { identityFact } from '../../src/identities/store/codec.ts';
import { findChallenges, findIdentity } from '../../src/identities/store/identities.ts';
import { findTransfer } from '../../src/wallets/store/transfers.ts';
import { depositFact, transferFact, walletFact } from '../../src/wallets/store/codec.ts';
import { findDeposit, findWallet } from '../../src/wallets/store/wallets.ts';
import { evolve as evolveWithdrawal, type Withdrawal } from '../../src/payouts/domain/withdrawal.ts';
import { destinationFact, rowTerms, withdrawalFact } from '../../src/payouts/store/codec.ts';
import {
  findWithdrawal,
  rowOf as withdrawalRowOf,
  withdrawalColumns,
} from '../../src/payouts/store/withdrawals.ts';
import { written, type Codec } from '../../src/platform/database/codec.ts';
import { parameterOf } from '../../src/platform/database/statement.ts';
import type { Instant } from '../../src/clock.ts';
import {
  evolve as evolveSubscription,
  type Subscription,
} from '../../src/subscriptions/domain/subscription.ts';
import { subscriptionFact } from '../../src/subscriptions/store/codec.ts';
import { loadSubscription } from '../../src/subscriptions/store/subscriptions.ts';
import { databaseOf } from './recorded-database.ts';
import type { History, RecordedFact, RecordedRow } from './recorded.ts';
import { defined } from '../../src/defined.ts';

/** A recorded value and the replayed one, which must be equal. */
export type Comparison = { readonly of: string; readonly recorded: unknown; readonly replayed: unknown };

export function replay(history: History): Promise<Comparison[]> {
  const follow = followers[history.aggregate];
  if (!follow) throw new Error(`no replay for histories of ${history.aggregate}`);
  return follow(history);
}

const followers: Readonly<Record<string, (history: History) => Promise<Comparison[]>>> = {
  invoice: replayInvoice,
  customer: replayCustomer,
  series: replaySeries,
  identity: replayIdentity,
  wallet: replayWallet,
  deposit: replayDeposit,
  wallet_transfer: replayTransfer,
  subscription: replaySubscription,
  destination: replayDestination,
  withdrawal: replayWithdrawal,
};

async function replayInvoice(history: History): Promise<Comparison[]> {
  let invoice: Invoice | undefined;
  const payments = new Map<string, Payment>();
  const refunds = new Map<string, Refund>();
  const facts: Comparison[] = [];
  for (const recorded of factsOf(history)) {
    const logged = invoiceLogFact.read(read(recorded));
    facts.push({ of: recorded.type, recorded, replayed: stored(written(invoiceLogFact, logged)) });
    if (!('paymentId' in logged)) {
      invoice = evolveInvoice(invoice, logged);
      continue;
    }
    const { paymentId, ...fact } = logged;
    payments.set(paymentId, evolvePayment(payments.get(paymentId), fact));
    if (fact.type === 'refund_started')
      refunds.set(`${paymentId}.${fact.refund.id}`, { ...fact.refund, status: 'pending' });
    if ('refundId' in fact) {
      const name = `${paymentId}.${fact.refundId}`;
      refunds.set(name, evolveRefund(refunds.get(name) as Refund, fact));
    }
  }

  const row = ownRow(history);
  const found = await findInvoice(databaseOf([row]), text(row, 'party_id'), history.id);
  const paymentInProgress = [...payments.values()].some(isInProgress);
  return [
    ...facts,
    {
      of: 'the invoice',
      recorded: { ...found, made: row['payments_made'] },
      replayed: {
        invoice: { ...invoice, paymentInProgress },
        version: lastSequence(history),
        made: payments.size,
      },
    },
    {
      of: 'its payments',
      recorded: await Promise.all(
        rowsOf(history, 'payment').map(async (one) => {
          const name = { invoiceId: history.id, paymentId: text(one, 'payment_id') };
          // A row that was just recorded has no time of its invoice's log, with which it is read.
          const dated = { changed_at: row['changed_at'], ...one };
          return (await loadPayment(databaseOf([dated]), name))?.payment;
        }),
      ),
      replayed: [...payments.values()],
    },
    {
      of: 'their refunds',
      recorded: await Promise.all(
        rowsOf(history, 'refund').map(async (one) => {
          const paymentId = text(one, 'payment_id');
          // The words of the bank that declined it are in the exchange log, not in the row.
          const [refund] = await findRefunds(databaseOf([{ ...one, answer: null }]), {
            invoiceId: history.id,
            paymentId,
          });
          return { paymentId, ...refund };
        }),
      ),
      replayed: [...refunds].map(([name, refund]) => ({
        paymentId: name.split('.')[0],
        ...refund,
        bank: undefined,
      })),
    },
    ...(await emailsOf(history, payments)),
  ];
}

/** A payer email has the amounts of its payment. */
function emailsOf(history: History, payments: ReadonlyMap<string, Payment>): Promise<Comparison[]> {
  return Promise.all(
    rowsOf(history, 'payer_email').map(async (row) => {
      const paymentId = text(row, 'payment_id');
      const email = await findPayerEmail(databaseOf([{ content: null, about: 'receipt', ...row }]), {
        aggregateId: history.id,
        emailId: paymentId,
      });
      const state = payments.get(paymentId)?.state;
      const { amount, reference, approvalCode } = email?.paid ?? {};
      return {
        of: 'a payer email',
        recorded: { amount, reference, approvalCode },
        replayed: state &&
          'approval' in state && {
            amount: 'amount' in state ? state.amount : undefined,
            reference: state.approval.reference,
            approvalCode: state.approval.approvalCode,
          },
      };
    }),
  );
}

async function replayCustomer(history: History): Promise<Comparison[]> {
  let customer: Customer | undefined;
  const bindings = new Map<string, { readonly binding: Binding; readonly version: number }>();
  const facts: Comparison[] = [];
  for (const { sequence, facts: recordedFacts } of history.events) {
    for (const recorded of recordedFacts) {
      const logged = customerLogFact.read(read(recorded));
      facts.push({ of: recorded.type, recorded, replayed: stored(written(customerLogFact, logged)) });
      if (isBindingFact(logged)) {
        const { bindingId, ...fact } = logged;
        const binding = evolveBinding(bindings.get(bindingId)?.binding, fact);
        bindings.set(bindingId, { binding, version: sequence });
        continue;
      }
      if (logged.type === 'customer_created') customer = newCustomer(logged);
      else if (customer) customer = { ...customer, state: customerStateAfter(customer.state, logged) };
    }
  }

  const row = ownRow(history);
  const found = await loadCustomerOfPayer(databaseOf([{ ...row, is_binding: false }]), history.id);
  const version = lastSequence(history);
  const ofCustomer = {
    customer_status: row['status'],
    active_binding_id: row['active_binding_id'],
    customer_version: row['version'],
  };
  return [
    ...facts,
    {
      of: 'the customer',
      recorded: { customer: found?.customer, version: row['version'] },
      replayed: { customer: { ...customer, bindingsMade: bindings.size }, version },
    },
    {
      of: 'their bindings',
      recorded: await Promise.all(
        rowsOf(history, 'binding').map(async (one) => {
          const name = { customerId: history.id, bindingId: text(one, 'binding_id') };
          const { seriesId: _, ...stored } = {
            ...(await loadBinding(databaseOf([{ ...one, ...ofCustomer }]), name)),
          };
          return stored;
        }),
      ),
      replayed: [...bindings.values()].map((one) => ({
        ...one,
        customer: { state: customer?.state },
        customerVersion: version,
      })),
    },
  ];
}

async function replaySeries(history: History): Promise<Comparison[]> {
  const rows = history.events.map(({ sequence, at, facts }) => ({ sequence, created_at: at, facts }));
  const events = await readSeriesEvents(databaseOf(rows), history.id, 0, rows.length);
  let series: Series | undefined;
  let chain = '';
  const attempts: Record<string, RecordedRow> = {};
  for (const { sequence, createdAt, facts } of events) {
    chain = linkOf(chain, { sequence, at: createdAt, facts });
    for (const fact of facts.map(seriesFact.read)) {
      series = evolveSeries(series, fact, createdAt);
      if (fact.type === 'recurring_charge_started') {
        const { invoiceId, paymentId, isRetry, packs } = fact;
        const made = { is_retry: isRetry, packs: packs.join(' '), created_at: createdAt };
        attempts[`${invoiceId}.${paymentId}`] = { ...made, outcomes: ['pending'], ended_at: null };
      }
      const outcomes = outcomesOf[fact.type];
      if (outcomes && 'paymentId' in fact) {
        const name = `${fact.invoiceId}.${fact.paymentId}`;
        attempts[name] = { ...attempts[name], outcomes, ended_at: createdAt };
      }
    }
  }

  const found = await findSeries(databaseOf([{ ...ownRow(history), settings: null }]), history.id);
  return [
    {
      of: 'the series',
      recorded: { series: found?.series, version: found?.version, chain: found?.chain },
      replayed: { series, version: lastSequence(history), chain },
    },
    ...rowsOf(history, 'series_attempt').map((row) => {
      const name = `${text(row, 'invoice_id')}.${text(row, 'payment_id')}`;
      const { outcomes = [], ...attempt } = attempts[name] ?? {};
      const { is_retry, packs, created_at, ended_at, outcome } = row;
      const isOneOf = (outcomes as readonly unknown[]).includes(outcome);
      return {
        of: `the charge ${name}`,
        recorded: { is_retry, packs, created_at, ended_at, outcome },
        replayed: { ...attempt, outcome: isOneOf ? outcome : outcomes },
      };
    }),
  ];
}

const outcomesOf: Readonly<Record<string, readonly string[]>> = {
  recurring_charge_succeeded: ['approved'],
  recurring_charge_failed: ['declined', 'lost'],
  recurring_charge_unsent: ['unsent'],
};

async function replayIdentity(history: History): Promise<Comparison[]> {
  let identity: Identity | undefined;
  const challenges = new Map<string, object>();
  const facts: Comparison[] = [];
  for (const recorded of factsOf(history)) {
    const fact = identityFact.read(read(recorded));
    facts.push({ of: recorded.type, recorded, replayed: stored(written(identityFact, fact)) });
    identity = evolveIdentity(identity, fact);
    if (fact.type === 'challenge_started')
      challenges.set(fact.challengeId, { type: fact.challengeType, status: 'pending' });
    if (fact.type === 'challenge_completed')
      challenges.set(fact.challengeId, { ...challenges.get(fact.challengeId), status: 'completed' });
    if (fact.type === 'challenge_failed') {
      const failed = { status: 'failed', failureReason: fact.reason };
      challenges.set(fact.challengeId, { ...challenges.get(fact.challengeId), ...failed });
    }
  }

  const found = await findIdentity(databaseOf([ownRow(history)]), null, history.id);
  const identifications = await findChallenges(databaseOf(rowsOf(history, 'identity_challenge')), history.id);
  return [
    ...facts,
    {
      of: 'the identity',
      recorded: found,
      // No event has the sender.
      replayed: {
        identity: { ...identity, ...defined({ sender: found?.identity.sender }) },
        version: lastSequence(history),
      },
    },
    {
      of: 'its challenges',
      recorded: Object.fromEntries(
        identifications.map(({ id, identityId: _, proofs: __, createdAt: ___, ...challenge }) => [
          id,
          challenge,
        ]),
      ),
      replayed: Object.fromEntries(challenges),
    },
  ];
}

/** The current data of the identity, which wallets and destinations join. */
const ofIdentity = {
  is_blocked: false,
  provider: 'test',
  level: 'anonymous',
  owner_name: 'A',
  owner_class: 'person',
  sender: null,
};

async function replayWallet(history: History): Promise<Comparison[]> {
  const { facts, comparisons } = logOf(history, walletFact);
  const { level, provider } = ofIdentity;
  return [
    ...comparisons,
    {
      of: 'the wallet',
      recorded: await findWallet(databaseOf([{ ...ownRow(history), ...ofIdentity }]), null, history.id),
      replayed: {
        ...facts[0]?.terms,
        isBlocked: false,
        provider,
        level,
        owner: { name: 'A', class: 'person' },
      },
    },
  ];
}

async function replayDeposit(history: History): Promise<Comparison[]> {
  const { facts, comparisons } = logOf(history, depositFact);
  const row = { ...ownRow(history), debit_account: '' };
  const deposit = (await findDeposit(databaseOf([row]), history.id))?.deposit;
  const { walletId, amount, reversedAt } = deposit ?? {};
  const { minor: amountMinor, currency } = amount ?? {};
  return [
    ...comparisons,
    {
      of: 'the deposit',
      recorded: [
        { type: 'deposit_made', walletId, amountMinor, currency },
        ...(reversedAt === undefined ? [] : [{ type: 'deposit_reversed' }]),
      ],
      replayed: facts.map((fact) => (fact.type === 'deposit_reversed' ? { type: fact.type } : fact)),
    },
  ];
}

async function replayTransfer(history: History): Promise<Comparison[]> {
  const { facts, comparisons } = logOf(history, transferFact);
  const row = ownRow(history);
  const found = await findTransfer(databaseOf([row]), text(row, 'party_id'), history.id);
  const { senderId, receiverId, amount, status } = found ?? {};
  const { minor: amountMinor, currency } = amount ?? {};
  return [
    ...comparisons,
    {
      of: 'the transfer',
      recorded: [
        { type: 'transfer_started', senderId, receiverId, amountMinor, currency },
        { type: `transfer_${status}` },
      ],
      replayed: facts,
    },
  ];
}

async function replaySubscription(history: History): Promise<Comparison[]> {
  const row = ownRow(history);
  let subscription: Subscription | undefined;
  for (const { at, facts } of history.events)
    for (const fact of facts)
      subscription = evolveSubscription(subscription, subscriptionFact.read(fact), at as Instant);
  const found = await loadSubscription(databaseOf([row]), history.id);
  return [{ of: 'the subscription', recorded: found?.subscription, replayed: subscription }];
}

async function replayDestination(history: History): Promise<Comparison[]> {
  const row = ownRow(history);
  const cardToken = text(row, 'card_token');
  const { facts, comparisons } = logOf(history, destinationFact);
  const found = await findDestination(databaseOf([{ ...row, ...ofIdentity }]), null, history.id);
  const cardHash = found?.destination.cardHash;
  let terms: DestinationTerms | undefined;
  let state: DestinationState | undefined;
  for (const logged of facts) {
    const isCreated = logged.type === 'destination_created';
    const untold = { cardToken, ...(cardHash === undefined ? {} : { cardHash }) };
    const fact = isCreated ? { ...logged, terms: { ...logged.terms, ...untold } } : logged;
    if (fact.type === 'destination_created') terms = fact.terms;
    state = stateAfter(state?.status ?? 'absent', fact);
  }
  const { provider } = ofIdentity;
  return [
    ...comparisons,
    {
      of: 'the destination',
      recorded: found,
      replayed: {
        destination: { ...terms, state, isBlocked: false, provider },
        version: lastSequence(history),
      },
    },
  ];
}

async function replayWithdrawal(history: History): Promise<Comparison[]> {
  const row = ownRow(history);
  const { cardToken, isCounted, countedFor, sender, route } = rowTerms.read(read(row['terms'] as object));
  const untold = { cardToken, isCounted, ...defined({ countedFor, sender, route }) };
  const { facts, comparisons } = logOf(history, withdrawalFact);
  let withdrawal: Withdrawal | undefined;
  for (const fact of facts) {
    const isStarted = fact.type === 'withdrawal_started';
    withdrawal = evolveWithdrawal(
      withdrawal,
      isStarted ? { ...fact, terms: { ...fact.terms, ...untold } } : fact,
    );
  }
  // As the migration fills the columns that the recorded version lacked.
  const known = { sends: 0, is_unsent: false, ...row };
  const found = await findWithdrawal(databaseOf([known]), null, history.id);
  const { terms, status, result } = withdrawalColumns;
  const columns = found && withdrawalRowOf(found.withdrawal, found.version);
  return [
    ...comparisons,
    {
      of: 'the withdrawal',
      recorded: found && { withdrawal: found.withdrawal, version: found.version },
      replayed: { withdrawal, version: lastSequence(history) },
    },
    {
      of: 'its columns of JSON',
      recorded: [row['status'], row['terms'], row['result']],
      replayed: columns && [
        parameterOf(columns.status, status),
        JSON.parse(String(parameterOf(columns.terms, terms))),
        JSON.parse(String(parameterOf(columns.result, result))),
      ],
    },
  ];
}

/** The facts of a log, and each fact written again. */
function logOf<Fact>(
  history: History,
  codec: Codec<Fact>,
): { facts: readonly Fact[]; comparisons: readonly Comparison[] } {
  const recorded = factsOf(history);
  const facts = recorded.map((fact) => codec.read(read(fact)));
  const comparisons = facts.map((fact, place) => ({
    of: recorded[place]?.type ?? '',
    recorded: JSON.stringify(recorded[place]),
    replayed: JSON.stringify(written(codec, fact)),
  }));
  return { facts, comparisons };
}

function factsOf({ events }: History): readonly RecordedFact[] {
  return events.flatMap(({ facts }) => facts);
}

function lastSequence({ events }: History): number | undefined {
  return events.at(-1)?.sequence;
}

function rowsOf({ rows }: History, table: string): readonly RecordedRow[] {
  return rows[table] ?? [];
}

function ownRow(history: History): RecordedRow {
  const [row] = rowsOf(history, history.aggregate);
  if (!row) throw new Error(`${history.aggregate} ${history.id} was recorded without a row`);
  return row;
}

function text(row: RecordedRow, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw new Error(`${column} of a recorded row is not text`);
  return value;
}

/** Returns a copy, because a caller may change what it read. */
function read(recorded: object): unknown {
  return structuredClone(recorded);
}

/** The value as read from a JSON column. */
function stored(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
