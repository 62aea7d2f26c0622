// What a command says when its output or its working folder is gone.
import { spawnSync } from 'node:child_process';
import { describe, expect, inject, test } from 'vitest';
import { programOfSources } from '../../support/processes/program.ts';

/** Runs a line of the shell, in which $0 is Node.js and $1 the program. */
function shell(line: string, program = inject('builtProgram')) {
  const { PATH = '', HOME = '' } = process.env;
  const ended = spawnSync('/bin/sh', ['-ec', line, process.execPath, program], {
    env: { PATH, HOME },
    encoding: 'utf8',
    timeout: 60_000,
  });
  return { code: ended.status, output: ended.stdout, errors: ended.stderr };
}

/** Descriptor 4 is a pipe whose only reader has ended. */
const closedPipe =
  'folder=$(mktemp -d); mkfifo "$folder/pipe"; exec 3<>"$folder/pipe" 4>"$folder/pipe" 3<&-; rm -r "$folder"';

const programs: [string, () => string][] = [
  ['the built program', () => inject('builtProgram')],
  ['the sources', () => programOfSources],
];

describe.each(programs)('of %s', (_, program) => {
  test('standard output closed by its reader ends a command silently with 141', () => {
    const ended = shell(`${closedPipe}; exec "$0" "$1" config >&4`, program());
    expect(ended).toEqual({ code: 141, output: '', errors: '' });
  });

  test.runIf(process.platform === 'linux')('standard output on a full disk gets one line and 2', () => {
    const { code, errors } = shell('exec "$0" "$1" config > /dev/full', program());
    expect(errors).toMatch(/^mandate: Cannot write the output: ENOSPC.*\n$/);
    expect(code).toBe(2);
  });

  test('a working folder that was deleted is reported in one line', () => {
    expect(shell('cd "$(mktemp -d)"; rmdir "$PWD"; exec "$0" "$1" config', program())).toEqual({
      code: 1,
      output: '',
      errors: 'mandate: The working folder does not exist any more. Change to another folder.\n',
    });
  });
});
