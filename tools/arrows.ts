// npm run arrows: whether the imports of src point the way they should.
import { fileURLToPath } from 'node:url';
import { readArrows } from './read-arrows.ts';
import { readOptions } from './script-options.ts';

readOptions(
  'npm run arrows: whether the imports of src keep the rules of .dependency-cruiser.js. It takes no options.',
);

const { files, breaches } = await readArrows(fileURLToPath(new URL('..', import.meta.url)));
for (const breach of breaches) console.error(breach);
if (files.length === 0) console.error('unread: there is no file in src');
else if (breaches.length === 0) console.log(`The imports of ${files.length} files are as they should be.`);
process.exitCode = breaches.length === 0 && files.length > 0 ? 0 : 1;
