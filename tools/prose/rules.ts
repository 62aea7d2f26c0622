// What a program can judge of a text: its words, the length of its sentences, its headings and the size of its comments.
import { retiredInNames, retiredWords, type RetiredWord } from './words.ts';

/** A piece of text with the line it begins on. */
export type Passage = { readonly line: number; readonly text: string };
export type Fault = { readonly line: number; readonly what: string };

const maxWordsOfSentence = 25;
const maxWordsOfHeading = 12;
const maxSentencesOfComment = 2;
const maxLinesOfFileHeader = 3;
const maxSubjectLength = 72;

export function wordFaults(
  passages: readonly Passage[],
  words: readonly RetiredWord[] = retiredWords,
): Fault[] {
  return passages.flatMap(({ line, text }) =>
    words.flatMap(({ pattern, instead }) =>
      [...text.matchAll(pattern)].map((match) => ({
        line: line + linesIn(text.slice(0, match.index)),
        what: `“${match[0]}”: write ${instead}`,
      })),
    ),
  );
}

export function sentenceFaults(passages: readonly Passage[]): Fault[] {
  return passages.flatMap(({ line, text }) =>
    sentencesOf(text).flatMap((sentence) => {
      const words = wordsOf(sentence);
      const begin = words.slice(0, 6).join(' ');
      return [
        ...(words.length > maxWordsOfSentence
          ? [
              {
                line,
                what: `a sentence of ${words.length} words, ${maxWordsOfSentence} at most: “${begin} …”`,
              },
            ]
          : []),
        ...((sentence.match(/;/g)?.length ?? 0) > 1
          ? [{ line, what: `a chain of semicolons; make sentences or a list of it: “${begin} …”` }]
          : []),
      ];
    }),
  );
}

export function headingFaults(headings: readonly Passage[]): Fault[] {
  return headings.flatMap(({ line, text }) => {
    if (text.endsWith('?') || /^(?:what|who|when|where|is|are|does|do|if|whether)\b/i.test(text))
      return [{ line, what: `“${text}”: a heading names a task or a thing` }];
    if (text.endsWith('.')) return [{ line, what: `“${text}”: a heading has no full stop` }];
    if (wordsOf(text).length > maxWordsOfHeading)
      return [{ line, what: `“${text}”: a heading has ${maxWordsOfHeading} words at most` }];
    return [];
  });
}

export function commentFaults(comments: readonly Passage[]): Fault[] {
  return comments
    .filter(({ text }) => sentencesOf(text).length > maxSentencesOfComment)
    .map(({ line, text }) => ({
      line,
      what: `a comment of ${sentencesOf(text).length} sentences, ${maxSentencesOfComment} at most`,
    }));
}

export function fileHeaderFaults(header: Passage | undefined): Fault[] {
  const lines = header?.text.split('\n').length ?? 0;
  if (header === undefined || lines <= maxLinesOfFileHeader) return [];
  return [{ line: header.line, what: `a file header of ${lines} lines, ${maxLinesOfFileHeader} at most` }];
}

export function nameFaults(names: readonly Passage[]): Fault[] {
  return names.flatMap(({ line, text }) =>
    partsOf(text)
      .filter((part) => retiredInNames.includes(part) || retiredInNames.includes(part.replace(/s$/, '')))
      .map((part) => ({ line, what: `the name ${text} holds the retired word “${part}”` })),
  );
}

export function subjectFaults(subject: string): string[] {
  const faults = wordFaults([{ line: 1, text: subject }]).map(({ what }) => what);
  if (!/^[a-z][\w ./-]*(?:, [\w ./-]+)*: \S/.test(subject))
    faults.push('begins with its area: `webhooks: …`');
  if (subject.length > maxSubjectLength)
    faults.push(`has ${subject.length} characters, ${maxSubjectLength} at most`);
  if (subject.endsWith('.')) faults.push('has no full stop');
  return faults.map((fault) => `${subject}\n    ${fault}`);
}

/** Sizes of documents, by path. A printed document is as long as what it lists. */
export function sizeFaults(path: string, text: string): Fault[] {
  const max = maxLinesOf.find(([pattern]) => pattern.test(path))?.[1];
  const lines = linesIn(text);
  if (max === undefined || lines <= max || isPrinted(text)) return [];
  return [{ line: lines, what: `the page has ${lines} lines, ${max} at most` }];
}

const maxLinesOf: readonly (readonly [RegExp, number])[] = [
  [/^README\.md$/, 120],
  [/^docs\/decisions\/\d/, 40],
  [/^docs\/guide\//, 150],
  [/^docs\/operations\//, 150],
  [/^docs\/architecture\.md$/, 150],
  [/^docs\/performance\.md$/, 120],
  [/^docs\/reliability\.md$/, 100],
];

function isPrinted(text: string): boolean {
  return text.includes('`npm run docs`') && text.slice(0, 400).includes('rinted from');
}

export function sentencesOf(text: string): string[] {
  return text
    .replace(/\b(?:e\.g|i\.e|etc|vs|cf|No)\.(?=\s)/g, (short) => short.replaceAll('.', ''))
    .split(/(?<=[.!?][)”"’]?)\s+(?=[\p{Lu}\d“"(`<])|\n\s*\n/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => wordsOf(sentence).length > 0);
}

function wordsOf(sentence: string): string[] {
  return sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
}

function partsOf(name: string): string[] {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/);
}

function linesIn(text: string): number {
  return text.split('\n').length - 1;
}
