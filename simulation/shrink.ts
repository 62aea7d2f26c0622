// Makes a failing world smaller while it still fails in the same way.
// It tries fewer steps, then leaves out one kind of fault after the other, then one kind of request.
import { actionNames } from './clients/clients.ts';
import { runWorld, type Report, type Story } from './run-world.ts';
import type { Cluster } from './world/postgres/cluster.ts';
import { faultKinds } from './world/faults.ts';
import { real } from './world/take-over.ts';

export type Failing = { readonly story: Story; readonly report: Report };

export function commandOf({ seed, steps, without }: Story): string {
  const left = without.map((name) => ` --without '${name}'`).join('');
  return `npm run simulate -- --seed ${seed} --steps ${steps}${left}`;
}

export async function shrink(cluster: Cluster, failing: Failing, withinMs: number): Promise<Failing> {
  const untilMs = real.nowMs() + withinMs;
  const [first] = failing.report.findings;
  let smallest = failing;

  async function isStillFailing(story: Story): Promise<boolean> {
    if (real.nowMs() > untilMs) return false;
    const report = await runWorld(cluster, story);
    if (!report.findings.some(({ check }) => check === first?.check)) return false;
    smallest = { story, report };
    return true;
  }

  const reached = Math.max(1, failing.report.stepsTaken);
  await isStillFailing({ ...smallest.story, steps: reached });
  // A failure may need steps after it, so halving is a guess to try.
  for (let cut = Math.ceil(smallest.story.steps / 2); cut >= 10; cut = Math.floor(cut / 2)) {
    while (smallest.story.steps > cut) {
      if (!(await isStillFailing({ ...smallest.story, steps: smallest.story.steps - cut }))) break;
    }
  }
  for (const name of [...Object.keys(faultKinds), ...actionNames]) {
    const { story } = smallest;
    if (story.without.includes(name)) continue;
    await isStillFailing({ ...story, without: [...story.without, name] });
  }
  return smallest;
}
