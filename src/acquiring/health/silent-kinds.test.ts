import { beforeEach, expect, test } from 'vitest';
import type { Logger } from '../../platform/log.ts';
import type { BankResponse } from '../domain/bank-port.ts';
import { watchSilentKinds } from './silent-kinds.ts';

const silent: BankResponse = { outcome: 'unknown', why: 'no answer within 30000 ms', isSilence: true };
const nonsense: BankResponse = { outcome: 'unknown', why: 'status 502' };
const busy: BankResponse = { outcome: 'notSent', why: 'busy', notDone: true };
const approved: BankResponse = { outcome: 'approved', reference: '900000000017' };

let lines: string[];
let hear: ReturnType<typeof watchSilentKinds>;
beforeEach(() => {
  lines = [];
  const warn = ({ bank, kind }: { bank: string; kind: string }, event: string) =>
    void lines.push(`${event}: ${bank} ${kind}`);
  hear = watchSilentKinds({ warn } as unknown as Logger);
});

test('a kind that is not answered while others are has one line when that begins and one when it ends', () => {
  hear('A', 'refund', silent);
  hear('A', 'inquire', approved);
  for (let times = 0; times < 3; times++) hear('A', 'refund', silent);
  expect(lines).toEqual(['bank does not answer: A refund']);
  hear('A', 'refund', nonsense);
  hear('A', 'refund', busy);
  expect(lines).toHaveLength(1);
  for (let times = 0; times < 2; times++) hear('A', 'refund', approved);
  expect(lines.slice(1)).toEqual(['bank answers again: A refund']);
});

test('a bank that answers nothing has no line here, nor has a single time-out', () => {
  for (let times = 0; times < 3; times++)
    for (const kind of ['refund', 'inquire'] as const) hear('A', kind, silent);
  hear('B', 'inquire', approved);
  hear('A', 'refund', silent);
  hear('A', 'refund', approved);
  hear('A', 'capture', silent);
  hear('A', 'inquire', approved);
  hear('A', 'capture', approved);
  expect(lines).toEqual([]);
});
