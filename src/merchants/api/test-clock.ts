// The sandbox's test clock moves a party's time forward. Every job that falls due on the way runs, in order, before the
// response.
import { Type } from 'typebox';
import { laterBy, parseInstant } from '../../clock.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { DateTime } from '../../platform/http/schemas.ts';
import { accept, refuse } from '../../refusal.ts';
import type { JobRunner } from '../../platform/jobs/job-runner.ts';
import type { Merchants } from '../merchants.ts';

const TestClock = Type.Object(
  { now: { ...DateTime, description: "Your party's time." } },
  { title: 'TestClock' },
);
const longestStepMs = 10 * 366 * 24 * 3_600_000;
/** Later times could not be stored: a schedule may add up to 999 years, and years have four digits. */
const endOfTestTime = '9000-01-01T00:00:00.000000Z';

export const getTestClock = endpoint({
  operation: 'getTestClock',
  access: { scope: 'sandbox' },
  method: 'GET',
  path: '/sandbox/clock',
  tag: 'Sandbox',
  summary: "Get your party's time",
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
    'What falls due until then happens before the response. Time cannot move back, nor beyond the year 8999.',
  body: Type.Object({ now: DateTime }, { title: 'TestClockParams' }),
  bodyExample: { now: '2030-01-20T10:00:00Z' },
  status: 200,
  response: TestClock,
  errors: ['invalidTestClock'],
  // It runs many transactions, and a repeat with the same time changes nothing.
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
