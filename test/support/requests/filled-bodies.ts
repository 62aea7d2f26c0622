// Responses with every member that a schema declares, so that a new member joins them at once.

type Schema = {
  readonly type?: string;
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly minimum?: number;
};

/** `text` gives each text of people its value, by its path. `variant` chooses among the branches and the fixed words. */
export function filledBody(
  schema: object | undefined,
  { text, variant, path }: { text: (path: string) => string; variant: number; path: string },
): unknown {
  const of: Schema = schema ?? {};
  const inside = (one: Schema, name: string) =>
    filledBody(one, { text, variant, path: name === '' ? path : `${path}.${name}` });
  const chosen = <One>(all: readonly One[]) => all.toReversed()[variant % all.length] as One;
  if (of.const !== undefined) return of.const;
  if (of.enum) return chosen(of.enum);
  if (of.anyOf) return inside(chosen(of.anyOf), '');
  if (of.items) return [inside(of.items, ''), inside(of.items, '')];
  if (of.properties)
    return Object.fromEntries(Object.entries(of.properties).map(([name, one]) => [name, inside(one, name)]));
  if (of.type === 'integer' || of.type === 'number') return Math.max(of.minimum ?? 0, 1);
  if (of.type === 'boolean') return variant % 2 === 0;
  if (of.format === 'date-time') return '2026-01-19T10:00:00.000000Z';
  if (of.type === 'string') return text(path);
  return {};
}
