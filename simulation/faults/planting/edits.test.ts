import { expect, test } from 'vitest';
import type { SourceFile } from '../../../tools/source-files.ts';
import { edited, locate, type Edit } from './edits.ts';

const postings: SourceFile = {
  path: 'src/payments/postings.ts',
  text: `export function journalOf(payment: Payment, facts: Facts) {
  // return holdReleased(payment); "was here'
  if (facts.has('cancelled'))
    return holdReleased(
      payment, /* all of it */
    );
  return undefined;
}
export const other = () => holdReleased(payment);
`,
};
const release: Edit = {
  within: 'journalOf',
  replace: 'return holdReleased(payment);',
  by: 'return undefined;',
};

function planted(edit: Edit, ...files: SourceFile[]): string[] {
  const located = locate({ edits: [edit] }, files);
  return files.map((file) => edited(file, located));
}

test('a fault is planted despite other line breaks, comments and trailing commas, and changes nothing else', () => {
  expect(planted(release, postings)).toEqual([
    postings.text.replace(/return holdReleased\(\n[^]*?\);/, 'return undefined;'),
  ]);
});

test('a fault is planted wherever its declaration has moved', () => {
  const moved = { ...postings, path: 'src/elsewhere/domain/what.ts' };
  const unconcerned = { path: 'src/payments/postings.ts', text: 'export const releaseHold = 1;\n' };
  expect(planted(release, unconcerned, moved)).toEqual([unconcerned.text, planted(release, postings)[0]]);
});

test('a fault can replace SQL in a template and its interpolations', () => {
  const text = [
    'const endRow = statement({',
    '  // -- not `this',
    '  text: `with changed as (update withdrawal set version = version + 1',
    '    where withdrawal_id = :withdrawal_id',
    '      and version = :version)',
    "    ${appendEvent('withdrawal', `${'x'}`)}`,",
    '});',
  ].join('\n');
  const file = { path: 'src/withdrawal.ts', text };
  const edit = { within: 'endRow', replace: 'withdrawal_id and version = :version', by: 'withdrawal_id' };
  expect(planted(edit, file)).toEqual([text.replace(/\n +and version = :version/, '')]);
  const withEvent = { within: 'endRow', replace: "${appendEvent('withdrawal', `${'x'}`)}", by: '' };
  expect(planted(withEvent, file)).toEqual([text.replace(/\$\{append.*\)\}/, '')]);
});

test('a database function is changed in the last migration that creates it', () => {
  const body =
    "(a int) returns text language plpgsql as $$\nbegin -- return 'no';\n  return 'no';\nend $$;\n";
  const first = { path: 'src/migrations/0001.sql', text: `create function public.post${body}` };
  const second = { path: 'src/migrations/0002.sql', text: `CREATE OR REPLACE FUNCTION post${body}` };
  const edit = { within: 'post', replace: "return 'no';", by: 'return a;' };
  expect(planted(edit, second, first)).toEqual([
    second.text.replace(/ {2}return 'no';/, '  return a;'),
    first.text,
  ]);
});

test('a fault that fits twice is refused with both lines', () => {
  const twice = { path: 'src/twice.ts', text: postings.text };
  expect(() => planted(release, postings, twice)).toThrow(
    '"return holdReleased(payment);" occurs 2 times in journalOf: src/payments/postings.ts:4, src/twice.ts:4',
  );
});

test('a fault that does not fit is refused with the lines where its tokens are', () => {
  const renamed = { ...postings, text: postings.text.replaceAll('journalOf', 'transfersOf') };
  expect(() => planted(release, renamed)).toThrow(
    'nothing declares journalOf, in which "return holdReleased(payment);" should be',
  );
  expect(() => planted({ ...release, replace: '() => holdReleased(payment)' }, postings)).toThrow(
    '"() => holdReleased(payment)" is not in journalOf; it is at src/payments/postings.ts:9',
  );
  expect(() => planted({ ...release, replace: 'holdVoided(payment)' }, postings)).toThrow(
    /^"holdVoided\(payment\)" is not in journalOf$/,
  );
});

test('a replacement may only use names of the sources and its own new names', () => {
  const edits = [{ ...release, by: 'return nothingAtAll;' }];
  expect(() => locate({ edits }, [postings])).toThrow(
    'a replacement uses "nothingAtAll", which is not in the sources',
  );
  expect(locate({ edits, newNames: ['nothingAtAll'] }, [postings])).toHaveLength(1);
});

test('several edits of one file are applied together, and overlapping ones are refused', () => {
  const edits = [release, { within: 'journalOf', replace: "'cancelled'", by: "'failed'" }];
  const text = edited(postings, locate({ edits, newNames: ['failed'] }, [postings]));
  expect(text).toContain("if (facts.has('failed'))\n    return undefined;");
  const overlapping = locate({ edits: [release, release] }, [postings]);
  expect(() => edited(postings, overlapping)).toThrow('two edits of src/payments/postings.ts overlap');
});
