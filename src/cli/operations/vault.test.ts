import { expect, test } from 'vitest';
import { barOn, linesOn } from './vault.ts';

test('the bar of a terminal fills in place, then shows the wait', () => {
  let text = '';
  const show = barOn({ write: (more) => (text += more) });
  show({ done: 0, left: 1_000, waitMs: 60_000 });
  show({ done: 500, left: 500, waitMs: 60_000 });
  show({ done: 1_000, left: 0, waitMs: 59_001 });
  show({ done: 1_000, left: 0, waitMs: 0 });
  expect(text.split('\r\x1b[K')).toEqual([
    '',
    `${'░'.repeat(30)} 0 of 1000 cards`,
    `${'█'.repeat(15)}${'░'.repeat(15)} 500 of 1000 cards`,
    `${'█'.repeat(30)} 1000 cards, waiting 60 s until every node uses the new key`,
    `${'█'.repeat(30)} 1000 cards`,
  ]);
});

test('progress in a log is one line every five seconds', () => {
  let nowMs = 0;
  const lines: string[] = [];
  const show = linesOn({ write: (line) => lines.push(line) }, () => nowMs);
  for (; nowMs <= 10_000; nowMs += 1_000) show({ done: nowMs, left: 10_000, waitMs: 0 });
  expect(lines).toEqual(['0 of 10000 cards\n', '5000 of 15000 cards\n', '10000 of 20000 cards\n']);
});
