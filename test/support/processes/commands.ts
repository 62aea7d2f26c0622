// The commands of the program as tests go through them, and their examples as words.
import { MandateCommand } from '../../../src/cli/mandate-command.ts';

export function commandsUnder(command: MandateCommand): MandateCommand[] {
  const below = command.commands.filter((one): one is MandateCommand => one instanceof MandateCommand);
  return [command, ...below.flatMap(commandsUnder)];
}

/** All but groups. `bank` is a group that does something itself. */
export function isRunnable(command: MandateCommand): boolean {
  return command.commands.length === 0 || command.path() === 'bank';
}

/** The words after `mandate` in an example, as a shell splits them. */
export function wordsOfExample(example: string): string[] {
  const [, line = ''] = /\bmandate ((?:"[^"]*"|[^")>])*)/.exec(`${example} `) ?? [];
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}
