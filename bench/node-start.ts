// npm run bench:start: how long a node takes from its start to its word that it listens, on a database that is as after every day.
// Its processor time is said too: on a busy machine that tells more than the clock.
import { loadavg } from 'node:os';
import { resolve } from 'node:path';
import { processorMs, residentMb } from './harness/costs.ts';
import { median } from './harness/load.ts';
import { startProcesses } from './harness/processes.ts';
import { readOptions, wholeNumber } from '../tools/script-options.ts';

const { options } = readOptions(`npm run bench:start -- [--starts 15] [--profile FOLDER]`, {
  starts: { type: 'string', default: '15' },
  profile: { type: 'string' },
});
const turns = wholeNumber('--starts', options.starts);
const processes = await startProcesses(options.profile ? { profileInto: resolve(options.profile) } : {});
try {
  // The first makes the schema.
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
  say('start, ms', starts);
  say('processor time, ms', processors);
  say('resident, MB', residents);
  console.log(`load ${loadavg()[0]?.toFixed(1)}`);
} finally {
  await processes.close();
}

function say(what: string, values: readonly number[]): void {
  const written = [...values].sort((a, b) => a - b).map((value) => value.toFixed(0));
  console.log(`${what}: median ${median(values).toFixed(0)} (${written.join(' ')})`);
}
