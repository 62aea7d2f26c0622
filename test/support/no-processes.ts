// For tests that run without PostgreSQL and without other processes (tools/tests/test-kinds.ts). A test that starts a process fails, with
// a message that says what to do.
import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

function refuse(): never {
  throw new Error(
    'a unit test starts no process: a test that does imports node:child_process, or what supports such tests',
  );
}

for (const name of ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync'] as const) {
  Object.assign(childProcess, { [name]: refuse });
}
syncBuiltinESMExports();
