import { describe, expect, test } from 'vitest';
import { readMarkdown } from './markdown.ts';
import { faultsIn, projectTexts, readAllowed, reviewOf, unusedAllowed } from './project.ts';
import { sentencesOf, subjectFaults } from './rules.ts';
import { wordsToReview } from './words.ts';

const page = 'docs/guide/page.md';
const source = 'src/module/file.ts';
const found = (path: string, text: string, allowed = '') =>
  faultsIn(path, text, readAllowed(allowed)).map(({ line, what }) => `${line} ${what}`);
const words = (count: number) => Array.from({ length: count }, () => 'word').join(' ');

describe('retired words', () => {
  test('are found in prose, list items, table cells, headings and picture texts, with their line', () => {
    const text = '# The door\n\nAsk nobody.\n\n- he pays\n\n| told | b |\n\n<img alt="his card" />\n';
    expect(found(page, text).map((fault) => fault.split(':')[0])).toEqual([
      '3 “nobody”',
      '5 “he”',
      '7 “told”',
      '9 “his”',
      '1 “The door”',
    ]);
  });

  test('are not looked for in code, addresses and parts of words', () => {
    expect(
      found(page, 'The `notice` of [this](told.md), then the sheltered.\n\n```sh\nnobody told him\n```\n'),
    ).toEqual([]);
  });

  test('are found in comments, quoted texts and templates of a source, not in its imports', () => {
    const text =
      "import { a } from './realm.ts';\n\n// For ever.\nconst b = 'told';\nconst c = `${b} anew`;\n";
    expect(found(source, text).map((fault) => fault.split(':')[0])).toEqual([
      '3 “For ever”',
      '4 “told”',
      '5 “anew”',
    ]);
  });

  test('are found in prose between fences of any length and indentation', () => {
    const text =
      '````md\n```sh\n````\n\nAsk nobody.\n\n- a\n  ```sh\n  nobody\n```\n\n    Ask him.\n\n```sh\nnot closed: his\n';
    expect(found(page, text).map((fault) => fault.split(':')[0])).toEqual([
      '5 “nobody”',
      '12 “him”',
      '15 “his”',
    ]);
  });

  test('are found in names of SQL within a text', () => {
    expect(found(source, "const a = 'select letter_id from courier_queue';\n")).toHaveLength(2);
  });

  test('are found in SQL, YAML and shell, in comments and in names', () => {
    expect(found('schema.sql', '-- Ask\n-- nobody.\ncreate index courier_queue on a (b);\n')).toEqual([
      expect.stringMatching(/^2 “nobody”/),
      '3 the name courier_queue holds the retired word “courier”',
    ]);
    for (const path of ['.github/config.yml', 'examples/api.sh'])
      expect(found(path, 'first: line\n# tells nobody\n')).toEqual([expect.stringMatching(/^2 “nobody”/)]);
  });

  test('are read in every kind of text of the project', () => {
    const kinds = new Set([...projectTexts().keys()].map((path) => path.replace(/.*[./]/, '')));
    expect([...kinds]).toEqual(expect.arrayContaining(['md', 'ts', 'css', 'sql', 'yml', 'sh', 'run']));
  });

  test('are found in names, whatever their form', () => {
    expect(found(source, 'const realmOf = owed_receipts;\n')).toEqual([
      '1 the name realmOf holds the retired word “realm”',
      '1 the name owed_receipts holds the retired word “owed”',
    ]);
  });

  test('stand where a fixed name or a quotation is allowed, and only there', () => {
    const allowed = 'src/: notice of a webhook # the API has it\n';
    expect(found(source, "const a = 'notice of a webhook';\n", allowed)).toEqual([]);
    expect(found(source, "const a = 'notice of a refund';\n", allowed)).toHaveLength(1);
    expect(found(page, 'A notice of a webhook.\n', allowed)).toHaveLength(1);
  });

  test('that need judgement are listed for review only', () => {
    expect(found(page, 'Tell the bank.\n')).toEqual([]);
    expect(reviewOf(page, 'Tell the bank.\n', wordsToReview)).toHaveLength(1);
  });
});

describe('the allow list', () => {
  test('names entries that nothing needs', () => {
    const allowed = readAllowed('src/: a phrase # a reason\n');
    expect(unusedAllowed(allowed, new Map([[source, 'a phrase']]))).toEqual([]);
    expect(unusedAllowed(allowed, new Map([[page, 'a phrase']]))).toEqual(allowed);
  });

  test('refuses an entry without a reason', () => {
    expect(() => readAllowed('src/: a phrase\n')).toThrow('not "files: phrase # reason"');
  });
});

describe('sentences', () => {
  test('have 25 words at most', () => {
    expect(found(page, `${words(25)}.\n`)).toEqual([]);
    expect(found(page, `Short.\nWord ${words(25)}.\n`)).toEqual([
      '1 a sentence of 26 words, 25 at most: “Word word word word word word …”',
    ]);
  });

  test('have one semicolon at most', () => {
    expect(found(page, 'One; two.\n')).toEqual([]);
    expect(found(page, 'One; two; three.\n')).toHaveLength(1);
  });

  test('end with a paragraph, a list item and a cell', () => {
    expect(
      found(page, `${words(20)}\n\n${words(20)}\n- ${words(20)}\n\n| ${words(20)} | ${words(20)} |\n`),
    ).toEqual([]);
  });

  test('do not end with an abbreviation', () => {
    expect(sentencesOf('Use e.g. Debian. Then start.')).toEqual(['Use eg Debian.', 'Then start.']);
  });

  test('are read across the lines of a paragraph', () => {
    expect(readMarkdown('one\ntwo\n\nthree\n').prose).toEqual([
      { line: 1, text: 'one\ntwo' },
      { line: 4, text: 'three' },
    ]);
  });
});

describe('comments', () => {
  test('have two sentences at most', () => {
    expect(found(source, 'run();\n// One. Two.\nrun();\n')).toEqual([]);
    expect(found(source, 'run();\n/** One. Two.\n * Three. */\nrun();\n')).toEqual([
      '2 a comment of 3 sentences, 2 at most',
    ]);
  });

  test('at the head of a file have three lines at most', () => {
    expect(found(source, '// a\n// b\n// c\nrun();\n')).toEqual([]);
    expect(found(source, '#!/usr/bin/env node\n// a\n// b\n// c\n// d\nrun();\n')).toEqual([
      '2 a file header of 4 lines, 3 at most',
    ]);
  });

  test('of one line each are one comment where they follow each other', () => {
    expect(found(source, 'run();\n// One. Two.\n// Three.\nrun(); // Four.\n')).toHaveLength(1);
  });
});

describe('comments are read wherever they stand', () => {
  test.each([
    ['last in a block', 'function f() {\n  run();\n  // Ask nobody.\n}\n'],
    ['in an object', 'const a = {\n  b: 1,\n  // Ask nobody.\n};\n'],
    ['in arguments', 'run(\n  1,\n  // Ask nobody.\n);\n'],
    ['in an empty block', 'try { run(); } catch {\n  // Ask nobody.\n}\n'],
    ['before else', 'if (a) b();\n// Ask nobody.\nelse c();\n'],
    ['in empty parameters', 'function f(/* Ask nobody. */) {}\n'],
    ['at the end of a line', 'run(); // Ask nobody.\n'],
  ])('%s', (_, text) => expect(found(source, text)).toHaveLength(1));

  test('but not in texts and patterns that look like one', () => {
    expect(found(source, "const a = [/[/]/, /\\/\\/ x/, 'http://a', `//${'//'}//`];\n")).toEqual([]);
  });
});

describe('headings', () => {
  test.each(['Is it right?', 'What it does', 'When a bank fails', 'Install it.', `Run ${words(12)}`])(
    '“%s” names neither a task nor a thing, or is too long',
    (heading) => expect(found(page, `## ${heading}\n`)).toHaveLength(1),
  );

  test('may name a task or a thing', () => {
    expect(found(page, '# Webhooks\n\n## Rotate a key\n')).toEqual([]);
  });
});

describe('pages', () => {
  test.each([
    ['README.md', 120],
    ['docs/guide/page.md', 150],
    ['docs/decisions/0001-page.md', 40],
    ['docs/reliability.md', 100],
  ])('%s has %i lines at most', (path, most) => {
    expect(found(path, 'a\n\n'.repeat(most / 2))).toEqual([]);
    expect(found(path, `${'a\n\n'.repeat(most / 2)}b\n`)).toHaveLength(1);
  });

  test('that are printed are as long as what they list', () => {
    const printed = `# Errors\n\nPrinted from the code with \`npm run docs\`.\n\n${'a\n\n'.repeat(100)}`;
    expect(found(page, printed)).toEqual([]);
  });
});

describe('a commit subject', () => {
  test('is an area and an imperative', () => {
    expect(subjectFaults('webhooks: send events in order')).toEqual([]);
    expect(subjectFaults('http, jobs: drop a field')).toEqual([]);
  });

  test.each([
    ['Say what the tail waits for', 'begins with its area'],
    [`docs: ${'x'.repeat(67)}`, 'has 73 characters, 72 at most'],
    ['docs: say more.', 'has no full stop'],
    ['docs: say it anew', '“anew”: write again'],
  ])('%s', (subject, fault) => {
    expect(subjectFaults(subject).join()).toContain(fault);
  });
});
