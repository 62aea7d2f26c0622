// Runs the conformance checks on the simulated bank, which passes them all, and on faulty banks, which must fail one.
import { describe, expect, test } from 'vitest';
import { checkBank, type Result } from '../../src/acquiring/conformance/conformance.ts';
import { promisesOfMessages } from '../../src/acquiring/conformance/message-checks.ts';
import type { OperationMessage } from '../../src/acquiring/adapters/http/messages.ts';
import type { OperationAnswer } from '../../src/acquiring/adapters/http/responses.ts';
import { systemClock } from '../../src/clock.ts';
import type { Reply, OperationProcessor } from '../../src/sandbox/bank/operation-processor.ts';
import { authorise, bankSecret, startBank } from '../support/bank/simulated-bank.ts';

const cards = {
  approved: '4242424242424242',
  other: '5555555555554444',
  declined: '4000000000000002',
  challenged: '4012888888881881',
};

async function failuresOf(
  options: Parameters<typeof startBank>[0],
  { secret = bankSecret, onResult = () => {} }: { secret?: string; onResult?: (result: Result) => void } = {},
): Promise<string[]> {
  const { url } = await startBank({ clock: systemClock, ...options });
  const { results, passed, failed, notDeclared } = await checkBank({
    url,
    secret,
    currency: 'RUB',
    cards,
    onResult,
  });
  expect(passed + failed + notDeclared).toBe(results.length);
  expect(results.length).toBeGreaterThan(25);
  return results.flatMap(({ promise, problem }) => (problem === undefined ? [] : [promise]));
}

test('the simulated bank passes every conformance check', async () => {
  expect(await failuresOf({})).toEqual([]);
});

test('a bank that declares nothing is tried with every promise of the first version', async () => {
  const { url } = await startBank({ clock: systemClock, speaks: 'first version' });
  const { passed, failed, notDeclared } = await checkBank({
    url,
    secret: bankSecret,
    currency: 'RUB',
    cards,
  });
  expect({ passed, failed, notDeclared }).toEqual({ passed: 35, failed: 0, notDeclared: 16 });
});

test('a bank that takes few operations at once is sent no more, by any check', async () => {
  expect(await failuresOf({ abilities: { atOnce: 3, perSecond: 100_000 } })).toEqual([]);
});

test('a bank is not tried with what it declares it cannot do', async () => {
  const abilities = { kinds: ['authorise', 'capture', 'reverse', 'refund'], initiations: ['payer'] };
  const { url } = await startBank({ clock: systemClock, abilities });
  const { failed, results } = await checkBank({ url, secret: bankSecret, currency: 'RUB', cards });
  expect(failed).toBe(0);
  const skipped = results.flatMap(({ promise, notDeclared }) =>
    notDeclared ? [[promise, notDeclared]] : [],
  );
  expect(skipped).toContainEqual(['pays out to a card once', 'kind payout']);
  expect(skipped).toContainEqual([
    'charges without the payer only after they consented with the same card',
    'initiation recurring',
  ]);
  expect(skipped).toContainEqual(['captures a hold in parts, until a capture is final', 'capture.several']);
});

const instalmentCheck = 'charges an instalment once, whether or not its repeat says which one it is';
const unattendedCheck =
  'takes what a charge without the payer says of its amount and resubmission, and does a repeat without them once';
type Unattended = { readonly message: OperationMessage & { readonly kind: 'authorise' } };

function isUnattended(read: Parameters<OperationProcessor['perform']>[1]): read is typeof read & Unattended {
  return 'message' in read && read.message.kind === 'authorise' && read.message.initiation.by === 'merchant';
}

describe('the checks detect a bank that', () => {
  test.each<[what: string, wrong: (processor: OperationProcessor) => OperationProcessor, check: string]>([
    [
      'is not idempotent',
      (processor) => {
        const times = new Map<string, number>();
        return {
          ...processor,
          async perform(id, read) {
            const before = times.get(id) ?? 0;
            times.set(id, before + 1);
            return renamed(await processor.perform(before === 0 ? id : `${id}-${before}`, read), id);
          },
        };
      },
      'does a repeated message once, with the same response',
    ],
    [
      'reports a repeated operation twice',
      (processor) => {
        const again = new Map<string, number>();
        return {
          ...processor,
          async perform(id, read) {
            again.set(id, (again.get(id) ?? 0) + 1);
            return processor.perform(id, read);
          },
          async entries(after, limit) {
            const all = await processor.entries(0, 1_000_000);
            const doubled = all.flatMap((entry) =>
              Array.from({ length: again.get(entry.operationId) ?? 1 }, () => entry),
            );
            return doubled
              .map((entry, place) => ({ ...entry, sequence: place + 1 }))
              .slice(after, after + limit);
          },
        };
      },
      'does a repeated message once, with the same response',
    ],
    [
      'loses acknowledged operations',
      (processor) => {
        let count = 0;
        const lost = new Set<string>();
        return {
          ...processor,
          async perform(id, read) {
            const reply = await processor.perform(id, read);
            if (reply.status === 200 && (count += 1) % 3 === 0) lost.add(id);
            return reply;
          },
          async inquire(id) {
            return lost.has(id)
              ? { status: 404, body: { operationId: id, outcome: 'notFound' } }
              : processor.inquire(id);
          },
          async entries(after, limit) {
            return (await processor.entries(after, limit)).filter((entry) => !lost.has(entry.operationId));
          },
        };
      },
      'still has every outcome at the end, and exactly the approved operations in its report',
    ],
    [
      'captures more than the held amount',
      (processor) => ({
        ...processor,
        async perform(id, read) {
          const reply = await processor.perform(id, read);
          const isTooMuch =
            'message' in read &&
            read.message.kind === 'capture' &&
            isDeclined(reply) &&
            read.message.amount === 6_001;
          return isTooMuch ? approvedReply(id) : reply;
        },
      }),
      'captures at most the held amount, and only from an open hold',
    ],
    [
      'answers inquiries about declined operations as approved',
      (processor) => ({
        ...processor,
        async inquire(id) {
          const reply = await processor.inquire(id);
          return isDeclined(reply) ? approvedReply(id) : reply;
        },
      }),
      'declines with a network and a code, with the same response to an inquiry and no entry in the report',
    ],
    [
      'answers inquiries about unknown operations as pending',
      (processor) => ({
        ...processor,
        async inquire(id) {
          const reply = await processor.inquire(id);
          return reply.status === 404
            ? { status: 200, body: { operationId: id, outcome: 'pending' } }
            : reply;
        },
      }),
      'returns notFound for an operation it never received',
    ],
    [
      'forgets the reversal of an operation it had not received',
      (processor) => {
        const unseen = new Map<string, string>();
        return {
          ...processor,
          async perform(id, read) {
            if ('message' in read && read.message.kind === 'reverse') {
              const original = read.message.originalOperationId;
              if ((await processor.inquire(original)).status === 404)
                unseen.set(original, `${original}-late`);
            }
            const late = unseen.get(id);
            return late === undefined
              ? processor.perform(id, read)
              : renamed(await processor.perform(late, read), id);
          },
        };
      },
      'approves the reversal of an operation it never received, and declines the operation later',
    ],
    [
      'accepts other content under a known ID as a repeat',
      (processor) => ({
        ...processor,
        async perform(id, read) {
          const reply = await processor.perform(id, read);
          return reply.status === 409 ? processor.inquire(id) : reply;
        },
      }),
      'refuses other content under a known ID and changes nothing',
    ],
    [
      'charges payers without their consent',
      (processor) => ({
        ...processor,
        async perform(id, read) {
          if (!('message' in read) || read.message.kind !== 'authorise') return processor.perform(id, read);
          const initiation = { by: 'payer', storesCard: true } as const;
          return processor.perform(id, { message: { ...read.message, initiation } });
        },
      }),
      'charges without the payer only after they consented with the same card',
    ],
    [
      'serves its report out of order',
      (processor) => ({
        ...processor,
        entries: async (after, limit) => [...(await processor.entries(after, limit))].reverse(),
      }),
      'serves its transaction report in order and in pages',
    ],
    [
      'does operations that it calls invalid',
      (processor) => ({
        ...processor,
        async perform(id, read) {
          const reply = await processor.perform(id, read);
          if (reply.status === 400) await processor.perform(id, { message: authorise() });
          return reply;
        },
      }),
      'names the invalid field and does nothing',
    ],
    [
      'begins what came too late',
      (processor) => ({
        ...processor,
        perform: (id, read) => processor.perform(id, without(read, 'notAfter')),
      }),
      'does not begin an operation after notAfter',
    ],
    [
      'takes each capture for the last one',
      (processor) => ({ ...processor, perform: (id, read) => processor.perform(id, without(read, 'final')) }),
      'captures a hold in parts, until a capture is final',
    ],
    [
      'reverses the whole hold instead of a part',
      (processor) => ({
        ...processor,
        perform: (id, read) =>
          processor.perform(
            id,
            'message' in read && read.message.kind === 'reverse' ? without(read, 'amount') : read,
          ),
      }),
      'releases a part of a hold, and captures at most the rest',
    ],
    [
      'takes any authentication for a good one',
      (processor) => ({
        ...processor,
        perform(id, read) {
          if (!('message' in read) || read.message.kind !== 'authorise') return processor.perform(id, read);
          const { authenticated } = read.message;
          if (!authenticated) return processor.perform(id, read);
          return processor.perform(id, {
            message: { ...read.message, authenticated: { ...authenticated, status: 'Y' } },
          });
        },
      }),
      'takes an authentication from elsewhere, and declines one that failed',
    ],
    [
      'ignores that a challenge is demanded',
      (processor) => ({
        ...processor,
        perform: (id, read) => processor.perform(id, without(read, 'demandsChallenge')),
      }),
      'approves nothing without a challenge that the message demands',
    ],
    [
      'challenges the payer in spite of an exemption',
      (processor) => ({
        ...processor,
        perform(id, read) {
          if (!('message' in read) || read.message.kind !== 'authorise' || !read.message.exemption)
            return processor.perform(id, read);
          const { exemption: _, ...message } = read.message;
          return processor.perform(id, { message: { ...message, authentication: 'preferred' } });
        },
      }),
      'takes an exemption, and asks no payer',
    ],
    [
      'ignores a list of network IDs',
      (processor) => ({
        ...processor,
        perform(id, read) {
          if (!('message' in read) || read.message.kind !== 'authorise') return processor.perform(id, read);
          const { rootNetworkIds: _root, ...initiation } = read.message.initiation;
          return processor.perform(id, { message: { ...read.message, initiation } });
        },
      }),
      'takes the network IDs of a series in a list',
    ],
    [
      'charges no instalments',
      (processor) => ({
        ...processor,
        perform(id, read) {
          const isInstalment =
            'message' in read &&
            read.message.kind === 'authorise' &&
            read.message.initiation.reason === 'instalment';
          return processor.perform(id, isInstalment ? { field: 'initiation.reason' } : read);
        },
      }),
      instalmentCheck,
    ],
    [
      'takes another instalment for a repeat',
      (processor) => ({
        ...processor,
        async perform(id, read) {
          const reply = await processor.perform(id, read);
          const isInstalment = isUnattended(read) && read.message.initiation.sequence !== undefined;
          return reply.status === 409 && isInstalment ? processor.inquire(id) : reply;
        },
      }),
      instalmentCheck,
    ],
    [
      'declines a charge that names the previous payment by its network IDs',
      (processor) => ({
        ...processor,
        perform: (id, read) =>
          isUnattended(read) && read.message.initiation.previousNetworkIds
            ? Promise.resolve({
                status: 200,
                body: { operationId: id, outcome: 'declined', network: 'visa', code: '12' },
              })
            : processor.perform(id, read),
      }),
      'takes the network IDs of a series in a list',
    ],
    [
      'takes another recipient for a repeat',
      (processor) => ({
        ...processor,
        async perform(id, read) {
          const reply = await processor.perform(id, read);
          const isPayout = 'message' in read && read.message.kind === 'payout';
          return reply.status === 409 && isPayout ? processor.inquire(id) : reply;
        },
      }),
      'pays out to a named recipient once, whether or not its repeat names them',
    ],
    [
      'charges at regular times only',
      (processor) => ({
        ...processor,
        perform: (id, read) =>
          processor.perform(
            id,
            isUnattended(read) && read.message.initiation.reason === 'unscheduled'
              ? { field: 'initiation.reason' }
              : read,
          ),
      }),
      'charges at no regular times where the payer agreed to that',
    ],
    [
      'takes other facts of the merchant for another content',
      (processor) => {
        const codes = new Map<string, string | undefined>();
        return {
          ...processor,
          async perform(id, read) {
            if (!('message' in read)) return processor.perform(id, read);
            const { mcc } = read.message.merchant;
            const isOther = codes.has(id) && codes.get(id) !== mcc;
            codes.set(id, codes.get(id) ?? mcc);
            return isOther ? { status: 409, body: { error: 'conflict' } } : processor.perform(id, read);
          },
        };
      },
      'takes facts of the merchant, which may be missing or different in a repeat',
    ],
    [
      'does not compare the later fields of a repeat',
      (processor) => ({
        ...processor,
        async perform(id, read) {
          const reply = await processor.perform(id, read);
          const isOfSeries =
            'message' in read &&
            read.message.kind === 'authorise' &&
            read.message.initiation.stores !== undefined;
          return reply.status === 409 && isOfSeries ? processor.inquire(id) : reply;
        },
      }),
      'recognises a repeat without a later field, and refuses one that changes it',
    ],
    [
      'takes another kind of amount for a repeat',
      (processor) => ({
        ...processor,
        async perform(id, read) {
          const reply = await processor.perform(id, read);
          return reply.status === 409 && isUnattended(read) ? processor.inquire(id) : reply;
        },
      }),
      unattendedCheck,
    ],
    [
      'does a charge again when its repeat does not say that it is a resubmission',
      (processor) => {
        const resubmitted = new Set<string>();
        return {
          ...processor,
          async perform(id, read) {
            const isFirst = !resubmitted.has(id);
            if (isUnattended(read) && read.message.initiation.resubmission) resubmitted.add(id);
            else if (!isFirst) return renamed(await processor.perform(`${id}-again`, read), id);
            return processor.perform(id, read);
          },
        };
      },
      unattendedCheck,
    ],
    [
      'cannot read a resubmission',
      (processor) => ({
        ...processor,
        perform: (id, read) =>
          isUnattended(read) && read.message.initiation.resubmission
            ? Promise.resolve({ status: 400, body: { error: 'invalid', field: 'initiation' } })
            : processor.perform(id, read),
      }),
      unattendedCheck,
    ],
    [
      'believes any return of a browser',
      (processor) => ({
        ...processor,
        async resume(id, returned) {
          const reply = await processor.resume(id, returned);
          return reply.status === 404 ? reply : approvedReply(id);
        },
      }),
      'believes a return of the browser only if it belongs to the operation, and takes it twice',
    ],
    [
      'reports its updates in no order',
      (processor) => ({
        ...processor,
        updates: () =>
          Promise.resolve(
            [2, 1].map((sequence) => ({
              sequence,
              operationId: 'inv1.1.c',
              what: 'captureFailed',
              at: '2026-11-24T09:00:00Z',
            })),
          ),
      }),
      'reports updates in order and in pages, and only with a signature',
    ],
  ])('%s', async (_what, employ, check) => {
    expect(await failuresOf({ employ })).toContain(check);
  });

  test('does an operation twice when it is sent in parallel', async () => {
    const check = 'does an operation once when it is sent 20 times in parallel';
    const before = promisesOfMessages.findIndex(({ promise }) => promise === check);
    let finished = 0;
    let arrived = 0;
    let secondArrives = () => {};
    const second = new Promise<void>((resolve) => (secondArrives = resolve));
    const employ = (processor: OperationProcessor): OperationProcessor => ({
      ...processor,
      async perform(id, read) {
        // In all other checks a message may be the only one.
        if (finished !== before) return processor.perform(id, read);
        arrived += 1;
        const place = arrived;
        if (place === 2) secondArrives();
        // The first two pass the check before either is done.
        if (place <= 2) await second;
        return renamed(await processor.perform(place === 2 ? `${id}-again` : id, read), id);
      },
    });
    const onResult = ({ number }: Result) => void (finished = number);
    expect(await failuresOf({ employ }, { onResult })).toContain(check);
    expect(arrived).toBe(20);
  });

  test('takes fewer operations at once than it declares', async () => {
    const before = 'declares its abilities as documented, and only with a signature';
    let isTried = false;
    let arrived = 0;
    let secondArrives = () => {};
    const second = new Promise<void>((resolve) => (secondArrives = resolve));
    const employ = (processor: OperationProcessor): OperationProcessor => ({
      ...processor,
      async perform(id, read) {
        // In all other checks a message may be the only one.
        if (!isTried) return processor.perform(id, read);
        arrived += 1;
        if (arrived === 1) await second;
        if (arrived === 2) secondArrives();
        return arrived === 2 ? { status: 429, body: { error: 'notDone' } } : processor.perform(id, read);
      },
    });
    const onResult = ({ promise }: Result) => void (isTried = promise === before);
    const failures = await failuresOf({ abilities: { atOnce: 30 }, employ }, { onResult });
    expect(failures).toContain('takes as many operations at once, and within a second, as it declares');
    expect(arrived).toBe(30);
  });

  test('accepts messages without a signature or with a wrong one', async () => {
    const failures = await failuresOf({ admit: () => true });
    expect(failures).toContain('refuses a message without a signature');
    expect(failures).toContain('refuses a signature made with another secret');
    expect(failures).toContain('refuses a signature of another body');
    expect(failures).toContain('refuses a signature that is more than 300 s old');
    expect(failures).toContain(
      'refuses to show its operations and its transaction report without a signature',
    );
  });

  test.each([{ refunds: 'sometimes' }, { repeatable: 'a week' }])(
    'describes itself otherwise than the protocol does: %o',
    async (abilities) => {
      const failures = await failuresOf({ abilities: abilities as never });
      expect(failures).toContain('declares its abilities as documented, and only with a signature');
    },
  );

  test('has another secret', async () => {
    const failures = await failuresOf({}, { secret: 'not the secret the bank was started with' });
    expect(failures).toContain(
      'charges in one step, with the same response to an inquiry and one entry in the report',
    );
  });
});

function without(read: Parameters<OperationProcessor['perform']>[1], name: string): typeof read {
  if (!('message' in read)) return read;
  return {
    message: Object.fromEntries(Object.entries(read.message).filter(([one]) => one !== name)) as never,
  };
}

function renamed(reply: Reply, operationId: string): Reply {
  return { ...reply, body: { ...reply.body, operationId } as Reply['body'] };
}

function isDeclined({ body }: Reply): boolean {
  return 'outcome' in body && body.outcome === 'declined';
}

function approvedReply(operationId: string): Reply {
  return {
    status: 200,
    body: { operationId, outcome: 'approved', reference: 'MUTANT000001' } satisfies OperationAnswer,
  };
}
