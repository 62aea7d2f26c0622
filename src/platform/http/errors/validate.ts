// Schemas into checks, and what a check says when it fails: the sentence of the contract,
// `Request parameter: <where>, error type: <type>, description: <detail>`.
import { Format } from 'typebox/format';
import { Compile } from 'typebox/compile';
import type { TSchema } from 'typebox';
import { parseInstant } from '../../../clock.ts';

// One meaning of date-time everywhere: what the schema accepts is exactly what the business can read.
Format.Set('date-time', (text) => parseInstant(text) !== undefined);

export type ValidationError = {
  readonly where: string;
  /** Of JSON Schema, or a word for what no schema says. */
  readonly keyword: string;
  readonly description: string;
};

/** The complaint about a value that does not fit, or undefined when it does. */
export type Check = (value: unknown) => ValidationError | undefined;

const errorTypes: Record<string, string> = {
  required: 'not_found',
  pattern: 'no_match',
  format: 'no_match',
  enum: 'no_match',
  const: 'no_match',
  minimum: 'not_in_range',
  maximum: 'not_in_range',
  type: 'wrong_type',
  minLength: 'wrong_length',
  maxLength: 'wrong_length',
  minItems: 'wrong_size',
  maxItems: 'wrong_size',
  unreadable: 'wrong_body',
  absent: 'wrong_body',
};

export function compileCheck(schema: TSchema): Check {
  const compiled = Compile(schema);
  return (value) => {
    if (compiled.Check(value)) return undefined;
    const [first] = compiled.Errors(value);
    if (!first) return { where: 'body', keyword: 'schema', description: 'does not fit the schema' };
    const missing = first.keyword === 'required' ? `/${first.params.requiredProperties[0]}` : '';
    const where = readablePath(first.instancePath + missing);
    return { where, keyword: first.keyword, description: first.message };
  };
}

export function validationMessageOf({ where, keyword, description }: ValidationError): string {
  return validationMessage(where, errorTypes[keyword] ?? 'schema_violated', description);
}

const maxWhereCharacters = 200;

export function validationMessage(where: string, type: string, description: string): string {
  // Names of members come from the client and may be as long as a body.
  const shown =
    where.length <= maxWhereCharacters ? where : where.slice(0, maxWhereCharacters).toWellFormed() + '…';
  return `Request parameter: ${shown}, error type: ${type}, description: ${description}`;
}

/** `/cart/0/price` as a person writes it: `cart[0].price`. */
function readablePath(pointer: string): string {
  const path = pointer
    .split('/')
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`))
    .join('');
  return path.startsWith('.') ? path.slice(1) : path === '' ? 'body' : path;
}
