// Builds webhook messages from the event log and stores their bytes before the first send.
// Every later attempt, and every other webhook, sends the same bytes.
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { anything, list, recordOf, text } from '../../platform/database/codec.ts';
import { statement, stored } from '../../platform/database/statement.ts';
import {
  positionOf,
  type LoggedEvent,
  type WebhookEvent,
  type Topic,
} from '../../platform/events/domain/topic.ts';
import { bodyOf, chunkOf, messageIdOf } from './message.ts';

export type Message = {
  readonly position: number;
  readonly id: string;
  readonly registeredType: string;
  readonly eventType: string;
  readonly happenedAt: Instant;
  readonly body: string;
};

/** Reads whole logs, because a state follows from all facts of its aggregate. */
const readLogs = statement({
  name: 'read_logs',
  parameters: { aggregate_ids: 'json' },
  row: {
    aggregate_id: 'text',
    aggregate: 'text',
    sequence: 'int4',
    created_at: 'timestamptz',
    facts: stored('json', list(anything)),
    base: 'int8?',
    bodies: stored('json?', recordOf(text)),
  },
  text: `
    select event.aggregate_id, event.aggregate, event.sequence, event.created_at, event.facts, numbers.base,
      (select json_object_agg(position, body) from webhook_message as message
       where message.aggregate_id = event.aggregate_id
         and position between event.sequence * 8 and event.sequence * 8 + 7) as bodies
    from event left join webhook_event_number as numbers
      on numbers.aggregate_id = event.aggregate_id and numbers.chunk = event.sequence / 64
    where event.aggregate_id in (select json_array_elements_text(:aggregate_ids))
    order by event.aggregate_id, event.sequence`,
});

/**
 * Assigns numbers. They follow the clock, 8192 per second, and never decrease, so that none is assigned again after a
 * restore.
 */
const makeEventNumbers = statement({
  name: 'make_webhook_event_numbers',
  parameters: { wanted: 'json' },
  row: { aggregate_id: 'text', chunk: 'int4', base: 'int8' },
  text: `
    with wanted as (
      select aggregate_id, chunk, row_number() over (order by aggregate_id, chunk) as ordinal
      from json_to_recordset(:wanted) as wanted (aggregate_id text, chunk int)
    ), counted as (
      update webhook_event_number_counter
      set last_base = greatest(last_base + (select count(*) from wanted),
                               floor(extract(epoch from clock_timestamp() - timestamptz '2025-01-01Z'))::bigint * 8192)
      returning last_base - (select count(*) from wanted) as first_base
    )
    insert into webhook_event_number (aggregate_id, chunk, base)
    select aggregate_id, chunk, first_base + ordinal from wanted, counted
    on conflict do nothing
    returning aggregate_id, chunk, base`,
});

const readEventNumbers = statement({
  name: 'read_webhook_event_numbers',
  parameters: { wanted: 'json' },
  row: { aggregate_id: 'text', chunk: 'int4', base: 'int8' },
  text: `
    select aggregate_id, chunk, base from webhook_event_number
    join json_to_recordset(:wanted) as wanted (aggregate_id text, chunk int) using (aggregate_id, chunk)`,
});

/** Returns the stored bodies, even if another node stored them first. */
const fixMessages = statement({
  name: 'fix_webhook_messages',
  parameters: { messages: 'json', now: 'timestamptz' },
  row: { aggregate_id: 'text', position: 'int8', body: 'text' },
  text: `
    insert into webhook_message as message (aggregate_id, position, body, created_at)
    select aggregate_id, position, body, :now
    from json_to_recordset(:messages) as fresh (aggregate_id text, position bigint, body text)
    order by aggregate_id, position
    on conflict (aggregate_id, position) do update set body = message.body
    returning aggregate_id, position, body`,
});

type Logged = LoggedEvent<unknown> & {
  readonly aggregate: string;
  readonly base: bigint | null;
  readonly bodies: Readonly<Record<string, string>>;
};

/** Selects the webhook events of an aggregate to send now. */
export type Selection = {
  readonly aggregateId: string;
  readonly topic: string;
  readonly select: (webhookEvents: readonly Sendable[]) => readonly Sendable[];
};
export type Sendable = WebhookEvent & { readonly position: number };

/** The messages of each selection, in order. Undefined for a log that cannot be read, which does not block the others. */
export async function messagesFor(
  db: Database,
  topics: readonly Topic[],
  selections: readonly Selection[],
  now: Instant,
  reportUnreadable: (aggregateId: string, error: unknown) => void,
): Promise<(Message[] | undefined)[]> {
  const logs = await logsOf(db, [...new Set(selections.map(({ aggregateId }) => aggregateId))]);
  const chosen = selections.map((selection) => {
    try {
      return chosenOf(selection, logs.get(selection.aggregateId) ?? [], topics);
    } catch (error) {
      reportUnreadable(selection.aggregateId, error);
      return undefined;
    }
  });
  const readable = chosen.filter((one) => one !== undefined);
  const bases = await basesFor(db, readable);
  const bodies = new Map<string, string>();
  const missing = new Map<string, { aggregate_id: string; position: number; body: string }>();
  for (const { aggregateId, topic, log, webhookEvents } of readable) {
    for (const event of webhookEvents) {
      const { sequence, position } = event;
      const name = `${aggregateId} ${position}`;
      const known = log.find((logged) => logged.sequence === sequence)?.bodies[position];
      const base = bases.get(`${aggregateId} ${chunkOf(sequence)}`);
      if (known !== undefined) bodies.set(name, known);
      else if (base !== undefined)
        missing.set(name, { aggregate_id: aggregateId, position, body: bodyOf(topic, event, base) });
    }
  }
  if (missing.size > 0) {
    const fixed = await db.run(fixMessages, { messages: [...missing.values()], now });
    for (const { aggregate_id, position, body } of fixed) bodies.set(`${aggregate_id} ${position}`, body);
  }
  return chosen.map((one) => {
    const messages = one?.webhookEvents.flatMap((event) => {
      const body = bodies.get(`${one.aggregateId} ${event.position}`);
      return body === undefined ? [] : [messageOf(one.aggregateId, event, body)];
    });
    return messages?.length === one?.webhookEvents.length ? messages : undefined;
  });
}

type Chosen = {
  readonly aggregateId: string;
  readonly topic: Topic;
  readonly log: readonly Logged[];
  readonly webhookEvents: readonly Sendable[];
};

function chosenOf(selection: Selection, log: readonly Logged[], topics: readonly Topic[]): Chosen {
  const topic = topics.find(({ name }) => name === selection.topic);
  if (!topic) throw new Error(`unknown webhook topic ${selection.topic}`);
  const webhookEvents = topic
    .webhookEventsOf(log)
    .map((event) => ({ ...event, position: positionOf(event) }));
  return { aggregateId: selection.aggregateId, topic, log, webhookEvents: selection.select(webhookEvents) };
}

async function logsOf(db: Database, ids: readonly string[]): Promise<Map<string, Logged[]>> {
  const logs = new Map<string, Logged[]>();
  for (const row of await db.run(readLogs, { aggregate_ids: ids })) {
    const log = logs.get(row.aggregate_id) ?? [];
    logs.set(row.aggregate_id, log);
    log.push({
      aggregate: row.aggregate,
      sequence: row.sequence,
      createdAt: row.created_at,
      facts: row.facts,
      base: row.base,
      bodies: row.bodies ?? {},
    });
  }
  return logs;
}

async function basesFor(db: Database, chosen: readonly Chosen[]): Promise<Map<string, bigint>> {
  const bases = new Map<string, bigint>();
  const missing = new Map<string, { aggregate_id: string; chunk: number }>();
  for (const { aggregateId, log, webhookEvents } of chosen) {
    const lastChunk = chunkOf(Math.max(-1, ...webhookEvents.map(({ sequence }) => sequence)));
    for (const { sequence, base } of log) {
      const chunk = chunkOf(sequence);
      const name = `${aggregateId} ${chunk}`;
      if (base !== null) bases.set(name, base);
      // Includes earlier events that were never sent, because numbers must increase with the events of an aggregate.
      else if (chunk <= lastChunk) missing.set(name, { aggregate_id: aggregateId, chunk });
    }
  }
  const keep = (rows: readonly { aggregate_id: string; chunk: number; base: bigint }[]) => {
    for (const { aggregate_id, chunk, base } of rows) {
      bases.set(`${aggregate_id} ${chunk}`, base);
      missing.delete(`${aggregate_id} ${chunk}`);
    }
  };
  if (missing.size > 0) keep(await db.run(makeEventNumbers, { wanted: [...missing.values()] }));
  // The rest were assigned by another node in parallel.
  if (missing.size > 0) keep(await db.run(readEventNumbers, { wanted: [...missing.values()] }));
  return bases;
}

function messageOf(aggregateId: string, event: Sendable, body: string): Message {
  const { position, registeredType, eventType, happenedAt } = event;
  return { position, id: messageIdOf(aggregateId, position), registeredType, eventType, happenedAt, body };
}
