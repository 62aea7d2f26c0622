// The job of a subscription: hears how a charge has ended, and does what is due. The period, its invoice and its payment are one
// transaction, so a crash leaves all of them or none.
import { latest, laterBy, type Instant } from '../clock.ts';
import { defined } from '../defined.ts';
import type { Ids } from '../ids.ts';
import { findActiveCard, whoRevokedLast } from '../customers/port.ts';
import { isOverdue } from '../invoices/domain/invoice.ts';
import { loadInvoice } from '../invoices/store/invoices.ts';
import {
  chargeInvoice,
  findPayableInvoice,
  outcomeOfCharge,
  paymentOfInvoice,
  type ChargeOutcome,
  type StartPaymentDeps,
} from '../payments/port.ts';
import { allOrNothing } from '../platform/database/all-or-nothing.ts';
import type { SharedTransactions } from '../platform/database/batches/shared-transactions.ts';
import type { Database } from '../platform/database/database.ts';
import type { LeasedJob } from '../platform/jobs/job-table.ts';
import type { Revocation } from '../recurring/domain/series.ts';
import { accept, refuse, type Outcome } from '../refusal.ts';
import { chargeRefusals } from '../retry-rules/domain/may-charge.ts';
import { allowedBySeries, findChargedSeries } from './charged-series.ts';
import { decideChangeChargeEnded, decideChangeEnded } from './domain/changes/change.ts';
import { decideChargeEnded, type ChargeEnding } from './domain/charge-outcome.ts';
import { checkFits } from './domain/dunning/dunning.ts';
import {
  decideConsentRenewed,
  decideNewCard,
  waitingForPayer,
  withChangeConsented,
} from './domain/dunning/try-again.ts';
import { decideFollow, retryOf } from './domain/dunning/policies.ts';
import { instalmentOf } from './domain/schedule.ts';
import {
  decideFirstPaymentCaptured,
  decideForgive,
  decideOverdue,
  decidePaid,
  decideRevoked,
  decideWake,
  openPeriod,
  type NewIds,
} from './domain/commands.ts';
import { hashOf } from './domain/day-window.ts';
import { dutyDue } from './domain/duties/duties.ts';
import {
  evolveAll,
  nextAction,
  policyNameOf,
  type Action,
  type OpenPeriod,
  type Subscription,
  type SubscriptionFact,
} from './domain/subscription.ts';
import { findPolicyFor } from './store/dunning-policies.ts';
import { loadSubscription, restSubscription, type StoredSubscription } from './store/subscriptions.ts';
import { heardOfRefunds, refundAtEnd } from './refund-at-end.ts';
import { dutiesOf, dutyFacts, heardOfAnnouncements, heldUnannounced, type DutyDeps } from './duty-steps.ts';
import type { PayerEmails } from './payer-emails.ts';
import { wakeTimeOf } from './domain/wake-time.ts';
import { writeFacts } from './write-facts.ts';

type JobDeps = StartPaymentDeps &
  Pick<DutyDeps, 'isAcknowledged'> & {
    readonly ids: Ids;
    readonly payerEmails: PayerEmails;
    readonly countCharge: (outcome: 'paid' | 'failed' | 'postponed', because: string) => void;
    /** Many are due at once, so they are written together. */
    readonly transact: SharedTransactions;
  };

type StartCharge = StartPaymentDeps['jobs']['run'];

export type SubscriptionJobDeps = Omit<JobDeps, 'jobs'> & {
  /** Starts the job of a payment, and resolves when it has run. */
  readonly runToEnd: (...charge: Parameters<StartCharge>) => Promise<void>;
};

/** More things that are due at once are left to the next run. */
const maxTurns = 20;
const dayMs = 24 * 3_600_000;
/** Until the payer's own payment is over, no period is given up. Until a refund in progress is over, no other starts. */
const payerPaysMs = 3_600_000;
/** The end of the other charge wakes the subscription. If that is lost, it looks after this time. */
const otherChargedMs = 3_600_000;
/** Then it is sent as well as a charge whose outcome stays unknown, before the period is missed. */
const waitsForOthersMs = dayMs;

/** The longest that a slot is taken for a charge: a slow bank must not hold up the subscriptions of another. */
const slotForChargeMs = 5_000;

const soonestAfterHoldMs = 5 * 60_000;
const spreadAfterHoldMs = 10 * 60_000;

export async function runSubscriptionJob(
  deps: SubscriptionJobDeps,
  { key: [id = ''], clock, leasedUntil, ...job }: LeasedJob,
): Promise<void> {
  const charges = slotOfCharges(deps.runToEnd, job);
  const ofTurn = { ...deps, jobs: charges };
  // What a turn has written is known, and has a time to look at it again.
  let written: StoredSubscription | undefined;
  for (let turn = 0; turn < maxTurns; turn++) {
    const stored = written ?? (await loadClaimed(deps.db, id, leasedUntil));
    if (!stored) return;
    const now = latest(clock.now(), stored.changedAt);
    const after = await takeTurn(ofTurn, stored, now);
    if (after === 'rest') break;
    written = after === 'again' || after === stored ? undefined : after;
  }
  await charges.asked();
}

async function loadClaimed(
  db: Database,
  id: string,
  leasedUntil: Instant,
): Promise<StoredSubscription | undefined> {
  const stored = await loadSubscription(db, id);
  return stored && { ...stored, leasedUntil };
}

/** What falls due at once reaches the bank as fast as it answers. Otherwise payers who are present would wait behind all of it. */
export function slotOfCharges(
  runToEnd: SubscriptionJobDeps['runToEnd'],
  { movesClock }: Pick<LeasedJob, 'movesClock'>,
) {
  let running: Promise<void> | undefined;
  const run: StartCharge = (...charge) => void (running = runToEnd(...charge));
  return {
    run,
    /** The bank has been asked about what was begun, or takes long. */
    async asked(): Promise<void> {
      if (!running || movesClock) return;
      let timer: NodeJS.Timeout | undefined;
      const long = new Promise<void>((resolve) => (timer = setTimeout(resolve, slotForChargeMs)));
      await Promise.race([running, long]);
      clearTimeout(timer);
    },
  };
}

async function takeTurn(deps: JobDeps, stored: StoredSubscription, now: Instant): Promise<Turned> {
  const { db, merchants, transact } = deps;
  const { subscription, leasedUntil, isWritten = false } = stored;
  const rest = async (until: Instant | undefined) => {
    if (leasedUntil !== undefined && !isWritten) await restSubscription(db, stored, leasedUntil, until);
    return 'rest' as const;
  };
  const end = async (turn: (tx: Database) => Promise<Turn>, inOne: SharedTransactions = transact) => {
    const done = await inOne(turn);
    if (done === 'versionConflict') return 'again';
    if (done.ok) return done.value;
    const isOtherCharged = done.refusal.code === 'recurrentRetryTooEarly';
    return isOtherCharged && leasedUntil !== undefined && !isWritten
      ? afterOther(deps, stored, leasedUntil, now)
      : rest(laterBy(now, payerPaysMs));
  };
  if (isGivenBack(subscription)) {
    const { facts, isPending } = await heardOfRefunds(db, subscription);
    if (facts.length > 0) return end((tx) => write(tx, stored, facts, now, deps));
    return rest(isPending ? wakeTimeOf(subscription, now) : undefined);
  }
  const seen = await afterConsent(deps, stored, now);
  const next = nextAction(seen.subscription);
  const isDue = next !== undefined && next.at <= now;
  const duty = isDue ? undefined : dutyDue(subscription, now);
  const acts = (isDue && next.does !== 'refund') || duty !== undefined;
  const heard = await heardOf(deps, stored, acts, now);
  if (heard.length > 0) return end((tx) => write(tx, stored, heard, now, deps));
  if (duty)
    return end(async (tx) => write(tx, stored, await dutyFacts(tx, stored, duty, now, deps), now, deps));
  if (!isDue) return rest(wakeTimeOf(seen.subscription, now));
  // It locks the shop's money, so it shares its transaction with no other.
  if (next.does === 'refund')
    return end(
      (tx) => refundAtEnd(tx, stored, now, deps),
      (work) => allOrNothing(db, work),
    );
  const mayTrade = !startsCharge(next) || (await merchants.trading(subscription.terms)).ok;
  if (!mayTrade) return rest(laterBy(now, dayMs));
  if (startsCharge(next) && (await deps.banks.holdsChargesOf(subscription.terms, now))) {
    // If this run has written, the row is due again, and counts then.
    if (!isWritten) deps.countCharge('postponed', 'held');
    return rest(laterBy(now, heldMs(subscription.terms.id)));
  }
  return end((tx) => doNext(tx, seen, next, now, deps));
}

/** Another charge of the series is in progress, and its end wakes the subscription. `again`: it is over by now. */
async function afterOther(
  { db, consents, charging, countCharge }: JobDeps,
  stored: StoredSubscription,
  leasedUntil: Instant,
  now: Instant,
): Promise<'again' | 'rest'> {
  const { subscription } = stored;
  const series = (await findChargedSeries(db, subscription, consents))?.series;
  if (!series) return 'again';
  // Its row first, as everywhere. The end of the other charge comes before both, or finds both.
  const waits = await allOrNothing(db, async (tx) => {
    await restSubscription(tx, stored, leasedUntil, laterBy(now, otherChargedMs));
    const isInProgress = await charging.awaitEnd(tx, series.id, subscription.terms.id);
    return isInProgress ? accept(undefined) : refuse('recurrentRetryTooEarly');
  });
  if (waits.ok) countCharge('postponed', 'attemptPending');
  return waits.ok ? 'rest' : 'again';
}

/** Nothing but the end of its refunds is left to hear of. */
function isGivenBack({ endRefund }: Subscription): boolean {
  return endRefund !== undefined && endRefund.isDue === undefined;
}

/** With the charge of a change due again, if its payer has consented since it failed. */
async function afterConsent(
  { db, consents }: Pick<JobDeps, 'db' | 'consents'>,
  stored: StoredSubscription,
  now: Instant,
): Promise<StoredSubscription> {
  const { subscription } = stored;
  if (!waitingForPayer(subscription)?.isChange) return stored;
  const series = (await findChargedSeries(db, subscription, consents))?.series;
  return series
    ? { ...stored, subscription: withChangeConsented(subscription, series.consentedAt, now) }
    : stored;
}

/** `again`: another has written. Otherwise the row as this turn has left it. */
type Turned = StoredSubscription | 'again' | 'rest';

type Turn =
  | Outcome<
      StoredSubscription | 'rest',
      'subscriptionChargePending' | 'operationNotPermitted' | 'recurrentRetryTooEarly'
    >
  | 'versionConflict';

function countCharges(
  facts: readonly SubscriptionFact[],
  { countCharge }: Pick<JobDeps, 'countCharge'>,
): void {
  for (const fact of facts) {
    if (fact.type === 'period_paid' && fact.by === 'charge') countCharge('paid', '');
    if (fact.type === 'charge_failed') countCharge('failed', fact.declineClass);
    if (fact.type === 'charge_postponed') countCharge('postponed', fact.why);
  }
}

/** Refused if a period would be given up while its payer pays. */
async function write(
  tx: Database,
  stored: StoredSubscription,
  facts: readonly SubscriptionFact[],
  now: Instant,
  deps: JobDeps,
): Promise<Turn> {
  const written = await writeFacts(tx, stored, facts, now, deps);
  if (!written) return 'versionConflict';
  tx.afterCommit(() => countCharges(facts, deps));
  return written.isPaying ? refuse('subscriptionChargePending') : accept(written);
}

/** No failure, and no attempt. What is held does not come back all at once. */
export function heldMs(subscriptionId: string): number {
  return soonestAfterHoldMs + (hashOf(subscriptionId) % spreadAfterHoldMs);
}

function startsCharge({ does }: Action): boolean {
  return does === 'charge' || does === 'createPeriod' || does === 'resume' || does === 'chargeChange';
}

/** What others have done since the last look: the bank, the payer, and who changed the customer's cards. */
async function heardOf(
  deps: JobDeps,
  stored: StoredSubscription,
  acts: boolean,
  now: Instant,
): Promise<readonly SubscriptionFact[]> {
  const { subscription } = stored;
  if (subscription.phase === 'incomplete') return heardOfStart(deps, subscription, now);
  const ended = await endOfOpen(deps, subscription, now);
  if (ended.length > 0) return ended;
  const changed = await endOfChange(deps, subscription, now);
  if (changed.length > 0) return changed;
  const { customerId } = subscription.terms;
  const ofCard =
    customerId === undefined
      ? await heardOfConsent(deps, subscription, now)
      : await heardOfCard(deps, customerId, subscription, now);
  if (ofCard.length > 0) return ofCard;
  const announced = await heardOfAnnouncements(deps, subscription);
  return announced.length > 0 || !acts ? announced : dutiesOf(deps, subscription);
}

/** What the bank, the payer or the due date has made of the invoice of a change. */
async function endOfChange(
  deps: JobDeps,
  subscription: Subscription,
  now: Instant,
): Promise<readonly SubscriptionFact[]> {
  const { charging, invoiceId } = subscription.change ?? {};
  if (invoiceId === undefined) return [];
  if (charging !== undefined) {
    const ending = await endingOfCharge(deps, subscription, { charging, invoiceId }, now);
    return ending ? decideChangeChargeEnded(subscription, charging, ending, now) : [];
  }
  const invoice = await loadInvoice(deps.db, invoiceId);
  if (!invoice || invoice.status === 'unpaid') return [];
  const isPaid = invoice.status !== 'cancelled';
  const parent = isPaid ? await parentOf(deps.db, subscription, invoiceId) : undefined;
  return decideChangeEnded(subscription, invoiceId, isPaid, parent);
}

/** The payer has paid the first invoice. */
async function heardOfStart(
  deps: Pick<JobDeps, 'db' | 'consents'>,
  subscription: Subscription,
  now: Instant,
): Promise<readonly SubscriptionFact[]> {
  const { firstInvoice, partyId } = subscription.terms;
  if (!firstInvoice) throw new Error('Only a first invoice starts a subscription that is incomplete.');
  const paid = await paymentOfInvoice(deps.db, { partyId, invoiceId: firstInvoice.id });
  const started =
    paid && decideFirstPaymentCaptured(subscription, { ...paid, invoiceId: firstInvoice.id }, now);
  const facts = started?.ok ? started.value : [];
  return [...facts, ...(await dutiesOf(deps, evolveAll(subscription, facts, now)))];
}

/** The payer has revoked the consent that charges rest on, or given another. */
async function heardOfConsent(
  { db, consents }: Pick<JobDeps, 'db' | 'consents'>,
  subscription: Subscription,
  now: Instant,
): Promise<readonly SubscriptionFact[]> {
  const series = (await findChargedSeries(db, subscription, consents))?.series;
  if (!series) return [];
  const { state, consentedAt } = series;
  // Of a customer, another card may be there.
  if (state.name === 'withdrawn')
    return subscription.terms.customerId === undefined ? decideRevoked(subscription, state.by) : [];
  return decideConsentRenewed(subscription, consentedAt, now);
}

async function heardOfCard(
  deps: Pick<SubscriptionJobDeps, 'db' | 'consents'>,
  customerId: string,
  subscription: Subscription,
  now: Instant,
): Promise<readonly SubscriptionFact[]> {
  const { db, consents } = deps;
  const card = await findActiveCard(db, customerId);
  if (!card) return [];
  if (card.bindingId === undefined) {
    // Only the merchant deletes a customer.
    const by = card.isDeleted ? 'merchant' : await whoRevokedLast(db, consents, customerId);
    return decideRevoked(subscription, by);
  }
  const tried = decideNewCard(subscription, card.bindingId, now);
  // Most wait for no consent, and need not look for it.
  return tried.length > 0 || !waitingForPayer(subscription) ? tried : heardOfConsent(deps, subscription, now);
}

/** How one of the open periods has ended since the last look. Payers pay whichever they like of a stack. */
async function endOfOpen(
  deps: JobDeps,
  subscription: Subscription,
  now: Instant,
): Promise<readonly SubscriptionFact[]> {
  const ended = await Promise.all(
    subscription.open.map((period) =>
      period.charging === undefined
        ? settledByOthers(deps.db, subscription, period, now)
        : factsOfCharge(deps, subscription, period, now),
    ),
  );
  return ended.find((facts) => facts.length > 0) ?? [];
}

/** The outcome of the charge at the bank, once it is known. */
async function factsOfCharge(
  deps: JobDeps,
  subscription: Subscription,
  { number, charging = '', invoiceId = '' }: OpenPeriod,
  now: Instant,
): Promise<readonly SubscriptionFact[]> {
  const ending = await endingOfCharge(deps, subscription, { charging, invoiceId }, now);
  return ending ? decideChargeEnded(subscription, { number, paymentId: charging }, ending, now) : [];
}

/** A charge that its bank has not received comes back as all that is held there: soon after the end of the hold. */
async function whileHeld(
  { banks }: Pick<JobDeps, 'banks'>,
  { terms }: Subscription,
  ending: ChargeEnding,
  now: Instant,
): Promise<ChargeEnding> {
  if (ending.outcome !== 'unsent' || !(await banks.holdsChargesOf(terms, now))) return ending;
  const afterHold = laterBy(now, heldMs(terms.id));
  return { ...ending, isHeld: true, retryAfter: latest(ending.retryAfter ?? now, afterHold) };
}

async function endingOfCharge(
  deps: JobDeps,
  subscription: Subscription,
  { charging, invoiceId }: { readonly charging: string; readonly invoiceId: string },
  now: Instant,
): Promise<ChargeEnding | undefined> {
  const invoice = await loadInvoice(deps.db, invoiceId);
  if (!invoice) throw new Error(`Invoice ${invoiceId} of a subscription is not found.`);
  const [, paymentId = ''] = charging.split('.');
  const outcome = await outcomeOfCharge({ invoiceId, paymentId }, invoice.createdAt, now, deps);
  return outcome && whileHeld(deps, subscription, endingOf(outcome), now);
}

/** A merchant who cancels the charge wants none until they say so. */
function endingOf(outcome: ChargeOutcome): ChargeEnding {
  if (outcome.outcome !== 'cancelled') return outcome as ChargeEnding;
  return { outcome: 'failed', declineClass: 'configuration' };
}

/** The payer has paid the invoice, or the merchant does not want it paid any more. */
async function settledByOthers(
  db: Database,
  subscription: Subscription,
  { number, invoiceId = '' }: OpenPeriod,
  now: Instant,
): Promise<readonly SubscriptionFact[]> {
  const invoice = await loadInvoice(db, invoiceId);
  if (!invoice || invoice.status === 'unpaid') return [];
  if (invoice.status !== 'cancelled') {
    const parent = await parentOf(db, subscription, invoiceId);
    return decidePaid(subscription, number, 'payer', now, parent);
  }
  if (isOverdue(invoice, now)) return decideOverdue(subscription, number, now);
  const forgiven = decideForgive(subscription, number, now);
  return forgiven.ok ? forgiven.value : [];
}

/** The payment of the payer, if its card is charged from now on. */
async function parentOf(db: Database, { terms: { partyId, customerId } }: Subscription, invoiceId: string) {
  if (customerId !== undefined) return undefined;
  return (await paymentOfInvoice(db, { partyId, invoiceId }))?.parent;
}

async function doNext(
  tx: Database,
  stored: StoredSubscription,
  next: Action,
  now: Instant,
  deps: JobDeps,
): Promise<Turn> {
  const { subscription } = stored;
  const followed = await newPolicyFor(tx, subscription, next);
  if (followed.length > 0) return write(tx, stored, followed, now, deps);
  const ids = await idsFor(tx, subscription, next, deps);
  const payer = payerOf(subscription);
  const woken = decideWake(subscription, now, ids);
  // What is refused in any case is not held before.
  const facts = payer ? await heldUnannounced(tx, stored, woken, now, deps) : woken;
  const begun = await writeFacts(tx, stored, facts, now, deps);
  if (!begun) return 'versionConflict';
  if (begun.isPaying) return refuse('subscriptionChargePending');
  const charge = facts.find(
    (fact) => fact.type === 'charge_started' || fact.type === 'change_charge_started',
  );
  if (!charge) return accept(begun);
  const waits = charge.type === 'charge_started' && waitsForOthers(begun.subscription, charge, next, now);
  const payment = await begin(charge, subscription, { now, waits }, { ...deps, db: tx });
  if (payment === 'versionConflict') return payment;
  if (payment.ok) {
    if (payment.value.id !== charge.paymentId.split('.')[1])
      throw new Error(`Charge ${charge.paymentId} has made payment ${payment.value.id}.`);
    // Its end wakes the subscription.
    return accept('rest');
  }
  const { rule } = payment.refusal.details ?? {};
  // Nothing has happened to the subscription: it is due as before.
  if (waits && rule === 'attemptPending') return refuse('recurrentRetryTooEarly');
  // The consent was revoked after the last look.
  const isRevoked = payment.refusal.code === 'recurrentConsentRevoked';
  const consent = isRevoked ? await findChargedSeries(tx, subscription, deps.consents) : undefined;
  const state = consent?.series.state;
  const revokedBy = state?.name === 'withdrawn' ? state.by : undefined;
  const ending = endingOfRefusal(payment.refusal, revokedBy, now);
  const ended =
    charge.type === 'charge_started'
      ? decideChargeEnded(begun.subscription, charge, ending, now)
      : decideChangeChargeEnded(begun.subscription, charge.paymentId, ending, now);
  return write(tx, begun, ended, now, deps);
}

/** Until a day after the period, or the try, was due. */
function waitsForOthers(
  subscription: Subscription,
  { number }: { readonly number: number },
  next: Action,
  now: Instant,
): boolean {
  const { dueAt = next.at } = openPeriod(subscription, number) ?? {};
  return now < laterBy(latest(next.at, dueAt), waitsForOthersMs);
}

type Begun = SubscriptionFact & { type: 'charge_started' | 'change_charge_started' };

/** The payment of the charge. Of a change, the payer has agreed to what a whole period costs, and not only to its rest. */
async function begin(
  charge: Begun,
  subscription: Subscription,
  { now, waits }: { readonly now: Instant; readonly waits: boolean },
  deps: Omit<JobDeps, 'transact'>,
) {
  const payer = payerOf(subscription);
  if (!payer) return refuse('customerNotReady');
  const { terms, schedule, change } = subscription;
  const [invoiceId = ''] = charge.paymentId.split('.');
  const asked = { partyId: terms.partyId, invoiceId, payer };
  if (charge.type === 'charge_started') {
    const sequence = schedule && instalmentOf(schedule, charge.number);
    const retry = retryOf(subscription, charge.number, now);
    const ofPeriod = { sequence, retry, waitsForOthers: waits || undefined };
    return chargeInvoice({ ...asked, ...defined(ofPeriod) }, now, deps);
  }
  const series = (await findChargedSeries(deps.db, subscription, deps.consents))?.series;
  if (!change) throw new Error(`Subscription ${terms.id} charges a change that it does not have.`);
  const whole = { currency: terms.currency, items: change.items };
  const allowed = series ? await allowedBySeries(series.id, whole, now, deps) : accept(undefined);
  return allowed.ok ? chargeInvoice(asked, now, deps) : allowed;
}

/** None, if the payer has paid without a consent: then only they can pay. */
function payerOf({ terms: { customerId }, parent }: Subscription) {
  return customerId === undefined ? parent : { customerId };
}

/** A period that begins has the newest version of the policy. One that does not fit the schedule is passed over. */
async function newPolicyFor(
  tx: Database,
  subscription: Subscription,
  { does }: Action,
): Promise<readonly SubscriptionFact[]> {
  const name = policyNameOf(subscription);
  const { terms, schedule } = subscription;
  if (name === undefined || !schedule || (does !== 'createPeriod' && does !== 'resume')) return [];
  const policy = await findPolicyFor(tx, terms, name, terms.id);
  return policy && checkFits(policy, schedule.every).ok ? decideFollow(subscription, policy) : [];
}

/** The ID of a payment follows from its invoice, so that the fact names it before it is made. The customer's card is locked. */
async function idsFor(
  tx: Database,
  { terms: { partyId, customerId }, change, ...subscription }: Subscription,
  next: Action,
  { ids, customers }: Pick<JobDeps, 'ids' | 'customers'>,
): Promise<NewIds> {
  const customer =
    startsCharge(next) && customerId !== undefined
      ? await customers.chargeable(tx, partyId, customerId)
      : undefined;
  const charged = next.does === 'charge' ? openPeriod(subscription, next.number) : undefined;
  const open = next.does === 'chargeChange' ? change?.invoiceId : charged?.invoiceId;
  const invoiceId = open ?? ids.next();
  const made = open === undefined ? undefined : await findPayableInvoice(tx, partyId, open);
  const paymentId = `${invoiceId}.${(made?.invoice.paymentsMade ?? 0) + 1}`;
  return { invoiceId, paymentId, ...defined({ bindingId: customer?.card?.bindingId }) };
}

/** What the rules of recurring charges refuse, they also say when to try. The rest waits for the merchant. */
function endingOfRefusal(
  { code, details }: { readonly code: string; readonly details?: Readonly<Record<string, string>> },
  revokedBy: Revocation['by'] | undefined,
  now: Instant,
): ChargeEnding {
  const retryAfter = details?.['retryAfter'] as Instant | undefined;
  const known = [...chargeRefusals, 'customerNotReady' as const].find((one) => one === code);
  if (known !== undefined) return { outcome: 'refused', code: known, ...defined({ retryAfter, revokedBy }) };
  // The customer is deleted.
  if (code === 'invalidRequest') return { outcome: 'refused', code: 'customerNotReady' };
  if (code === 'invoicePaymentPending') return { outcome: 'unsent' };
  return { outcome: 'unsent', retryAfter: laterBy(now, dayMs) };
}
