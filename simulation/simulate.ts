// npm run simulate -- --seed N --steps M
import './world/take-over.ts';
import { parseArgs } from 'node:util';
const { startCluster } = await import('./world/cluster.ts');
const { runWorld } = await import('./run-world.ts');
const { values } = parseArgs({ options: { seed: { type: 'string' }, steps: { type: 'string' }, without: { type: 'string', multiple: true }, story: { type: 'boolean' } } });
const cluster = await startCluster();
try {
  const report = await runWorld(cluster, { seed: Number(values.seed ?? 1), steps: Number(values.steps ?? 1000), without: values.without ?? [] });
  if (values.story) console.log(report.lines.join('\n'));
  console.log(report.findings.slice(0, 10), report.stepsTaken, report.operations, report.faults, report.statements, report.tookMs);
  console.log(`trace ${report.trace}`);
} finally { await cluster.stop(); }
