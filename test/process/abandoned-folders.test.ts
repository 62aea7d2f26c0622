// Folders of killed runs in which a PostgreSQL still works, or names a process of another program.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startEmbedded } from '../../src/sandbox/postgres/server.ts';
import { ownerText, removeAbandonedFolders } from '../../tools/temporary-folders.ts';
import { temporaryFolder, throwAwaySettings } from '../support/database/test-cluster.ts';

/** Larger than any process ID. */
const deadPid = 4_194_305;
const isLinux = process.platform === 'linux';

function abandonedFolder(): { place: string; folder: string } {
  const { folder: place, remove } = temporaryFolder();
  onTestFinished(remove);
  const folder = join(place, 'mandate-test-abandoned');
  mkdirSync(folder);
  writeFileSync(join(folder, 'owner.lock'), ownerText(deadPid));
  return { place, folder };
}

test.runIf(isLinux)('the server of a killed run is stopped, and its folder removed', async () => {
  const { place, folder } = abandonedFolder();
  const machine = { openFolder: folder };
  const server = await startEmbedded({
    dataFolder: folder,
    log: () => {},
    settings: throwAwaySettings,
    machine,
  });
  onTestFinished(() => server.stop());
  const pid = Number.parseInt(readFileSync(join(folder, 'pg/data/postmaster.pid'), 'utf8'), 10);
  expect(isRunning(pid)).toBe(true);
  expect(removeAbandonedFolders([place])).toMatch(
    /^Removed temporary folders of killed runs: 1 \(\d+ MB\)\.$/,
  );
  expect(isRunning(pid)).toBe(false);
  expect(existsSync(folder)).toBe(false);
});

test.runIf(isLinux)('a process of another program that has the server’s ID now is left alone', async () => {
  const { place, folder } = abandonedFolder();
  const stranger = spawn('sleep', ['600'], { stdio: 'ignore', cwd: place });
  onTestFinished(() => void stranger.kill('SIGKILL'));
  mkdirSync(join(folder, 'pg/data'), { recursive: true });
  writeFileSync(join(folder, 'pg/data/postmaster.pid'), `${stranger.pid}\n`);
  expect(removeAbandonedFolders([place])).toContain(' runs: 1 ');
  expect(existsSync(folder)).toBe(false);
  expect(isRunning(stranger.pid ?? 0)).toBe(true);
});

/** A server that has ended stays as a zombie until this process has waited for it. */
function isRunning(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}
