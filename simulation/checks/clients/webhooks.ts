// Compares accepted webhook events with the log: each webhook receives an object's events in order, always with the same bytes.
// At the end it has received every event of its types.
import { groupedBy } from '../rows.ts';
import type { Problem, Seen } from '../check.ts';
import type { CheckWorld, Delivery } from '../world.ts';

type Body = Readonly<Record<string, unknown>>;

export type Queues = {
  /** What is wrong with the order or content of these deliveries, which follow those of earlier calls. */
  hear(deliveries: readonly Delivery[]): Problem[];
};

export function openQueues(): Queues {
  const queues = new Map<string, { earliest: number; latest: number; readonly texts: Map<string, string> }>();
  return {
    hear: (deliveries) =>
      deliveries.flatMap((delivery): Problem[] => {
        const name = queueOf(delivery);
        const queue = queues.get(name) ?? {
          earliest: Infinity,
          latest: -Infinity,
          texts: new Map<string, string>(),
        };
        queues.set(name, queue);
        const id = String(delivery.eventID);
        const text = JSON.stringify(delivery.body);
        const before = queue.texts.get(id);
        if (before !== undefined)
          return before === text ? [] : [[name, `event ${id} was sent in two versions`]];
        queue.texts.set(id, text);
        const { earliest, latest } = queue;
        // Only a replay starts further back than any event before; `redelivered` checks that there was one.
        const begins = Number(id) < earliest;
        queue.earliest = Math.min(earliest, Number(id));
        queue.latest = begins ? Number(id) : Math.max(latest, Number(id));
        return !begins && Number(id) < latest ? [[name, `event ${id} came after ${latest}`]] : [];
      }),
  };
}

type WebhookRow = {
  readonly webhook_id: string;
  readonly topic: string;
  readonly owner_id: string;
  readonly wallet_id: string | null;
  readonly event_types: string;
};
type ConcernRow = {
  readonly webhook_id: string;
  readonly aggregate_id: string;
  readonly sequences: number[];
  /** Those of them that may be older than the webhook. */
  readonly early: number[];
};

const readWebhooks = 'select webhook_id, topic, owner_id, wallet_id, event_types from webhook';

/** Whether the server keeps the time of each commit. */
const readMeans = `select current_setting('track_commit_timestamp') as says_when`;
/** An event committed before the webhook need not be sent, even if the webhook's transaction did not see it. */
const committedBefore = `not coalesce(
  pg_xact_commit_timestamp(event.written_in::xid) > pg_xact_commit_timestamp(webhook.written_in::xid), false)`;
/** Without commit times, events within a minute of the webhook's creation may be older than it. */
const nearlyBefore = `event.created_at <= webhook.created_at + interval '1 minute'`;

/** The events in the webhook's scope that did not exist when it was created. */
const readConcerns = (isEarly: string) => `
  with object as (
    select invoice_id as id, party_id, shop_id as owner_id, null as wallet_id, 'InvoicesTopic' as topic from invoice
    union all select customer_id, party_id, shop_id, null, 'CustomersTopic' from customer
    union all select withdrawal_id, party_id, identity_id, wallet_id, 'WithdrawalsTopic' from withdrawal
    union all select destination_id, party_id, identity_id, null, 'DestinationsTopic' from destination)
  select webhook_id, aggregate_id, json_agg(sequence)::text as sequences,
    coalesce(json_agg(sequence) filter (where ${isEarly}), '[]')::text as early
  from webhook join object on object.topic = webhook.topic and object.party_id = webhook.party_id
    and object.owner_id = webhook.owner_id and (webhook.wallet_id is null or object.wallet_id = webhook.wallet_id)
  join event on event.aggregate_id = object.id and not pg_visible_in_snapshot(event.written_in, webhook.created_snapshot::pg_snapshot)
  group by 1, 2`;

/** Event types that are registered under another name than they are sent with. */
const registeredType: Readonly<Record<string, string>> = {
  RefundCreated: 'PaymentRefundCreated',
  RefundSucceeded: 'PaymentRefundSucceeded',
  RefundFailed: 'PaymentRefundFailed',
};

/** Finds events that were never sent once everything is settled, and events that show a state which never was. */
export async function silence(query: CheckWorld['query'], { histories, received }: Seen): Promise<Problem[]> {
  const webhooks = new Map(
    (await query(readWebhooks)).map((row) => [String(row['webhook_id']), row as WebhookRow]),
  );
  const [means] = await query(readMeans);
  const isEarly = means?.['says_when'] === 'on' ? committedBefore : nearlyBefore;
  const concerns = (await query(readConcerns(isEarly))).map((row) => ({
    ...(row as ConcernRow),
    sequences: JSON.parse(String(row['sequences'])) as number[],
    early: JSON.parse(String(row['early'])) as number[],
  }));
  const queues = groupedBy(received, queueOf);
  return concerns.flatMap(({ webhook_id: webhookId, aggregate_id: id, sequences, early }): Problem[] => {
    const types = webhooks.get(webhookId)?.event_types.split(' ') ?? [];
    const all = (histories.get(id)?.webhookEvents ?? []).filter(
      ({ type, sequence }) => sequences.includes(sequence) && types.includes(registeredType[type] ?? type),
    );
    const accepted = once(queues.get(`${webhookId} ${id}`) ?? []).sort(
      (a, b) => Number(a.eventID) - Number(b.eventID),
    );
    const missing = Math.max(0, all.length - accepted.length);
    const due = all.slice(0, missing).every(({ sequence }) => early.includes(sequence))
      ? all.slice(missing)
      : all;
    const expected = due.map(({ type, statuses }) => `${type} ${statusesIn(statuses)}`);
    // A replay may start before the webhook was created.
    const has = accepted
      .map(({ body }) => `${String((body as Body)['eventType'])} ${statusesIn(shownIn(body as Body))}`)
      .slice(-due.length || Infinity);
    return expected.join(', ') === has.join(', ')
      ? []
      : [
          [
            `webhook ${webhookId} of ${id}`,
            `it received ${has.join(', ') || 'nothing'}, not ${expected.join(', ')}`,
          ],
        ];
  });
}

/** Without a rewind, a queue sends no earlier event once a later one was accepted. */
const readNeverPutBack = 'select webhook_id, aggregate_id from webhook_queue where rewinds = 0';

export async function redelivered(query: CheckWorld['query'], { received }: Seen): Promise<Problem[]> {
  const queues = groupedBy(received, queueOf);
  return (await query(readNeverPutBack)).flatMap(({ webhook_id: webhookId, aggregate_id: id }): Problem[] => {
    let latest = -Infinity;
    for (const { eventID } of queues.get(`${webhookId} ${id}`) ?? []) {
      if (Number(eventID) < latest)
        return [[`webhook ${webhookId} of ${id}`, `event ${eventID} came after ${latest}`]];
      latest = Number(eventID);
    }
    return [];
  });
}

function queueOf({ webhookID, body }: Delivery): string {
  return `${webhookID} ${aggregateOf(body as Body)}`;
}

function once(all: readonly Delivery[]): Delivery[] {
  const seen = new Set<string>();
  return all.filter(({ eventID }) => !seen.has(String(eventID)) && seen.add(String(eventID)));
}

function aggregateOf(body: Body): string {
  const idOf = (name: string) => (body[name] as { id?: string } | undefined)?.id;
  return (
    idOf('invoice') ??
    idOf('customer') ??
    idOf('subscription') ??
    idOf('withdrawal') ??
    (body['withdrawalID'] as string | undefined) ??
    idOf('destination') ??
    (body['destinationID'] as string | undefined) ??
    // A test event has no object and comes in no order.
    `test ${String(body['eventID'])}`
  );
}

/** The states of invoices, payments and refunds as webhook events show them. */
function shownIn(body: Body): Readonly<Record<string, string | undefined>> {
  const statusOf = (name: string) => (body[name] as { status?: string } | undefined)?.status;
  return { invoice: statusOf('invoice'), payment: statusOf('payment'), refund: statusOf('refund') };
}

const shownAs: Readonly<Record<string, string>> = {
  authorising: 'pending',
  challenged: 'pending',
  reversing: 'pending',
  held: 'processed',
  capturing: 'processed',
  cancelling: 'processed',
  refunding: 'captured',
};

function statusesIn({ invoice, payment, refund }: Readonly<Record<string, string | undefined>>): string {
  const shown = payment === undefined ? undefined : (shownAs[payment] ?? payment);
  return [invoice, shown, refund].filter((status) => status !== undefined).join('/');
}
