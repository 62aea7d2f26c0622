// A period is charged once: its invoice is its own, and has at most one captured payment.
import { groupedBy } from '../rows.ts';
import type { Check, Problem } from '../check.ts';

export const periods: Check = {
  name: 'periods',
  says: 'a subscription has a row for each number, and each row at most one invoice of its own and one captured payment',
  find({ books }) {
    const bySubscription = groupedBy(books.periods, ({ subscription_id: id }) => id);
    return [...bySubscription].flatMap(([id, rows]): Problem[] => {
      const ordered = rows.toSorted((one, other) => one.number - other.number);
      const first = ordered[0]?.number ?? 1;
      const open = ordered.filter(({ outcome }) => outcome === 'open');
      const hole = ordered.findIndex(({ number }, index) => number !== first + index);
      const own = ordered.flatMap((row) => {
        const { number, outcome, invoice_id: invoice, amount_minor: amount } = row;
        const asked = row.asked_minor ?? 0;
        const isAmount = row.started === true ? 0 < amount && amount <= asked : amount === asked;
        const isOwn =
          invoice === null || (row.of_subscription === id && row.of_number === number && isAmount);
        const mayTake = outcome === 'paid' || outcome === 'open' || outcome === 'unpaid' ? 1 : 0;
        const problems = [
          !isOwn && `its invoice ${invoice} is not that of its period ${number}`,
          row.captured > (row.elsewhere ? 0 : mayTake) &&
            `period ${number} is ${outcome} with ${row.captured} captured payments`,
          outcome === 'open' && invoice === null && `period ${number} is open without an invoice`,
          outcome === 'paid' &&
            amount > 0 &&
            row.captured === 0 &&
            !row.elsewhere &&
            `period ${number} is paid by no payment`,
        ];
        return problems.filter((problem) => problem !== false);
      });
      const all = [
        ...own,
        ...(hole > 0 ? [`its rows have no number ${first + hole}`] : []),
        ...(open.length > 1 && !open.some(({ stacks }) => stacks)
          ? [`${open.length} of its periods are open`]
          : []),
      ];
      return all.map((problem) => [`subscription ${id}`, problem]);
    });
  },
};
