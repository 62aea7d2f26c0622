// What a release changes in the texts of the repository: the version, and the section of the changelog.

const versionForm = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/;

/** Says what is wrong with a version that shall follow another, or nothing. */
export function versionFault(current: string, next: string): string | undefined {
  if (!versionForm.test(next)) return `"${next}" is not a version. Use three numbers, such as 0.3.0.`;
  if (compareVersions(next, current) <= 0) return `${next} is not greater than ${current}, the version now.`;
  return undefined;
}

/** Turns what is unreleased into the section of a version, and opens an empty one above it. */
export function releaseChangelog(changelog: string, version: string, day: string): string {
  const heading = /^## Unreleased\n/m;
  if (!heading.test(changelog)) throw new Error('CHANGELOG.md has no section "## Unreleased".');
  if (sectionOf(changelog, 'Unreleased').replace(/^#.*$/gm, '').trim() === '')
    throw new Error(
      'The section "## Unreleased" of CHANGELOG.md is empty. Write what users gain, lose or must do.',
    );
  return changelog.replace(heading, `## Unreleased\n\n## ${version} (${day})\n`);
}

/** What the changelog says of a version, without its heading. */
export function sectionOf(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text === version || /^[^\s]+/.exec(text)?.[0] === version);
  if (section === undefined) throw new Error(`CHANGELOG.md has no section "## ${version}".`);
  return section.slice(section.indexOf('\n') + 1);
}

/** Changes the version where a package or its lock file names itself. */
export function withVersion(json: string, version: string): string {
  const description = JSON.parse(json) as {
    version: string;
    packages?: Record<string, { version?: string }>;
  };
  description.version = version;
  const own = description.packages?.[''];
  if (own !== undefined) own.version = version;
  return `${JSON.stringify(description, null, 2)}\n`;
}

/** The changed files of `git status --porcelain` that a release does not write itself. */
export function unexpectedChanges(status: string, own: readonly string[]): string[] {
  return status
    .split('\n')
    .map((line) => line.slice(3))
    .filter((path) => path !== '' && !own.some((name) => path === name || path.startsWith(`${name}/`)));
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => versionForm.exec(version)?.slice(1).map(Number) ?? []);
  const index = (left ?? []).findIndex((number, at) => number !== right?.[at]);
  return index === -1 ? 0 : (left?.[index] ?? 0) - (right?.[index] ?? 0);
}
