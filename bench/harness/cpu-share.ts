// Limits a process to a share of a core: a process that has used its share of a time slice is stopped until the next.
// It uses SIGSTOP and SIGCONT, which need no rights over control groups.
import { processorMs } from './costs.ts';

export type CpuLimit = { release(): void };

const sliceMs = 100;
const checkMs = 5;

/** `share` is of one core. What the process uses beyond it in one slice is missing in the next. */
export function limitCpuShare(share: number, pid: number): CpuLimit {
  const beganMs = performance.now();
  const usedBefore = processorMs(pid);
  let isStopped = false;
  const check = () => {
    const slices = Math.ceil((performance.now() - beganMs) / sliceMs);
    const isOver = processorMs(pid) - usedBefore > slices * sliceMs * share;
    if (isOver === isStopped) return;
    isStopped = isOver;
    process.kill(pid, isOver ? 'SIGSTOP' : 'SIGCONT');
  };
  const timer = setInterval(check, checkMs);
  return {
    release() {
      clearInterval(timer);
      process.kill(pid, 'SIGCONT');
    },
  };
}
