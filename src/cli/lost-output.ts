// Standard output that cannot be written: its reader has ended, or the disk is full.
import { codeOf } from '../error-code.ts';

/** Ends the process. Only the first call has an effect. */
export function endOnLostOutput(): void {
  if (!process.stdout.listeners('error').includes(end)) process.stdout.on('error', end);
}

/** A reader such as `head` has what it wants, so its end is no error. */
function end(error: Error): void {
  if (codeOf(error) === 'EPIPE') process.exit();
  console.error(`mandate: Cannot write the output: ${error.message}.`);
  process.exit(2);
}
