// Compiles schemas into checks. A failed check has the message of the contract:
// `Request parameter: <where>, error type: <type>, description: <detail>`.
import { Format } from 'typebox/format';
import { Compile } from 'typebox/compile';
import type { TSchema } from 'typebox';
import { parseInstant } from '../../../clock.ts';
import { defined } from '../../../defined.ts';
import { faultyParts, type FaultyPart } from './faults.ts';

// One meaning of date-time everywhere: the schema accepts exactly what the program can read.
Format.Set('date-time', (text) => parseInstant(text) !== undefined);

export type ValidationError = {
  readonly where: string;
  /** A keyword of JSON Schema, or a word for what no schema can say. */
  readonly keyword: string;
  readonly description: string;
  /** What the schema says about the value at fault. */
  readonly about?: string;
};

/** The errors of a value that does not fit, each found when it is asked for; undefined if it fits. */
export type Check = (value: unknown) => Iterator<ValidationError, undefined> | undefined;

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
  return (value) => (compiled.Check(value) ? undefined : errorsOf(schema, value));
}

function* errorsOf(schema: TSchema, value: unknown): Generator<ValidationError, undefined> {
  for (const { faults, about } of faultyParts(schema, value)) {
    const first = mostTelling(faults);
    if (!first) yield { where: 'body', keyword: 'schema', description: 'does not fit the schema' };
    else yield { ...errorOf(first), ...defined({ about }) };
  }
  return undefined;
}

function errorOf(fault: SchemaError): ValidationError {
  const missing = fault.keyword === 'required' ? `/${fault.params.requiredProperties[0]}` : '';
  const where = readablePath(fault.instancePath + missing);
  return { where, keyword: fault.keyword, description: describe(fault) };
}

type SchemaErrors = FaultyPart['faults'];
type SchemaError = SchemaErrors[number];

/** A member such as `payerType` names the branch of a union that is meant. What is wrong with other branches says nothing. */
function mostTelling(errors: SchemaErrors): SchemaError | undefined {
  const notMeant = errors.flatMap(({ keyword, schemaPath }) =>
    keyword === 'const' ? (/^.*\/anyOf\/\d+(?=\/|$)/.exec(schemaPath)?.[0] ?? []) : [],
  );
  const meant = errors.filter(({ schemaPath }) =>
    notMeant.every((branch) => schemaPath !== branch && !schemaPath.startsWith(`${branch}/`)),
  );
  if (meant[0] && meant[0].keyword !== 'anyOf') return meant[0];
  const choice = errors.find(({ keyword }) => keyword === 'const');
  if (!choice) return errors[0];
  const allowedValues = errors.flatMap(({ instancePath, params }) =>
    instancePath === choice.instancePath && 'allowedValue' in params ? [params.allowedValue] : [],
  );
  return { ...choice, keyword: 'enum', params: { allowedValues } };
}

const maxValuesShown = 20;

function describe(error: SchemaError): string {
  if (error.keyword !== 'enum' || error.params.allowedValues.length > maxValuesShown) return error.message;
  return `must be equal to one of the allowed values: ${error.params.allowedValues.join(', ')}`;
}

export function validationMessageOf({ where, keyword, description }: ValidationError): string {
  return validationMessage(where, errorTypes[keyword] ?? 'schema_violated', description);
}

const maxWhereCharacters = 200;

export function validationMessage(where: string, type: string, description: string): string {
  // Member names come from the client and may be as long as a body.
  const shown =
    where.length <= maxWhereCharacters ? where : where.slice(0, maxWhereCharacters).toWellFormed() + '…';
  return `Request parameter: ${shown}, error type: ${type}, description: ${description}`;
}

/** `/cart/0/price` in the usual form: `cart[0].price`. */
function readablePath(pointer: string): string {
  const path = pointer
    .split('/')
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`))
    .join('');
  return path.startsWith('.') ? path.slice(1) : path === '' ? 'body' : path;
}
