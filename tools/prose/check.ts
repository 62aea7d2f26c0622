// npm run prose: what a program can judge of the texts and commit subjects, with the line and what to write instead.
import { readOptions, refuse } from '../script-options.ts';
import { repository } from '../source-files.ts';
import { faultsIn, projectAllowed, projectTexts, reviewOf, unusedAllowed } from './project.ts';
import { subjectFaults } from './rules.ts';
import { newSubjects } from './subjects.ts';
import { wordsToReview } from './words.ts';

const { options, words } = readOptions(
  `npm run prose -- [--review] [paths…]: checks words, sentences, comments, headings and page lengths.

Without paths it reads every document, source and page, SQL, YAML, shell, and the subjects of commits.
  --review  lists words that need judgement instead; it never fails
Example: npm run prose -- docs/guide src/webhooks`,
  { review: { type: 'boolean' } },
  { maxWords: Infinity },
);

const texts = projectTexts();
const allowed = projectAllowed();
const isUnder = (path: string, word: string) =>
  path === word || path.startsWith(`${word.replace(/\/$/, '')}/`);
const unknown = words.filter((word) => ![...texts.keys()].some((path) => isUnder(path, word)));
if (unknown.length > 0) refuse(`No text lies under ${unknown.join(', ')}. Give paths from the root`);
const chosen = [...texts].filter(([path]) => words.length === 0 || words.some((word) => isUnder(path, word)));

const found = chosen.flatMap(([path, text]) =>
  (options.review ? reviewOf(path, text, wordsToReview) : faultsIn(path, text, allowed)).map(
    ({ line, what }) => `${path}:${line}  ${what}`,
  ),
);
if (words.length === 0 && !options.review) {
  found.push(
    ...unusedAllowed(allowed, texts).map(
      ({ files, phrase }) => `allowed.txt: nothing in ${files} says “${phrase}”`,
    ),
    ...subjectsToJudge().flatMap(subjectFaults),
  );
}
console.log(found.join('\n'));
console.log(`${found.length === 0 ? 'No faults' : `${found.length} found`} in ${chosen.length} files.`);
process.exitCode = found.length === 0 || options.review ? 0 : 1;

function subjectsToJudge(): string[] {
  const subjects = newSubjects(repository);
  if (subjects !== 'noCheckout') return subjects;
  console.log('Commit subjects are not checked: this is not a git checkout.');
  return [];
}
