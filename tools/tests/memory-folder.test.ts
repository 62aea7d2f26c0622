import { expect, test } from 'vitest';
import { mayHoldPrograms } from './memory-folder.ts';

const disk = '/dev/vda / ext4 rw,relatime 0 0';

test.each([
  ['in memory', 'tmpfs /dev/shm tmpfs rw,nosuid,nodev 0 0', true],
  ['closed to programs', 'shm /dev/shm tmpfs rw,nosuid,nodev,noexec,relatime,size=65536k 0 0', false],
  ['on a disk', '/dev/vdb /dev/shm ext4 rw 0 0', false],
  ['not there', 'tmpfs /dev/shm-of-another tmpfs rw 0 0', false],
  ['mounted over', 'tmpfs /dev/shm tmpfs rw 0 0\nshm /dev/shm tmpfs rw,noexec 0 0', false],
])('a folder %s', (_, mount, isFit) => {
  expect(mayHoldPrograms(`${disk}\n${mount}\n`)).toBe(isFit);
});
