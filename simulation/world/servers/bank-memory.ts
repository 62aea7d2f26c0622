// A bank that recognises a repeat for two hours, and later does it as if it were new. It says so in its abilities.
import type { Scheduler } from '../scheduler.ts';

export const bankMemoryMs = 2 * 3_600_000;
const declared = 'PT2H';
/** Behind the ID of an operation that is done once more. */
const again = /_again\d+/g;

export function openMemory(scheduler: Pick<Scheduler, 'nowMs'>, forgets: boolean) {
  let isForgetful = forgets;
  const received = new Map<string, { atMs: number; times: number }>();
  return {
    /** Where the bank puts the operation: under another ID if it has forgotten this one. */
    targetOf(target: string): string {
      const known = received.get(target);
      const nowMs = scheduler.nowMs();
      if (!known) received.set(target, { atMs: nowMs, times: 0 });
      else if (isForgetful && nowMs - known.atMs > bankMemoryMs) {
        known.atMs = nowMs;
        known.times += 1;
      }
      const times = known?.times ?? 0;
      return times === 0 ? target : `${target}_again${times}`;
    },
    /** What the caller reads. */
    said(target: string, body: string): string {
      const text = originalOf(body);
      if (!isForgetful || !target.endsWith('/abilities')) return text;
      return JSON.stringify({ ...(JSON.parse(text) as object), repeatable: declared });
    },
    forgetNothing: () => void (isForgetful = false),
  };
}

export function originalOf(text: string): string {
  return text.replaceAll(again, '');
}
