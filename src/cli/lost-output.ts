// Standard output that cannot be written: its reader has ended, or the disk is full.
import { codeOf } from '../error-code.ts';

/** Ends the process. Only the first call has an effect. */
export function endOnLostOutput(): void {
  if (!process.stdout.listeners('error').includes(end)) process.stdout.on('error', end);
}

/** As a shell reports the end by SIGPIPE. With 0 a check that was cut short would count as passed. */
const exitClosedPipe = 141;

function end(error: Error): void {
  if (codeOf(error) === 'EPIPE') process.exit(exitClosedPipe);
  console.error(`mandate: Cannot write the output: ${error.message}.`);
  process.exit(2);
}
