// npm run bench:memory: shows whether a node's memory grows while recurring charges arrive at a steady rate.
// Memory must not grow in the second half of the run.
import { loadavg } from 'node:os';
import { residentMb } from './harness/costs.ts';
import { median, openLoop, percentile } from './harness/load.ts';
import { startProcesses } from './harness/processes.ts';
import { heading, keepLatest } from './harness/report.ts';
import { openApi, scenarioNamed } from './workloads/scenarios.ts';
import { readOptions, wholeNumber } from '../tools/script-options.ts';

const { options } = readOptions(
  `npm run bench:memory -- [--minutes 10] [--rate 20] [--only recurring]
Prints a node's resident memory every minute while recurring charges arrive at a steady rate.
  --minutes N  how long the run takes
  --rate N     charges per second
  --only NAME  another scenario of npm run bench
Example: npm run bench:memory -- --minutes 60 --rate 10`,
  {
    minutes: { type: 'string', default: '10' },
    rate: { type: 'string', default: '20' },
    only: { type: 'string', default: 'recurring' },
  },
);
const minutes = wholeNumber('--minutes', options.minutes);
const rate = wholeNumber('--rate', options.rate);
const scenario = scenarioNamed(options.only);

const minuteMs = 60_000;
const residents: number[] = [];
const lines = [
  heading('Memory'),
  '',
  `${scenario.name}, ${rate} a second for ${minutes} minutes; one node, the built program.`,
  '',
  '| minute | resident, MB | done | p99 ms | load |',
  '| ---: | ---: | ---: | ---: | ---: |',
];
const processes = await startProcesses();
const service = await processes.node('service');
const api = openApi(service);
try {
  const work = await scenario.prepare(api);
  say(`| 0 | ${residentMb(service.pid).toFixed(0)} | | | |`);
  for (let minute = 1; minute <= minutes; minute++) {
    const { latenciesMs } = await openLoop(work, { rate, ms: minuteMs });
    const resident = residentMb(service.pid);
    residents.push(resident);
    const [load = 0] = loadavg();
    const p99 = percentile(latenciesMs, 0.99).toFixed(0);
    say(`| ${minute} | ${resident.toFixed(0)} | ${latenciesMs.length} | ${p99} | ${load.toFixed(1)} |`);
  }
} finally {
  await api.close();
  await processes.close();
}
const half = Math.floor(residents.length / 2);
const growth = median(residents.slice(half)) / median(residents.slice(0, half));
say('');
say(`memory most=${Math.max(...residents).toFixed(0)}`);
say(`ratio memory second/first half=${growth.toFixed(2)}`);
keepLatest('latest-memory.md', [...lines, '']);

function say(line: string): void {
  console.log(line);
  lines.push(line);
}
