// A command of the program: commander's, with examples, documented JSON and errors that say what to do next.
import { Command, type ErrorOptions, type HelpContext, type Option } from 'commander';
import { settings } from '../app/settings/settings.ts';
import { holdsCardNumber } from '../cards/domain/written-numbers.ts';
import { jsonMembersOf } from './json-members.ts';

/** What may hold any words and is stored. A number or an ID of a command only looks something up. */
const keptText = /<(text|name|url|account)>$/;
/** A bank or a merchant has numbered these: as in a request, they are only warned about. */
const idsOfOthers = ['--reference', '--external-id'];

export type CommandTexts = {
  /** A verb phrase of 60 characters at most. */
  readonly summary: string;
  /** When to use it, and what it does not do. */
  readonly details?: string;
  readonly examples: readonly string[];
  /**
   * What it creates where nothing is: a database, tables, keys, files. A command without it changes only what exists, and
   * otherwise says what is missing: a mistyped setting must leave nothing behind.
   */
  readonly creates?: string;
};

export class MandateCommand extends Command {
  /** Command lines that work as they stand. */
  readonly examples: string[] = [];
  /** The parser's own ways to name what is unknown and what is nearest, which its types leave out. */
  declare readonly unknownOption: (flag: string) => never;
  declare readonly unknownCommand: () => never;
  private firstUnknown: string | undefined;
  creates: string | undefined;

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

  texts({ summary, details, examples, creates }: CommandTexts): this {
    this.examples.push(...examples);
    this.creates = creates;
    const creation = creates === undefined ? [] : [`It creates what is missing: ${creates}.`];
    return this.summary(summary).description([details ?? [], creation].flat().join(' '));
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
    this.on(`option:${option.name()}`, (value: unknown) => {
      if (typeof value === 'string') this.checkKept(option, value);
      if (isGiven && !option.variadic && option.parseArg !== repeated)
        this.error(`Option ${option.long} is given twice. Give it once.`);
      isGiven = true;
    });
    return this;
  }

  private checkKept({ flags, long }: Option, value: string): void {
    if (!keptText.test(flags) || !holdsCardNumber(value)) return;
    if (!idsOfOthers.includes(long ?? '')) this.error(`Option ${long} must not contain a card number.`);
    console.error(`mandate: ${long} looks like a card number, and is kept.`);
  }

  override parseOptions(words: string[]): { operands: string[]; unknown: string[] } {
    const parsed = super.parseOptions(words);
    [this.firstUnknown] = parsed.unknown;
    return parsed;
  }

  override help(context?: HelpContext | ((text: string) => string)): never {
    const [word, ...names] = this.args;
    // For "help stuk" the parser would print the help of this command.
    if (word === 'help' && names.length > 0 && typeof context === 'object' && context.error) {
      this.args = names;
      this.unknownCommand();
    }
    return super.help(context as HelpContext);
  }

  override error(message: string, options?: ErrorOptions): never {
    // A required option is often missing because it is misspelt.
    if (options?.code === 'commander.missingMandatoryOptionValue' && this.firstUnknown !== undefined)
      return this.unknownOption(this.firstUnknown);
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
  const setting = Object.values(settings).find((one) => one.name === name || one.name === `MANDATE_${name}`);
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
