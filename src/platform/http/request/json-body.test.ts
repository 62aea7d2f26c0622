import { expect, test } from 'vitest';
import { parseJson } from './json-body.ts';

const read = (text: string) => parseJson(Buffer.from(text));
const twice = { problem: { where: 'body', what: 'has a member twice in one object; send each once' } };

test.each([
  '{"amount":1,"amount":2}',
  '{"amount":1,"am\\u006funt":1}',
  '{"a":[{"b":{"c":1,"d":2,"c":3}}]}',
  '{"":1,"":1}',
])('%s is refused, because one of two values would be lost', (text) => {
  expect(read(text)).toEqual(twice);
});

test.each([
  '{"a:b":":","c\\"d:":"\\\\","e":{"a:b":1},"f":[{"g":1},{"g":2}]}',
  '{"a":"\\\\\\":\\"","b":" : "}',
  '[":",1,null]',
  '":"',
])('%s has each member once', (text) => {
  expect(read(text)).toEqual({ value: JSON.parse(text) });
});

test.each([
  ['{"a":{"b":[1,{"c":"\\u0000"}]}}', 'body.a.b[1].c'],
  ['[[1e400]]', 'body[0][0]'],
  ['{"a":{"__proto__":1}}', 'body.a'],
])('%s is refused with the path of what cannot be stored', (text, where) => {
  expect(read(text)).toMatchObject({ problem: { where } });
});
