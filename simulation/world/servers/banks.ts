// Two banks, so that a payment can be rerouted while the first is unreachable. Their reports are read as one.
import type { BookEntry } from '../../../src/acquiring/adapters/http/messages.ts';
import type { Chance } from '../chance.ts';
import { openWorldBank, type WorldBank } from './bank.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

export const banks = [
  { id: 'BANK', url: 'http://bank.example' },
  { id: 'OTHER', url: 'http://other-bank.example' },
] as const;

export async function openWorldBanks(
  options: Omit<
    Parameters<typeof openWorldBank>[0],
    'bank' | 'forgets' | 'returnsAfterMs' | 'speaks' | 'limits'
  > & {
    readonly chance: Chance;
  },
): Promise<WorldBank> {
  const { chance } = options;
  const opened = await Promise.all(
    banks.map(async (bank) => {
      const forgets = chance.isTrue(0.3);
      const returnsAfterMs = chance.oneOf([2 * minuteMs, dayMs, 3 * dayMs]);
      // That version demands that a bank forgets no operation.
      const isOld = chance.isTrue(0.25) && !forgets;
      const speaks = isOld ? 'first version' : 'today';
      const limits = chance.isTrue(0.25) && !isOld ? { perSecond: 3, atOnce: 2 } : {};
      const how = { bank, forgets, returnsAfterMs, speaks, limits } as const;
      return { ...bank, at: await openWorldBank({ ...options, ...how }) };
    }),
  );
  const read = opened.map(() => 0);
  const lines: BookEntry[] = [];
  const bankWith = (ticket: string) =>
    opened.find(({ at }) => at.openChallenges().some((challenge) => challenge.ticket === ticket));

  return {
    linkOf: (node) => (origin, connectMs) => {
      const found = opened.find(({ url }) => url === origin);
      if (!found) throw new Error(`there is no bank at ${origin}`);
      return found.at.linkOf(node)(origin, connectMs);
    },
    /** Entries keep their positions from one call to the next. */
    async book() {
      for (const [place, { at }] of opened.entries()) {
        const book = await at.book();
        lines.push(...book.slice(read[place]));
        read[place] = book.length;
      }
      return lines;
    },
    openChallenges: () => opened.flatMap(({ at }) => at.openChallenges()),
    async decide(ticket, ending) {
      await bankWith(ticket)?.at.decide(ticket, ending);
    },
    async endOverdue() {
      for (const { at } of opened) await at.endOverdue();
    },
    forgetNothing() {
      for (const { at } of opened) at.forgetNothing();
    },
    async close() {
      for (const { at } of opened) await at.close();
    },
  };
}
