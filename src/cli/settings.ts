// The settings of this process.
import { misspeltIn, readConfig, textOfMisspelt, type Config } from '../app/config.ts';

/** Warnings go to standard error: scripts read standard output. */
export function settingsHere(): Config {
  const config = readConfig(process.env, process.cwd());
  for (const misspelt of misspeltIn(process.env))
    console.error(`mandate: warning: ${textOfMisspelt(misspelt)}`);
  return config;
}
