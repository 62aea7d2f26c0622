// Limits a process to a share of a core: stopped as soon as it has had its share of a short stretch of time, and let go on with the
// next. By SIGSTOP and SIGCONT, so it needs no rights over control groups, and the kernel's own count of what it has used.
import { processorMs } from './costs.ts';

export type CpuLimit = { release(): void };

const stretchMs = 100;
const lookMs = 5;

/** Of one core. What it used beyond its share in one stretch, it lacks in the next. */
export function limitCpuShare(share: number, pid: number): CpuLimit {
  const beganMs = performance.now();
  const usedBefore = processorMs(pid);
  let isStopped = false;
  const look = () => {
    const stretches = Math.ceil((performance.now() - beganMs) / stretchMs);
    const isOver = processorMs(pid) - usedBefore > stretches * stretchMs * share;
    if (isOver === isStopped) return;
    isStopped = isOver;
    process.kill(pid, isOver ? 'SIGSTOP' : 'SIGCONT');
  };
  const timer = setInterval(look, lookMs);
  return {
    release() {
      clearInterval(timer);
      process.kill(pid, 'SIGCONT');
    },
  };
}
