// Builds serialisers once for all nodes of a process, because they are most of the cost of a node's start.
// Call it before the service is loaded.
import { createRequire } from 'node:module';

type Build = (schema: unknown, options?: { readonly schema?: object }) => unknown;

export function buildSerialisersOnce(): void {
  const load = createRequire(createRequire(import.meta.url).resolve('fastify'));
  const place = load.resolve('fast-json-stringify');
  const build = load(place) as Build;
  const loaded = load.cache[place];
  if (loaded) loaded.exports = Object.assign(remembered(build), build);
}

function remembered(build: Build): Build {
  const built = new Map<string, unknown>();
  return (schema, options = {}) => {
    if (Object.keys(options.schema ?? {}).length > 0) return build(schema, options);
    const name = JSON.stringify(schema);
    const known = built.get(name) ?? build(schema, options);
    built.set(name, known);
    return known;
  };
}
