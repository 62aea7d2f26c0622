import { expect, onTestFinished, test, vi } from 'vitest';
import { describeMemory, keepTemporaryFilesInMemory, mayHoldPrograms, shortageOf } from './memory-folder.ts';

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

const gibibyte = 2 ** 30;
const memory = (availableBytes: number, totalBytes?: number, freeBytes = totalBytes) => ({
  availableBytes: availableBytes * gibibyte,
  folder:
    totalBytes === undefined || freeBytes === undefined
      ? undefined
      : { totalBytes: totalBytes * gibibyte, freeBytes: freeBytes * gibibyte },
});

test.each([
  ['enough of everything', memory(8, 8), undefined],
  ['no folder in memory', memory(8), undefined],
  ['a folder that is always too small', memory(8, 1), undefined],
  [
    'too little memory',
    memory(3, 8),
    /^Memory is short: 3072 MB are available, and a test run wants 4096 MB/,
  ],
  ['a folder that others have filled', memory(8, 8, 2), /^Memory is short: \/dev\/shm has 2048 MB free/],
])('with %s the shortage is named, if there is one', (_, machine, reason) => {
  if (reason === undefined) expect(shortageOf(machine)).toBeUndefined();
  else expect(shortageOf(machine)).toMatch(reason);
});

test('the available memory and the place of temporary files are printed, and a shortage is an error', () => {
  const printed = vi.spyOn(console, 'log').mockReturnValue();
  const errors = vi.spyOn(console, 'error').mockReturnValue();
  onTestFinished(() => void vi.restoreAllMocks());
  expect(describeMemory(memory(8, 8), '')).toBe(true);
  expect(printed).toHaveBeenLastCalledWith(
    '8192 MB of memory are available. Temporary files go to /dev/shm.',
  );
  expect(describeMemory(memory(8, 8), '/elsewhere')).toBe(true);
  expect(printed).toHaveBeenLastCalledWith(
    '8192 MB of memory are available. Temporary files go to /elsewhere.',
  );
  expect(errors).not.toHaveBeenCalled();
  expect(describeMemory(memory(8, 8, 2), '')).toBe(false);
  expect(errors).toHaveBeenCalledTimes(1);
});

test('a run with too little memory says that its temporary files go to the disk', () => {
  const errors = vi.spyOn(console, 'error').mockReturnValue();
  vi.spyOn(process, 'availableMemory').mockReturnValue(3 * gibibyte);
  vi.stubEnv('TMPDIR', '');
  onTestFinished(() => void vi.restoreAllMocks().unstubAllEnvs());
  keepTemporaryFilesInMemory();
  expect(process.env['TMPDIR']).toBe('');
  expect(errors).toHaveBeenCalledWith(
    'Memory is short: 3072 MB are available, and a test run wants 4096 MB. Temporary files go to /tmp.',
  );
});
