// Removes a folder of temporary databases with its servers when the test run releases it or is killed with -9. A shell in its own
// session waits for the end of its input, which the system closes when the run dies.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';

const script = `
cat >/dev/null
find "$1" -name postmaster.pid 2>/dev/null | while read -r file; do
  kill -QUIT "$(head -n 1 "$file")" 2>/dev/null || continue
  tenths=0
  while [ -e "$file" ] && [ $tenths -lt 100 ]; do sleep 0.1; tenths=$((tenths + 1)); done
done
rm -rf "$1" || { sleep 0.5; rm -rf "$1"; }
`;

/** Returns a function that removes it now. */
export function watchFolder(folder: string): () => Promise<void> {
  const shell = spawn('sh', ['-c', script, 'watchdog', folder], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const ended = once(shell, 'exit');
  shell.unref();
  if (shell.stdin instanceof Socket) shell.stdin.unref();
  return async () => {
    shell.ref();
    shell.stdin.end();
    await ended;
  };
}
