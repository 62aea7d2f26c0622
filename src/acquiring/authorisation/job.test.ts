// The job with rows in memory: what it asks, writes and leaves to others.
import { describe, expect, test } from 'vitest';
import { bankOfVersion1 } from '../../../test/support/bank/bank-of-version-1.ts';
import { laterBy, parseInstant } from '../../clock.ts';
import type { Currency } from '../../money.ts';
import { abilitiesOfVersion1 } from '../domain/abilities.ts';
import type { Bank, BankResponse, MayStill } from '../domain/bank-port.ts';
import { leaseMs, NoPlaceNow } from '../../platform/jobs/job-table.ts';
import { OutcomeUnknown } from '../send-or-inquire.ts';
import { runAuthorisationJob, type AuthorisationJob, type NextStep } from './job.ts';

const now = parseInstant('2026-01-19T10:00:00Z')!;
const sendUntil = laterBy(now, 180_000);
const terminal = { id: 'T', bankId: 'B', merchantId: 'M', descriptor: 'D' };
const operation = { kind: 'reverse', operationId: 'I.1.r', originalOperationId: 'I.1.a', terminal } as const;
const authorisation = {
  kind: 'authorise',
  operationId: 'I.1.a',
  terminal,
  amount: { minor: 1n, currency: 'RUB' as Currency },
  card: { token: 'v1.t' },
  capture: true,
  initiation: { by: 'payer', storesCard: false },
  authentication: 'none',
  returnUrl: '',
  payer: {},
} as const;
const charge = { state: { name: 'authorising' } };
const approved = { outcome: 'approved', reference: '900000000001' } as const;
const away = { outcome: 'notSent', why: 'ECONNREFUSED', noBytesSent: true } as const;

type Row = { readonly version: number; readonly terminalId: string };
type Change = { readonly fact: string };
type Step = NextStep<Row, Change>;
const authorise: Step = { do: 'authorise', charge, operation: authorisation, sendUntil };
const followUp: Step = { do: 'followUp', operation };
const over: Step = { do: 'wait', until: null };

/** Takes the steps in their order, and gets the responses in theirs. */
function jobWith(
  { steps, answers }: { readonly steps: readonly Step[]; readonly answers: readonly BankResponse[] },
  more: Partial<AuthorisationJob<Row, Change>> = {},
) {
  const done: string[] = [];
  const sent: string[] = [];
  const next = [...steps];
  const left = [...answers];
  const answer = (how: string) => {
    done.push(how);
    return Promise.resolve(left.shift() ?? ({ outcome: 'unknown', why: 'timeout' } as const));
  };
  const row: Row = { version: 1, terminalId: 'T' };
  const job: AuthorisationJob<Row, Change> = {
    name: 'payment I/1',
    load: () => Promise.resolve(row),
    nextStep: () => next.shift() ?? over,
    bankOf: ({ terminalId }) =>
      Promise.resolve({
        ...bankOfVersion1,
        send: () => answer(`send to ${terminalId}`),
        inquire: () => answer(`inquire at ${terminalId}`),
        stop: () => Promise.resolve(),
      }),
    interpret: ({ version }, { answer: { outcome } }) =>
      outcome === 'approved' ? { fact: `approved ${version}` } : { unknown: outcome },
    write({ version, terminalId }, { fact }) {
      done.push(fact);
      return Promise.resolve({ version: version + 1, terminalId });
    },
    reread: () => Promise.resolve(undefined),
    reschedule: (_, at) => Promise.resolve(void done.push(`due ${at ?? 'never'}`)),
    alternateTerminal: () => Promise.resolve({ ...terminal, id: 'T2' }),
    storeReroute({ version }, to) {
      done.push(`reroute to ${to.terminal.id}: ${to.why}`);
      return Promise.resolve({ version: version + 1, terminalId: to.terminal.id });
    },
    hearSent({ terminalId }, { outcome }) {
      sent.push(`${outcome} by ${terminalId} after "${done.at(-1)}"`);
      return Promise.resolve();
    },
    ...more,
  };
  const run = (attempt = 1, at = now, clock = { now: () => at }) =>
    runAuthorisationJob(job, { db: { run: () => Promise.resolve([]) }, clock, attempt });
  return { done, sent, run };
}

test('what is written leads to the next step at once', async () => {
  const { done, run } = jobWith({ steps: [authorise, followUp], answers: [approved, approved] });
  await run();
  expect(done).toEqual(['send to T', 'approved 1', 'send to T', 'approved 2', 'due never']);
});

test('only what was due may have been sent before: what follows is sent without a query', async () => {
  const { done, run } = jobWith({ steps: [authorise, authorise], answers: [approved, approved] });
  await run(2);
  expect(done).toEqual(['inquire at T', 'approved 1', 'send to T', 'approved 2', 'due never']);
});

test('after a version conflict the response is interpreted for what the other writer left', async () => {
  const writes: string[] = [];
  const current = { version: 7, terminalId: 'T' };
  const { run } = jobWith(
    { steps: [authorise], answers: [approved] },
    {
      write(_, { fact }) {
        writes.push(fact);
        return Promise.resolve(writes.length === 1 ? 'versionConflict' : 'over');
      },
      reread: () => Promise.resolve(current),
    },
  );
  await run();
  expect(writes).toEqual(['approved 1', 'approved 7']);
});

test('after a version conflict the other writer continues with what is no longer asked', async () => {
  const { done, run } = jobWith(
    { steps: [authorise, followUp], answers: [approved] },
    { write: () => Promise.resolve('versionConflict') },
  );
  await run();
  expect(done).toEqual(['send to T']);
});

test('a first attempt of which no byte was sent goes to the other terminal, a later one does not', async () => {
  const first = jobWith({ steps: [authorise, authorise], answers: [away, approved] });
  await first.run();
  expect(first.done).toEqual([
    'send to T',
    'reroute to T2: ECONNREFUSED',
    'send to T2',
    'approved 2',
    'due never',
  ]);
  const later = jobWith({ steps: [authorise], answers: [{ outcome: 'notFound' }, away] });
  await expect(later.run(2)).rejects.toThrow(OutcomeUnknown);
  expect(later.done).toEqual(['inquire at T', 'send to T']);
});

test('a follow-up stays at its terminal', async () => {
  const { done, run } = jobWith({ steps: [followUp], answers: [away] });
  await expect(run()).rejects.toThrow(OutcomeUnknown);
  expect(done).toEqual(['send to T']);
});

test.each<[string, Partial<typeof authorise>, typeof now]>([
  ['that comes too late', {}, sendUntil],
  ['that is unwanted', { isUnwanted: true } as object, now],
])('an authorisation %s is only queried', async (_, more, at) => {
  const { done, run } = jobWith({
    steps: [{ ...authorise, ...more } as Step],
    answers: [{ outcome: 'notFound' }],
  });
  await expect(run(1, at)).rejects.toThrow('notFound');
  expect(done).toEqual(['inquire at T']);
});

test('a refusal is written in place of what the bank never received', async () => {
  const refuse = () => Promise.resolve({ fact: 'refused' });
  const step = { ...authorise, inquiresFirst: true, refuse } as Step;
  const { done, run } = jobWith({ steps: [step], answers: [{ outcome: 'notFound' }] });
  await run();
  expect(done).toEqual(['inquire at T', 'refused', 'due never']);
});

test('a response that is not final is asked for again', async () => {
  const again = laterBy(now, 15_000);
  const { done, run } = jobWith(
    { steps: [{ do: 'inquire', operation }], answers: [{ outcome: 'pending' }] },
    { interpret: () => ({ again }) },
  );
  await run();
  expect(done).toEqual(['inquire at T', `due ${again}`]);
});

test('each authorisation that was sent is heard once, when the response is written', async () => {
  const { sent, run } = jobWith({ steps: [authorise, followUp], answers: [approved, approved] });
  await run();
  expect(sent).toEqual(['approved by T after "approved 1"']);
});

test('it is heard once also if another writer was first', async () => {
  const writes: string[] = [];
  const { sent, run } = jobWith(
    { steps: [authorise], answers: [approved] },
    {
      write(_, { fact }) {
        writes.push(fact);
        return Promise.resolve(writes.length < 3 ? 'versionConflict' : 'over');
      },
      reread: () => Promise.resolve({ version: 7, terminalId: 'T' }),
    },
  );
  await run();
  expect(writes).toHaveLength(3);
  expect(sent).toEqual(['approved by T after "send to T"']);
});

test('one that goes to another terminal is heard of each bank that was sent it', async () => {
  const { sent, run } = jobWith({ steps: [authorise, authorise], answers: [away, approved] });
  await run();
  expect(sent).toEqual([
    'notSent by T after "reroute to T2: ECONNREFUSED"',
    'approved by T2 after "approved 2"',
  ]);
});

test('a later attempt is heard if it was sent, also if its response proves nothing', async () => {
  const unknown = { outcome: 'unknown', why: 'timeout' } as const;
  const { sent, run } = jobWith({ steps: [authorise], answers: [{ outcome: 'notFound' }, unknown] });
  await expect(run(2)).rejects.toThrow(OutcomeUnknown);
  expect(sent).toEqual(['unknown by T after "send to T"']);
});

test.each<[string, Step, number]>([
  ['an inquiry', { do: 'inquire', operation }, 1],
  ['a follow-up', followUp, 1],
  ['an authorisation that was sent before', authorise, 2],
  ['an authorisation that its node must query first', { ...authorise, inquiresFirst: true } as Step, 1],
])('%s is not heard: it sends no charge', async (_, step, attempt) => {
  const { done, sent, run } = jobWith({ steps: [step], answers: [approved] });
  await run(attempt);
  expect(done).toContain('approved 1');
  expect(sent).toEqual([]);
});

test.each<[string, Step]>([
  ['an authorisation', authorise],
  ['a follow-up', followUp],
])('%s is too late for a bank that may have forgotten it since', async (_, step) => {
  let shown = now;
  const late: unknown[] = [];
  const forgetful = { ...abilitiesOfVersion1, repeatableMs: 2 * leaseMs };
  const bank: Bank = {
    ...bankOfVersion1,
    knownAbilities: () => forgetful,
    send(_operation, _mayStill, isTooLate) {
      late.push(isTooLate?.());
      shown = laterBy(now, 2 * leaseMs);
      late.push(isTooLate?.());
      return Promise.resolve(approved);
    },
    inquire: () => Promise.resolve({ outcome: 'notFound' }),
    stop: () => Promise.resolve(),
  };
  const { run } = jobWith({ steps: [step], answers: [] }, { bankOf: () => Promise.resolve(bank) });
  await run(1, now, { now: () => shown });
  expect(late).toEqual([false, true]);
});

describe('a charge that has waited for a place at its bank', () => {
  const queueFull = { outcome: 'notSent', why: 'full', turnedAway: true, againInMs: 1_000 } as const;

  function waitingWith(refuse: () => Promise<Change | undefined>) {
    const bank = {
      ...bankOfVersion1,
      async send(_: unknown, mayStill: MayStill = () => true): Promise<BankResponse> {
        // As the queue of a bank does.
        await Promise.resolve(mayStill()).catch(() => false);
        return queueFull;
      },
      inquire: () => Promise.resolve({ outcome: 'notFound' } as const),
      stop: () => Promise.resolve(),
    };
    return jobWith(
      { steps: [{ ...authorise, refuse } as Step], answers: [] },
      {
        bankOf: () => Promise.resolve(bank),
        alternateTerminal: () => Promise.resolve(undefined),
        interpret: (_, { answer }) => ({ unknown: 'why' in answer ? answer.why : answer.outcome }),
      },
    );
  }

  test('comes back when the bank has place', async () => {
    const { run } = waitingWith(() => Promise.resolve(undefined));
    await expect(run()).rejects.toMatchObject({ name: 'NoPlaceNow', message: 'full', againInMs: 1_000 });
  });

  test('comes back when it has place itself, if it has none now', async () => {
    const { run } = waitingWith(() => Promise.reject(new NoPlaceNow('held', 400_000)));
    await expect(run()).rejects.toMatchObject({ name: 'NoPlaceNow', message: 'held', againInMs: 400_000 });
  });
});
