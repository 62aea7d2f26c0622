// Finds the faults of a value that does not fit its schema, one after the other. The library would look at every item of a long list,
// and a body of junk would hold up all other callers.
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Errors } from 'typebox/value';

type Fault = ReturnType<typeof Errors>[number];

type Schema = {
  readonly type?: string;
  readonly description?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly anyOf?: readonly Schema[];
  readonly const?: unknown;
};

/** The part of a value at fault, with the schema that says why. */
type Part = {
  readonly schema: Schema;
  readonly value: unknown;
  readonly path: string;
  /** What the schema says about the part, in words. */
  readonly about: string | undefined;
};

/** What is wrong with one part of a value. The path of each fault begins at the whole value. */
export type FaultyPart = Pick<Part, 'about'> & { readonly faults: Fault[] };

/** In the order of the schema. Nothing after a part is looked at until the next one is asked for. */
export function* faultyParts(schema: TSchema, value: unknown): Generator<FaultyPart> {
  for (const part of within(partOf(schema as Schema, value, ''))) {
    const faults = Errors(part.schema as TSchema, part.value).map((fault) => ({
      ...fault,
      instancePath: part.path + fault.instancePath,
    }));
    yield { faults, about: part.about };
  }
}

function partOf(schema: Schema, value: unknown, path: string): Part {
  return { schema, value, path, about: schema.description };
}

function* within(part: Part): Generator<Part> {
  const { schema, value } = part;
  if (schema.anyOf) yield* withinChoice(schema.anyOf, part);
  else if (Array.isArray(value) && schema.items) yield* withinList(schema.items, value, part);
  else if (isObject(value) && schema.properties) yield* withinObject(schema, value, part);
  else yield part;
}

function* withinObject(
  { required = [], properties = {} }: Schema,
  value: Record<string, unknown>,
  part: Part,
): Generator<Part> {
  const missing = required.filter((name) => !Object.hasOwn(value, name));
  for (const [index, name] of missing.entries()) {
    // The first of them names all, because its message always has.
    yield { ...part, schema: { required: missing.slice(index) }, about: properties[name]?.description };
  }
  let isFound = missing.length > 0;
  for (const [name, member] of Object.entries(properties)) {
    if (!Object.hasOwn(value, name) || fits(member, value[name])) continue;
    isFound = true;
    yield* within(partOf(member, value[name], `${part.path}/${name}`));
  }
  if (!isFound) yield part;
}

function* withinList(items: Schema, list: readonly unknown[], part: Part): Generator<Part> {
  const { minItems = 0, maxItems = Infinity } = part.schema;
  if (list.length < minItems || list.length > maxItems) {
    yield { ...part, schema: { minItems, ...(maxItems === Infinity ? {} : { maxItems }) } };
    return;
  }
  let isFound = false;
  for (const [index, item] of list.entries()) {
    if (fits(items, item)) continue;
    isFound = true;
    yield* within(partOf(items, item, `${part.path}/${index}`));
  }
  if (!isFound) yield part;
}

/** Without a member that tells which branch is meant, only what tells the branches apart is looked at. */
function* withinChoice(branches: readonly Schema[], part: Part): Generator<Part> {
  const { value } = part;
  const meant = isObject(value) && branches.find((branch) => isMeant(branch, value));
  if (meant) yield* within({ ...part, schema: meant });
  else yield { ...part, schema: { anyOf: branches.map(withoutOpenMembers) } };
}

function isMeant({ properties = {} }: Schema, value: Record<string, unknown>): boolean {
  const fixed = Object.entries(properties).filter(([, member]) => 'const' in member);
  return fixed.length > 0 && fixed.every(([name, member]) => value[name] === member.const);
}

function withoutOpenMembers(branch: Schema): Schema {
  if (!branch.properties) return branch;
  const fixed = Object.entries(branch.properties).filter(([, member]) => 'const' in member);
  return { ...branch, properties: Object.fromEntries(fixed) };
}

const checks = new WeakMap<Schema, ReturnType<typeof Compile>>();

function fits(schema: Schema, value: unknown): boolean {
  const known = checks.get(schema);
  const check = known ?? Compile(schema as TSchema);
  if (!known) checks.set(schema, check);
  return check.Check(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
