// npm run release: a version from the sources that are here. It ends with a commit and a tag; nothing leaves the machine.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOptions, refuse } from '../script-options.ts';
import { repository } from '../source-files.ts';
import { releaseChangelog, sectionOf, versionFault, withVersion } from './version.ts';

const { options, words } = readOptions(
  `npm run release -- <version> [--dry-run]: checks, builds, packs, commits and tags a version.

  --dry-run  says what would be done and changes nothing

It needs a clean checkout. It moves the "Unreleased" section of CHANGELOG.md under the version, records what the version
writes (test/histories/<version>), runs "npm run check", builds release/, commits and tags. Nothing is pushed or published:
it prints the commands for that. Example: npm run release -- 0.3.0`,
  { 'dry-run': { type: 'boolean' } },
  { maxWords: 1 },
);

const version = words[0] ?? refuse('the version is missing, such as 0.3.0');
const current = (JSON.parse(read('package.json')) as { version: string }).version;
const fault = versionFault(current, version);
if (fault !== undefined) refuse(fault);
if (git('status', '--porcelain') !== '') refuse('The checkout has changes. Commit or stash them first.');
if (git('tag', '--list', `v${version}`) !== '') refuse(`The tag v${version} exists already.`);
const changelog = releaseChangelog(read('CHANGELOG.md'), version, new Date().toISOString().slice(0, 10));

console.log(`# ${current} → ${version}\n${sectionOf(changelog, version)}`);
if (options['dry-run']) process.exit(0);

try {
  for (const file of ['package.json', 'package-lock.json'])
    writeFileSync(join(repository, file), withVersion(read(file), version));
  writeFileSync(join(repository, 'CHANGELOG.md'), changelog);
  if (!existsSync(join(repository, 'test/histories', version)))
    npm('run', 'record:histories', '--', '--into', `test/histories/${version}`);
  npm('run', 'check');
  npm('run', 'package');
  npm('run', 'package:try');
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  refuse('The release is not made; "git status" shows what it changed, "git restore ." takes that back');
}
git('add', '--all');
git(
  'commit',
  '--quiet',
  '--message',
  `release: ${version}`,
  '--message',
  sectionOf(changelog, version).trim(),
);
git('tag', '--annotate', `v${version}`, '--message', `Mandate ${version}`);
console.log(`\nv${version} is committed and tagged. To publish it:
  git push origin HEAD v${version}
  npm publish release/mandate-${version}.tgz`);

function read(file: string): string {
  return readFileSync(join(repository, file), 'utf8');
}

function git(...parameters: string[]): string {
  return execFileSync('git', parameters, { cwd: repository, encoding: 'utf8' }).trim();
}

function npm(...parameters: string[]): void {
  const { status } = spawnSync('npm', parameters, { cwd: repository, stdio: 'inherit' });
  if (status !== 0) throw new Error(`npm ${parameters.join(' ')} failed.`);
}
