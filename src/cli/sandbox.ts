// mandate sandbox: the facts of the sandbox again, at any time.
import { readConfig } from '../app/config.ts';
import { readSandboxFacts } from '../sandbox/sandbox-setup.ts';

export function showSandbox(field: string | undefined, options: { json?: true }): void {
  const { dataFolder } = readConfig(process.env, process.cwd());
  const facts = readSandboxFacts(dataFolder);
  if (!facts) throw new Error(`there is no sandbox in ${dataFolder} yet; npm start makes one`);
  if (field !== undefined) {
    const value = Object.entries(facts).find(([name]) => name === field)?.[1];
    if (value === undefined)
      throw new Error(`there is no field ${field}; there are ${Object.keys(facts).join(', ')}`);
    return console.log(value);
  }
  if (options.json) return console.log(JSON.stringify(facts));
  for (const [name, value] of Object.entries(facts)) console.log(`${name.padEnd(8)} ${value}`);
}
