// No card gets more in a day than its limit, from whichever wallets, and a payout goes through a terminal of its currency.
import type { Check, Problem } from '../check.ts';

/** Of the only row of limits in a world, in kopecks. */
export const cardDayLimitMinor = 70_000_000;

export const payoutLimits: Check = {
  name: 'payout-limits',
  says: 'no card gets more in a day than its limit, and every payout goes through a terminal of its currency',
  find: ({ books }) => [
    ...books.cardDays.flatMap(({ card, day, amount_minor: minor }): Problem[] =>
      minor > cardDayLimitMinor ? [[`card ${card}`, `${minor} was paid out to it on ${day}`]] : [],
    ),
    ...books.withdrawals.flatMap(({ withdrawal_id: id, currency, terminal_id: terminal }): Problem[] => {
      const [kind, ...currencies] = terminal?.split('.') ?? [];
      return kind === 'P' && !currencies.includes(currency)
        ? [[`withdrawal ${id}`, `it is in ${currency}, and goes through terminal ${terminal}`]]
        : [];
    }),
  ],
};
