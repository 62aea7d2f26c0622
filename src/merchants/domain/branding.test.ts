import { expect, test } from 'vitest';
import { accentProblem, imageTypeOf, logoProblem, maxLogoBytes, tintOf } from './branding.ts';

const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

// 4.54 and 4.48 to 1, by the formula of WCAG 2.
test.each(['#0b6b5c', '#000000', '#767676', '#0000FF'])('%s is dark enough for white text', (accent) =>
  expect(accentProblem(accent)).toBeUndefined(),
);
test.each(['#777777', '#ffffff', '#ffcc00'])('%s is too light', (accent) =>
  expect(accentProblem(accent)).toContain('is too light'),
);
test.each(['red', '#fff', '0b6b5c', '#0b6b5c}', '#0b6b5g', ''])('%j is no colour', (accent) =>
  expect(accentProblem(accent)).toContain('is not a colour'),
);
test('says the contrast it has', () => {
  expect(accentProblem('#ffffff')).toContain('a contrast of 1 to 1');
  expect(accentProblem('#777777')).toContain('a contrast of 4.47 to 1');
});

test.each([
  ['image/png', png],
  ['image/jpeg', Buffer.from([0xff, 0xd8, 0xff, 0xe0])],
  ['image/webp', Buffer.from('RIFF....WEBPVP8 ')],
  [undefined, Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
  [undefined, Buffer.from('GIF89a')],
  [undefined, Buffer.from('\n\x89PNG\r\n\x1a\n', 'latin1')],
  [undefined, Buffer.alloc(0)],
])('%s is known by its first bytes', (type, image) => expect(imageTypeOf(image)).toBe(type));

test('a logo has a largest size', () => {
  const ofSize = (bytes: number) => Buffer.concat([png, Buffer.alloc(bytes - png.length)]);
  expect(logoProblem(ofSize(maxLogoBytes))).toBeUndefined();
  expect(logoProblem(ofSize(maxLogoBytes + 1))).toContain('has 8001 bytes');
  expect(logoProblem(Buffer.from('<svg/>'))).toContain('PNG, JPEG or WebP');
});

test('a tint is nearly white', () => expect(tintOf('#0b6b5c')).toBe('#e2edeb'));
