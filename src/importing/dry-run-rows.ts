// What a run that writes nothing has decided so far: later rows of the file may repeat a row, or name its customer.
import type { CardOwner } from '../customers/port.ts';

/** Of one row that is to be imported. */
export type SeenRow = {
  readonly externalId: string;
  readonly fingerprint: Buffer;
  readonly seriesId: string;
  readonly owner: CardOwner;
};

export type SeenRows = {
  add(rows: readonly SeenRow[]): void;
  fingerprintOf(externalId: string): Buffer | undefined;
  ownerOf(externalId: string): CardOwner | undefined;
  hasSeries(seriesId: string): boolean;
};

export function noRows(): SeenRows {
  const byExternalId = new Map<string, SeenRow>();
  const series = new Set<string>();
  return {
    add(rows) {
      for (const row of rows) {
        byExternalId.set(row.externalId, row);
        series.add(row.seriesId);
      }
    },
    fingerprintOf: (externalId) => byExternalId.get(externalId)?.fingerprint,
    ownerOf: (externalId) => byExternalId.get(externalId)?.owner,
    hasSeries: (seriesId) => series.has(seriesId),
  };
}
