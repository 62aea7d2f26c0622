// npm run prove:night: everything heavy with a fresh seed. A release asks for its record.
import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { nightParts, runnable } from './parts.ts';
import { prove } from './prove.ts';
import { recordFolder } from './record.ts';
import { readOptions, refuse, wholeNumber } from '../script-options.ts';
import { repository } from '../source-files.ts';

const { options, words } = readOptions(
  `npm run prove:night -- [PART…] [--for 20m] [--seed N]
Runs everything heavy with a fresh seed, in order of worth, then again with further seeds until the time is used.

  PART       only the named parts: ${nightParts.map(({ name }) => name).join(', ')}
  --for 20m  time in which parts may start, such as 20m or 8h
  --seed N   first seed: otherwise a fresh one, which is printed

A failure does not stop it, and prints the command that repeats it. The results are in ${recordFolder}/<commit>.json, the outputs next to it.
"npm run release" wants a night of 20 minutes, of all parts, without a failure. Results of named parts are in another file.
Exit code 1 if a part failed.`,
  { for: { type: 'string', default: '20m' }, seed: { type: 'string' } },
  { maxWords: nightParts.length },
);
const ms = millisecondsIn(options.for);
const seed = options.seed === undefined ? randomInt(1_000_000_000) : wholeNumber('--seed', options.seed, 0);
const unknown = words.find((word) => !nightParts.some(({ name }) => name === word));
if (unknown !== undefined) refuse(`unknown part "${unknown}"`);

const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};
/** Debian keeps PostgreSQL's programs out of PATH. */
const places = [
  ...(process.env['PATH'] ?? '').split(delimiter),
  '/usr/sbin',
  ...[18, 17, 16, 15].map((major) => `/usr/lib/postgresql/${major}/bin`),
];
const chosen = nightParts.filter(({ name }) => words.length === 0 || words.includes(name));
const { parts, leftOut } = runnable(chosen, {
  hasScript: (name) => name in scripts,
  hasProgram: (name) => places.some((place) => existsSync(join(place, name))),
});
const commit = git('rev-parse', 'HEAD');
const name = words.length === 0 ? commit : `${commit}-chosen`;

process.exitCode = await prove({
  parts,
  leftOut,
  ms,
  seed,
  checkout: { folder: repository, commit, isClean },
  records: join(repository, recordFolder),
  name,
  print: (line) => console.log(line),
});
console.log(`Seed ${seed}. Results: ${recordFolder}/${name}.json`);

/** Also false if another commit was made meanwhile. */
function isClean(): boolean {
  return git('status', '--porcelain') === '' && git('rev-parse', 'HEAD') === commit;
}

function git(...parameters: string[]): string {
  return execFileSync('git', parameters, { cwd: repository, encoding: 'utf8' }).trim();
}

function millisecondsIn(text: string): number {
  const [, count, unit] = /^(\d+)(s|m|h)$/.exec(text) ?? [];
  if (count === undefined) return refuse(`--for is a time such as 20m or 8h, not ${text || 'nothing'}`);
  return Number(count) * { s: 1_000, m: 60_000, h: 3_600_000 }[unit as 's' | 'm' | 'h'];
}
