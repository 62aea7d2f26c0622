// mandate config: every setting, the value in force and where it comes from.
import type { Setting } from '../app/settings/setting.ts';
import { settings } from '../app/settings/settings.ts';
import { printTable } from './foundation.ts';
import { printJson } from './json-members.ts';
import { settingsHere } from './settings.ts';

export function showConfig(options: { json?: true }): void {
  const config = settingsHere();
  const values: Readonly<Record<string, unknown>> = config;
  const rows = Object.entries<Setting<unknown>>(settings).map(([key, setting]) => ({
    name: setting.name,
    value: setting.shown(values[key], config) ?? null,
    source: sourceOf(setting, config.mode),
  }));
  if (options.json) return printJson('config', rows);
  printTable(
    ['setting', 'source', 'value'],
    rows.map(({ name, value, source }) => [name, source, value ?? '-']),
  );
}

function sourceOf(
  { name, isOfSandbox }: Setting<unknown>,
  mode: string,
): 'environment' | 'sandbox' | 'default' {
  if (process.env[name]) return 'environment';
  return mode === 'sandbox' && isOfSandbox ? 'sandbox' : 'default';
}
