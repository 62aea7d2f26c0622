// What an export is, from its order until its file is deleted.
import type { Instant } from '../../../clock.ts';
import type { Delimiter } from './csv.ts';

export const exportedKinds = ['payments', 'refunds', 'invoices', 'withdrawals'] as const;
export type ExportedKind = (typeof exportedKinds)[number];

export type ExportTerms = {
  readonly of: ExportedKind;
  /** If it is of one. */
  readonly shopId?: string;
  /** If it is of several. Withdrawals are of no shop. */
  readonly shopIds?: readonly string[];
  readonly from: Instant;
  readonly to: Instant;
  /** Those of the search, as they were sent. */
  readonly filters: Readonly<Record<string, unknown>>;
  /** In which times are shown once more. */
  readonly timeZone: string;
  readonly delimiter: Delimiter;
  readonly hasByteOrderMark: boolean;
  /** In this order; absent: all. */
  readonly columns?: readonly string[];
};

export function shopsIn({
  shopId,
  shopIds,
}: {
  readonly [name in 'shopId' | 'shopIds']?: ExportTerms[name] | undefined;
}): readonly string[] {
  return shopIds ?? (shopId === undefined ? [] : [shopId]);
}

export const exportFailures = ['tooManyRows', 'tooWide', 'cancelled'] as const;
export type ExportFailure = (typeof exportFailures)[number];

export type Export = {
  readonly id: string;
  readonly partyId: string;
  readonly terms: ExportTerms;
  /** The key that ordered it, or an operator. */
  readonly madeBy: string;
  readonly createdAt: Instant;
  /** How often the file was begun. */
  readonly run: number;
  readonly rows: bigint;
  readonly bytes: bigint;
  readonly asOf?: Instant;
  /** Of the whole file: there is none before it is whole. */
  readonly sha256?: string;
  readonly md5?: string;
  readonly failure?: ExportFailure;
  readonly expiresAt?: Instant;
};

export const exportStatuses = ['pending', 'running', 'ready', 'failed', 'cancelled'] as const;
type ExportStatus = (typeof exportStatuses)[number];

export function statusOf({ sha256, failure, run }: Export): ExportStatus {
  if (sha256 !== undefined) return 'ready';
  if (failure === 'cancelled') return failure;
  if (failure !== undefined) return 'failed';
  return run === 0 ? 'pending' : 'running';
}

/** Of one file. */
export const maxRows = 5_000_000n;
/** Of a party, until they expire. */
export const maxKept = 100;
export const fileLifeMs = 7 * 24 * 3_600_000;
