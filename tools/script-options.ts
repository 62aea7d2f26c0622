// What a script of this repository was told on its command line. Each reads it first: --help says what there is, and what there is
// not is refused in a line, before anything is begun.
import { parseArgs, type ParseArgsConfig } from 'node:util';

type Known = NonNullable<ParseArgsConfig['options']>;

type Read<Options extends Known> = {
  readonly options: ReturnType<
    typeof parseArgs<{ options: Options; allowPositionals: true; strict: true }>
  >['values'];
  /** What stands there without a name. */
  readonly words: readonly string[];
};

export function readOptions<const Options extends Known>(
  help: string,
  options: Options = {} as Options,
  { maxWords = 0 } = {},
): Read<Options> {
  const said = process.argv.slice(2);
  if (said.includes('--help')) {
    console.log(help.trim());
    process.exit(0);
  }
  try {
    const { values, positionals } = parseArgs({ args: said, options, allowPositionals: true, strict: true });
    if (positionals.length <= maxWords) return { options: values, words: positionals };
    return refuse(`nobody knows what ${positionals[maxWords]} means`);
  } catch (error) {
    // The rest of what it says is how to write a word that begins with a dash.
    return refuse(error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error));
  }
}

/** A number that was said, under its option's name or what the word stands for. What is none begins nothing either. */
export function wholeNumber(name: string, text: string, least = 1): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number >= least) return number;
  return refuse(`${name} is a whole number of ${least} or more, not ${text || 'nothing'}`);
}

export function refuse(problem: string): never {
  console.error(`${problem}; --help says what there is`);
  process.exit(2);
}
