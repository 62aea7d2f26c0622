// The settings of this process.
import { misspeltIn, readConfig, textOfMisspelt, type Config } from '../app/config.ts';

/** Whether only this machine reaches the address. */
export function isLoopback(url: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);
}

/** Warnings go to standard error: scripts read standard output. */
export function settingsHere(): Config {
  const config = readConfig(process.env, process.cwd());
  for (const misspelt of misspeltIn(process.env))
    console.error(`mandate: warning: ${textOfMisspelt(misspelt)}`);
  return config;
}
