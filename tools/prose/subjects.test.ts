import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newSubjects } from './subjects.ts';

describe('the subjects that are judged', () => {
  let folder: string;
  let checkout: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'subjects-'));
    checkout = join(folder, 'checkout');
    git(folder, 'init', '--quiet', '--initial-branch', 'main', checkout);
    commit('Old words of long ago', '0.1.0');
    commit('release: 0.2.0', '0.2.0');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('are those of commits since the last release', () => {
    commit('jobs: drop a field', '0.2.0');
    commit('http: add a header', '0.2.0');
    expect(newSubjects(checkout)).toEqual(['http: add a header', 'jobs: drop a field']);
  });

  it('are none right after a release', () => {
    expect(newSubjects(checkout)).toEqual([]);
  });

  it('include a branch that was merged, but not the merge', () => {
    git(checkout, 'switch', '--quiet', '--create', 'side');
    commit('Old words', '0.2.0');
    git(checkout, 'switch', '--quiet', 'main');
    git(checkout, 'merge', '--quiet', '--no-ff', '-m', 'Merge branch', 'side');
    expect(newSubjects(checkout)).toEqual(['Old words']);
  });

  it('are that of HEAD alone in a clone without the release', () => {
    commit('jobs: drop a field', '0.2.0');
    commit('http: add a header', '0.2.0');
    expect(newSubjects(shallowClone())).toEqual(['http: add a header']);
  });

  it('are none in such a clone if HEAD is a merge', () => {
    git(checkout, 'switch', '--quiet', '--create', 'side');
    commit('Old words', '0.2.0');
    git(checkout, 'switch', '--quiet', 'main');
    git(checkout, 'merge', '--quiet', '--no-ff', '-m', 'Merge branch', 'side');
    expect(newSubjects(shallowClone())).toEqual([]);
  });

  it('are not known outside a checkout', () => {
    expect(newSubjects(folder)).toBe('noCheckout');
  });

  function commit(subject: string, version: string): void {
    writeFileSync(join(checkout, 'package.json'), `{\n  "version": "${version}"\n}\n`);
    git(checkout, 'add', '.');
    git(checkout, 'commit', '--quiet', '--allow-empty', '-m', subject);
  }

  function shallowClone(): string {
    const clone = join(folder, 'clone');
    git(folder, 'clone', '--quiet', '--depth', '1', `file://${checkout}`, clone);
    return clone;
  }
});

function git(folder: string, ...words: readonly string[]): void {
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
  execFileSync('git', [...identity, ...words], { cwd: folder, stdio: 'pipe' });
}
