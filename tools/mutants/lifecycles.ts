// The lifecycle files, found by what they declare, and the mutants of them that a test has to notice.
import { basename, dirname } from 'node:path';
import { mutantsOf, type Mutant } from './mutants.ts';
import { isTest, type SourceFile } from '../source-files.ts';
import { declarationsOf } from './syntax-tree.ts';

type Lifecycle = { readonly name: string; readonly file: SourceFile; readonly tests: readonly string[] };

/** By the name of the lifecycle, what its file alone declares. */
const declarations: Readonly<Record<string, string>> = {
  invoice: 'InvoiceState',
  payment: 'PaymentState',
  refund: 'RefundState',
  customer: 'CustomerState',
  binding: 'BindingState',
  withdrawal: 'WithdrawalState',
  destination: 'DestinationState',
  'webhook-queue': 'afterAcknowledged',
};

/** Changes that make no difference, by the line they are made in and what is changed there. */
export const equivalent: readonly RegExp[] = [
  // Never, by the tables: it tells the compiler so, and whoever breaks a table.
  /throw new Error\((?!.*cannot have)/,
  /^if \('approval' in state\) .* → true$/,
  /^return state\.name === 'ready' \? state\.activeBindingId : undefined; .* → true$/,
  // Of two equal moments either is the earlier one.
  /^return a < b \? a : b; < → <=$/,
  /failure\.retryAfterMs \?\? 0.* 0 → 1$/,
  // What is sent after a replay is never within it.
  /sent < replay\.resumeAt; < → <=$/,
];

export function lifecyclesIn(files: readonly SourceFile[]): Lifecycle[] {
  return Object.entries(declarations).map(([name, declared]) => {
    const declaring = files.filter(({ text }) => declarationsOf(declared, text).length > 0);
    const [file] = declaring;
    if (!file || declaring.length > 1)
      throw new Error(
        `${declared}, by which the lifecycle ${name} is found, is declared ${declaring.length} times`,
      );
    return { name, file, tests: testsOf(file, files) };
  });
}

/** The tests next to the file that import it. */
function testsOf({ path }: SourceFile, files: readonly SourceFile[]): string[] {
  const tests = files.filter(
    (file) =>
      isTest(file) &&
      dirname(file.path) === dirname(path) &&
      file.text.includes(`from './${basename(path)}'`),
  );
  if (tests.length === 0) throw new Error(`no test next to ${path} imports it`);
  return tests.map((file) => file.path);
}

export function mutantsToNotice(source: string): Mutant[] {
  return describedMutants(source)
    .filter(([, description]) => !equivalent.some((pattern) => pattern.test(description)))
    .map(([mutant]) => mutant);
}

export function describedMutants(source: string): (readonly [mutant: Mutant, description: string])[] {
  const lines = source.split('\n');
  return mutantsOf(source).map((mutant) => [mutant, `${lines[mutant.line - 1]?.trim()} ${mutant.change}`]);
}
