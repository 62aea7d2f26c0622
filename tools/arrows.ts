// npm run arrows: checks the imports of src against the rules of .dependency-cruiser.js.
import { fileURLToPath } from 'node:url';
import { readArrows } from './read-arrows.ts';
import { readOptions } from './script-options.ts';

readOptions(
  `npm run arrows
Checks the imports of src against the rules of .dependency-cruiser.js. It takes no options.
Example: npm run arrows`,
);

const { files, breaches } = await readArrows(fileURLToPath(new URL('..', import.meta.url)));
for (const breach of breaches) console.error(breach);
if (files.length === 0) console.error('unread: src has no TypeScript file');
else if (breaches.length === 0) console.log(`The imports of ${files.length} files follow the rules.`);
process.exitCode = breaches.length === 0 && files.length > 0 ? 0 : 1;
