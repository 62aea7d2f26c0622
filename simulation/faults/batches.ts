import type { Faults } from './fault.ts';

export const faultsOfBatches: Faults = {
  'batch-answers-shifted': {
    does: 'If one change of a batch does not hold, its neighbour is answered in its place.',
    edits: [
      {
        within: 'openBatchedWrites',
        replace: 'rowsByAsker(batch, rows).entries()',
        by: 'rowsByAsker(batch, rows.map((row, asker) => ({ ...row, asker }))).entries()',
      },
    ],
  },
  'batch-without-version': {
    does: 'A charge that is started in a batch does not compare the version of its series.',
    edits: [
      {
        within: 'lock_new_charge',
        replace: `series.version = of_series_version and card_stops = of_card_stops
      and invoice_id = of_invoice and invoice.version = of_invoice_version
    for no key update skip locked`,
        by: `card_stops = of_card_stops
      and invoice_id = of_invoice and invoice.version = of_invoice_version
    for no key update skip locked`,
      },
    ],
  },
  'series-twice-in-a-batch': {
    does: 'Two charges of one series that are in one batch are both written.',
    edits: [
      {
        within: 'start_charges',
        replace: '(earlier.series_id = change.series_id or earlier.invoice_id',
        by: '(earlier.invoice_id',
      },
    ],
  },
};

/** Worlds of subscriptions have batches while faults happen. */
export const faultsOfNeighbours: Faults = {
  'batch-fails-its-neighbours': {
    does: 'If the changes of a batch fail together, half of them fail for good.',
    edits: [
      {
        within: 'sendParts',
        replace: 'for (const part of halvesOf(failed)) {',
        by:
          'for (const [index, part] of halvesOf(failed).entries()) {' +
          ' if (index > 0) { part.forEach(({ reject }) => reject(new Error(statement.name))); continue; }',
      },
    ],
  },
};
