// mandate config: every setting, where its value comes from, and all that is wrong with it.
import { readConfig, settings, type Setting } from '../app/config.ts';
import { printTable } from './foundation.ts';

export function showConfig(): void {
  const rows = settings.map((setting: Setting) => {
    const value = process.env[setting.name];
    return [setting.name, value ? (setting.secret ? '(set)' : value) : `default: ${setting.byDefault}`];
  });
  printTable(['setting', 'value'], rows);
  readConfig(process.env, process.cwd());
}
