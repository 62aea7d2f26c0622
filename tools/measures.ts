// npm run measures: how much of src a reader has to hold in mind. Each number counts the same at every commit, so that two compare.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { childrenOf, nodesIn, treeOf, type Node } from './mutants/syntax-tree.ts';
import { readOptions, refuse } from './script-options.ts';
import { isTest, readSourceFiles, repository, type SourceFile } from './source-files.ts';

const { options } = readOptions(
  `npm run measures -- [--at COMMIT]
Prints how much of src, without tests, a reader has to hold in mind:
  on the way      files that run functions for a recurring charge before its webhooks, as docs/recurring-charge.md lists
                  them. A test keeps that page. Commits before it have only the second number: files reached by imports of
                  values from the endpoint, the job and the series, whether their functions run or not
  handler to row  those between the handler and the INSERT: from its endpoint and the series, without src/platform,
                  the words that every module uses, and schemas
  put together    texts of statements that are put together from fragments; a list of columns is none
  lines           of TypeScript
  same six lines  pairs of places with six equal lines in a row, apart from imports, comments and empty lines
  functions       the longest ones
Example: npm run measures -- --at v0.2.0`,
  { at: { type: 'string' } },
);

const endpoint = 'src/payments/api/create-payment.ts';
const job = 'src/payments/worker.ts';
const walk = 'docs/recurring-charge.md';
/** Whichever the commit has. */
const series = ['src/recurring/charging.ts', 'src/recurring/recurring.ts'];
const isBeforeHandler = /^src\/(platform\/|[^/]+$)|schema\.ts$/;
const sharedLines = 6;
const functionsShown = 12;

type Parsed = SourceFile & { readonly nodes: readonly Node[] };

function git(...args: string[]): string {
  return execFileSync('git', args, {
    cwd: repository,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

function sourcesAt(commit: string): SourceFile[] {
  try {
    git('cat-file', '-e', `${commit}^{commit}`);
  } catch {
    return refuse(`--at names no commit: "${commit}"`);
  }
  return git('ls-tree', '-r', '--name-only', commit, 'src')
    .split('\n')
    .filter((path) => path.endsWith('.ts'))
    .map((path) => ({ path, text: git('show', `${commit}:${path}`) }));
}

/** The files under the headings of the page: from the handler to the row, and all. */
function filesRun(commit: string | undefined): { toRow: number; all: number } | undefined {
  let page: string;
  try {
    page =
      commit === undefined ? readFileSync(join(repository, walk), 'utf8') : git('show', `${commit}:${walk}`);
  } catch {
    return undefined;
  }
  const [all = 0, toRow = 0] = [page, page.split('## ')[1]].map((text) => text?.match(/^- `src\//gm)?.length);
  return { toRow, all };
}

function importsOf({ path, nodes }: Parsed): string[] {
  return nodes
    .filter(({ importKind, exportKind }) => importKind !== 'type' && exportKind !== 'type')
    .map(({ source }) => (source as { value?: unknown } | null | undefined)?.value)
    .filter((from) => typeof from === 'string' && from.startsWith('.'))
    .map((from) => join(path, '..', String(from)));
}

/** The files, and all that they import directly or not. */
function filesFrom(paths: readonly string[], files: readonly Parsed[], isOutside: RegExp): number {
  const imports = new Map(files.map((file) => [file.path, importsOf(file)]));
  const reached = new Set(paths.filter((path) => imports.has(path)));
  for (const path of reached)
    for (const next of imports.get(path) ?? []) if (!isOutside.test(next)) reached.add(next);
  return reached.size;
}

/** For each statement of the file, whether its text is put together. */
function statementsIn({ text, nodes }: Parsed): boolean[] {
  return nodes
    .filter(({ type, callee }) => type === 'CallExpression' && (callee as Node)['name'] === 'statement')
    .flatMap((call) => nodesIn(call))
    .filter(({ type, key }) => type === 'Property' && (key as Node)['name'] === 'text')
    .map(({ value }) => value as Node)
    .map(({ type, expressions, start }) =>
      type === 'TemplateLiteral'
        ? (expressions as Node[]).some(
            (one) => !/columns?\b|columnList/i.test(text.slice(one.start, one.end)),
          )
        : !`'"`.includes(text.charAt(start)),
    );
}

function functionsIn({ path, text, nodes }: Parsed) {
  const nameOf = (node: unknown) => (node as { name?: string } | null | undefined)?.name;
  return nodes.flatMap((parent) =>
    childrenOf(parent)
      .filter(([, { type }]) => /^(Arrow)?Function(Declaration|Expression)$/.test(type))
      .map(([, node]) => ({
        name: nameOf(node['id']) ?? nameOf(parent['id']) ?? nameOf(parent['key']) ?? 'a function',
        lines: text.slice(node.start, node.end).split('\n').length,
        path,
      })),
  );
}

function pairsOfSamePlaces(files: readonly Parsed[]): number {
  const seen = new Map<string, number>();
  let pairs = 0;
  for (const { text } of files) {
    const lines = text
      .replaceAll(/^import [^;]*;$/gm, '')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => !/^($|\/\/|\/?\*)/.test(line));
    for (let from = 0; from + sharedLines <= lines.length; from++) {
      const same = lines.slice(from, from + sharedLines).join('\n');
      pairs += seen.get(same) ?? 0;
      seen.set(same, (seen.get(same) ?? 0) + 1);
    }
  }
  return pairs;
}

const sources = options.at === undefined ? readSourceFiles() : sourcesAt(options.at);
const files = sources
  .filter((file) => file.path.endsWith('.ts') && !isTest(file))
  .map((file) => ({ ...file, nodes: nodesIn(treeOf(file.text)) }));
const statements = files.flatMap(statementsIn);
const lines = files.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0);
const longest = files.flatMap(functionsIn).sort((one, other) => other.lines - one.lines);

const run = filesRun(options.at);
const reached = filesFrom([endpoint, job, ...series], files, /^src\/webhooks\//);
const reachedToRow = filesFrom([endpoint, ...series], files, isBeforeHandler);

console.log(`on the way      ${run?.all ?? '–'} files run, ${reached} reached by imports
handler to row  ${run?.toRow ?? '–'} files run, ${reachedToRow} reached by imports
put together    ${statements.filter(Boolean).length} of ${statements.length} statements
lines           ${lines} in ${files.length} files
same six lines  ${pairsOfSamePlaces(files)} pairs of places
functions`);
for (const { lines: length, name, path } of longest.slice(0, functionsShown))
  console.log(`${String(length).padStart(6)}  ${name} in ${path}`);
