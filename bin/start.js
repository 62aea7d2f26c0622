// Runs the program: from its sources if the development tools are installed, else as it was built.
import { existsSync } from 'node:fs';

const built = new URL('../dist/main.js', import.meta.url);
const sources = new URL('../src/main.ts', import.meta.url);

let tsx;
try {
  tsx = existsSync(sources) ? await import('tsx/esm/api') : undefined;
} catch (error) {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
}

if (tsx) {
  tsx.register();
  await import(sources.href);
} else if (existsSync(built)) {
  await import(built.href);
} else {
  console.error(
    'mandate: The program is not built. Run "npm ci" to run the sources, or "npm run build" to build them.',
  );
  process.exit(1);
}
