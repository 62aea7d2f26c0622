// Whether another process runs, as far as its ID says.
import { codeOf } from '../error-code.ts';

/** Our own process ID belongs to a dead predecessor: in a container it repeats after every restart. */
export function isAliveBesideUs(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
}
