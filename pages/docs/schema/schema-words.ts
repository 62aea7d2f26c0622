// What a schema says, in words: its type and its limits.
import { resolve, type Schema, type Schemas } from './schema.ts';

export function typeWords(schema: Schema, schemas: Schemas): string {
  const { name, schema: own } = resolve(schema, schemas);
  if (own.items || own.type === 'array') return `list of ${typeWords(own.items ?? {}, schemas)}`;
  if (name !== undefined) return name;
  const variants = variantsOf(own);
  if (variants) return [...new Set(variants.map((variant) => typeWords(variant, schemas)))].join(' or ');
  const types = typeof own.type === 'string' ? [own.type] : (own.type ?? typesOfValues(own));
  if (types.length === 0) return own.properties ? 'object' : 'any';
  return own.format === undefined ? types.join(' or ') : `${types.join(' or ')} (${own.format})`;
}

function typesOfValues({ enum: values, const: constant }: Schema): string[] {
  const all = values ?? (constant === undefined ? [] : [constant]);
  return [...new Set(all.map((value) => (value === null ? 'null' : typeof value)))];
}

export function variantsOf(schema: Schema): readonly Schema[] | undefined {
  return schema.oneOf ?? schema.anyOf;
}

/** A value as it is written, text without its quotation marks. */
export function valueWords(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The limits of a value, a phrase each. */
export function limits(schema: Schema): string[] {
  const phrases = [
    range(schema.minLength, schema.maxLength, 'characters'),
    range(schema.minItems, schema.maxItems, 'members'),
    range(schema.minimum, schema.maximum, ''),
    schema.exclusiveMinimum === undefined ? undefined : `more than ${schema.exclusiveMinimum}`,
    schema.exclusiveMaximum === undefined ? undefined : `less than ${schema.exclusiveMaximum}`,
    schema.default === undefined ? undefined : `${JSON.stringify(schema.default)} by default`,
    schema.readOnly ? 'only in answers' : undefined,
    schema.writeOnly ? 'only in requests' : undefined,
  ];
  return phrases.filter((phrase) => phrase !== undefined);
}

function range(least: number | undefined, most: number | undefined, unit: string): string | undefined {
  if (least === undefined && most === undefined) return undefined;
  const words =
    least === most
      ? `exactly ${grouped(most)}`
      : most === undefined
        ? `at least ${grouped(least)}`
        : least === undefined || (least === 0 && unit !== '')
          ? `at most ${grouped(most)}`
          : `${grouped(least)} to ${grouped(most)}`;
  if (unit === '') return words;
  return `${words} ${/\b1$/.test(words) ? unit.replace(/s$/, '') : unit}`;
}

/** 999 999 999 999, with thin spaces, which are read more easily than twelve digits in a row. */
function grouped(number: number | undefined): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, '\u2009');
}

/** A value of this shape, for a body that comes without an example: what is required, and no more. */
export function sampleOf(schema: Schema, schemas: Schemas, depth = 0): unknown {
  const { schema: own } = resolve(schema, schemas);
  const given = own.example ?? own.examples?.[0] ?? own.default ?? own.const ?? own.enum?.[0];
  if (given !== undefined) return given;
  const variant = variantsOf(own)?.[0];
  if (variant) return sampleOf(variant, schemas, depth);
  if (own.type === 'array') return [];
  if (own.type === 'boolean') return false;
  if (own.type === 'integer' || own.type === 'number') {
    return Math.min(Math.max(10, own.minimum ?? 10), own.maximum ?? 10);
  }
  if (own.type === 'string') return own.format === 'date-time' ? '2030-01-20T10:00:00Z' : '';
  if (!own.properties || depth > 6) return {};
  const required = Object.entries(own.properties).filter(([name]) => own.required?.includes(name));
  return Object.fromEntries(
    required.map(([name, property]) => [name, sampleOf(property, schemas, depth + 1)]),
  );
}
