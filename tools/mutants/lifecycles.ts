// Finds the lifecycle files by what they declare, and the mutants of them that a test must detect.
import { basename, dirname } from 'node:path';
import { mutantsOf, type Mutant } from './mutants.ts';
import { isTest, type SourceFile } from '../source-files.ts';
import { declarationsOf } from './syntax-tree.ts';

type Lifecycle = { readonly name: string; readonly file: SourceFile; readonly tests: readonly string[] };

/** For each lifecycle, a name that only its file declares. */
const declarations: Readonly<Record<string, string>> = {
  invoice: 'InvoiceState',
  payment: 'PaymentState',
  refund: 'RefundState',
  customer: 'CustomerState',
  binding: 'BindingState',
  authorisation: 'AuthorisationOutcome',
  withdrawal: 'WithdrawalState',
  destination: 'DestinationState',
  'webhook-queue': 'afterAcknowledged',
};

/** Changes that make no difference, matched against the changed line and the change. */
export const equivalent: readonly RegExp[] = [
  // The tables make it unreachable. The compiler needs it, and it reports a broken table.
  /throw new Error\((?!.*cannot have)/,
  /^if \('approval' in state\) .* → true$/,
  /^return state\.name === 'ready' \? state\.activeBindingId : undefined; .* → true$/,
  /failure\.retryAfterMs \?\? 0.* 0 → 1$/,
  // What follows `resumeAt` is beyond the replay in either case.
  /sent < replay\.resumeAt; < → <=$/,
];

export function lifecyclesIn(files: readonly SourceFile[]): Lifecycle[] {
  return Object.entries(declarations).map(([name, declared]) => {
    const declaring = files.filter(({ text }) => declarationsOf(declared, text).length > 0);
    const [file] = declaring;
    if (!file || declaring.length > 1)
      throw new Error(
        `${declared}, which identifies the lifecycle ${name}, is declared ${declaring.length} times`,
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

export function mutantsToDetect(source: string): Mutant[] {
  return describedMutants(source)
    .filter(([, description]) => !equivalent.some((pattern) => pattern.test(description)))
    .map(([mutant]) => mutant);
}

export function describedMutants(source: string): (readonly [mutant: Mutant, description: string])[] {
  const lines = source.split('\n');
  return mutantsOf(source).map((mutant) => [mutant, `${lines[mutant.line - 1]?.trim()} ${mutant.change}`]);
}
