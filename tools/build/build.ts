// npm run build: the program as it runs without development tools, in dist/.
import { buildProgram } from './build-program.ts';
import { readOptions } from '../script-options.ts';

readOptions(`npm run build: puts the program together in dist/. It takes no options.`);

await buildProgram(new URL('../../dist/', import.meta.url));
