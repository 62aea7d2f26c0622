// npm run require:memory: prints the available memory and where temporary files of tests go, and exits with 1 if memory is short.
// Then tests would move to the disk, and take ten times the processor time.
import { readOptions } from '../script-options.ts';
import { removeAbandonedFoldersOnce } from '../temporary-folders.ts';
import { describeMemory } from './memory-folder.ts';

readOptions(
  'npm run require:memory: removes temporary folders of killed runs, and exits with 1 if memory is short. It takes no options.',
);

removeAbandonedFoldersOnce();
process.exitCode = describeMemory() ? 0 : 1;
