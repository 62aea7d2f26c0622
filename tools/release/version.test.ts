import { describe, expect, test } from 'vitest';
import { releaseChangelog, sectionOf, unexpectedChanges, versionFault, withVersion } from './version.ts';

const changelog =
  '# Changelog\n\n## Unreleased\n\n### Added\n\n- A thing.\n\n## 0.1.0 (2026-01-01)\n\n- The first.\n';

describe('a version', () => {
  test.each([
    ['0.1.0', '0.2.0'],
    ['0.9.9', '0.10.0'],
    ['0.9.9', '1.0.0'],
  ])('%s may be followed by %s', (current, next) => expect(versionFault(current, next)).toBeUndefined());

  test.each([
    ['0.2.0', '0.2.0', 'not greater'],
    ['0.10.0', '0.9.0', 'not greater'],
    ['0.1.0', 'v0.2.0', 'not a version'],
    ['0.1.0', '0.2', 'not a version'],
    ['0.1.0', '0.02.0', 'not a version'],
  ])('%s cannot be followed by %s', (current, next, fault) =>
    expect(versionFault(current, next)).toContain(fault),
  );

  test('is changed in a package and in its lock file, and nowhere else', () => {
    const lock = {
      name: 'a',
      version: '0.1.0',
      packages: { '': { version: '0.1.0' }, b: { version: '0.1.0' } },
    };
    expect(JSON.parse(withVersion(JSON.stringify(lock), '0.2.0'))).toEqual({
      name: 'a',
      version: '0.2.0',
      packages: { '': { version: '0.2.0' }, b: { version: '0.1.0' } },
    });
  });
});

test('files that changed while the checks ran are named, without those of the release', () => {
  const status = ' M package.json\n?? test/histories/0.2.0/wallet.ndjson\n M src/main.ts\n?? notes.txt\n';
  expect(unexpectedChanges(status, ['package.json', 'test/histories/0.2.0'])).toEqual([
    'src/main.ts',
    'notes.txt',
  ]);
});

describe('the changelog of a release', () => {
  test('has what was unreleased under the version, and an empty section above', () => {
    const released = releaseChangelog(changelog, '0.2.0', '2026-02-03');
    expect(released).toContain(
      '## Unreleased\n\n## 0.2.0 (2026-02-03)\n\n### Added\n\n- A thing.\n\n## 0.1.0',
    );
    expect(sectionOf(released, '0.2.0').trim()).toBe('### Added\n\n- A thing.');
    expect(sectionOf(released, 'Unreleased').trim()).toBe('');
  });

  test('is refused if it has headings only', () => {
    expect(() => releaseChangelog(changelog.replace('- A thing.\n', ''), '0.2.0', 'd')).toThrow('is empty');
  });

  test('is refused where nothing is written or the section is missing', () => {
    expect(() => releaseChangelog(changelog.replace('### Added\n\n- A thing.\n', ''), '0.2.0', 'd')).toThrow(
      'is empty',
    );
    expect(() => releaseChangelog('# Changelog\n', '0.2.0', 'd')).toThrow('no section');
    expect(() => sectionOf(changelog, '0.1')).toThrow('no section "## 0.1"');
  });
});
