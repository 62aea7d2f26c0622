// npm run build: builds the program that runs without development tools, in dist/.
import { buildProgram } from './build-program.ts';
import { readOptions } from '../script-options.ts';

readOptions(`npm run build
Builds the program in dist/, where it runs without development tools. It takes no options.
Example: npm run build`);

await buildProgram(new URL('../../dist/', import.meta.url));
