// Rules for every source file: it says what it is for, pure code uses nothing from outside, and functions stay short. And a rule for
// every folder of the repository: it has few files.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { filesEndingIn } from './mentions.ts';

/** Functions of src with too many lines to read at a glance. The number only goes down: lower it when you shorten one. */
const longFunctions = 22;
const linesMost = 50;

/** Files directly in a folder; its subfolders do not count. */
const maxFiles = 16;
const maybeMore = [
  // Records and measurements are found by number or name, and none is ever removed.
  'docs/decisions',
  'bench/results',
  'src/platform/database/migrations',
];

/** What a file under domain/ gets as a value instead of reading it. */
const askingOutside = /\b(Date\.now|new Date|performance\.|Math\.random|process\.|async|await)\b/;
const sql = /\b(select [^'.;]*\bfrom|insert into|delete from|on conflict)\b/;
/** It can hang on Node 24: see src/platform/make-folder.ts. */
const makesParents = /\bmkdir(Sync)?\([^;]*\brecursive\b/;
/** Not the same without waiting, which is `knownAbilities`. */
const waitsForAbilities = /\babilities\(\)(?!:)|\{[^{}]*\babilities\b[^{}]*\} = \w*[bB]anks?\b/;
const beginsWithComment = /^(#!.*\n)?\/[/*]/;

const folder = new URL('../../src/', import.meta.url);
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .sort()
  .map((file) => ({ file: `src/${file}`, text: readFileSync(new URL(file, folder), 'utf8') }));

test('every file begins with a comment that says what it is for', () => {
  expect(sources.length).toBeGreaterThan(300);
  expect(sources.filter(({ text }) => !beginsWithComment.test(text)).map(({ file }) => file)).toEqual([]);
  expect('export const one = 1;').not.toMatch(beginsWithComment);
});

test('pure code uses nothing from outside', () => {
  const pure = sources.filter(({ file }) => file.includes('/domain/'));
  expect(pure.length).toBeGreaterThan(50);
  expect(pure.flatMap(({ file, text }) => askedIn(text).map((asked) => `${file} has ${asked}`))).toEqual([]);
});

test('pure code has no SQL', () => {
  const withSql = sources.filter(({ file, text }) => file.includes('/domain/') && sql.test(text));
  expect(withSql.map(({ file }) => file)).toEqual([]);
});

test.each([
  'select from begun',
  'select invoice_id, version from invoice',
  'insert into payer_attempt as earlier',
  'delete from card where',
  'on conflict (subject) do update',
])('SQL is found: %s', (text) => {
  expect(`const text = '${text}';`).toMatch(sql);
});

test.each([
  'Date.now()',
  'new Date(0)',
  'performance.now()',
  'Math.random()',
  'process.env',
  'async () => 1',
])('use of the outside is found: %s', (asked) => {
  expect(askedIn(`// Pure.\nexport const it = ${asked};`)).toHaveLength(1);
  expect(askedIn(`// ${asked}\n/** ${asked}\n * ${asked} */`)).toEqual([]);
});

test('a bank is waited for to say what it can do only where no transaction is open', () => {
  const waiting = sources.filter(({ text }) => waitsForAbilities.test(text)).map(({ file }) => file);
  expect(waiting).toEqual([
    'src/acquiring/adapters/http/http-bank.ts',
    'src/acquiring/authorisation/return-page.ts',
    'src/acquiring/conformance/conformance.ts',
    'src/acquiring/learn-abilities.ts',
    'src/acquiring/send-or-inquire.ts',
    'src/app/bank-watch/watch-banks.ts',
    'src/cli/banks/terminals.ts',
    'src/cli/payments/refund.ts',
  ]);
});

test.each(['await bank.abilities()', '(await banks.get(id))?.abilities()', 'const { abilities } = bank;'])(
  'waiting for abilities is found: %s',
  (text) => {
    expect(text).toMatch(waitsForAbilities);
    expect('bank.knownAbilities(); missing(abilities);').not.toMatch(waitsForAbilities);
  },
);

test('folders with their parents are created by makeFolder alone', () => {
  const by = sources.filter(({ text }) => makesParents.test(text)).map(({ file }) => file);
  expect(by).toEqual([]);
});

test.each([
  'mkdirSync(folder, { recursive: true, mode: 0o700 })',
  'mkdirSync(\n  dirname(file),\n  { recursive: true },\n)',
  'await mkdir(folder, { mode, recursive })',
])('creating parents is found: %s', (call) => {
  expect(`${call};`).toMatch(makesParents);
  expect(`mkdirSync(folder);\nrmSync(folder, { recursive: true });`).not.toMatch(makesParents);
});

test(`no more functions than before have over ${linesMost} lines`, () => {
  const long = sources.flatMap(({ file, text }) =>
    functionsIn(text)
      .filter(({ lines }) => lines > linesMost)
      .map(({ line, lines }) => `${file}:${line} has ${lines} lines`),
  );
  expect(long.length, `longFunctions is ${longFunctions}\n${long.join('\n')}\n`).toBe(longFunctions);
});

test('the lines of a function are counted in every form of function', () => {
  const counted = functionsIn(`function one() {
}
const two = () => {

};
const three = { four() {}, get five() {
  return function () {}; } };
const six = () => 1;
declare function seven(): void;`);
  expect(counted.map(({ line, lines }) => [line, lines])).toEqual([
    [1, 2],
    [3, 3],
    [6, 1],
    [6, 2],
    [7, 1],
    [8, 1],
  ]);
});

test(`no folder has more than ${maxFiles} files`, () => {
  const crowded = crowdedFolders(filesEndingIn(''));
  expect(crowded.filter(({ folder }) => !maybeMore.includes(folder))).toEqual([]);
});

test('files of subfolders are not counted', () => {
  const filled = (folder: string, count: number) => Array.from({ length: count }, (_, n) => `${folder}/${n}`);
  const files = [...filled('a', maxFiles), ...filled('a/b', maxFiles + 1), ...filled('a/b/c', maxFiles)];
  expect(crowdedFolders(files)).toEqual([{ folder: 'a/b', count: maxFiles + 1 }]);
});

function crowdedFolders(files: readonly string[]): { folder: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const folder of files.map(dirname)) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  return [...counts].map(([folder, count]) => ({ folder, count })).filter(({ count }) => count > maxFiles);
}

/** Without lines that are comments. */
function askedIn(text: string): string[] {
  const asked = askingOutside.exec(text.replace(/^\s*(\/\/|\/?\*).*$/gm, ''))?.[0];
  return asked === undefined ? [] : [asked];
}

function functionsIn(text: string): { line: number; lines: number }[] {
  const source = ts.createSourceFile('source.ts', text, {
    languageVersion: ts.ScriptTarget.Latest,
    jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
  });
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line + 1;
  const found: { line: number; lines: number }[] = [];
  (function visit(node: ts.Node): void {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const line = lineAt(node.getStart(source));
      found.push({ line, lines: lineAt(node.end) - line + 1 });
    }
    ts.forEachChild(node, visit);
  })(source);
  return found;
}
