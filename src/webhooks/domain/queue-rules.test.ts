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
  test('the delays are 30 s, 5 min, 15 min and 25 times 1 h, and then the queue is parked', () => {
    const delays = Array.from({ length: 28 }, (_, index) => delayMs(index + 1));
    expect(delays).toEqual([30_000, 300_000, 900_000, ...Array(25).fill(3_600_000)]);
    expect(delays.reduce<number>((sum, delay) => sum + Number(delay), 0)).toBe(91_230_000);
    expect(delayMs(29)).toBe('29 attempts failed, the last one with status 500');
  });

  test('jitter makes the retry up to 20 % later, never earlier', () => {
    expect([0, 0.5, 1].map((chance) => delayMs(1, chance))).toEqual([30_000, 33_000, 36_000]);
  });

  test('Retry-After delays the retry by up to 1 h and never makes it earlier', () => {
    expect(delayMs(1, 0, 60_000)).toBe(60_000);
    expect(delayMs(1, 0, 1_000)).toBe(30_000);
    expect(delayMs(1, 0, 86_400_000)).toBe(3_600_000);
  });
});

const positions = (list: readonly { position: number }[]) => list.map(({ position }) => position);
const webhookEvents = [8, 16, 24, 25, 32, 40].map((position) => ({ position }));

describe('the deliverable events', () => {
  test.each<[QueueCursor, number[]]>([
    [{ next: 8, last: 40 }, [8, 16, 24, 25, 32, 40]],
    [{ next: 24, last: 32 }, [24, 25, 32]],
    [{ next: 41, last: 40 }, []],
    [{ next: 16, last: 40, replay: { until: 24, resumeAt: 40 } }, [16, 24, 40]],
    [{ next: 16, last: 32, replay: { until: 24, resumeAt: 33 } }, [16, 24]],
  ])('of %j are %j', (cursor, expected) =>
    expect(positions(deliverable(cursor, webhookEvents))).toEqual(expected),
  );

  test('are all sent once and in order, acknowledged one by one', () => {
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
        // Later events arrive in any case.
        expect(present.next).toBeLessThanOrEqual(
          Math.max(start.last, start.replay?.resumeAt ?? start.next, start.next) + 1,
        );
      }),
      { numRuns: 2_000 },
    );
  });
});

test('a replay with nothing to send continues after the events already sent', () => {
  const cursor = { next: 8, last: 10, replay: { until: 24, resumeAt: 33 } };
  expect(afterAcknowledged(cursor, 24, undefined)).toEqual({ next: 33, last: 10 });
});
