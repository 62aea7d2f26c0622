// npm run bench:nodes: measures two nodes on one database in turns with one. Each node is limited to a share of a core, so that
// the database has processor time left.
import { spentSoFar } from './harness/costs.ts';
import { limitCpuShare } from './harness/cpu-share.ts';
import { closedLoop, median, percentile, type Work } from './harness/load.ts';
import { startProcesses } from './harness/processes.ts';
import { heading, keepLatest, machine } from './harness/report.ts';
import { openApi, scenarioNamed } from './workloads/scenarios.ts';
import { readOptions, refuse, wholeNumber } from '../tools/script-options.ts';

const { options } = readOptions(
  `npm run bench:nodes -- [--share 0.1] [--only recurring] [--rounds 4] [--seconds 4] [--clients 8] [--warm-up 20]
Measures recurring charges on two nodes with one database in turns with one node, and prints the ratio of their rates.
  --share N    share of a core for each node, after the warm-up; 1 at most
  --only NAME  another scenario of npm run bench
  --rounds N   turns of each
  --seconds N  length of a turn
  --clients N  clients of each node
  --warm-up N  seconds before the first turn, without a limit
Example: npm run bench:nodes -- --share 0.2 --rounds 5`,
  {
    share: { type: 'string', default: '0.1' },
    only: { type: 'string', default: 'recurring' },
    rounds: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '4' },
    clients: { type: 'string', default: '8' },
    'warm-up': { type: 'string', default: '20' },
  },
);
const scenario = scenarioNamed(options.only);
const share = Number(options.share);
if (!(share > 0 && share <= 1))
  refuse(`--share must be above 0 and at most 1, such as 0.1, not "${options.share}"`);
const rounds = wholeNumber('--rounds', options.rounds);
const roundMs = 1_000 * wholeNumber('--seconds', options.seconds);
/** Of each node. */
const clients = wholeNumber('--clients', options.clients);
const warmUpMs = 1_000 * wholeNumber('--warm-up', options['warm-up'], 0);

const processes = await startProcesses();
try {
  const nodes = [await processes.node('service'), await processes.node('service')] as const;
  const apis = nodes.map(openApi);
  const works: Work[] = [];
  for (const api of apis) works.push(await scenario.prepare(api));
  // Warm up without a limit: a node with a twentieth of a core would compile its code for minutes.
  for (const work of works) await closedLoop(work, { clients, ms: warmUpMs });
  const limits = nodes.map(({ pid }) => limitCpuShare(share, pid));
  const rates = { one: [] as number[], two: [] as number[] };
  const latenciesMs = { one: [] as number[], two: [] as number[] };
  const used = { one: [] as number[], two: [] as number[] };
  const turn = async (which: 'one' | 'two', some: readonly Work[]) => {
    const before = await Promise.all(nodes.map((node) => spentSoFar(processes, node)));
    const beganMs = performance.now();
    const turns = await Promise.all(some.map((work) => closedLoop(work, { clients, ms: roundMs })));
    const tookMs = performance.now() - beganMs;
    const after = await Promise.all(nodes.map((node) => spentSoFar(processes, node)));
    const cores =
      after.reduce((sum, one, index) => sum + one.ownMs - (before[index]?.ownMs ?? 0), 0) / tookMs;
    rates[which].push(turns.reduce((sum, { rate }) => sum + rate, 0));
    latenciesMs[which].push(...turns.flatMap((one) => one.latenciesMs));
    used[which].push(cores);
  };
  await Promise.all(works.map((work) => closedLoop(work, { clients, ms: roundMs / 2 })));
  for (let round = 0; round < rounds; round++) {
    const [first, second] = works;
    const alone = [round % 2 === 0 ? first : second] as Work[];
    if (round % 2 === 0) await turn('one', alone);
    await turn('two', works);
    if (round % 2 === 1) await turn('one', alone);
  }
  for (const limit of limits) limit.release();
  await Promise.all(apis.map((api) => api.close()));

  const ratios = rates.two.map((rate, round) => rate / (rates.one[round] ?? Number.NaN));
  const row = (which: 'one' | 'two') =>
    `| ${which} | ${median(rates[which]).toFixed(1)} | ${rates[which].map((rate) => rate.toFixed(1)).join(' ')} | ` +
    `${percentile(latenciesMs[which], 0.5).toFixed(0)} | ${percentile(latenciesMs[which], 0.99).toFixed(0)} | ${median(used[which]).toFixed(2)} |`;
  const lines = [
    heading('Two nodes on one database'),
    '',
    `${machine()}; ${options.only}, each node ` +
      `limited to ${share} of a core by SIGSTOP and SIGCONT, ${clients} clients for each, ${rounds} turns of ${roundMs / 1_000} s each.`,
    '',
    '| nodes | a second | of turns | p50 ms | p99 ms | cores used by nodes |',
    '| --- | ---: | --- | ---: | ---: | ---: |',
    row('one'),
    row('two'),
    '',
    `ratio two nodes=${median(ratios).toFixed(2)} (of turns ${ratios.map((ratio) => ratio.toFixed(2)).join(' ')})`,
    '',
  ];
  console.log(lines.join('\n'));
  keepLatest('latest-nodes.md', lines);
} finally {
  await processes.close();
}
