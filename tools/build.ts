// npm run build: the program as it runs without development tools, in dist/: JavaScript, migrations, pages.
import { spawnSync } from 'node:child_process';
import { cp, readdir, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const repository = new URL('../', import.meta.url);
const migrations = 'database/migrations/';

function run(...command: string[]): void {
  const [program = '', ...parameters] = command;
  const cwd = fileURLToPath(repository);
  const { status } = spawnSync(program, parameters, { cwd, stdio: 'inherit' });
  if (status !== 0) {
    console.error(`The build failed: ${command.join(' ')}`);
    process.exit(1);
  }
}

// What an earlier build left may have no source any more.
await rm(new URL('dist/', repository), { recursive: true, force: true });
run(process.execPath, 'node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json');
for (const name of await readdir(new URL(`src/${migrations}`, repository))) {
  await cp(new URL(`src/${migrations}${name}`, repository), new URL(`dist/${migrations}${name}`, repository));
}
await import('./build-pages.ts');
