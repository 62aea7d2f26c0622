// What an export of one kind reads: its filters, its columns, and its rows page by page.
import type { TObject } from 'typebox';
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { LastRow } from '../page-tokens.ts';
import type { ExportedKind, ExportTerms } from './domain/export.ts';

/** By the type of its column; null is an empty cell. */
export type ExportedValue = string | number | bigint | null;

export type ExportedRow = {
  readonly createdAt: Instant;
  /** In whose minor units its amounts are. */
  readonly currency: string | null;
  readonly values: Readonly<Record<string, ExportedValue>>;
};

/** `amount` is shown in minor units and as a decimal number. Only `text` may hold what others have chosen. */
export type ColumnKind = 'fact' | 'text' | 'amount';

export type ExportSource = {
  readonly isOfShop: boolean;
  /** What a search takes besides its range and its page. */
  readonly filters: TObject;
  readonly columns: Readonly<Record<string, ColumnKind>>;
  /** Newest first, after the last row of the page before. */
  readonly page: (
    db: Database,
    asked: { readonly partyId: string; readonly terms: ExportTerms; readonly limit: number },
    after: LastRow | undefined,
  ) => Promise<{ readonly rows: readonly ExportedRow[]; readonly last: LastRow | undefined }>;
};

export type ExportSources = Readonly<Record<ExportedKind, ExportSource>>;
