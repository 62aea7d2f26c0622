// What a run that writes nothing has decided so far: later rows of the file may repeat a row, or name its customer.
import type { CardOwner } from '../customers/port.ts';

/** Of one row that is to be imported. */
export type SeenRow = {
  readonly externalId: string;
  readonly fingerprint: Buffer;
  readonly seriesId: string;
  readonly owner: CardOwner;
  /** Only that row's external ID finds it. */
  readonly isNewCustomer: boolean;
};

export type SeenRows = {
  add(rows: readonly SeenRow[]): void;
  fingerprintOf(externalId: string): Buffer | undefined;
  ownerOf(externalId: string): CardOwner | undefined;
  hasSeries(seriesId: string): boolean;
};

export function noRows(): SeenRows {
  const byExternalId = new Map<string, SeenRow>();
  const owners = new Map<string, CardOwner>();
  const series = new Set<string>();
  return {
    add(rows) {
      for (const row of rows) {
        byExternalId.set(row.externalId, row);
        if (row.isNewCustomer) owners.set(row.externalId, row.owner);
        series.add(row.seriesId);
      }
    },
    fingerprintOf: (externalId) => byExternalId.get(externalId)?.fingerprint,
    ownerOf: (externalId) => owners.get(externalId),
    hasSeries: (seriesId) => series.has(seriesId),
  };
}
