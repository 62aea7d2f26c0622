// SQL for merchants and operators: states of queues, attempts and delays, and the statements that resume and purge.
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { oneOf } from '../../platform/database/codec.ts';
import { columnList, statement, stored, type Values } from '../../platform/database/statement.ts';
import { attemptColumns } from './attempt-columns.ts';

export const queueStates = ['waiting', 'failing', 'parked', 'done'] as const;
export type QueueState = (typeof queueStates)[number];

const queueRow = {
  aggregate_id: 'text',
  state: stored('text', oneOf(...queueStates)),
  attempts: 'int4',
  last_failure: 'text?',
  waiting_since: 'timestamptz?',
  wake_at: 'timestamptz?',
  stuck_at: 'timestamptz?',
} as const;
export type QueueRow = Values<typeof queueRow>;

const readQueues = statement({
  name: 'read_webhook_queues',
  parameters: { webhook_id: 'text', state: 'text?', after: 'text', limit: 'int4' },
  row: queueRow,
  text: `select aggregate_id, state, attempts, last_failure, waiting_since, wake_at, stuck_at
         from webhook_queue cross join lateral (
           select case when stuck_at is not null then 'parked' when wake_at is null then 'done'
             when attempts > 0 then 'failing' else 'waiting' end as state
         ) as derived
         where webhook_id = :webhook_id and (:state is null or state = :state) and aggregate_id > :after
         order by aggregate_id limit :limit`,
});

const attemptRow = { aggregate_id: 'text', ...attemptColumns, base: 'int8?' } as const;
export type AttemptRow = Values<typeof attemptRow>;

/** The whole sort key of the list, because many attempts have the same time. */
export type AttemptCursor = {
  readonly attemptedAt: Instant;
  readonly aggregateId: string;
  readonly position: number;
  readonly attempt: number;
};

const readAttempts = statement({
  name: 'read_webhook_attempts',
  parameters: {
    webhook_id: 'text',
    aggregate_id: 'text?',
    before: 'timestamptz?',
    after_at: 'timestamptz?',
    after_aggregate_id: 'text?',
    after_position: 'int8?',
    after_attempt: 'int4?',
    limit: 'int4',
  },
  row: attemptRow,
  text: `select aggregate_id, ${columnList(attemptColumns)},
           (select base from webhook_event_number as numbers
            where numbers.aggregate_id = attempted.aggregate_id and chunk = position / 8 / 64) as base
         from webhook_attempt as attempted
         where webhook_id = :webhook_id and (:aggregate_id is null or aggregate_id = :aggregate_id)
           and (:before is null or attempted_at < :before)
           and (:after_at is null or attempted_at <= :after_at)
           and (:after_at is null or (attempted_at, aggregate_id, position, attempt)
                < (:after_at, :after_aggregate_id, :after_position, :after_attempt))
         order by attempted_at desc, aggregate_id desc, position desc, attempt desc limit :limit`,
});

/** Leaves queues that a node has claimed. */
const resumeQueues = statement({
  name: 'resume_webhook_queues',
  parameters: {
    webhook_id: 'text',
    aggregate_id: 'text?',
    now: 'timestamptz',
    limit: 'int4',
  },
  row: { aggregate_id: 'text' },
  text: `
    update webhook_queue set wake_at = :now, attempts = 0, stuck_at = null, stuck_reason = null
    where (aggregate_id, webhook_id) in (
      select aggregate_id, webhook_id from webhook_queue
      where webhook_id = :webhook_id and (:aggregate_id is null or aggregate_id = :aggregate_id)
        and (stuck_at is not null or (wake_at > :now and leased_until is distinct from wake_at))
      limit :limit for update skip locked)
    returning aggregate_id`,
});

const readLags = statement({
  name: 'read_webhook_lags',
  parameters: { limit: 'int4' },
  row: { webhook_id: 'text', oldest: 'timestamptz' },
  // One index lookup for each webhook.
  text: `
    select webhook.webhook_id, lagging.waiting_since as oldest
    from webhook cross join lateral (
      select waiting_since from webhook_queue as queue
      where queue.webhook_id = webhook.webhook_id and wake_at is not null and waiting_since is not null
      order by waiting_since limit 1
    ) as lagging
    order by oldest limit :limit`,
});

const countParked = statement({
  name: 'count_parked_webhook_queues',
  parameters: {},
  row: { parked: 'int8' },
  text: `select count(*) as parked from webhook_queue
         where stuck_at is not null and exists (select from webhook where webhook.webhook_id = webhook_queue.webhook_id)`,
});

const purgeQueues = statement({
  name: 'purge_webhook_queues',
  parameters: { limit: 'int4' },
  row: { aggregate_id: 'text' },
  text: `
    delete from webhook_queue where (aggregate_id, webhook_id) in (
      select aggregate_id, webhook_id from webhook_queue as queue
      where not exists (select from webhook where webhook.webhook_id = queue.webhook_id) limit :limit)
    returning aggregate_id`,
});

const purgeAttempts = statement({
  name: 'purge_webhook_attempts',
  parameters: { before: 'timestamptz', limit: 'int4' },
  row: { webhook_id: 'text' },
  text: `delete from webhook_attempt as attempt using (
           select webhook_id, attempted_at, aggregate_id, position, attempt from webhook_attempt
           where attempted_at < :before limit :limit
         ) as old
         where attempt.webhook_id = old.webhook_id and attempt.attempted_at = old.attempted_at
           and attempt.aggregate_id = old.aggregate_id and attempt.position = old.position
           and attempt.attempt = old.attempt
         returning attempt.webhook_id`,
});

/** Keeps messages that a queue still waits to send, at any age. */
const purgeMessages = statement({
  name: 'purge_webhook_messages',
  parameters: { before: 'timestamptz', limit: 'int4' },
  row: { aggregate_id: 'text' },
  text: `delete from webhook_message as message using (
           select aggregate_id, position from webhook_message as kept where created_at < :before and not exists (
             select from webhook_queue as queue where queue.aggregate_id = kept.aggregate_id
               and (wake_at is not null or stuck_at is not null))
           limit :limit
         ) as old
         where message.aggregate_id = old.aggregate_id and message.position = old.position
         returning message.aggregate_id`,
});

export function queuesOf(
  db: Database,
  webhookId: string,
  page: { state?: QueueState; after?: string; limit: number },
): Promise<QueueRow[]> {
  const { state = null, after = '', limit } = page;
  return db.run(readQueues, { webhook_id: webhookId, state, after, limit });
}

export function attemptsOf(
  db: Database,
  webhookId: string,
  page: { aggregateId?: string; before?: Instant; after?: AttemptCursor; limit: number },
): Promise<AttemptRow[]> {
  const { aggregateId = null, before = null, after, limit } = page;
  return db.run(readAttempts, {
    webhook_id: webhookId,
    aggregate_id: aggregateId,
    before,
    after_at: after?.attemptedAt ?? null,
    after_aggregate_id: after?.aggregateId ?? null,
    after_position: after ? BigInt(after.position) : null,
    after_attempt: after?.attempt ?? null,
    limit,
  });
}

const queuesAtOnce = 5_000;

/** Returns the number of queues made due. */
export async function resume(
  db: Database,
  webhookId: string,
  now: Instant,
  aggregateId?: string,
): Promise<number> {
  let resumed = 0;
  for (;;) {
    const rows = await db.run(resumeQueues, {
      webhook_id: webhookId,
      aggregate_id: aggregateId ?? null,
      now,
      limit: queuesAtOnce,
    });
    resumed += rows.length;
    if (rows.length < queuesAtOnce) return resumed;
  }
}

/** The webhooks with the longest delivery delays, longest first. */
export function lags(db: Database, limit: number): Promise<{ webhook_id: string; oldest: Instant }[]> {
  return db.run(readLags, { limit });
}

export async function parkedQueues(db: Database): Promise<number> {
  const [row] = await db.run(countParked, {});
  return Number(row?.parked ?? 0);
}

/** Deletes queues of deleted webhooks, and old attempts and messages, in small batches. */
export async function purgeWebhooks(db: Database, before: Instant): Promise<void> {
  const limit = queuesAtOnce;
  const purges = [
    () => db.run(purgeQueues, { limit }),
    () => db.run(purgeAttempts, { before, limit }),
    () => db.run(purgeMessages, { before, limit }),
  ];
  for (const one of purges) while ((await one()).length === limit);
}
