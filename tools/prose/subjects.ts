// The subjects of commits that the rules of this checkout judge: those since the last release.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The release is the limit, not a date: a rebase or merge of old work must not bring old subjects under today's rules.
 * Without history back to the release only the subject of HEAD counts; that of a merge never does.
 */
export function newSubjects(checkout: string): string[] | 'noCheckout' {
  if (!existsSync(join(checkout, '.git'))) return 'noCheckout';
  const git = (...words: readonly string[]) =>
    execFileSync('git', words, { cwd: checkout, encoding: 'utf8' }).trim();
  const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');

  const release = git('log', '-1', '--format=%H', '-G"version":', '--', 'package.json');
  // The oldest commit of a shallow clone looks as if it had added every line, and as if it had no parent.
  const isReached = release !== '' && git('log', '-1', '--format=%P', release) !== '';
  if (isReached) return linesOf(git('log', '--no-merges', '--format=%s', `${release}..HEAD`));
  const [head = ''] = git('cat-file', 'commit', 'HEAD').split('\n\n');
  const parents = linesOf(head).filter((line) => line.startsWith('parent '));
  return parents.length > 1 ? [] : [git('log', '-1', '--format=%s')];
}
