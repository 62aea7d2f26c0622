// A command of the program: commander's, with examples, documented JSON and errors that say what to do next.
import { Command, type ErrorOptions, type Option } from 'commander';
import { settings } from '../app/config.ts';
import { jsonMembersOf } from './json-members.ts';

export type CommandTexts = {
  /** A verb phrase of 60 characters at most. */
  readonly summary: string;
  /** When to use it, and what it does not do. */
  readonly details?: string;
  readonly examples: readonly string[];
};

export class MandateCommand extends Command {
  /** Command lines that work as they stand. */
  readonly examples: string[] = [];

  constructor(name?: string) {
    super(name);
    this.addHelpText('after', () => this.helpAfterOptions());
  }

  override createCommand(name?: string): MandateCommand {
    return new MandateCommand(name);
  }

  subcommand(name: string, texts: CommandTexts): MandateCommand {
    return this.command(name).texts(texts);
  }

  texts({ summary, details, examples }: CommandTexts): this {
    this.examples.push(...examples);
    return this.summary(summary).description(details ?? '');
  }

  /** Adds `--json`; its members are in json-members.ts. */
  json(): this {
    return this.option('--json', 'print JSON for scripts');
  }

  /** The words after `mandate`. */
  path(): string {
    const { parent } = this;
    return parent instanceof MandateCommand ? `${parent.path()} ${this.name()}`.trim() : '';
  }

  override addOption(option: Option): this {
    super.addOption(option);
    let isGiven = false;
    this.on(`option:${option.name()}`, () => {
      if (isGiven && !option.variadic && option.parseArg !== repeated)
        this.error(`Option ${option.long} is given twice. Give it once.`);
      isGiven = true;
    });
    return this;
  }

  override error(message: string, options?: ErrorOptions): never {
    const usage = `Run "mandate ${`${this.path()} --help`.trim()}" for usage and examples.`;
    return super.error(`mandate: ${reworded(message, this)}\n${usage}`, options);
  }

  private helpAfterOptions(): string {
    const json = jsonMembersOf(this.path());
    return [
      ...(json === undefined ? [] : ['', this.createHelp().boxWrap(`JSON: ${json}`, 80)]),
      '',
      this.examples.length > 1 ? 'Examples:' : 'Example:',
      ...this.examples.map((example) => `  ${example}`),
    ].join('\n');
  }
}

/** For an option that may be given several times, once for each value. */
export function repeated(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value];
}

/** What the parser says of a mistake, with the value and what to do about it. */
function reworded(message: string, command: Command): string {
  const text = message.replace(/^error: /, '');
  const [, hint = ''] = /\n\(Did you mean (.+)\?\)$/.exec(text) ?? [];
  const suggestion = hint === '' ? '' : ` Did you mean ${hint}?`;
  for (const [pattern, say] of rewordings) {
    const found = pattern.exec(text);
    if (found) return `${say(found[1] ?? '', found[2] ?? '', command)}${suggestion}`;
  }
  return text;
}

const rewordings: readonly (readonly [
  RegExp,
  (first: string, second: string, command: Command) => string,
])[] = [
  [/^unknown option '(.+?)'/, (flag) => `Unknown option "${flag}".${settingHint(flag)}`],
  [/^unknown command '(.+?)'/, (name) => `Unknown command "${name}".`],
  [/^too many arguments/, (_, __, command) => excessText(command)],
  [/^missing required argument '(.+)'$/, (name) => `Argument <${name}> is missing.`],
  [/^required option '(.+)' not specified$/, (flags) => `Option ${flags} is missing.`],
  [/^option '(.+)' argument missing$/, (flags) => `Option ${flags} needs a value.`],
  [
    /^option '(\S+).*?' argument '(.*)' is invalid\./,
    (flag, value, command) => {
      const option = command.options.find(({ long }) => long === flag);
      return `Unknown value "${value}" for ${flag}. Use ${anyOf(option?.argChoices ?? [])}.`;
    },
  ],
  [
    /^command-argument value '(.*)' is invalid for argument '(.+?)'\./,
    (value, name, command) => {
      const argument = command.registeredArguments.find((one) => one.name() === name);
      return `Unknown ${name} "${value}". Use ${anyOf(argument?.argChoices ?? [])}.`;
    },
  ],
];

/** A command with subcommands takes the word for one of them. */
function excessText(command: Command): string {
  const expected = command.registeredArguments.length;
  const word = command.args[expected] ?? '';
  return command.commands.length > 0
    ? `Unknown command "${word}".`
    : `Unexpected argument "${word}". Remove it.`;
}

function settingHint(flag: string): string {
  const name = flag.replace(/^-+/, '').replace(/=.*/, '').replaceAll('-', '_').toUpperCase();
  const setting = settings.find((one) => one.name === name || one.name === `MANDATE_${name}`);
  return setting ? ` Set ${setting.name} in the environment instead.` : '';
}

/** `a, b or c`. */
function anyOf(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

/** For a command whose exit code 1 reports a finding: a mistake in its arguments ends with 2. */
export function exitUnknown({ exitCode }: { exitCode: number }): never {
  process.exit(exitCode === 0 ? 0 : 2);
}
