import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { epochMsOf, instantAt } from '../../clock.ts';
import {
  afterAcknowledged,
  afterFailure,
  deliverable,
  usualDelaysSeconds,
  type QueueCursor,
} from './queue-rules.ts';
import { defined } from '../../defined.ts';

const now = instantAt(Date.UTC(2026, 0, 19, 10));
const at = (chance: number, delaysSeconds = usualDelaysSeconds) => ({ now, chance, delaysSeconds });
const delayMs = (attempt: number, chance = 0, retryAfterMs?: number) => {
  const failure = { what: 'status 500', ...defined({ retryAfterMs }) };
  const next = afterFailure(failure, attempt, at(chance));
  return 'retry' in next ? epochMsOf(next.retry) - epochMsOf(now) : next.parked;
};

describe('after a failure', () => {
  test('the delays are 30 s, 5 min, 15 min, then an hour 25 times; then it is parked', () => {
    const delays = Array.from({ length: 28 }, (_, index) => delayMs(index + 1));
    expect(delays).toEqual([30_000, 300_000, 900_000, ...Array(25).fill(3_600_000)]);
    expect(delays.reduce<number>((sum, delay) => sum + Number(delay), 0)).toBe(91_230_000);
    expect(delayMs(29)).toBe('29 attempts failed, the last one with status 500');
  });

  test('chance makes it a fifth later at most, never earlier', () => {
    expect([0, 0.5, 1].map((chance) => delayMs(1, chance))).toEqual([30_000, 33_000, 36_000]);
  });

  test('Retry-After puts it off, by an hour at most, and never brings it forward', () => {
    expect(delayMs(1, 0, 60_000)).toBe(60_000);
    expect(delayMs(1, 0, 1_000)).toBe(30_000);
    expect(delayMs(1, 0, 86_400_000)).toBe(3_600_000);
  });
});

const positions = (list: readonly { position: number }[]) => list.map(({ position }) => position);
const webhookEvents = [8, 16, 24, 25, 32, 40].map((position) => ({ position }));

describe('what is sent', () => {
  test.each<[QueueCursor, number[]]>([
    [{ next: 8, last: 40 }, [8, 16, 24, 25, 32, 40]],
    [{ next: 24, last: 32 }, [24, 25, 32]],
    [{ next: 41, last: 40 }, []],
    [{ next: 16, last: 40, replay: { until: 24, resumeAt: 40 } }, [16, 24, 40]],
    [{ next: 16, last: 32, replay: { until: 24, resumeAt: 33 } }, [16, 24]],
  ])('from %j is %j', (cursor, expected) =>
    expect(positions(deliverable(cursor, webhookEvents))).toEqual(expected),
  );

  test('is all there is, once and in order, however it is acknowledged one by one', () => {
    const cursor = fc
      .record({
        next: fc.nat(45),
        last: fc.nat(45),
        from: fc.nat(45),
        until: fc.nat(45),
        replays: fc.boolean(),
      })
      .map(({ next, last, from, until, replays }): QueueCursor =>
        replays && from < next
          ? { next: from, last, replay: { until: Math.min(until, next - 1), resumeAt: next } }
          : { next, last },
      );
    fc.assert(
      fc.property(cursor, (start) => {
        const expected = positions(deliverable(start, webhookEvents));
        const sent: number[] = [];
        let present = start;
        for (
          let rest = deliverable(present, webhookEvents);
          rest.length > 0;
          rest = deliverable(present, webhookEvents)
        ) {
          sent.push(rest[0]!.position);
          present = afterAcknowledged(present, rest[0]!.position, rest[1]?.position);
          if (sent.length > 20) break;
        }
        expect(sent).toEqual(expected);
        // What comes later comes in any case.
        expect(present.next).toBeLessThanOrEqual(
          Math.max(start.last, start.replay?.resumeAt ?? start.next, start.next) + 1,
        );
      }),
      { numRuns: 2_000 },
    );
  });
});

test('where nothing is left to send again, the queue goes on behind all it had sent before', () => {
  const cursor = { next: 8, last: 10, replay: { until: 24, resumeAt: 33 } };
  expect(afterAcknowledged(cursor, 24, undefined)).toEqual({ next: 33, last: 10 });
});
