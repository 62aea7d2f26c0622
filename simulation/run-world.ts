// Runs one world: steps with checks in between, then an end without faults, then the last checks.
import { incremental, settledFindings, whole } from './checks/index.ts';
import type { Finding } from './checks/world.ts';
import type { Cluster } from './world/postgres/cluster.ts';
import { real } from './world/take-over.ts';
import { openWorld } from './world/world.ts';

export type Story = {
  readonly seed: number;
  readonly steps: number;
  readonly without: readonly string[];
};

export type Report = {
  readonly trace: string;
  readonly lines: readonly string[];
  readonly findings: readonly Finding[];
  /** Steps until the first finding. */
  readonly stepsTaken: number;
  readonly operations: number;
  /** How often, of each kind. */
  readonly happened: Readonly<Record<string, number>>;
  readonly statements: number;
  readonly batches: readonly number[];
  readonly tookMs: number;
};

const checkEvery = 50;
const checkWholeEvery = 1_000;

export async function runWorld(cluster: Cluster, story: Story): Promise<Report> {
  const startedMs = real.nowMs();
  const world = await openWorld({ cluster, ...story });
  const { checkWorld, trace } = world;
  let findings: readonly Finding[] = [];
  let step = 0;
  let unavailable = 0;
  // At once after a 503, because its repeat may write what it should not have written.
  const isDue = () => step % checkEvery === checkEvery - 1 || world.unavailable() > unavailable;
  try {
    for (; step < story.steps && findings.length === 0; step++) {
      await world.step();
      findings = world.findings;
      if (findings.length === 0 && isDue()) {
        unavailable = world.unavailable();
        findings = await incremental(checkWorld);
      }
      if (findings.length === 0 && step % checkWholeEvery === checkWholeEvery - 1) {
        findings = await whole(checkWorld);
      }
    }
    if (findings.length === 0) {
      await world.settle();
      findings = await settledFindings(checkWorld);
    }
  } catch (error) {
    findings = [{ check: 'simulation', about: 'world', problem: String((error as Error).stack) }];
  } finally {
    await world.end();
  }
  return {
    trace: trace.digest(),
    lines: trace.lines(),
    findings,
    stepsTaken: step,
    operations: world.operations(),
    happened: world.happened(),
    statements: world.statements(),
    batches: world.batches,
    tookMs: real.nowMs() - startedMs,
  };
}
