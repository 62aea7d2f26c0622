import type { Faults } from './fault.ts';

export const faultsOfLists: Faults = {
  'export-loses-a-row': {
    does: 'The file of an export lacks the first row of each page.',
    edits: [
      {
        within: 'writeRows',
        replace: 'linesOf(page.rows), page.rows.length',
        by: 'linesOf(page.rows.slice(1)), page.rows.length',
      },
    ],
  },
  'search-of-all-parties': {
    does: 'A search of payments finds those of another merchant in a shop of the same ID.',
    edits: [
      {
        within: 'pageByPaymentKey',
        replace: 'where party_id = :party_id and',
        by: 'where (party_id = :party_id or true) and',
      },
    ],
  },
  'sum-counts-twice': {
    does: 'A sum of payments counts each twice.',
    edits: [
      {
        within: 'getPaymentsCount',
        replace: 'count: Number(count)',
        by: 'count: 2 * Number(count)',
      },
    ],
  },
  'status-leaves-its-sum-behind': {
    does: 'What changes its status stays in the sum of the earlier one.',
    edits: [{ within: 'moveSums', replace: 'amount_minor, -1 from (', by: 'amount_minor, 0 from (' }],
  },
};
