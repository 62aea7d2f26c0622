// The conformance checks, on the simulated bank, which must pass them all, and on banks that are wrong on purpose, each of
// which must fail: a check that cannot fail is worth nothing.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { checkBank } from '../../src/acquiring/conformance/conformance.ts';
import type { OperationAnswer } from '../../src/acquiring/adapters/http/messages.ts';
import { systemClock } from '../../src/clock.ts';
import type { Reply, OperationProcessor } from '../../src/sandbox/bank/operation-processor.ts';
import { authorise, bankSecret, startBank } from '../support/bank/simulated-bank.ts';

const cards = {
  approved: '4242424242424242',
  other: '5555555555554444',
  declined: '4000000000000002',
  challenged: '4012888888881881',
};

async function failuresOf(options: Parameters<typeof startBank>[0], secret = bankSecret): Promise<string[]> {
  const { url } = await startBank({ clock: systemClock, ...options });
  const { results, passed, failed } = await checkBank({ url, secret, currency: 'RUB', cards });
  expect(passed + failed).toBe(results.length);
  expect(results.length).toBeGreaterThan(25);
  return results.flatMap(({ promise, problem }) => (problem === undefined ? [] : [promise]));
}

test('the simulated bank keeps every promise of the protocol', async () => {
  expect(await failuresOf({})).toEqual([]);
});

describe('the checks notice a bank that', () => {
  test.each<[what: string, wrong: (teller: OperationProcessor) => OperationProcessor, notices: string]>([
    [
      'is not idempotent',
      (teller) => {
        const times = new Map<string, number>();
        return {
          ...teller,
          async perform(id, read) {
            const before = times.get(id) ?? 0;
            times.set(id, before + 1);
            return renamed(await teller.perform(before === 0 ? id : `${id}-${before}`, read), id);
          },
        };
      },
      'answers a message that comes again as before, and books it once',
    ],
    [
      'books twice what is sent twice',
      (teller) => {
        const again = new Map<string, number>();
        return {
          ...teller,
          async perform(id, read) {
            again.set(id, (again.get(id) ?? 0) + 1);
            return teller.perform(id, read);
          },
          async entries(after, limit) {
            const all = await teller.entries(0, 1_000_000);
            const doubled = all.flatMap((entry) =>
              Array.from({ length: again.get(entry.operationId) ?? 1 }, () => entry),
            );
            return doubled
              .map((entry, place) => ({ ...entry, sequence: place + 1 }))
              .slice(after, after + limit);
          },
        };
      },
      'answers a message that comes again as before, and books it once',
    ],
    [
      'does twice what comes at the same moment',
      (teller) => {
        let copies = 0;
        return {
          ...teller,
          async perform(id, read) {
            if ((await teller.inquire(id)).status === 200) return teller.perform(id, read);
            // Between looking and doing others look too.
            await sleep(20);
            const isTaken = (await teller.inquire(id)).status === 200;
            return renamed(await teller.perform(isTaken ? `${id}-${(copies += 1)}` : id, read), id);
          },
        };
      },
      'does once what is sent 20 times at the same moment',
    ],
    [
      'loses what it has acknowledged',
      (teller) => {
        let count = 0;
        const lost = new Set<string>();
        return {
          ...teller,
          async perform(id, read) {
            const reply = await teller.perform(id, read);
            if (reply.status === 200 && (count += 1) % 3 === 0) lost.add(id);
            return reply;
          },
          async inquire(id) {
            return lost.has(id)
              ? { status: 404, body: { operationId: id, outcome: 'notFound' } }
              : teller.inquire(id);
          },
          async entries(after, limit) {
            return (await teller.entries(after, limit)).filter((entry) => !lost.has(entry.operationId));
          },
        };
      },
      'in the end still says what it said, and has in its book exactly what it approved',
    ],
    [
      'captures more than it holds',
      (teller) => ({
        ...teller,
        async perform(id, read) {
          const reply = await teller.perform(id, read);
          const isTooMuch =
            'message' in read &&
            read.message.kind === 'capture' &&
            isDeclined(reply) &&
            read.message.amount === 6_001;
          return isTooMuch ? approvedReply(id) : reply;
        },
      }),
      'captures no more than it holds, and only what it holds',
    ],
    [
      'answers inquiries about declined operations as approved',
      (teller) => ({
        ...teller,
        async inquire(id) {
          const reply = await teller.inquire(id);
          return isDeclined(reply) ? approvedReply(id) : reply;
        },
      }),
      'declines with a network and a code, says the same when asked, and books nothing',
    ],
    [
      'says "pending" of what it never saw',
      (teller) => ({
        ...teller,
        async inquire(id) {
          const reply = await teller.inquire(id);
          return reply.status === 404
            ? { status: 200, body: { operationId: id, outcome: 'pending' } }
            : reply;
        },
      }),
      'says of an operation it never saw that it never saw it',
    ],
    [
      'forgets that it reversed what it had not seen yet',
      (teller) => {
        const unseen = new Map<string, string>();
        return {
          ...teller,
          async perform(id, read) {
            if ('message' in read && read.message.kind === 'reverse') {
              const original = read.message.originalOperationId;
              if ((await teller.inquire(original)).status === 404) unseen.set(original, `${original}-late`);
            }
            const late = unseen.get(id);
            return late === undefined
              ? teller.perform(id, read)
              : renamed(await teller.perform(late, read), id);
          },
        };
      },
      'takes back what it has not seen yet, and declines it when it comes',
    ],
    [
      'takes other content under a known id for a repeat',
      (teller) => ({
        ...teller,
        async perform(id, read) {
          const reply = await teller.perform(id, read);
          return reply.status === 409 ? teller.inquire(id) : reply;
        },
      }),
      'refuses other content under an id it knows, and changes nothing',
    ],
    [
      'charges absent payers who never agreed',
      (teller) => ({
        ...teller,
        async perform(id, read) {
          if (!('message' in read) || read.message.kind !== 'authorise') return teller.perform(id, read);
          const initiation = { by: 'payer', storesCard: true } as const;
          return teller.perform(id, { message: { ...read.message, initiation } });
        },
      }),
      'charges without the payer only what he once agreed to with that card',
    ],
    [
      'keeps a book out of order',
      (teller) => ({
        ...teller,
        entries: async (after, limit) => [...(await teller.entries(after, limit))].reverse(),
      }),
      'keeps its book in order and gives it in pages',
    ],
    [
      'does what it calls invalid',
      (teller) => ({
        ...teller,
        async perform(id, read) {
          const reply = await teller.perform(id, read);
          if (reply.status === 400) await teller.perform(id, { message: authorise() });
          return reply;
        },
      }),
      'names the field that is wrong, and does nothing',
    ],
  ])('%s', async (_what, employ, notices) => {
    expect(await failuresOf({ employ })).toContain(notices);
  });

  test('accepts messages without a signature, or with a wrong one', async () => {
    const failures = await failuresOf({ admit: () => true });
    expect(failures).toContain('refuses a message without a signature, and does nothing');
    expect(failures).toContain('refuses a signature made with another secret');
    expect(failures).toContain('refuses a signature of another body');
    expect(failures).toContain('refuses a signature from more than five minutes ago');
    expect(failures).toContain('shows its book and its operations only to a signed question');
  });

  test('has another secret', async () => {
    const failures = await failuresOf({}, 'not the secret the bank was started with');
    expect(failures).toContain('charges in one step, says the same when asked, and has it in its book');
  });
});

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
