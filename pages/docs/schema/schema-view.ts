// A schema as a tree to read: a line for each field, and what is inside it behind a disclosure, drawn when it is opened.
import { disclosure } from '../disclosure.ts';
import { h, type Child } from '../elements.ts';
import { inline } from '../prose.ts';
import { resolve, type Schema, type Schemas } from './schema.ts';
import { limits, typeWords, valueWords, variantsOf } from './schema-words.ts';

/** In a request a field may be demanded; in an answer it may be missing. */
export type Reading = { readonly schemas: Schemas; readonly of: 'request' | 'answer' };

type Field = { readonly name: string; readonly schema: Schema; readonly isRequired: boolean };

/** The inside of a schema; one line for a plain value. */
export function schemaTree(schema: Schema, reading: Reading): HTMLElement {
  return insideOf(schema, reading)?.() ?? plainValue(schema, reading);
}

/** The lines of a list of fields, for parameters as well. */
export function fieldList(fields: readonly Field[], reading: Reading): HTMLElement {
  // Where all fields are wrappers of something larger, the reader wants to see that.
  const areWrappers = fields.every((field) => insideOf(field.schema, reading));
  return h('ul', { class: 'fields' }, ...fields.map((field) => fieldLine(field, reading, areWrappers)));
}

function fieldLine(field: Field, reading: Reading, isOpen: boolean): HTMLElement {
  const { schema } = resolve(field.schema, reading.schemas);
  const heading = [
    h('code', { class: 'name' }, field.name),
    h('span', { class: 'type' }, typeWords(field.schema, reading.schemas)),
    reading.of === 'request' && field.isRequired && h('span', { class: 'required' }, 'required'),
    reading.of === 'answer' && !field.isRequired && h('span', { class: 'optional' }, 'if any'),
    schema.deprecated && h('span', { class: 'note' }, 'deprecated'),
  ];
  return h('li', {}, folded(heading, remarks(schema), insideOf(field.schema, reading), isOpen));
}

function folded(
  heading: readonly Child[],
  remarksUnder: readonly Child[],
  inside: (() => HTMLElement) | undefined,
  isOpen: boolean,
): Child {
  const seen = [
    h('span', { class: 'line' }, heading),
    remarksUnder.length > 0 && h('span', { class: 'remarks' }, remarksUnder),
  ];
  return inside ? disclosure(seen, inside, { open: isOpen }) : seen;
}

function remarks(schema: Schema): Child[] {
  const values = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
  const words = limits(schema);
  return [
    schema.description !== undefined && h('span', {}, inline(schema.description)),
    values.length > 0 &&
      h(
        'span',
        { class: 'limits' },
        values.length === 1 ? 'always ' : 'one of ',
        values.flatMap((value) => [h('code', {}, valueWords(value)), ' ']),
      ),
    words.length > 0 && h('span', { class: 'limits' }, words.join(' · ')),
    schema.pattern !== undefined && h('span', { class: 'limits' }, 'matches ', h('code', {}, schema.pattern)),
  ].filter((remark) => remark !== false);
}

/** Draws what is inside an object, a list or a choice; undefined for what has no inside. */
function insideOf(schema: Schema, reading: Reading): (() => HTMLElement) | undefined {
  const { schema: own } = resolve(schema, reading.schemas);
  if (own.items) return insideOf(own.items, reading);
  const fields = fieldsOf(own);
  const variants = (variantsOf(own) ?? []).filter((variant) => insideOf(variant, reading));
  if (variants.length === 0) return fields.length === 0 ? undefined : () => fieldList(fields, reading);
  return () => h('div', {}, fields.length > 0 && fieldList(fields, reading), choice(own, variants, reading));
}

function fieldsOf({ properties = {}, required = [], additionalProperties }: Schema): Field[] {
  const fields = Object.entries(properties).map(([name, property]) => ({
    name,
    schema: property,
    isRequired: required.includes(name),
  }));
  if (typeof additionalProperties !== 'object') return fields;
  return [...fields, { name: 'any name', schema: additionalProperties, isRequired: false }];
}

function choice(owner: Schema, variants: readonly Schema[], reading: Reading): HTMLElement {
  const mark = owner.discriminator?.propertyName ?? commonConstant(variants, reading);
  const lines = variants.map((variant) => {
    const { name, schema } = resolve(variant, reading.schemas);
    const markValue = mark === undefined ? undefined : constantOf(schema.properties?.[mark], reading);
    const heading = [
      h('span', { class: 'name' }, name ?? typeWords(variant, reading.schemas)),
      markValue !== undefined && h('span', { class: 'type' }, `${mark}: `, h('code', {}, markValue)),
    ];
    const remark = schema.description === undefined ? [] : [h('span', {}, inline(schema.description))];
    return h('li', {}, folded(heading, remark, insideOf(variant, reading), variants.length === 1));
  });
  return h('div', {}, h('p', { class: 'limits' }, 'one of'), h('ul', { class: 'fields' }, ...lines));
}

/** Where no field is declared to tell the variants apart, the first that is a constant in each of them does. */
function commonConstant(variants: readonly Schema[], reading: Reading): string | undefined {
  const properties = variants.map((variant) => resolve(variant, reading.schemas).schema.properties ?? {});
  return Object.keys(properties[0] ?? {}).find((name) =>
    properties.every((of) => constantOf(of[name], reading) !== undefined),
  );
}

function constantOf(property: Schema | undefined, reading: Reading): string | undefined {
  if (!property) return undefined;
  const { schema } = resolve(property, reading.schemas);
  const value = schema.const ?? (schema.enum?.length === 1 ? schema.enum[0] : undefined);
  return value === undefined ? undefined : valueWords(value);
}

function plainValue(schema: Schema, reading: Reading): HTMLElement {
  const { schema: own } = resolve(schema, reading.schemas);
  return h(
    'div',
    { class: 'fields' },
    h('span', { class: 'type' }, typeWords(schema, reading.schemas)),
    remarks(own),
  );
}
