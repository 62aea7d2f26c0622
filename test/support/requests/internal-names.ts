// Members that no schema declares, under names that mean something inside the service, added to a right body wherever it has an object.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { resolved, type Document, type Schema } from './openapi.ts';
import { chosen } from './wrong-bodies.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Names that mean something to JavaScript. A body with `__proto__` is refused as a whole. */
const ofJavaScript = ['constructor', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', 'then', 'length'];

/** Every column of the database and every member of a type of the domain, as the program writes them. */
export function internalNames(): string[] {
  const columns = [...readFileSync(`${root}schema.sql`, 'utf8').matchAll(/^ {2}([a-z_]+) [a-z]/gm)].map(
    ([, name = '']) => name.replace(/_([a-z])/g, (_, initial: string) => initial.toUpperCase()),
  );
  const members = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\/domain\/[\w-]+\.ts$/.test(path) && !path.endsWith('.test.ts'))
    .flatMap((path) => [...readFileSync(`${root}src/${path}`, 'utf8').matchAll(/readonly (\w+)\??:/g)])
    .map(([, name = '']) => name);
  return [...new Set([...columns, ...members, ...ofJavaScript])].sort();
}

/** The body with these members in every object whose members are declared. Declared members and free data stay as they are. */
export function withMembers(
  body: unknown,
  schema: Schema,
  document: Document,
  strangers: Readonly<Record<string, unknown>>,
): unknown {
  const { properties, items, additionalProperties } = chosen(resolved(schema, document), document, body);
  if (Array.isArray(body)) {
    return body.map((item) => (items ? withMembers(item, items, document, strangers) : item));
  }
  if (typeof body !== 'object' || body === null || !properties || additionalProperties) return body;
  const members = Object.entries(body).map(([name, member]) => {
    const declared = properties[name];
    return [name, declared ? withMembers(member, declared, document, strangers) : member];
  });
  const added = Object.entries(strangers).filter(([name]) => !Object.hasOwn(properties, name));
  return Object.fromEntries([...members, ...added]);
}
