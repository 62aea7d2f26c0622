// Reads the command line of a script of this repository. A script calls it before it does anything, so that --help and wrong
// options start nothing.
import { parseArgs, type ParseArgsConfig } from 'node:util';

type Known = NonNullable<ParseArgsConfig['options']>;

type Read<Options extends Known> = {
  readonly options: ReturnType<
    typeof parseArgs<{ options: Options; allowPositionals: true; strict: true }>
  >['values'];
  /** Arguments without an option name. */
  readonly words: readonly string[];
};

export function readOptions<const Options extends Known>(
  help: string,
  options: Options = {} as Options,
  { maxWords = 0 } = {},
): Read<Options> {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    console.log(help.trim());
    process.exit(0);
  }
  const { values, positionals } = parsed(args, options);
  if (positionals.length > maxWords) return refuse(`unknown argument "${positionals[maxWords]}"`);
  return { options: values, words: positionals };
}

function parsed<const Options extends Known>(args: string[], options: Options) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    // The rest of the message explains arguments that begin with a dash.
    return refuse(error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error));
  }
}

/** `name` is the option's name, or what the argument stands for. A wrong number ends the script. */
export function wholeNumber(name: string, text: string, min = 1): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number >= min) return number;
  return refuse(`${name} must be a whole number of ${min} or more, not "${text}"`);
}

export function refuse(problem: string): never {
  console.error(`${problem.replace(/\.$/, '')}. Run with --help for usage.`);
  process.exit(2);
}
