// The order in which test files start: the longest first, so that the workers end together. Files of a kind stay together,
// because a worker that changes kind loads all modules again.
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import type { TestKind } from './test-kinds.ts';

const kinds: readonly TestKind[] = ['campaign', 'process', 'database', 'unit'];

export class LongestFirst extends BaseSequencer {
  /** Within a kind by the duration of the last run, or by size. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}

function placeOf({ project }: TestSpecification): number {
  return kinds.findIndex((kind) => kind === project.name);
}
