// Orders the files of a test run: the slowest first, so that none runs alone at the end.
// Files of a kind stay together, because a worker starts without loaded modules for another kind.
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import type { TestKind } from './test-kinds.ts';

const kinds: readonly TestKind[] = ['campaign', 'process', 'database', 'unit'];

export class LongestFirst extends BaseSequencer {
  /** Within a kind, by the time of the last run, or by size. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => orderOf(a) - orderOf(b));
  }
}

function orderOf({ project }: TestSpecification): number {
  return kinds.findIndex((kind) => kind === project.name);
}
