// Operations on a webhook's deliveries: list queues and attempts, test, resume, replay, rotate keys.
// They serve webhooks of shops and of identities.
import { Type, type Static } from 'typebox';
import { parseInstant } from '../../clock.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { DateTime, SeriesID } from '../../platform/http/schemas.ts';
import { eventAt, type Topic } from '../../platform/events/domain/topic.ts';
import { accept, refuse } from '../../refusal.ts';
import { failureOf } from '../delivery/send-head.ts';
import { postTo } from '../delivery/sign-message.ts';
import {
  attemptsOf,
  queuesOf,
  queueStates,
  resume,
  type AttemptCursor,
  type AttemptRow,
  type QueueRow,
} from './inspection.store.ts';
import { withKeyPairs } from '../registration/key-pair-pool.ts';
import { eventIdOf, messageIdOf, testBodyOf } from '../feed/message.ts';
import { rewind, timeOfEvent } from '../feed/replay.store.ts';
import { findWebhook, storeNextKey } from '../registration/webhooks.store.ts';
import { decideRotate, keysAt, maxNoticeHours } from '../domain/webhook.ts';
import { keysBody, keyMembers, signingSecret, WebhookPath } from '../registration/schema.ts';
import { defined } from '../../defined.ts';
import type { WebhookDeps } from '../webhooks.ts';

const maxPage = 1_000;
const limit = Type.Integer({
  minimum: 1,
  maximum: 2_147_483_647,
  description: 'A page has at most 1000 entries.',
});
const objectID = {
  ...SeriesID,
  description: 'The invoice, customer, series, withdrawal or destination.',
};

const QueueSchema = Type.Object(
  {
    objectID,
    state: Type.Enum([...queueStates], {
      description:
        '`failing`: the last attempt failed, and a retry follows. `parked`: no retry until you resume the queue.',
    }),
    failures: Type.Integer({ description: 'Failed attempts in a row for the first event in the queue.' }),
    lastFailure: Type.Optional(Type.String()),
    waitingSince: Type.Optional(DateTime),
    nextAttemptAt: Type.Optional(DateTime),
    parkedAt: Type.Optional(DateTime),
  },
  { title: 'WebhookQueue' },
);

const AttemptSchema = Type.Object(
  {
    id: Type.String({ description: 'The ID of the attempt, for `after`.' }),
    objectID,
    webhookMessageID: Type.String({ description: 'The `webhook-id` of the webhook event.' }),
    eventID: Type.Optional(
      Type.Union([Type.Integer(), Type.String()], { description: 'The `eventID` in the webhook event.' }),
    ),
    eventType: Type.String(),
    attempt: Type.Integer({ description: 'Counts from 1.' }),
    attemptedAt: DateTime,
    durationMs: Type.Integer(),
    delivered: Type.Boolean(),
    status: Type.Optional(Type.Integer({ description: 'The HTTP status from the receiver.' })),
    failure: Type.Optional(Type.String({ description: 'Why the attempt failed.' })),
  },
  { title: 'WebhookAttempt' },
);

const TestResult = Type.Object(
  {
    delivered: Type.Boolean(),
    status: Type.Optional(Type.Integer()),
    failure: Type.Optional(Type.String()),
    durationMs: Type.Integer(),
  },
  { title: 'WebhookTestResult' },
);

const QueueCount = Type.Object(
  { queues: Type.Integer({ description: 'Queues with webhook events to send.' }) },
  { title: 'WebhookQueueCount' },
);

export const listWebhookQueues = endpoint({
  operation: 'listWebhookQueues',
  access: { scope: 'webhooks:read' },
  method: 'GET',
  path: '/v2/processing/webhooks/{webhookID}/queues',
  tag: 'Webhooks',
  summary: 'List the queues of a webhook',
  description:
    'Each invoice, customer, series, withdrawal or destination has its own queue. For the next page, pass the last ' +
    '`objectID` as `after`.',
  params: WebhookPath,
  query: Type.Object({
    limit,
    after: Type.Optional(SeriesID),
    state: Type.Optional(Type.Enum([...queueStates])),
  }),
  status: 200,
  response: Type.Array(QueueSchema),
  errors: ['webhookNotFound'],
  handle: async ({ caller, params, query }, { db }: WebhookDeps<'db'>) => {
    if (!(await findWebhook(db, caller.partyId, params.webhookID))) return refuse('webhookNotFound');
    const { state, after } = query;
    const rows = await queuesOf(db, params.webhookID, {
      limit: Math.min(query.limit, maxPage),
      ...defined({ state, after }),
    });
    return accept(rows.map(queueBody));
  },
});

export const listWebhookAttempts = endpoint({
  operation: 'listWebhookAttempts',
  access: { scope: 'webhooks:read' },
  method: 'GET',
  path: '/v2/processing/webhooks/{webhookID}/attempts',
  tag: 'Webhooks',
  summary: 'List delivery attempts',
  description:
    'Lists the attempts of the last 30 days, latest first. For the next page, pass the last `id` as `after`.',
  params: WebhookPath,
  query: Type.Object({
    limit,
    objectID: Type.Optional(SeriesID),
    before: Type.Optional(DateTime),
    after: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  }),
  status: 200,
  response: Type.Array(AttemptSchema),
  errors: ['webhookNotFound'],
  handle: async ({ caller, params, query }, { db, webhooks }: WebhookDeps<'db' | 'webhooks'>) => {
    const stored = await findWebhook(db, caller.partyId, params.webhookID);
    const topic = webhooks.topics.find(({ name }) => name === stored?.webhook.topic);
    if (!topic) return refuse('webhookNotFound');
    const after = query.after === undefined ? undefined : cursorOf(query.after);
    if (query.after !== undefined && !after)
      return refuse('invalidRequest', {
        message: 'after: not the ID of an attempt. Use the last id of the page before.',
      });
    const before = query.before === undefined ? undefined : parseInstant(query.before);
    const rows = await attemptsOf(db, params.webhookID, {
      limit: Math.min(query.limit, maxPage),
      ...defined({ aggregateId: query.objectID, before }),
      ...(after ? { after } : {}),
    });
    return accept(rows.map((row) => attemptBody(row, topic)));
  },
});

export const testWebhook = endpoint({
  operation: 'testWebhook',
  access: { scope: 'webhooks:write' },
  method: 'POST',
  path: '/v2/processing/webhooks/{webhookID}/test',
  tag: 'Webhooks',
  summary: 'Send a test webhook event',
  description: 'Sends a signed webhook event of the type `WebhookTest`, outside all queues.',
  params: WebhookPath,
  status: 200,
  response: TestResult,
  errors: ['webhookNotFound'],
  // Waits for the receiver, and must not keep a transaction open meanwhile.
  ignoresIdempotencyKey: true,
  handle: async (
    { caller, params, now },
    { clock, ids, webhooks }: WebhookDeps<'clock' | 'ids' | 'webhooks'>,
  ) => {
    const target = await webhooks.targetOf(params.webhookID);
    if (target?.webhook.partyId !== caller.partyId) return refuse('webhookNotFound');
    const topic = webhooks.topics.find(({ name }) => name === target.webhook.topic);
    if (!topic) return refuse('webhookNotFound');
    const startedMs = performance.now();
    const message = { id: `evt_test${ids.next()}`, body: testBodyOf(topic, now) };
    const response = await postTo(webhooks.sender, target, message, {
      now: clock.now(),
      requestId: ids.next(),
    });
    const failure = failureOf(response);
    return accept({
      delivered: failure === undefined,
      durationMs: Math.round(performance.now() - startedMs),
      ...(response.kind === 'status' ? { status: response.status } : {}),
      ...defined({ failure }),
    });
  },
});

export const resumeWebhook = endpoint({
  operation: 'resumeWebhook',
  access: { scope: 'webhooks:write' },
  method: 'POST',
  path: '/v2/processing/webhooks/{webhookID}/resume',
  tag: 'Webhooks',
  summary: 'Resume delivery now',
  description:
    'Resumes all parked and waiting queues, or only that of `objectID`. Failures count from 0 again.',
  params: WebhookPath,
  body: Type.Object({ objectID: Type.Optional(objectID) }, { title: 'WebhookResumeParams' }),
  bodyExample: {},
  status: 200,
  response: QueueCount,
  errors: ['webhookNotFound'],
  ignoresIdempotencyKey: true,
  handle: async (
    { caller, params, body },
    { db, clock, webhooks }: WebhookDeps<'db' | 'clock' | 'webhooks'>,
  ) => {
    if (!(await findWebhook(db, caller.partyId, params.webhookID))) return refuse('webhookNotFound');
    const queues = await resume(db, params.webhookID, clock.now(), body.objectID);
    webhooks.wake();
    return accept({ queues });
  },
});

const ReplayParams = Type.Object(
  {
    since: Type.Optional({ ...DateTime, description: 'The start of the period.' }),
    until: Type.Optional({ ...DateTime, description: 'The end of the period, exclusive. Default: now.' }),
    fromEventID: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2 ** 53 - 1,
        description:
          'Instead of `since`: starts at the time of this webhook event. Only for webhooks of shops.',
      }),
    ),
  },
  { title: 'WebhookReplayParams' },
);

export const replayWebhook = endpoint({
  operation: 'replayWebhook',
  access: { scope: 'webhooks:write' },
  method: 'POST',
  path: '/v2/processing/webhooks/{webhookID}/replay',
  tag: 'Webhooks',
  summary: 'Replay webhook events of a period',
  description:
    'Sends the webhook events of the period again, in order, with the same IDs and bytes, also those from before the ' +
    'webhook was created. Each queue then continues where it was.',
  params: WebhookPath,
  body: ReplayParams,
  validateBody: ({ since, fromEventID }) =>
    (since === undefined) === (fromEventID === undefined) ? 'give either since or fromEventID' : undefined,
  bodyExample: { since: '2030-01-01T00:00:00Z', until: '2030-01-02T00:00:00Z' },
  status: 200,
  response: QueueCount,
  errors: ['webhookNotFound', 'webhookEventNotFound'],
  ignoresIdempotencyKey: true,
  handle: async (
    { caller, params, body, now },
    { db, clock, webhooks }: WebhookDeps<'db' | 'clock' | 'webhooks'>,
  ) => {
    const stored = await findWebhook(db, caller.partyId, params.webhookID);
    const topic = webhooks.topics.find(({ name }) => name === stored?.webhook.topic);
    if (!stored || !topic) return refuse('webhookNotFound');
    if (body.fromEventID !== undefined && topic.eventId !== 'number')
      return refuse('invalidRequest', {
        message: 'fromEventID: not available for webhooks of identities. Give since instead.',
      });
    const since =
      body.fromEventID === undefined
        ? parseInstant(body.since ?? '')
        : await timeOfEvent(db, caller.partyId, body.fromEventID);
    if (since === undefined) return refuse('webhookEventNotFound');
    const until = body.until === undefined ? undefined : parseInstant(body.until);
    const stretch = { since, until: until ?? now, now: clock.now() };
    const queues = await rewind(db, stored.webhook, topic, stretch, webhooks.reportUnreadable);
    webhooks.wake();
    return accept({ queues });
  },
});

const RotatedKeys = Type.Object({ ...keyMembers, signingSecret }, { title: 'WebhookKeys' });

export const rotateWebhookKeys = endpoint({
  operation: 'rotateWebhookKeys',
  access: { scope: 'webhooks:write' },
  method: 'POST',
  path: '/v2/processing/webhooks/{webhookID}/rotate-keys',
  tag: 'Webhooks',
  summary: 'Rotate the keys of a webhook',
  description:
    'Publishes the next keys. They replace the current keys after `afterHours`, and with 0 after 5 minutes. Until a day ' +
    'after that, `webhook-signature` carries signatures of both.',
  params: WebhookPath,
  body: Type.Object(
    { afterHours: Type.Optional(Type.Integer({ minimum: 0, maximum: maxNoticeHours, default: 24 })) },
    { title: 'WebhookRotationParams' },
  ),
  bodyExample: { afterHours: 24 },
  status: 200,
  response: RotatedKeys,
  errors: ['webhookNotFound', 'webhookRotationInProgress'],
  prepare: withKeyPairs,
  handle: async (
    { caller, params, body },
    { db, clock, webhooks }: WebhookDeps<'db' | 'clock' | 'webhooks'>,
    pairs,
  ) => {
    const stored = await findWebhook(db, caller.partyId, params.webhookID);
    if (!stored) return refuse('webhookNotFound');
    const now = clock.now();
    const decision = decideRotate(stored.keys, now, body.afterHours ?? 24);
    if (!decision.ok) return decision;
    const { keys, sharedSecret } = webhooks.encryptKeys(params.webhookID, pairs.take(), decision.value);
    const { current } = keysAt(stored.keys, now);
    if (!(await storeNextKey(db, params.webhookID, keys, current.keyVersion)))
      return refuse('webhookRotationInProgress');
    db.afterCommit(() => webhooks.forget(params.webhookID));
    return accept({ ...keysBody([current, keys], now), signingSecret: sharedSecret });
  },
});

function queueBody(row: QueueRow): Static<typeof QueueSchema> {
  return {
    objectID: row.aggregate_id,
    state: row.state,
    failures: row.attempts,
    ...defined({
      lastFailure: row.last_failure,
      waitingSince: row.waiting_since,
      nextAttemptAt: row.wake_at,
      parkedAt: row.stuck_at,
    }),
  };
}

function attemptBody(row: AttemptRow, topic: Topic): Static<typeof AttemptSchema> {
  const position = Number(row.position);
  const eventID = row.base === null ? undefined : eventIdOf(topic, eventAt(position), row.base);
  return {
    id: attemptId(row),
    objectID: row.aggregate_id,
    webhookMessageID: messageIdOf(row.aggregate_id, position),
    ...defined({ eventID }),
    eventType: row.event_type,
    attempt: row.attempt,
    attemptedAt: row.attempted_at,
    durationMs: row.duration_ms,
    delivered: row.failure === null,
    ...defined({ status: row.status, failure: row.failure }),
  };
}

function attemptId(row: AttemptRow): string {
  const key = [row.attempted_at, row.aggregate_id, row.position, row.attempt];
  return Buffer.from(key.join('|')).toString('base64url');
}

function cursorOf(id: string): AttemptCursor | undefined {
  const [at = '', aggregateId = '', position = '', attempt = '', ...more] = Buffer.from(id, 'base64url')
    .toString()
    .split('|');
  const attemptedAt = parseInstant(at);
  const isNumber = (text: string, digits: number) => /^\d+$/.test(text) && text.length <= digits;
  if (!attemptedAt || !/^[\w-]{1,40}$/.test(aggregateId) || more.length > 0) return undefined;
  if (!isNumber(position, 15) || !isNumber(attempt, 9)) return undefined;
  return { attemptedAt, aggregateId, position: Number(position), attempt: Number(attempt) };
}
