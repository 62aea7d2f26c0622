// npm run release: a version from the sources that are here. It ends with a commit and a tag; nothing leaves the machine.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nightFault, recordFolder } from '../night/record.ts';
import { readOptions, refuse } from '../script-options.ts';
import { repository } from '../source-files.ts';
import { releaseChangelog, sectionOf, unexpectedChanges, versionFault, withVersion } from './version.ts';

const { options, words } = readOptions(
  `npm run release -- <version> [--dry-run]: checks, builds, packs, commits and tags a version.

  --dry-run  prints the changelog section and changes nothing

It needs a clean checkout on a branch, a Chromium, a Firefox, and a night ("npm run prove:night") of 20 minutes on this commit
without a failure.
It moves the "Unreleased" section of CHANGELOG.md under the version, records
what the version writes (test/histories/<version>), runs "npm run check" with all campaigns, builds and tries release/, commits and
tags. Nothing is pushed or published: it prints the commands for that. Example: npm run release -- 0.3.0`,
  { 'dry-run': { type: 'boolean' } },
  { maxWords: 1 },
);

const version = words[0] ?? refuse('The version is missing, such as 0.3.0');
const histories = `test/histories/${version}`;
const own = ['package.json', 'package-lock.json', 'CHANGELOG.md', histories];
const { version: current } = JSON.parse(read('package.json')) as { version: string };
const fault = versionFault(current, version);
if (fault !== undefined) refuse(fault);
if (git('status', '--porcelain') !== '') refuse('The checkout has changes. Commit or stash them first');
if (git('branch', '--show-current') === '') refuse('No branch is checked out. Check out the one to release');
if (git('tag', '--list', `v${version}`) !== '') refuse(`The tag v${version} exists already`);
const start = git('rev-parse', 'HEAD');
const record = `${recordFolder}/${start}.json`;
const unproved = nightFault(start, existsSync(join(repository, record)) ? read(record) : undefined);
if (unproved !== undefined && !options['dry-run']) refuse(unproved);

try {
  const changelog = releaseChangelog(read('CHANGELOG.md'), version, new Date().toISOString().slice(0, 10));
  const notes = sectionOf(changelog, version).trim();
  console.log(`${current} → ${version}\n\n${notes}`);
  if (!options['dry-run']) release(changelog, notes);
  else if (unproved !== undefined) console.log(`\nNot yet to be released. ${unproved}.`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  refuse(
    `Nothing is released. To undo the changes: git reset --hard ${start.slice(0, 9)} && git clean -fd ${histories}`,
  );
}

function release(changelog: string, notes: string): void {
  for (const file of ['package.json', 'package-lock.json'])
    writeFileSync(join(repository, file), withVersion(read(file), version));
  writeFileSync(join(repository, 'CHANGELOG.md'), changelog);
  // One that was recorded earlier may lack what changed since.
  rmSync(join(repository, histories), { recursive: true, force: true });
  npm('run', 'record:histories', '--', '--into', histories);
  npm('run', 'check');
  npm('run', 'package');
  npm('run', 'package:try');
  const changed = unexpectedChanges(git('status', '--porcelain', '--untracked-files=all'), own);
  if (changed.length > 0) throw new Error(`Changed while the checks ran: ${changed.join(', ')}`);
  if (git('rev-parse', 'HEAD') !== start) throw new Error('Another commit was made while the checks ran.');
  git('add', '--', ...own);
  git('commit', '--quiet', '--message', `release: ${version}`, '--message', notes);
  git('tag', '--annotate', `v${version}`, '--message', `Mandate ${version}`);
  console.log(`\nv${version} is committed and tagged. To publish it:
  git push origin HEAD v${version}
  npm publish ./release/mandate-${version}.tgz`);
}

function read(file: string): string {
  return readFileSync(join(repository, file), 'utf8');
}

function git(...parameters: string[]): string {
  return execFileSync('git', parameters, { cwd: repository, encoding: 'utf8' }).trimEnd();
}

function npm(...parameters: string[]): void {
  // With CI set, a missing browser fails the tests instead of skipping them.
  const env = { ...process.env, CI: 'true', FULL_CAMPAIGNS: '1' };
  const { status } = spawnSync('npm', parameters, { cwd: repository, stdio: 'inherit', env });
  if (status !== 0) throw new Error(`npm ${parameters.join(' ')} failed.`);
}
