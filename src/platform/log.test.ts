import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maskCardNumbers, openLog } from './log.ts';

function linesOf(write: (log: ReturnType<typeof openLog>) => void): string {
  const lines: string[] = [];
  write(openLog({ level: 'debug', human: false, destination: { write: (line) => void lines.push(line) } }));
  return lines.join('');
}

describe('a card number', () => {
  test.each([
    ['4242424242424242', '424242******4242'],
    ['5555 5555 5555 4444', '555555******4444'],
    ['2201-3820-0000-0013', '220138******0013'],
    ['586824160825533338', '586824********3338'],
  ])('%s is masked in text, fields and errors', (number, mask) => {
    expect(maskCardNumbers(`card ${number}, please`)).toBe(`card ${mask}, please`);
    expect(linesOf((log) => log.info({ note: number }, `paid with ${number}`))).not.toContain(number);
    expect(linesOf((log) => log.error({ err: new Error(`bad ${number}`) }, 'failed'))).not.toContain(number);
  });

  test('is hidden whatever digits stand before or after it', () => {
    const digits = fc.stringMatching(/^[0-9]{0,6}$/);
    const gap = fc.constantFrom('', ' ', '-', '.');
    const cards = fc.constantFrom(
      '4242424242424242',
      '5555555555554444',
      '2201382000000013',
      '586824160825533338',
    );
    fc.assert(
      fc.property(digits, gap, cards, gap, digits, (before, left, card, right, behind) => {
        const masked = maskCardNumbers(`card ${before}${left}${card}${right}${behind} end`);
        expect(masked.replace(/[ .-]/g, '')).not.toContain(card);
      }),
      { numRuns: 2_000 },
    );
  });

  test.each(['1795221000000', '9999999999999999', '2026-01-19T10:00:00.123456Z', '123456789012'])(
    '%s is not one and stays unchanged',
    (text) => expect(maskCardNumbers(text)).toBe(text),
  );
});

test('a line without redaction by name has its level and time, and masked card numbers', () => {
  const line = linesOf((log) => {
    log.child({}, { redact: [] }).info({ requestId: 'of 4242424242424242', status: 200 }, 'request');
    log.child({}, { redact: [] }).debug({ requestId: '5555 5555 5555 4444' }, 'request');
  });
  expect(line).toMatch(
    /^{"level":"info","time":"[^"]+","requestId":"of 424242\*{6}4242","status":200,"msg":"request"}\n/,
  );
  expect(line).toContain('"level":"debug"');
  expect(line).not.toMatch(/4242424242424242|5555 5555 5555 4444/);
});

test('an error is logged with type, message, code and stack, and nothing the driver added', () => {
  const error = Object.assign(new Error('broken'), {
    code: '23505',
    detail: 'Key (secret)=(hunter2)',
    where: 'hunter2',
  });
  const line = linesOf((log) => log.error({ err: error }, 'failed'));
  expect(line).toContain('"code":"23505"');
  expect(line).not.toContain('hunter2');
});

test('fields with the usual names of secrets are removed', () => {
  const line = linesOf((log) => log.info({ authorization: 'Bearer s3cret', key: { apiKey: 's3cret' } }, 'x'));
  expect(line).not.toContain('s3cret');
});
