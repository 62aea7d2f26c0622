// In which order the files of a test run begin. What takes longest comes first, so that no worker is left alone with it in the end; files
// of a kind stay together, for another kind has a worker begin with no module loaded.
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import type { TestKind } from './test-kinds.ts';

const kinds: readonly TestKind[] = ['campaign', 'process', 'database', 'unit'];

export class LongestFirst extends BaseSequencer {
  /** Within a kind by what files took the last time, or by their size. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}

function placeOf({ project }: TestSpecification): number {
  return kinds.findIndex((kind) => kind === project.name);
}
