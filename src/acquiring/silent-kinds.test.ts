import { expect, test } from 'vitest';
import type { Logger } from '../platform/log.ts';
import type { BankResponse } from './domain/bank-port.ts';
import { watchSilentKinds } from './silent-kinds.ts';

const silent: BankResponse = { outcome: 'unknown', why: 'no answer within 30000 ms', isSilence: true };
const nonsense: BankResponse = { outcome: 'unknown', why: 'status 502' };
const busy: BankResponse = { outcome: 'notSent', why: 'busy', notDone: true };
const approved: BankResponse = { outcome: 'approved', reference: '900000000017' };

test('a kind of request that is not answered has one line when that begins and one when it ends', () => {
  const lines: string[] = [];
  const warn = ({ bank, kind }: { bank: string; kind: string }, event: string) =>
    void lines.push(`${event}: ${bank} ${kind}`);
  const hear = watchSilentKinds({ warn } as unknown as Logger);
  hear('A', 'refund', silent);
  hear('A', 'refund', silent);
  hear('A', 'inquire', approved);
  hear('B', 'refund', approved);
  expect(lines).toEqual(['bank does not answer: A refund']);
  hear('A', 'capture', silent);
  hear('A', 'refund', nonsense);
  hear('A', 'refund', busy);
  expect(lines.slice(1)).toEqual(['bank does not answer: A capture']);
  hear('A', 'refund', approved);
  hear('A', 'refund', approved);
  expect(lines.slice(2)).toEqual(['bank answers again: A refund']);
});
