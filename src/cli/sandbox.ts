// mandate sandbox: print the address, API key and shop of the sandbox in the data folder.
import { settingsHere } from './settings.ts';
import { readSandboxFacts } from '../sandbox/sandbox-setup.ts';

export function showSandbox(field: string | undefined, options: { json?: true }): void {
  const { dataFolder } = settingsHere();
  const stored = readSandboxFacts(dataFolder);
  if (!stored)
    throw new Error(
      `No sandbox runs in ${dataFolder}. Start one with "npm start", or set MANDATE_DATA to the folder of the one you use.`,
    );
  const { apiUrl, ...others } = stored;
  const info = { url: apiUrl, ...others };
  if (field === undefined) {
    // Scripts written for 0.1.0 read apiUrl.
    if (options.json) return console.log(JSON.stringify({ ...info, apiUrl }));
    for (const [name, value] of Object.entries(info)) console.log(`${name.padEnd(8)} ${value}`);
    return;
  }
  const known = Object.entries({ ...info, apiUrl });
  const found = known.find(([name]) => name === field);
  if (!found)
    throw new Error(`Unknown sandbox field "${field}". Use one of: ${Object.keys(info).join(', ')}.`);
  const [, value] = found;
  console.log(options.json ? JSON.stringify(value) : value);
}
