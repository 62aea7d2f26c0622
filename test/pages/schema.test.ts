// How the reference page reads schemas: references, types and limits in words, and a sample body.
import { describe, expect, test } from 'vitest';
import { idsIn, tokenIn } from '../../pages/docs/answer/found-in-answers.ts';
import { limits, sampleOf, typeWords } from '../../pages/docs/schema/schema-words.ts';
import { resolve, type Schemas } from '../../pages/docs/schema/schema.ts';

const schemas: Schemas = {
  Card: { type: 'object', properties: { type: { const: 'Card' }, number: { type: 'string' } } },
  Wallet: { type: 'object', properties: { type: { const: 'Wallet' } } },
  Tool: { oneOf: [{ $ref: '#/components/schemas/Card' }, { $ref: '#/components/schemas/Wallet' }] },
  Invoice: {
    type: 'object',
    required: ['id', 'parent'],
    properties: {
      id: { type: 'string', maxLength: 40 },
      parent: { $ref: '#/components/schemas/Invoice' },
      tool: { $ref: '#/components/schemas/Tool' },
    },
  },
  InvoiceAndToken: { type: 'object', properties: { invoice: { $ref: '#/components/schemas/Invoice' } } },
};
const invoice = { $ref: '#/components/schemas/Invoice' };

describe('a resolved schema', () => {
  test('keeps members next to a reference', () => {
    const { name, schema } = resolve({ ...invoice, description: 'Mine' }, schemas);
    expect([name, schema.description, schema.type]).toEqual(['Invoice', 'Mine', 'object']);
  });

  test('merges the parts of an allOf, field by field', () => {
    const { name, schema } = resolve(
      { allOf: [invoice, { required: ['tool'], properties: { id: { enum: ['a'] } } }] },
      schemas,
    );
    expect(name).toBe('Invoice');
    expect(schema.required).toEqual(['id', 'parent', 'tool']);
    expect(schema.properties?.['id']).toEqual({ type: 'string', maxLength: 40, enum: ['a'] });
  });
});

test.each([
  [{ type: 'string', format: 'date-time' }, 'string (date-time)'],
  [{ type: ['string', 'null'] }, 'string or null'],
  [{ enum: ['a', 'b'] }, 'string'],
  [{ type: 'array', items: invoice }, 'list of Invoice'],
  [{ anyOf: [invoice, { type: 'null' }] }, 'Invoice or null'],
  [{}, 'any'],
])('%j reads "%s"', (schema, words) => {
  expect(typeWords(schema, schemas)).toBe(words);
});

test.each([
  [{ minLength: 1, maxLength: 40 }, '1 to 40 characters'],
  [{ maxLength: 40 }, 'at most 40 characters'],
  [{ minLength: 3, maxLength: 3 }, 'exactly 3 characters'],
  [{ minItems: 1 }, 'at least 1 member'],
  [{ minimum: 0, maximum: 9 }, '0 to 9'],
  [{ default: 1 }, '1 by default'],
])('%j limits to "%s"', (schema, words) => {
  expect(limits(schema).join()).toBe(words);
});

test('a sample has the required fields, and ends where a schema contains itself', () => {
  expect(sampleOf(schemas['Tool'] ?? {}, schemas)).toEqual({});
  expect(sampleOf({ ...schemas['Card'], required: ['type', 'number'] }, schemas)).toEqual({
    type: 'Card',
    number: '',
  });
  expect(JSON.stringify(sampleOf(invoice, schemas))).toMatch(/^\{"id":"","parent":\{"id"/);
});

test('finds IDs in a response, in what it wraps and in the first member of a list', () => {
  const answer = { id: 'I1', parent: { id: 'I0' } };
  expect(idsIn(invoice, answer, schemas)).toEqual({ invoiceID: 'I1' });
  const wrapped = { $ref: '#/components/schemas/InvoiceAndToken' };
  expect(idsIn(wrapped, { invoice: answer }, schemas)).toEqual({ invoiceID: 'I1' });
  expect(idsIn({ type: 'array', items: invoice }, [answer, { id: 'I2' }], schemas)).toEqual({
    invoiceID: 'I1',
  });
  expect(idsIn(invoice, undefined, schemas)).toEqual({});
});

test('finds a token that is a response or is part of one', () => {
  expect(tokenIn({ payload: 'a.b.c' })).toBe('a.b.c');
  expect(tokenIn({ invoice: {}, invoiceAccessToken: { payload: 'a.b.c' } })).toBe('a.b.c');
  expect(tokenIn({ invoice: { id: 'payload' } })).toBeUndefined();
});
