// Starts embedded-child.ts as a separate program and returns what it reported. The caller stops or kills it; at the end of the test it
// is killed in any case.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { inject, onTestFinished } from 'vitest';
import type { ChildReport } from './embedded-child.ts';

type Child = { readonly report: ChildReport; leave(): Promise<void>; kill(): Promise<void> };

/** The file that a child runs. */
export const childFile = () => join(inject('plainSources'), 'test/support/processes/embedded-child.js');

/** Without a data folder the child starts a test cluster. */
export async function startChild(options: {
  dataFolder?: string;
  binFolder?: string;
  umask?: string;
  runAs?: { uid: number; gid: number };
}): Promise<Child> {
  const { dataFolder = '', binFolder = '', umask = '022', runAs } = options;
  const program = [process.execPath, childFile(), dataFolder, binFolder];
  const child = spawn('sh', ['-c', `umask ${umask} && exec "$@"`, 'sh', ...program], {
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
    stdio: ['pipe', 'pipe', 'pipe'],
    ...runAs,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  let complaint = '';
  child.stderr.on('data', (text) => (complaint += String(text)));
  const report = await Promise.race([
    once(createInterface(child.stdout), 'line'),
    once(child, 'close').then(() => [JSON.stringify({ error: complaint })]),
  ]);
  return {
    report: JSON.parse(String(report[0])),
    async leave() {
      child.stdin.end();
      await exited;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
