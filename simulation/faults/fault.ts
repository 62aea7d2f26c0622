import type { Edit } from './planting/edits.ts';

export type Fault = {
  /** A sentence for the table in docs/planted-faults.md. */
  readonly does: string;
  readonly edits: readonly Edit[];
  /** Names that the replacements introduce. Every other word must be in the sources. */
  readonly newNames?: readonly string[];
};

export type Faults = Readonly<Record<string, Fault>>;
