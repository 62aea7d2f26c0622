// The sums that merchants read are those of the rows that their searches find, at any moment.
import type { Check } from '../check.ts';

export const searchSums: Check = {
  name: 'search sums',
  says: 'the sums of payments and refunds are those of the rows that searches find',
  find: ({ books }) =>
    books.wrongSums.map(({ shop, quarter, summed_by: by, n, amount_minor: minor }) => [
      `shop ${shop}`,
      `its sum ${by} from ${quarter} has ${n} and ${minor} more than its rows`,
    ]),
};
