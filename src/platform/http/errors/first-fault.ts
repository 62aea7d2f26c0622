// Finds the first fault of a value that does not fit its schema. The library would look at every item of a long list, and a body of
// junk would hold up all other callers.
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Errors } from 'typebox/value';

type Fault = ReturnType<typeof Errors>[number];

type Schema = {
  readonly type?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly anyOf?: readonly Schema[];
  readonly const?: unknown;
};

/** The part of a value at fault, with the schema that says why. */
type Part = { readonly schema: Schema; readonly value: unknown; readonly path: string };

/** Nothing after the first fault is looked at. The path of each fault begins at the whole value. */
export function faultsOfFirstPart(schema: TSchema, value: unknown): Fault[] {
  const part = narrowed({ schema: schema as Schema, value, path: '' });
  return Errors(part.schema as TSchema, part.value).map((fault) => ({
    ...fault,
    instancePath: part.path + fault.instancePath,
  }));
}

function narrowed(part: Part): Part {
  const { schema, value, path } = part;
  if (schema.anyOf) return narrowedChoice(schema.anyOf, part);
  if (Array.isArray(value) && schema.items) return narrowedList(schema.items, value, part);
  if (!isObject(value) || !schema.properties) return part;
  const { required = [], properties } = schema;
  if (required.some((name) => !Object.hasOwn(value, name))) return { ...part, schema: { required } };
  const faulty = Object.entries(properties).find(
    ([name, member]) => Object.hasOwn(value, name) && !fits(member, value[name]),
  );
  if (!faulty) return part;
  const [name, member] = faulty;
  return narrowed({ schema: member, value: value[name], path: `${path}/${name}` });
}

function narrowedList(items: Schema, list: readonly unknown[], part: Part): Part {
  const { minItems = 0, maxItems = Infinity } = part.schema;
  if (list.length < minItems || list.length > maxItems)
    return { ...part, schema: { minItems, ...(maxItems === Infinity ? {} : { maxItems }) } };
  const index = list.findIndex((item) => !fits(items, item));
  return index < 0 ? part : narrowed({ schema: items, value: list[index], path: `${part.path}/${index}` });
}

/** Without a member that tells which branch is meant, only what tells the branches apart is looked at. */
function narrowedChoice(branches: readonly Schema[], part: Part): Part {
  const { value } = part;
  const meant = isObject(value) && branches.find((branch) => isMeant(branch, value));
  return meant
    ? narrowed({ ...part, schema: meant })
    : { ...part, schema: { anyOf: branches.map(withoutOpenMembers) } };
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
