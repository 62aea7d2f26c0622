// npm run build: the program as it runs without development tools, in dist/.
import { buildProgram } from './build-program.ts';

await buildProgram(new URL('../dist/', import.meta.url));
