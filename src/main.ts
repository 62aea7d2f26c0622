// The program: runs the command that its arguments name.
import { endOnLostOutput } from './cli/lost-output.ts';
import { createProgram } from './cli/program.ts';
import { presentNames } from './cli/renamed.ts';
import { NotSetUp } from './not-set-up.ts';

endOnLostOutput();
try {
  const program = createProgram();
  await program.parseAsync(presentNames(process.argv.slice(2), program), { from: 'user' });
} catch (error) {
  // The message says what is wrong and what to do. The stack helps only in debugging.
  console.error(`mandate: ${error instanceof Error ? error.message : String(error)}`);
  if (process.env['LOG_LEVEL'] === 'debug') console.error(error);
  // As where a check could not run: nothing was done.
  if (error instanceof NotSetUp) process.exitCode = 2;
  process.exitCode ??= 1;
}
