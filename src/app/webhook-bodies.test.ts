// What is sent is what the OpenAPI document declares, for an example of every event type.
import { Compile } from 'typebox/compile';
import type { TSchema } from 'typebox';
import { expect, test } from 'vitest';
import { bodyOf } from '../webhooks/feed/message.ts';
import { exampleLogs } from '../../tools/documents/example-logs.ts';
import { topics } from './composition/topics.ts';
import { webhookBodies } from './webhook-bodies.ts';

const declared = new Map(webhookBodies(topics).map(({ name, topic, body }) => [`${topic} ${name}`, body]));
const sent = topics.flatMap((topic) =>
  (exampleLogs[topic.name] ?? []).flatMap((log) =>
    topic.webhookEventsOf(log).map((event) => ({
      name: `${topic.name} ${event.registeredType}`,
      body: JSON.parse(bodyOf(topic, event, 1n)) as unknown,
    })),
  ),
);

type Node = TSchema & { properties?: Record<string, Node>; items?: Node; additionalProperties?: unknown };

function undeclared(schema: Node | undefined, value: unknown, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => undeclared(schema?.items, one, path));
  if (typeof value !== 'object' || value === null || schema?.additionalProperties === true) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    schema?.properties?.[name]
      ? undeclared(schema.properties[name], member, `${path}.${name}`)
      : [`${path}.${name}`],
  );
}

test('there is an example of every declared event', () => {
  expect([...new Set(sent.map(({ name }) => name))].sort()).toEqual([...declared.keys()].sort());
});

test.each(sent)('$name has the declared members alone', ({ name, body }) => {
  const schema = declared.get(name);
  if (!schema) throw new Error(`${name} is not declared`);
  expect(Compile(schema).Errors(body)).toEqual([]);
  expect(undeclared(schema as Node, body, '')).toEqual([]);
});
