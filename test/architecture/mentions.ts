// What documents and comments refer to must exist: links with their headings, and files of the repository by their path.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';

const repository = fileURLToPath(new URL('../..', import.meta.url));

const notOurs = ['node_modules', '.git', 'dist', 'data', 'coverage'];

/** The files of the repository with that ending, by their path. */
export function filesEndingIn(ending: string, folder = repository): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !notOurs.includes(name))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return filesEndingIn(ending, path);
      return entry.name.endsWith(ending) ? [relative(repository, path)] : [];
    })
    .sort();
}

export function textOf(file: string): string {
  return readFileSync(join(repository, file), 'utf8');
}

/** The links of a document without a file, or without a heading, as their target. */
export function brokenLinks(file: string, text: string): string[] {
  const prose = text.replace(/^(```|~~~)[\s\S]*?^\1/gm, '').replace(/`[^`\n]*`/g, '');
  const inline = [...prose.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g)];
  const named = [...prose.matchAll(/^\[[^\]]+\]:\s*(\S+)/gm)];
  const html = [...prose.matchAll(/\b(?:href|src)="([^"]+)"/g)];
  return [...inline, ...named, ...html]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target) && !leadsSomewhere(file, text, target))
    .map((target) => `${file} links to ${target}, which does not exist`);
}

function leadsSomewhere(file: string, text: string, target: string): boolean {
  const [path = '', heading] = target.split('#');
  const linked = path === '' ? file : join(dirname(file), decodeURI(path));
  if (linked.startsWith('..') || !existsSync(join(repository, linked))) return false;
  if (heading === undefined) return true;
  if (statSync(join(repository, linked)).isDirectory()) return false;
  return anchorsOf(path === '' ? text : textOf(linked)).includes(heading);
}

/** As GitHub makes them from headings. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+\s+(.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  );
}

/** The commands and options in the code of a document that the program does not have. */
export function unknownCommands(file: string, text: string, program: Command): string[] {
  const code = [...text.matchAll(/^ *(```+|~~~).*\n([\s\S]*?)^ *\1|(`+)(.*?)\3/gm)]
    .map(([, , block, , span]) => block ?? span ?? '')
    .join('\n')
    .replaceAll('\\\n', ' ');
  return [...code.matchAll(/(?<=(?:^|npx|[(;]|&&|[A-Z]=\S+) *)mandate ([a-z].*)$/gm)]
    .map(([, line = '']) => line.replace(/\s#.*|[|;)>].*/, '').trim())
    .filter((line) => !hasCommand(program, line.split(/\s+/)))
    .map((line) => `${file} names mandate ${line}, which is not a command`);
}

function hasCommand(command: Command, words: readonly string[]): boolean {
  const [word = '', ...more] = words;
  const sub = command.commands.find((one) => one.name() === word);
  if (sub) return hasCommand(sub, more);
  // A word in place of a subcommand, where the command takes no argument.
  const isArgument = word === '' || !/^[a-z]/.test(word) || command.registeredArguments.length > 0;
  const known = command.options.flatMap(({ long }) => long ?? []);
  const options = words.filter((one) => /^--[a-z]/.test(one)).map((one) => one.replace(/=.*/, ''));
  return isArgument && options.every((one) => ['--help', ...known].includes(one));
}

/** The missing files of this repository that a text names: by full path, from src or pages, or as an import. */
export function missingFiles(file: string, text: string): string[] {
  const spoken = file.endsWith('.md') ? text : commentsOf(text);
  return [...spoken.matchAll(/(?<![\w./@:-])(?:[\w-]+\/)+[\w.-]+\.(?:ts|js|sql|md|svg|json)\b(?!\/)/g)]
    .map(([path]) => path)
    .filter((path) => !path.startsWith('dist/'))
    .filter(
      (path) => !['', 'src', 'pages', dirname(file)].some((base) => existsSync(join(repository, base, path))),
    )
    .concat(
      file.endsWith('.md')
        ? []
        : [...spoken.matchAll(/(?<![\w./@*…-])[a-z][\w.-]*\.ts\b/g)]
            .map(([name]) => name)
            .filter((name) => !basenames().has(name)),
    )
    .map((path) => `${file} names ${path}, which does not exist`);
}

let found: Set<string> | undefined;
function basenames(): ReadonlySet<string> {
  return (found ??= new Set(filesEndingIn('.ts').map((path) => basename(path))));
}

function commentsOf(text: string): string {
  return (text.match(/^\s*(\/\/|\/?\*|--).*$|\s(\/\/|--) .*$/gm) ?? []).join('\n');
}
