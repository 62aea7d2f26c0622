// npm run bench:start: measures the time from a node's start until it listens, on a migrated database.
// It prints the processor time too, which is steadier on a busy machine.
import { loadavg } from 'node:os';
import { resolve } from 'node:path';
import { processorMs, residentMb } from './harness/costs.ts';
import { median } from './harness/load.ts';
import { startProcesses } from './harness/processes.ts';
import { readOptions, wholeNumber } from '../tools/script-options.ts';

const { options } = readOptions(
  `npm run bench:start -- [--starts 15] [--profile FOLDER]
Measures the time from a node's start until it listens, with its processor time and resident memory.
  --starts N        how often the node starts
  --profile FOLDER  where to write CPU profiles of the node
Example: npm run bench:start -- --starts 5`,
  {
    starts: { type: 'string', default: '15' },
    profile: { type: 'string' },
  },
);
const turns = wholeNumber('--starts', options.starts);
const processes = await startProcesses(options.profile ? { profileInto: resolve(options.profile) } : {});
try {
  // The first start creates the schema.
  await (await processes.node('service')).stop();
  const starts: number[] = [];
  const processors: number[] = [];
  const residents: number[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const node = await processes.node('service');
    starts.push(node.startMs);
    processors.push(processorMs(node.pid));
    residents.push(residentMb(node.pid));
    await node.stop();
  }
  print('start, ms', starts);
  print('processor time, ms', processors);
  print('resident, MB', residents);
  console.log(`load ${loadavg()[0]?.toFixed(1)}`);
} finally {
  await processes.close();
}

function print(what: string, values: readonly number[]): void {
  const written = [...values].sort((a, b) => a - b).map((value) => value.toFixed(0));
  console.log(`${what}: median ${median(values).toFixed(0)} (${written.join(' ')})`);
}
