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
        within: 'start_charges',
        replace: `series.version = series_version and card_stops = series_card_stops
        and invoice.invoice_id = ready.invoice_id and invoice.version = invoice_version
      for no key update skip locked`,
        by: `card_stops = series_card_stops
        and invoice.invoice_id = ready.invoice_id and invoice.version = invoice_version
      for no key update skip locked`,
      },
    ],
  },
  'series-twice-in-a-batch': {
    does: 'Two charges of one series that are in one batch are both written.',
    edits: [
      {
        within: 'start_charges',
        replace: 'asker in (select min(asker) from change group by series_id)',
        by: 'true',
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
