// The sandbox's test clock: a party's time can be moved forward, and everything that falls due on the way happens, in
// order, before the answer. A year of monthly charges takes seconds.
import { Type } from 'typebox';
import { laterBy, parseInstant } from '../../clock.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { DateTime } from '../../platform/http/schemas.ts';
import { accept, refuse } from '../../refusal.ts';
import type { JobRunner } from '../../platform/jobs/job-runner.ts';
import type { Merchants } from '../merchants.ts';

const TestClock = Type.Object(
  { now: { ...DateTime, description: 'What time it is for your party.' } },
  { title: 'TestClock' },
);
const longestStepMs = 10 * 366 * 24 * 3_600_000;
/** From there on what is counted from now, a schedule of 999 years at most, would leave the years that can be written. */
const endOfTestTime = '9000-01-01T00:00:00.000000Z';

export const getTestClock = endpoint({
  operation: 'getTestClock',
  access: { scope: 'sandbox' },
  method: 'GET',
  path: '/sandbox/clock',
  tag: 'Sandbox',
  summary: 'What time it is for your party',
  status: 200,
  response: TestClock,
  errors: [],
  handle: ({ now }) => Promise.resolve(accept({ now })),
});

export const advanceTestClock = endpoint({
  operation: 'advanceTestClock',
  access: { scope: 'sandbox' },
  method: 'POST',
  path: '/sandbox/clock',
  tag: 'Sandbox',
  summary: "Move your party's time forward",
  description:
    'Everything that falls due until then happens in order, each thing at its own time, before the answer comes. ' +
    'Time cannot be moved back, nor beyond the year 8999. The sandbox alone has this operation.',
  body: Type.Object({ now: DateTime }, { title: 'TestClockParams' }),
  bodyExample: { now: '2030-01-20T10:00:00Z' },
  status: 200,
  response: TestClock,
  errors: ['invalidTestClock'],
  // It runs many transactions, and asking twice for the same time changes nothing anyway.
  ignoresIdempotencyKey: true,
  handle: async ({ caller, body, now }, { jobs, merchants }: { jobs: JobRunner; merchants: Merchants }) => {
    const to = parseInstant(body.now);
    if (!to || to < now || to >= endOfTestTime || to > laterBy(now, longestStepMs))
      return refuse('invalidTestClock');
    await jobs.advance(caller.partyId, to);
    merchants.forget(caller.partyId);
    return accept({ now: to });
  },
});
