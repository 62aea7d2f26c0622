// A JSON schema, and what is behind its references.

export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly discriminator?: { readonly propertyName: string };
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly examples?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly deprecated?: boolean;
  readonly readOnly?: boolean;
  readonly writeOnly?: boolean;
};

export type Schemas = Readonly<Record<string, Schema>>;
export type Resolved = { readonly name: string | undefined; readonly schema: Schema };

/** The schema behind references, with what stands under `allOf` merged into one. */
export function resolve(schema: Schema, schemas: Schemas): Resolved {
  if (schema.$ref !== undefined) {
    const name = lastStep(schema.$ref);
    const { $ref: _, ...beside } = schema;
    const { schema: target } = resolve(schemas[name] ?? {}, schemas);
    return { name, schema: { ...target, ...beside } };
  }
  if (!schema.allOf) return { name: undefined, schema };
  const { allOf, ...beside } = schema;
  const parts = [...allOf.map((part) => resolve(part, schemas)), { name: undefined, schema: beside }];
  return {
    name: parts.find(({ name }) => name !== undefined)?.name,
    schema: parts.reduce<Schema>((merged, part) => merge(merged, part.schema), {}),
  };
}

function merge(one: Schema, other: Schema): Schema {
  const properties: Record<string, Schema> = { ...one.properties };
  for (const [name, property] of Object.entries(other.properties ?? {})) {
    properties[name] = { ...properties[name], ...property };
  }
  const required = [...(one.required ?? []), ...(other.required ?? [])];
  return {
    ...one,
    ...other,
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.length > 0 ? { required } : {}),
  };
}

/** What a reference names: `Invoice` in `#/components/schemas/Invoice`. */
export function lastStep(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}
