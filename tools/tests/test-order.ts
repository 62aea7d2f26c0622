// Orders the files of a test run: the slowest first, so that none runs alone at the end.
// Files of a project stay together, because a worker starts without loaded modules for another project.
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import type { TestKind } from './test-kinds.ts';

const kinds: readonly TestKind[] = ['campaign', 'process', 'database', 'unit'];

/** They load the program again, and the next file of their worker has to as well. */
const last = /^test\/architecture\//;

/** For the tests of a checkout, with paths relative to it. */
export function longestFirst(repository: string, tests: Readonly<Record<TestKind, readonly string[]>>) {
  const places = new Map(
    kinds.flatMap((kind, place) => tests[kind].map((file) => [file, last.test(file) ? place + 0.5 : place])),
  );
  const placeOf = ({ moduleId }: TestSpecification) =>
    places.get(relative(repository, moduleId)) ?? kinds.length;

  return class LongestFirst extends BaseSequencer {
    /** Within a kind, by the time of the last run, or by size. */
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      const sorted = await super.sort(files);
      return sorted.toSorted((a, b) => placeOf(a) - placeOf(b));
    }
  };
}
