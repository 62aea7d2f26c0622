import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Caller } from '../../../caller.ts';
import type { Logger } from '../../log.ts';
import { openWaits, type JobRow } from '../../jobs/waits.ts';
import { openOutcomeWaits, type AwaitedState } from './outcome-waits.ts';

const row: JobRow = ['payment', ['invoice', '1']];
const never = () => new Promise<never>(() => {});
const key = (keyId: string): Caller => ({ kind: 'apiKey', keyId, partyId: 'P', scopes: [] });
const token = (entityId: string): Caller => ({ kind: 'invoice', entityId, partyId: 'P' });

const silentLog = { warn: () => {}, debug: () => {} };

function opened(pause: () => Promise<void> = never) {
  const waits = openWaits({ pause, nowMs: () => 0 });
  return { waits, outcomes: openOutcomeWaits(waits, silentLog) };
}

const wish = (more: { caller?: Caller; prefer?: string; leftMs?: number } = {}) => ({
  caller: more.caller ?? key('K'),
  prefer: more.prefer ?? 'wait=10',
  deadline: { leftMs: () => more.leftMs ?? 60_000 },
  ended: new AbortController().signal,
});

const granted = (seconds = 10) => ({ seconds, ended: new AbortController().signal });
const pending: AwaitedState<string> = { body: 'created', is: 'pending' };

describe('a wait', () => {
  test.each([
    [60_000, 10],
    [11_500, 10],
    [11_499, 9],
    [2_500, 1],
    [2_499, undefined],
    [0, undefined],
  ])('with %i ms until the deadline is for %s s', (leftMs, seconds) => {
    expect(opened().outcomes.grant(wish({ leftMs }))?.seconds).toBe(seconds);
  });

  test('is granted to four requests of a key or an entity, until one of them is released', () => {
    const { outcomes } = opened();
    const grants = [1, 2, 3, 4].map(() => outcomes.grant(wish()));
    expect(grants.every((grant) => grant?.seconds === 10)).toBe(true);
    expect(outcomes.grant(wish())).toBe(undefined);
    expect(outcomes.grant(wish({ caller: key('another') }))).toBeDefined();
    expect(outcomes.grant(wish({ caller: token('K') }))).toBeDefined();
    grants[0]?.release();
    expect(outcomes.grant(wish())).toBeDefined();
    expect(outcomes.grant(wish())).toBe(undefined);
  });

  test('is not granted on a node that stops, nor to a caller who is gone', () => {
    const { waits, outcomes } = opened();
    expect(outcomes.grant({ ...wish(), ended: AbortSignal.abort() })).toBe(undefined);
    waits.stop();
    expect(outcomes.grant(wish())).toBe(undefined);
  });
});

describe('a read that fails', () => {
  /** Each wait reads twice, once at the end of its time. */
  function reading() {
    let nowMs = 0;
    const waits = openWaits({ pause: async (ms) => void (nowMs += ms), nowMs: () => nowMs });
    const logged: string[] = [];
    const log = {
      warn: ({ kind }: { kind: string }, event: string) => void logged.push(`warn ${kind} ${event}`),
      debug: ({ kind }: { kind: string }, event: string) => void logged.push(`debug ${kind} ${event}`),
    } as unknown as Logger;
    const outcomes = openOutcomeWaits(waits, log);
    return {
      logged,
      wait: (look: () => Promise<AwaitedState<string>>) => outcomes.latest(granted(1), row, pending, look),
    };
  }
  const broken = () => Promise.reject(new Error('no such column'));
  const line = 'warn payment awaited outcome not read';

  test('is logged once while it lasts, and again after it has worked', async () => {
    const { logged, wait } = reading();
    await wait(broken);
    await wait(broken);
    expect(logged).toEqual([line]);
    await wait(async () => pending);
    await wait(broken);
    expect(logged).toEqual([line, line]);
  });

  test('is logged once for a wait, though others are read well in between', async () => {
    const { logged, wait } = reading();
    let reads = 0;
    await wait(() => (reads++ % 2 === 0 ? broken() : Promise.resolve(pending)));
    expect(logged).toEqual([line]);
  });

  test('because the database is away has its line there, and not a second one', async () => {
    const { logged, wait } = reading();
    await wait(() => Promise.reject(Object.assign(new Error('away'), { isOutage: true })));
    expect(logged).toEqual([`debug ${line.slice(5)}`]);
  });
});

describe('the latest response', () => {
  afterEach(() => void vi.useRealTimers());

  test('is the one with the outcome', async () => {
    const { outcomes } = opened();
    const look = async () => ({ body: 'captured', is: 'known' as const });
    expect(await outcomes.latest(granted(), row, pending, look)).toEqual({
      body: 'captured',
      isCutOff: false,
    });
  });

  test('of a creation is the first that asks the payer', async () => {
    const { outcomes } = opened();
    const look = async () => ({ body: 'challenged', is: 'payerAsked' as const });
    expect(await outcomes.latest(granted(), row, pending, look)).toMatchObject({ body: 'challenged' });
  });

  test('of a read waits for a payer who was asked before it', async () => {
    const { waits, outcomes } = opened();
    const found: AwaitedState<string>[] = [
      { body: 'challenged', is: 'payerAsked' },
      { body: 'challenged', is: 'payerAsked' },
      { body: 'captured', is: 'known' },
    ];
    const look = async () => {
      waits.wake(...row);
      return found.shift();
    };
    const first = { body: 'challenged' };
    expect(await outcomes.latest(granted(), row, first, look)).toMatchObject({ body: 'captured' });
  });

  test('is the first one if no later read succeeds', async () => {
    const { outcomes } = opened(() => Promise.resolve());
    const look = () => Promise.reject(new Error('the database is gone'));
    expect(await outcomes.latest(granted(), row, pending, look)).toEqual({
      body: 'created',
      isCutOff: false,
    });
  });

  test('is the first one a second after the bound, if the last read hangs', async () => {
    vi.useFakeTimers();
    const { outcomes } = opened();
    let latest: unknown;
    void outcomes.latest(granted(3), row, pending, never).then((found) => (latest = found));
    await vi.advanceTimersByTimeAsync(3_999);
    expect(latest).toBe(undefined);
    await vi.advanceTimersByTimeAsync(1);
    expect(latest).toEqual({ body: 'created', isCutOff: false });
  });

  test.each([
    ['the outcome is not known', 'pending', true],
    ['the outcome is known', 'known', false],
  ] as const)('is cut off by a stop of the node if %s', async (_, is, isCutOff) => {
    const { waits, outcomes } = opened();
    const look = async () => ({ body: is, is });
    const latest = outcomes.latest(granted(), row, pending, look);
    waits.stop();
    expect(await latest).toEqual({ body: is, isCutOff });
  });
});
