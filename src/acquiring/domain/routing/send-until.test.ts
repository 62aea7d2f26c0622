import { expect, test } from 'vitest';
import { laterBy, type Instant } from '../../../clock.ts';
import { sendUntil } from './send-until.ts';

const payerActedAt = '2026-01-19T10:00:00.000000Z' as Instant;
const after = (ms: number) => laterBy(payerActedAt, ms);
const minuteMs = 60_000;

test.each([
  ['three minutes after the payer acted', { payerActedAt, deadline: after(30 * minuteMs) }, 3 * minuteMs],
  ['a shorter deadline wins', { payerActedAt, deadline: after(minuteMs) }, minuteMs],
  ['without a payer, the deadline', { deadline: after(30 * minuteMs) }, 30 * minuteMs],
])('%s', (_, charge, ms) => expect(sendUntil(charge)).toBe(after(ms)));
