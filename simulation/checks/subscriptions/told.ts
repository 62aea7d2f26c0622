// What a receiver knows of a subscription from webhook events alone. There is one for each fact, and they add up to its state and periods.
import { groupedBy, type PeriodRow, type SubscriptionRow } from '../rows.ts';
import type { Problem, Seen } from '../check.ts';
import type { CheckWorld, Delivery } from '../world.ts';
import { instantOf } from './life.ts';

const eventOf: Readonly<Record<string, string>> = {
  subscription_created: 'SubscriptionCreated',
  subscription_started: 'SubscriptionStarted',
  period_created: 'SubscriptionPeriodCreated',
  missed_period_charged: 'SubscriptionMissedPeriodCharged',
  charge_started: 'SubscriptionChargeStarted',
  charge_postponed: 'SubscriptionChargePostponed',
  charge_failed: 'SubscriptionChargeFailed',
  try_requested: 'SubscriptionTryRequested',
  period_paid: 'SubscriptionPeriodPaid',
  period_closed: 'SubscriptionPeriodClosed',
  payment_taken_back: 'SubscriptionPaymentTakenBack',
  subscription_unpaid: 'SubscriptionUnpaid',
  subscription_paused: 'SubscriptionPaused',
  subscription_resumed: 'SubscriptionResumed',
  anchor_shifted: 'SubscriptionAnchorShifted',
  end_scheduled: 'SubscriptionEndScheduled',
  end_taken_back: 'SubscriptionEndTakenBack',
  payer_reason_given: 'SubscriptionReasonGiven',
  subscription_ended: 'SubscriptionEnded',
  end_refund_started: 'SubscriptionRefundStarted',
  end_refund_refused: 'SubscriptionRefundRefused',
  end_refund_failed: 'SubscriptionRefundFailed',
  items_scheduled: 'SubscriptionChangeScheduled',
  items_unscheduled: 'SubscriptionChangeTakenBack',
  change_started: 'SubscriptionChangeStarted',
  change_charge_started: 'SubscriptionChangeChargeStarted',
  change_charge_failed: 'SubscriptionChangeChargeFailed',
  change_dropped: 'SubscriptionChangeDropped',
  items_changed: 'SubscriptionChanged',
  change_payment_taken_back: 'SubscriptionChangePaymentTakenBack',
  zone_changed: 'SubscriptionTimeZoneChanged',
  details_changed: 'SubscriptionDetailsChanged',
  dunning_policy_changed: 'SubscriptionDunningPolicyChanged',
  subscription_parked: 'SubscriptionParked',
  subscription_unparked: 'SubscriptionUnparked',
  charge_announced: 'SubscriptionChargeComing',
  announcement_ended: 'SubscriptionAnnouncementEnded',
};

const trialEnding = 'SubscriptionTrialEnding';

/** What a receiver has to register for, so that it misses nothing. */
export const eventNames = [...Object.values(eventOf), trialEnding];

const changeEnds = ['SubscriptionChangeStarted', 'SubscriptionChangeDropped', 'SubscriptionChanged'];

/** Webhooks that surely existed before the first event of a subscription of their shop. */
const readPairs = `
  select webhook_id, subscription_id
  from webhook join subscription on subscription.party_id = webhook.party_id and subscription.shop_id = webhook.owner_id
  join event on aggregate_id = subscription_id and aggregate = 'subscription' and sequence = 1
  where topic = 'SubscriptionsTopic' and event.written_in >= pg_snapshot_xmax(created_snapshot::pg_snapshot)`;

type Body = {
  readonly eventType: string;
  readonly subscription: Readonly<Record<string, unknown>>;
  readonly period?: { readonly number: number } & Readonly<Record<string, unknown>>;
  readonly change?: { readonly invoiceID?: string };
};

export async function misinformed(query: CheckWorld['query'], seen: Seen): Promise<Problem[]> {
  const { books, received, histories } = seen;
  const heard = groupedBy(received, ({ webhookID, body }) => `${webhookID} ${idIn(body)}`);
  const rows = new Map(books.subscriptions.map((row) => [row.subscription_id, row]));
  const periods = groupedBy(books.periods, ({ subscription_id: id }) => id);
  return (await query(readPairs)).flatMap(({ webhook_id: webhook, subscription_id: id }): Problem[] => {
    const row = rows.get(String(id));
    if (!row) return [];
    const bodies = inOrder(heard.get(`${webhook} ${id}`) ?? []);
    const facts = histories.get(String(id))?.facts ?? [];
    const types = facts.flatMap((fact) => eventNameOf(fact) ?? []).join(' ');
    const told = bodies.map(({ eventType }) => eventType).join(' ');
    const all = [
      types !== told && `it received ${told || 'nothing'}, not ${types}`,
      ...wrongAbout(bodies, row, periods.get(String(id)) ?? []),
    ];
    return all
      .filter((problem) => problem !== false)
      .map((problem) => [`webhook ${webhook} of subscription ${id}`, problem]);
  });
}

function eventNameOf(fact: { readonly type: string }): string | undefined {
  const { why } = (fact as { announcement?: { why?: string } }).announcement ?? {};
  return why === 'trialEnding' ? trialEnding : eventOf[fact.type];
}

function idIn(body: unknown): string {
  return String((body as Partial<Body>).subscription?.['id']);
}

function inOrder(deliveries: readonly Delivery[]): Body[] {
  const byNumber = new Map(deliveries.map(({ eventID, body }) => [Number(eventID), body as Body]));
  return [...byNumber].toSorted(([one], [other]) => one - other).map(([, body]) => body);
}

function wrongAbout(bodies: readonly Body[], row: SubscriptionRow, periods: readonly PeriodRow[]): string[] {
  const last = bodies.at(-1)?.subscription ?? {};
  const { endsAfter, endedFor, payerReason, pause, paidThrough, parkedFor } = row.state;
  const expected: Readonly<Record<string, unknown>> = {
    status: statusOf(row),
    creditBalance: row.state.creditMinor,
    paidThrough,
    endsAfterPeriod: endsAfter?.number,
    endReason: endedFor,
    payerReason,
    resumesAt: pause?.resumesAt,
    parkedFor,
  };
  const [waits, waiting] = [pendingIn(bodies), row.state.change?.invoiceId];
  const known = new Map(bodies.flatMap(({ period }) => (period ? [[period.number, period] as const] : [])));
  return [
    ...(waits === waiting ? [] : [`by its events change ${waits} waits, and it is ${waiting}`]),
    ...Object.entries(expected)
      .filter(([name, value]) => timeOr(last[name]) !== timeOr(value))
      .map(([name, value]) => `by its events ${name} is ${String(last[name])}, and it is ${String(value)}`),
    ...periods
      .filter(({ number, outcome, invoice_id: invoice, amount_minor: amount }) => {
        const period = known.get(number);
        return (
          period?.['outcome'] !== outcome ||
          (period['invoiceID'] ?? null) !== invoice ||
          period['amount'] !== amount
        );
      })
      .map(
        ({ number, outcome }) =>
          `by its events period ${number} is ${String(known.get(number)?.['outcome'])}, and it is ${outcome}`,
      ),
  ];
}

/** The invoice of the change that waits for its payment. */
function pendingIn(bodies: readonly Body[]): string | undefined {
  const last = bodies.findLast(({ eventType }) => changeEnds.includes(eventType));
  return last?.eventType === 'SubscriptionChangeStarted' ? last.change?.invoiceID : undefined;
}

function statusOf({ phase, state: { open, latest } }: SubscriptionRow): string {
  if (phase !== 'running') return phase;
  if (open.some(({ declineClass }) => declineClass !== undefined)) return 'pastDue';
  return latest?.kind === 'trial' ? 'trialing' : 'active';
}

function timeOr(value: unknown): unknown {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? instantOf(value) : value;
}
