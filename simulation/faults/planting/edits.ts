// A planted fault replaces tokens within a named declaration, wherever in the sources it is.
// So files may move and lines may break elsewhere.
import type { SourceFile } from '../../../tools/source-files.ts';
import { declarationsOf, nodesIn, treeOf } from '../../../tools/mutants/syntax-tree.ts';

export type Edit = {
  /** The function, constant or SQL function to change. */
  readonly within: string;
  /** Occurs there once, compared by tokens without white space, comments and trailing commas. */
  readonly replace: string;
  readonly by: string;
};

export type LocatedEdit = {
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly by: string;
};

type Range = { readonly start: number; readonly end: number };
type Declaring = { readonly file: SourceFile; readonly ranges: readonly Range[] };
type Token = Range & { readonly word: string };

/** Finds where the edits change the files. Throws if one of them fits nowhere, or more than once. */
export function locate(
  { edits, newNames = [] }: { readonly edits: readonly Edit[]; readonly newNames?: readonly string[] },
  files: readonly SourceFile[],
): LocatedEdit[] {
  const located: LocatedEdit[] = [];
  const problems = unknownWords(edits, newNames, files).map(
    (word) => `a replacement uses "${word}", which is not in the sources`,
  );
  for (const edit of edits) {
    const found = occurrencesOf(edit, files);
    const [first] = found;
    if (first && found.length === 1) located.push(first);
    else problems.push(problemWith(edit, found, files));
  }
  if (problems.length > 0) throw new Error(problems.join('; '));
  return located;
}

/** The file with what is planted in it. */
export function edited({ path, text }: SourceFile, located: readonly LocatedEdit[]): string {
  const fromTheEnd = located.filter((edit) => edit.path === path).sort((a, b) => b.start - a.start);
  let result = text;
  let untouched = text.length;
  for (const { start, end, by } of fromTheEnd) {
    if (end > untouched) throw new Error(`two edits of ${path} overlap`);
    result = result.slice(0, start) + by + result.slice(end);
    untouched = start;
  }
  return result;
}

/** A renamed symbol in a replacement would stop the service instead of making the mistake. */
function unknownWords(
  edits: readonly Edit[],
  newNames: readonly string[],
  files: readonly SourceFile[],
): string[] {
  const words = new Set(edits.flatMap(({ by }) => by.match(/[a-z_]\w*/gi) ?? []));
  return [...words].filter((word) => {
    const pattern = new RegExp(`\\b${word}\\b`);
    return !newNames.includes(word) && !files.some(({ text }) => text.includes(word) && pattern.test(text));
  });
}

function problemWith(
  { within, replace }: Edit,
  found: readonly LocatedEdit[],
  files: readonly SourceFile[],
): string {
  if (found.length > 1)
    return `"${replace}" occurs ${found.length} times in ${within}: ${linesOf(found, files)}`;
  const snippet = tokensOf(replace);
  const elsewhere = files.flatMap(({ path, text }) =>
    rangesOf(snippet, tokensOf(text)).map((range) => ({ path, ...range })),
  );
  const hint = elsewhere.length > 0 ? `; it is at ${linesOf(elsewhere, files)}` : '';
  const isDeclared = declaringFiles(within, files).length > 0;
  return isDeclared
    ? `"${replace}" is not in ${within}${hint}`
    : `nothing declares ${within}, in which "${replace}" should be${hint}`;
}

function linesOf(places: readonly { path: string; start: number }[], files: readonly SourceFile[]): string {
  return places
    .map(({ path, start }) => {
      const text = files.find((file) => file.path === path)?.text ?? '';
      return `${path}:${text.slice(0, start).split('\n').length}`;
    })
    .join(', ');
}

function occurrencesOf({ within, replace, by }: Edit, files: readonly SourceFile[]): LocatedEdit[] {
  const snippet = tokensOf(replace);
  return declaringFiles(within, files).flatMap(({ file, ranges }) =>
    rangesOf(snippet, tokensOf(withoutComments(file)))
      .filter(({ start, end }) => ranges.some((range) => range.start <= start && end <= range.end))
      .map((range) => ({ path: file.path, ...range, by })),
  );
}

/** If several migrations create a function, the last one counts. */
function declaringFiles(name: string, files: readonly SourceFile[]): Declaring[] {
  const declaring = files
    .map((file) => ({
      file,
      ranges: isSql(file) ? sqlFunctions(file, name) : declarationsOf(name, file.text),
    }))
    .filter(({ ranges }) => ranges.length > 0);
  const migrations = declaring.filter(({ file }) => isSql(file));
  const inForce = migrations.sort((a, b) => (a.file.path < b.file.path ? -1 : 1)).slice(-1);
  return [...declaring.filter(({ file }) => !isSql(file)), ...inForce];
}

function sqlFunctions({ text }: SourceFile, name: string): Range[] {
  const pattern = new RegExp(
    `create\\s+(?:or\\s+replace\\s+)?function\\s+(?:\\w+\\.)?${name}\\s*\\(.*?(\\$\\w*\\$).*?\\1`,
    'gis',
  );
  return [...text.matchAll(pattern)].map(({ 0: { length }, index }) => ({
    start: index,
    end: index + length,
  }));
}

/** Blanks comments out, so that every other character keeps its position. */
function withoutComments(file: SourceFile): string {
  const { text } = file;
  if (isSql(file))
    return text.replace(/'[^']*'|--.*/g, (found) => (found.startsWith('--') ? blank(found) : found));
  const literals = nodesIn(treeOf(text))
    .filter(({ type }) => type === 'Literal' || type === 'TemplateElement')
    .sort((a, b) => a.start - b.start);
  let end = 0;
  let result = '';
  for (const literal of [...literals, { start: text.length, end: text.length }]) {
    result += text.slice(end, literal.start).replace(/\/\/.*|\/\*[^]*?\*\//g, blank);
    result += text.slice(literal.start, literal.end);
    end = literal.end;
  }
  return result;
}

function blank(text: string): string {
  return ' '.repeat(text.length);
}

function isSql({ path }: SourceFile): boolean {
  return path.endsWith('.sql');
}

/** Words and single characters, in string literals and SQL too. */
function tokensOf(text: string): Token[] {
  const tokens = [...text.matchAll(/\w+|[^\s\w]/g)].map(({ 0: word, index }) => ({
    word,
    start: index,
    end: index + word.length,
  }));
  return tokens.filter(({ word }, index) => word !== ',' || !/^[)\]}]$/.test(tokens[index + 1]?.word ?? ''));
}

function rangesOf(snippet: readonly Token[], tokens: readonly Token[]): Range[] {
  return tokens.flatMap(({ start }, index) => {
    if (!snippet.every(({ word }, offset) => tokens[index + offset]?.word === word)) return [];
    return [{ start, end: tokens[index + snippet.length - 1]?.end ?? start }];
  });
}
