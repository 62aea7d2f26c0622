// The texts of this repository and the faults in them, less what `allowed.txt` lets stand.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { repository } from '../source-files.ts';
import { readMarkdown } from './markdown.ts';
import {
  commentFaults,
  fileHeaderFaults,
  headingFaults,
  nameFaults,
  sentenceFaults,
  sizeFaults,
  wordFaults,
  type Fault,
  type Passage,
} from './rules.ts';
import { readTypeScript } from './typescript.ts';
import type { RetiredWord } from './words.ts';

/** A phrase that may stand in a file, in a folder (`src/`) or everywhere (`*`), whatever word is in it. */
export type Allowed = { readonly files: string; readonly phrase: string };

const skippedFolders = ['node_modules', '.git', 'dist', 'data', 'coverage', 'release'];
/** The words themselves and their tests, names of earlier versions, and records of a day. */
const skipped = [
  'tools/prose/words.ts',
  'tools/prose/rules.test.ts',
  'docs/renames.md',
  'test/histories/0.1.0/',
  'test/architecture/schema-0.1.0.sql',
  'src/platform/database/migrations/0001_baseline.sql',
  'src/platform/database/migrations/0002_plain_words.sql',
  'bench/results/',
];

function proseFiles(folder = repository): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !skippedFolders.includes(name))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return proseFiles(path);
      return /\.(?:md|ts|mjs|js|html|css|sql|ya?ml|sh)$|^run$/.test(entry.name)
        ? [relative(repository, path)]
        : [];
    })
    .filter((path) => !skipped.some((files) => isAmong(path, files)))
    .sort();
}

export function faultsIn(path: string, text: string, allowed: readonly Allowed[]): Fault[] {
  const words = (passages: readonly Passage[]) =>
    wordFaults(passages.map((passage) => without(passage, path, allowed)));
  if (path.endsWith('.md')) {
    const { prose, headings } = readMarkdown(text);
    return [
      ...words([...prose, ...headings]),
      ...sentenceFaults(prose),
      ...headingFaults(headings),
      ...sizeFaults(path, text),
    ];
  }
  if (/\.(?:ts|mjs|js)$/.test(path)) {
    const { header, comments, strings, names } = readTypeScript(path, text);
    return [
      ...words([...comments, ...strings]),
      ...commentFaults(comments),
      ...sentenceFaults(comments),
      ...fileHeaderFaults(header),
      ...nameFaults([...names, ...snakeCaseIn(strings)].map((name) => without(name, path, allowed))),
    ];
  }
  if (path.endsWith('.sql')) {
    const lines = text.split('\n').map((line, index) => ({ line: index + 1, text: line }));
    return [...words(lines), ...nameFaults(snakeCaseIn(lines).map((name) => without(name, path, allowed)))];
  }
  return words([{ line: 1, text }]);
}

/** Names of SQL and of JSON. */
function snakeCaseIn(strings: readonly Passage[]): Passage[] {
  return strings.flatMap(({ line, text }) =>
    [...text.matchAll(/\b[a-z]+(?:_[a-z]+)+\b/g)].map(([name]) => ({ line, text: name })),
  );
}

export function reviewOf(path: string, text: string, words: readonly RetiredWord[]): Fault[] {
  if (path.endsWith('.md')) return wordFaults(readMarkdown(text).prose, words);
  if (!/\.(?:ts|mjs|js)$/.test(path)) return wordFaults([{ line: 1, text }], words);
  const { comments, strings } = readTypeScript(path, text);
  return wordFaults([...comments, ...strings], words);
}

/** What may stand is taken out before the words are looked for; its lines stay. */
function without(passage: Passage, path: string, allowed: readonly Allowed[]): Passage {
  return allowed
    .filter(({ files }) => isAmong(path, files))
    .reduce(({ line, text }, { phrase }) => ({ line, text: text.replaceAll(phrase, '\u00b7') }), passage);
}

function isAmong(path: string, files: string): boolean {
  return files === '*' || path === files || (files.endsWith('/') && path.startsWith(files));
}

/** A line is `files: phrase`, with a reason behind ` # `. */
export function readAllowed(text: string): Allowed[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, files, phrase] = /^(\S+): (.+?)\s+# \S.*$/.exec(line) ?? [];
      if (files === undefined || phrase === undefined)
        throw new Error(`allowed.txt: not "files: phrase # reason": ${line}`);
      return { files, phrase };
    });
}

/** Entries that let nothing stand any more. */
export function unusedAllowed(allowed: readonly Allowed[], texts: ReadonlyMap<string, string>): Allowed[] {
  return allowed.filter(
    ({ files, phrase }) => ![...texts].some(([path, text]) => isAmong(path, files) && text.includes(phrase)),
  );
}

export function projectTexts(): Map<string, string> {
  return new Map(proseFiles().map((path) => [path, readFileSync(join(repository, path), 'utf8')]));
}

export function projectAllowed(): Allowed[] {
  return readAllowed(readFileSync(join(repository, 'tools/prose/allowed.txt'), 'utf8'));
}
