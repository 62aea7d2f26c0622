// The queues in SQL: claimed for a lease, and written after each attempt together with the attempt log.
// A write counts only under a valid lease, and a queue that was rewound meanwhile keeps the rewound cursor.
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { statement } from '../../platform/database/statement.ts';
import type { QueueCursor } from '../domain/queue-rules.ts';

export type ClaimedQueue = {
  readonly aggregateId: string;
  readonly webhookId: string;
  readonly cursor: QueueCursor;
  /** Failed attempts in a row for the head of the queue. */
  readonly failures: number;
  readonly leaseEnd: Instant;
  /** How often the queue had been rewound when it was claimed. */
  readonly rewinds: number;
};

/** For a line of the log. */
export function queueFields({ webhookId, aggregateId }: ClaimedQueue) {
  return { webhookId, objectId: aggregateId };
}

export type Attempt = {
  readonly position: number;
  readonly attempt: number;
  readonly eventType: string;
  readonly attemptedAt: Instant;
  readonly durationMs: number;
  readonly status?: number;
  readonly failure?: string;
};

export type QueueWrite = {
  readonly queue: ClaimedQueue;
  readonly cursor: QueueCursor;
  readonly attempt?: Attempt;
} & (
  | { readonly outcome: 'continue'; readonly leaseEnd: Instant }
  /** Idle, or due immediately if more has arrived. */
  | { readonly outcome: 'idle' }
  | { readonly outcome: 'retry'; readonly at: Instant; readonly failure: string }
  | { readonly outcome: 'park'; readonly why: string; readonly failure: string }
  /** Released without a change. */
  | { readonly outcome: 'unclaim'; readonly at: Instant }
);

const claimedRow = {
  aggregate_id: 'text',
  webhook_id: 'text',
  next_position: 'int8',
  last_position: 'int8',
  replay_until: 'int8?',
  resume_at: 'int8?',
  attempts: 'int4',
  rewinds: 'int4',
  wake_at: 'timestamptz',
} as const;

const claimQueues = statement({
  name: 'claim_webhook_queues',
  parameters: {
    now: 'timestamptz',
    lease_ms: 'int8',
    limit_each: 'int4',
    limit: 'int4',
    busy: 'json',
    turn: 'int8',
  },
  row: claimedRow,
  // Steps from webhook to webhook along the index, so that one with many queues does not delay the others. Another order each time, so
  // that no webhook is always last.
  text: `
    with recursive waiting as (
      (select webhook_id from webhook_queue where wake_at is not null order by webhook_id limit 1)
      union all
      select (select queue.webhook_id from webhook_queue as queue
              where queue.wake_at is not null and queue.webhook_id > waiting.webhook_id order by queue.webhook_id limit 1)
      from waiting where waiting.webhook_id is not null
    ), capacity as (
      select waiting.webhook_id, greatest(0, coalesce(busy.free, :limit_each)) as free
      from waiting join webhook on webhook.webhook_id = waiting.webhook_id
      left join json_to_recordset(:busy) as busy (webhook_id text, free int) on busy.webhook_id = waiting.webhook_id
      order by hashtextextended(waiting.webhook_id, :turn)
    ), due as (
      select queue.aggregate_id, queue.webhook_id
      from capacity cross join lateral (
        select aggregate_id, webhook_id from webhook_queue
        where webhook_queue.webhook_id = capacity.webhook_id and wake_at <= :now
        order by wake_at limit capacity.free for update skip locked
      ) as queue
      limit :limit
    )
    update webhook_queue as claimed
    set wake_at = :now + :lease_ms * interval '1 ms', leased_until = :now + :lease_ms * interval '1 ms'
    from due where claimed.aggregate_id = due.aggregate_id and claimed.webhook_id = due.webhook_id
    returning claimed.aggregate_id, claimed.webhook_id, claimed.next_position, claimed.last_position,
      claimed.replay_until, claimed.resume_at, claimed.attempts, claimed.rewinds, claimed.wake_at`,
});

const writeQueues = statement({
  name: 'write_webhook_queues',
  parameters: { writes: 'json', now: 'timestamptz' },
  row: { number: 'int4' },
  // A node that was suspended may claim a queue twice and write both results together. The numbers show which one
  // belongs to the valid lease.
  text: `
    with written as (
      select * from json_to_recordset(:writes) as written (
        number int, aggregate_id text, webhook_id text, lease_end timestamptz, rewinds int, next_position bigint, replay_until bigint,
        resume_at bigint, outcome text, wake_at timestamptz, failure text, stuck_reason text, position bigint, attempt int,
        event_type text, attempted_at timestamptz, duration_ms int, status int, attempt_failure text)
    ), ours as (
      -- Every writer locks in this order, so that writers cannot deadlock.
      select written.number, queue.rewinds <> written.rewinds as is_rewound
      from webhook_queue as queue join written
        on queue.aggregate_id = written.aggregate_id and queue.webhook_id = written.webhook_id
      where queue.wake_at = written.lease_end and queue.leased_until = written.lease_end
      order by queue.aggregate_id, queue.webhook_id for update of queue
    ), logged as (
      insert into webhook_attempt
        (webhook_id, attempted_at, aggregate_id, position, attempt, event_type, duration_ms, status, failure)
      select webhook_id, attempted_at, aggregate_id, position, attempt, event_type, duration_ms, status, attempt_failure
      from written where position is not null
      on conflict do nothing
    ), advanced as (
      update webhook_queue as queue
      set next_position = written.next_position,
          replay_until = written.replay_until,
          resume_at = written.resume_at,
          wake_at = case written.outcome
            when 'idle' then case when queue.last_position >= written.next_position then :now end
            else written.wake_at end,
          leased_until = case written.outcome when 'continue' then written.wake_at end,
          waiting_since = case when written.outcome = 'idle' and queue.last_position < written.next_position then null
                               else queue.waiting_since end,
          attempts = case written.outcome when 'retry' then queue.attempts + 1 when 'park' then queue.attempts + 1
                                       when 'unclaim' then queue.attempts else 0 end,
          last_failure = case when written.outcome in ('retry', 'park') then written.failure
                              when written.outcome = 'unclaim' then queue.last_failure end,
          stuck_at = case when written.outcome = 'park' then :now end,
          stuck_reason = case when written.outcome = 'park' then written.stuck_reason end
      from written join ours using (number)
      where queue.aggregate_id = written.aggregate_id and queue.webhook_id = written.webhook_id and not is_rewound
      returning number
    ), rewound as (
      update webhook_queue as queue
      set wake_at = :now, leased_until = null, attempts = 0, last_failure = coalesce(written.failure, queue.last_failure)
      from written join ours using (number)
      where queue.aggregate_id = written.aggregate_id and queue.webhook_id = written.webhook_id and is_rewound
    )
    select number from advanced`,
});

export async function claim(
  db: Database,
  now: Instant,
  bounds: {
    leaseMs: number;
    limitEach: number;
    limit: number;
    /** Webhooks with queues on this node, and how many more it would take. */
    busy: readonly { readonly webhook_id: string; readonly free: number }[];
    /** A different number each time. */
    turn: number;
  },
): Promise<ClaimedQueue[]> {
  const rows = await db.run(claimQueues, {
    now,
    lease_ms: BigInt(bounds.leaseMs),
    limit_each: bounds.limitEach,
    limit: bounds.limit,
    busy: bounds.busy,
    turn: BigInt(bounds.turn),
  });
  return rows.map((row) => ({
    aggregateId: row.aggregate_id,
    webhookId: row.webhook_id,
    failures: row.attempts,
    leaseEnd: row.wake_at,
    rewinds: row.rewinds,
    cursor: {
      next: Number(row.next_position),
      last: Number(row.last_position),
      ...(row.replay_until === null || row.resume_at === null
        ? {}
        : { replay: { until: Number(row.replay_until), resumeAt: Number(row.resume_at) } }),
    },
  }));
}

/** For each write, in order, whether its lease was still valid. */
export async function write(db: Database, writes: readonly QueueWrite[], now: Instant): Promise<boolean[]> {
  const rows = await db.run(writeQueues, { writes: writes.map(rowOf), now });
  const written = new Set(rows.map(({ number }) => number));
  return writes.map((_, number) => written.has(number));
}

function rowOf(write: QueueWrite, number: number): Record<string, unknown> {
  const { queue, cursor, attempt } = write;
  return {
    number,
    aggregate_id: queue.aggregateId,
    webhook_id: queue.webhookId,
    lease_end: queue.leaseEnd,
    rewinds: queue.rewinds,
    next_position: cursor.next,
    replay_until: cursor.replay?.until,
    resume_at: cursor.replay?.resumeAt,
    outcome: write.outcome,
    wake_at: write.outcome === 'continue' ? write.leaseEnd : 'at' in write ? write.at : undefined,
    failure: 'failure' in write ? write.failure : undefined,
    stuck_reason: write.outcome === 'park' ? write.why : undefined,
    position: attempt?.position,
    attempt: attempt?.attempt,
    event_type: attempt?.eventType,
    attempted_at: attempt?.attemptedAt,
    duration_ms: attempt?.durationMs,
    status: attempt?.status,
    attempt_failure: attempt?.failure,
  };
}
