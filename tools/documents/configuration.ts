// docs/operations/configuration.md: every setting.
import type { Setting } from '../../src/app/settings/setting.ts';
import { settings } from '../../src/app/settings/settings.ts';
import { printedFrom, table } from './markdown.ts';

export function configurationText(): string {
  const rows = Object.values<Setting<unknown>>(settings).map((setting) => [
    `\`${setting.name}\``,
    setting.byDefault,
    [
      setting.meaning,
      ...(setting.range ? [`From ${setting.range[0]} to ${setting.range[1]}.`] : []),
      ...(setting.secret ? ['Secret: `mandate config` does not show it.'] : []),
    ].join(' '),
  ]);
  return `# Configuration

${printedFrom('src/app/settings/settings.ts')}

Every setting is an environment variable. An empty variable counts as not set. Mandate checks all settings before it starts and reports
every invalid one. \`mandate config\` shows the values in force.

${table(['Setting', 'Default', 'Meaning'], rows)}
`;
}
